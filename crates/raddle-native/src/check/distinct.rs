//! Executions with different errors.

use raddle_core::outcome::FindingKind;
use raddle_core::program::PlaceId;
use raddle_core::trace::{Counterexample, Ending, Pending, Trace};
use rustc_hash::FxHashSet;

use super::meaning;

/// The most errors that are kept.
const MOST: usize = 100;

/// Executions whose errors differ in kind, message or place, in the order in which they were found.
#[derive(Default)]
pub(super) struct Distinct {
    known: FxHashSet<(FindingKind, String, Vec<PlaceId>)>,
    found: Vec<Counterexample>,
}

impl Distinct {
    /// Adds an execution, if its error is new.
    pub(super) fn add(&mut self, found: Counterexample) {
        let Counterexample { ending, trace, .. } = &found;
        let kind = meaning::kind(ending, trace);
        let message = match ending {
            Ending::Failed(_, failure) => failure.message.clone(),
            _ => String::new(),
        };
        let mut places = places(ending, trace);
        places.sort_unstable();
        if self.found.len() < MOST && self.known.insert((kind, message, places)) {
            self.found.push(found);
        }
    }
}

impl IntoIterator for Distinct {
    type Item = Counterexample;
    type IntoIter = std::vec::IntoIter<Counterexample>;

    fn into_iter(self) -> Self::IntoIter {
        self.found.into_iter()
    }
}

/// The places that take part in an error.
fn places(ending: &Ending, trace: &Trace) -> Vec<PlaceId> {
    let of_event = |at: usize| trace.events.get(at).map(|event| event.op.place);
    match ending {
        Ending::Failed(_, failure) => vec![failure.place],
        Ending::Race(first, second) => [*first, *second].into_iter().filter_map(of_event).collect(),
        _ => {
            let place = |pending: &Pending| match pending {
                Pending::Question(op) => op.place,
                Pending::Loop(_) => PlaceId::default(),
            };
            trace.pending.values().map(place).collect()
        }
    }
}
