//! Timing checks, and what to make of the times.
//!
//! The machine may be busy, so times are only ever compared within a run: the alternatives take
//! turns, and of several repetitions the fastest counts.

use std::time::{Duration, Instant};

use raddle_consistency::check::{CheckOptions, check};
use raddle_consistency::witness::ConsistencyVerdict;
use raddle_core::execution::Execution;
use raddle_core::model::Model;

/// Repetitions stop when they have taken this long together.
const LONG_ENOUGH: Duration = Duration::from_millis(40);
const MOST_REPETITIONS: usize = 8;

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Consistent,
    Inconsistent,
    GaveUp,
}

/// A check: its answer and the seconds it took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timed {
    pub(crate) answer: Answer,
    pub(crate) seconds: f64,
}

impl Timed {
    /// The time, if the check came to an end.
    pub(crate) fn finished(&self) -> Option<f64> {
        (self.answer != Answer::GaveUp).then_some(self.seconds)
    }
}

/// Checks once.
pub(crate) fn time(execution: &Execution, model: Model, options: &CheckOptions) -> Timed {
    let start = Instant::now();
    let verdict = check(execution, model, options);
    let seconds = start.elapsed().as_secs_f64();
    let answer = match verdict {
        ConsistencyVerdict::Consistent(_) => Answer::Consistent,
        ConsistencyVerdict::Inconsistent(_) => Answer::Inconsistent,
        ConsistencyVerdict::Unknown { .. } => Answer::GaveUp,
    };
    Timed { answer, seconds }
}

/// Checks with each of the options in turn, several times, and keeps the fastest time of each.
/// Every other time the turns go backwards, so that nobody always follows the one who leaves the
/// caches cold. Whoever gave up or took long once is not asked again.
pub(crate) fn race<const N: usize>(
    execution: &Execution,
    model: Model,
    options: [&CheckOptions; N],
) -> [Timed; N] {
    let mut best = options.map(|options| time(execution, model, options));
    let mut spent = best.map(|timed| timed.seconds);
    for repetition in 1..MOST_REPETITIONS {
        for turn in 0..N {
            let i = if repetition % 2 == 1 { N - 1 - turn } else { turn };
            if best[i].answer != Answer::GaveUp && spent[i] < LONG_ENOUGH.as_secs_f64() {
                let again = time(execution, model, options[i]);
                spent[i] += again.seconds;
                best[i].seconds = best[i].seconds.min(again.seconds);
            }
        }
    }
    best
}

/// The geometric mean, if there is anything.
pub(crate) fn geometric_mean(values: &[f64]) -> Option<f64> {
    let logs: f64 = values.iter().map(|value| value.ln()).sum();
    (!values.is_empty()).then(|| (logs / values.len() as f64).exp())
}

/// The median, if there is anything.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

/// The slope of the line through the logarithms of the points with the least squares.
pub(crate) fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let mean_x = logs.iter().map(|p| p.0).sum::<f64>() / count;
    let mean_y = logs.iter().map(|p| p.1).sum::<f64>() / count;
    let covariance: f64 = logs.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y)).sum();
    let variance: f64 = logs.iter().map(|p| (p.0 - mean_x).powi(2)).sum();
    covariance / variance
}
