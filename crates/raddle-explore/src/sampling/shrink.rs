//! Shrinking a failing run: as few deviations from the default schedule as possible.
//!
//! Delta debugging (Zeller, Hildebrandt, TSE 2002): leaves out half of the deviations, a quarter, and so on down to
//! single ones, as long as the run still fails in the same way. Deviations are identified by thread and step, so
//! leaving some out does not change the meaning of the others, provided the threads still reach those steps.

use super::decider::Deviation;
use raddle_core::trace::{Ending, Trace};

/// Recorded execution.
#[derive(Clone)]
pub(super) struct Sample {
    pub(super) ending: Ending,
    pub(super) trace: Trace,
}

impl Default for Sample {
    fn default() -> Self {
        Sample { ending: Ending::Blocked, trace: Trace::default() }
    }
}

/// Runs the program with the given deviations. Returns the sample, if the run came to an end, and how many events were
/// executed.
pub(super) type RunDeviations<'a> = dyn FnMut(&[Deviation]) -> (Option<Sample>, u32) + 'a;

/// Maximal number of runs.
const MAX_RUNS: u32 = 2_000;
/// Maximal number of executed events. There is no time limit: the result must not depend on the speed of the machine.
const MAX_EVENTS: u64 = 500_000;

/// Returns the smallest sample found that fails like `failing`, which has the given deviations.
pub(super) fn shrink(
    deviations: Vec<Deviation>,
    failing: Sample,
    run: &mut RunDeviations<'_>,
) -> Sample {
    let (mut left, mut best) = (deviations, failing);
    let (mut runs, mut events) = (0, 0);
    let mut size = left.len().div_ceil(2);
    while size > 0 {
        let before = left.len();
        let mut at = 0;
        while at < left.len() {
            if runs == MAX_RUNS || events > MAX_EVENTS {
                return best;
            }
            runs += 1;
            let without = [&left[..at], &left[(at + size).min(left.len())..]].concat();
            let (sample, executed) = run(&without);
            events += u64::from(executed);
            match sample.filter(|sample| fails_alike(&best, sample)) {
                Some(smaller) => (left, best) = (without, smaller),
                None => at += size,
            }
        }
        if left.len() == before || size > 1 {
            size /= 2;
        }
    }
    best
}

/// Returns `true` if both samples show the same bug: the same failure at the same place, a race of the same two places,
/// or otherwise the same kind of ending.
fn fails_alike(one: &Sample, other: &Sample) -> bool {
    match (&one.ending, &other.ending) {
        (Ending::Failed(_, one), Ending::Failed(_, other)) => {
            (one.kind, one.place, &one.message) == (other.kind, other.place, &other.message)
        }
        (&Ending::Race(a, b), &Ending::Race(c, d)) => {
            let place = |sample: &Sample, at: usize| {
                sample.trace.events.get(at).map(|event| event.op.place)
            };
            let places = |sample: &Sample, a, b| {
                let mut places = [place(sample, a), place(sample, b)];
                places.sort();
                places
            };
            places(one, a, b) == places(other, c, d)
        }
        (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
    }
}
