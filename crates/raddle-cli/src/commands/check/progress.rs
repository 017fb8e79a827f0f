//! Progress of an exploration, as a line on a terminal.

use std::io::{IsTerminal, stderr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use raddle_core::outcome::Estimate;

use crate::render::text::units::{rounded, time};

/// Time until the line appears.
const FIRST: Duration = Duration::from_millis(1_500);

/// Time between two updates of the line.
const NEXT: Duration = Duration::from_millis(250);

/// A line with the number of explored classes, their rate and the estimated remaining time.
pub(super) struct ProgressLine {
    is_shown: bool,
    classes: AtomicU64,
}

impl ProgressLine {
    /// Creates a line that is shown only if standard error is a terminal and not `is_silent`.
    pub(super) fn new(is_silent: bool) -> Self {
        let is_shown = !is_silent && stderr().is_terminal();
        ProgressLine { is_shown, classes: AtomicU64::new(0) }
    }

    /// Sets the number of explored classes.
    pub(super) fn update(&self, classes: u64) {
        self.classes.store(classes, Ordering::Relaxed);
    }

    /// Runs `explore` and shows its progress. `size` estimates the number of classes; it is called only if the line
    /// appears.
    pub(super) fn show<R>(
        &self,
        size: impl FnOnce() -> Option<Estimate> + Send,
        explore: impl FnOnce() -> R,
    ) -> R {
        if !self.is_shown {
            return explore();
        }
        let (done, is_done) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || self.draw(size, &is_done));
            let result = explore();
            drop(done);
            result
        })
    }

    fn draw(&self, size: impl FnOnce() -> Option<Estimate>, is_done: &mpsc::Receiver<()>) {
        let start = Instant::now();
        if is_done.recv_timeout(FIRST) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        let before = self.classes.load(Ordering::Relaxed) as f64;
        let since = start.elapsed().as_secs_f64();
        let total = size().map(|estimate| estimate.classes);
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            bar.set_style(style);
        }
        while is_done.recv_timeout(NEXT) == Err(RecvTimeoutError::Timeout) {
            let classes = self.classes.load(Ordering::Relaxed) as f64;
            // Classes from a checkpoint do not count for the rate.
            let rate = (classes - before).max(0.0) / (start.elapsed().as_secs_f64() - since);
            bar.set_message(line(classes, rate, total));
            bar.tick();
        }
        bar.finish_and_clear();
    }
}

fn line(classes: f64, rate: f64, total: Option<f64>) -> String {
    let mut line = format!("{} classes, {} per second", rounded(classes), rounded(rate));
    if let Some(total) = total.filter(|&total| total > classes && rate > 0.0) {
        let left = time((total - classes) / rate);
        line += &format!(", about {} in total, {left} remaining", rounded(total));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_shows_the_remaining_time_if_the_total_is_known() {
        assert_eq!(line(5_000.0, 2_500.0, None), "5,000 classes, 2,500 per second");
        let known = line(5_000.0, 2_500.0, Some(20_000.0));
        assert_eq!(
            known,
            "5,000 classes, 2,500 per second, about 20,000 in total, 6.0 s remaining"
        );
        let more = line(5_000.0, 2_500.0, Some(4_000.0));
        assert_eq!(more, "5,000 classes, 2,500 per second");
    }
}
