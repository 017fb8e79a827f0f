//! Raises the bounds step by step.
//!
//! A small bound is checked in no time, and most bugs need little: so the bounds grow until something is found, until
//! they leave nothing out, or until the time is up.

use std::time::{Duration, Instant};

use crate::check::{Answer, Report, check};
use crate::options::Options;
use crate::refuse::Refusal;

/// Checks with growing bounds, until the time of the options is up. Says how far it came after each step.
///
/// # Errors
/// As [`check`].
pub fn deepen(
    options: &Options,
    mut progress: impl FnMut(&Options, &Report),
) -> Result<(Options, Report), Refusal> {
    let start = Instant::now();
    let mut last: Option<(Options, Report)> = None;
    for step in 1.. {
        let mut options = Options { rounds: step + 1, unwind: step, ..options.clone() };
        (options.nodes, options.max_time) =
            (options.nodes.max(step + 1), options.max_time.max(2 * step));
        if let Some(timeout) = options.timeout {
            options.timeout =
                Some(timeout.saturating_sub(start.elapsed()).max(Duration::from_millis(1)));
        }
        let mut report = check(&options)?;
        report.statistics.seconds = start.elapsed().as_secs_f64();
        progress(&options, &report);
        match report.answer {
            Answer::Timeout => return Ok(last.unwrap_or((options, report))),
            Answer::Bug(_) | Answer::Safe => return Ok((options, report)),
            Answer::Bounded(_) => last = Some((options, report)),
        }
    }
    unreachable!("the steps have no end")
}
