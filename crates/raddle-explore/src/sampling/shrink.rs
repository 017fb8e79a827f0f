//! Making a run that goes wrong small: as few departures as possible.
//!
//! Delta debugging (Zeller, Hildebrandt, TSE 2002): leave out half of the departures, a quarter, and so on down to single ones,
//! as long as what is left goes wrong in the same way. Departures are named by threads and their steps, so leaving some
//! out does not change what the others mean, as long as the threads get there.

use super::decide::Departure;
use raddle_core::trace::{Ending, Trace};

/// How a run went, for instance wrong.
#[derive(Clone)]
pub(super) struct Wrong {
    pub(super) ending: Ending,
    pub(super) trace: Trace,
}

impl Default for Wrong {
    fn default() -> Self {
        Wrong { ending: Ending::Blocked, trace: Trace::default() }
    }
}

/// Runs with some departures; how that went, if it came to an end, and how many events it took.
pub(super) type Runs<'a> = dyn FnMut(&[Departure]) -> (Option<Wrong>, u32) + 'a;

/// How often to try, and with how many events in all. Not how long: what comes out must not depend on the machine.
const TRIES: u32 = 2_000;
const EVENTS: u64 = 500_000;

/// The smallest run that was found, of those that go wrong as this one does.
pub(super) fn shrink(departures: Vec<Departure>, wrong: Wrong, run: &mut Runs<'_>) -> Wrong {
    let (mut left, mut best) = (departures, wrong);
    let (mut tries, mut events) = (0, 0);
    let mut size = left.len().div_ceil(2);
    while size > 0 {
        let before = left.len();
        let mut at = 0;
        while at < left.len() {
            if tries == TRIES || events > EVENTS {
                return best;
            }
            tries += 1;
            let without = [&left[..at], &left[(at + size).min(left.len())..]].concat();
            let (tried, took) = run(&without);
            events += u64::from(took);
            match tried.filter(|other| is_same(&best, other)) {
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

/// Whether two runs go wrong in the same way.
fn is_same(one: &Wrong, other: &Wrong) -> bool {
    match (&one.ending, &other.ending) {
        (Ending::Failed(_, one), Ending::Failed(_, other)) => {
            (one.kind, one.place, &one.message) == (other.kind, other.place, &other.message)
        }
        (&Ending::Race(a, b), &Ending::Race(c, d)) => {
            let place = |wrong: &Wrong, at: usize| wrong.trace.events.get(at).map(|it| it.op.place);
            let of = |wrong: &Wrong, a, b| {
                let mut places = [place(wrong, a), place(wrong, b)];
                places.sort();
                places
            };
            of(one, a, b) == of(other, c, d)
        }
        (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
    }
}
