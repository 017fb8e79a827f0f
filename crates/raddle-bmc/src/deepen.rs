//! Iterative deepening of the bounds.
//!
//! Checks with small bounds are fast, and most bugs need small bounds only.

use std::time::{Duration, Instant};

use raddle_core::outcome::{Bound, Verdict};

use crate::check::{BmcReport, check};
use crate::error::BmcError;
use crate::options::BmcOptions;

/// Checks with growing bounds until a bug is found, the bounds exclude no execution, or the time limit is reached.
///
/// Calls `progress` after each step. Returns the options and the report of the last step that was completed. Without a
/// time limit this may not terminate.
///
/// # Errors
/// See [`check`].
pub fn deepen(
    options: &BmcOptions,
    mut progress: impl FnMut(&BmcOptions, &BmcReport),
) -> Result<(BmcOptions, BmcReport), BmcError> {
    let start = Instant::now();
    let mut last: Option<(BmcOptions, BmcReport)> = None;
    for step in 1.. {
        let options = BmcOptions {
            rounds: step + 1,
            unwind: step,
            nodes: options.nodes.max(step + 1),
            max_time: options.max_time.max(2 * step),
            timeout: options.timeout.map(|timeout| remaining(timeout, start)),
            ..options.clone()
        };
        let mut report = check(&options)?;
        report.outcome.counts.seconds = start.elapsed().as_secs_f64();
        progress(&options, &report);
        match (report.outcome.verdict, &report.outcome.bound) {
            (Verdict::Bug | Verdict::Clean, _) => return Ok((options, report)),
            (Verdict::Incomplete, Some(Bound::Deadline)) => {
                return Ok(last.unwrap_or((options, report)));
            }
            (Verdict::Incomplete, _) => last = Some((options, report)),
        }
    }
    unreachable!("the loop has no end")
}

/// The rest of the time limit, but not zero.
fn remaining(timeout: Duration, start: Instant) -> Duration {
    timeout.saturating_sub(start.elapsed()).max(Duration::from_millis(1))
}
