//! The instances on which algorithms are compared: reads-from maps, realizable and not.
//!
//! *Realizable* ones are runs of the machine of the model, of random programs with as many loads as
//! stores and three locations; *fenced* ones have 5% full fences, 5% store-store fences and 5%
//! read-modify-writes as well. What was flushed when is not told, nor is the order of the run.
//!
//! *Unrealizable* ones are such runs with the source of a single load changed, in the last third of
//! its thread. That is what a bug looks like, and most of the run comes before it, so an algorithm
//! does not hit on the contradiction at the start. Of these we keep the ones for which at least one
//! of the algorithms visits a thousand states, since on the others nothing but the setup is timed.
//! (Bui et al. likewise keep what takes one of their algorithms 0.05 s.) The choice looks at neither
//! the time nor the states of the better algorithm.

use raddle_consistency::check::{CheckOptions, SearchAlgorithm, UseClosure, check};
use raddle_consistency::reference::generate::{HistoryShape, ValueChoice, generate, perturb};
use raddle_consistency::witness::ConsistencyVerdict;
use raddle_core::execution::{Action, EventId, Execution};
use raddle_core::model::Model;

/// Fewer states are no search worth timing.
const FEWEST_STATES: u64 = 1000;

/// How many runs are tried for one unrealizable instance.
const MOST_TRIES: u64 = 3000;

/// The kind of instances to compare on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Kind {
    pub(crate) model: Model,
    pub(crate) threads: usize,
    pub(crate) fenced: bool,
    pub(crate) realizable: bool,
}

impl Kind {
    fn shape(&self, events: usize) -> HistoryShape {
        let share = if self.fenced { 0.05 } else { 0.0 };
        HistoryShape {
            model: self.model,
            threads: self.threads,
            locations: 3,
            locks: 0,
            events_per_thread: events / self.threads,
            values: ValueChoice::Distinct,
            rmw: share,
            cas: 0.0,
            fences: share,
            store_fences: share,
            lock_events: 0.0,
            name_sources: 1.0,
            ..HistoryShape::default()
        }
    }

    /// Up to `count` instances with about `events` events, always the same ones.
    pub(crate) fn instances(&self, events: usize, count: usize) -> Vec<Execution> {
        let shape = self.shape(events);
        if self.realizable {
            return (0..count as u64).map(|seed| generate(&shape, seed)).collect();
        }
        (0..MOST_TRIES).filter_map(|seed| self.unrealizable(&shape, seed)).take(count).collect()
    }

    fn unrealizable(&self, shape: &HistoryShape, seed: u64) -> Option<Execution> {
        let run = generate(shape, seed);
        let changed = perturb(&run, seed, 1);
        let late = changed_load(&run, &changed).is_some_and(|load| {
            let place = run.position(load).map_or(0, |(_, position)| position);
            3 * place >= 2 * shape.events_per_thread
        });
        (late && self.is_forbidden(&changed) && self.needs_search(&changed)).then_some(changed)
    }

    fn is_forbidden(&self, execution: &Execution) -> bool {
        let options = CheckOptions { shrink: false, ..CheckOptions::default() };
        matches!(check(execution, self.model, &options), ConsistencyVerdict::Inconsistent(_))
    }

    fn needs_search(&self, execution: &Execution) -> bool {
        let options = CheckOptions {
            closure: UseClosure::Never,
            shrink: false,
            budget: FEWEST_STATES,
            algorithm: SearchAlgorithm::Naive,
        };
        matches!(check(execution, self.model, &options), ConsistencyVerdict::Unknown { .. })
    }
}

/// The load whose source differs.
fn changed_load(run: &Execution, changed: &Execution) -> Option<EventId> {
    run.events().find(|&event| {
        matches!(run.action(event), Action::Read { .. })
            && run.sources(event) != changed.sources(event)
    })
}
