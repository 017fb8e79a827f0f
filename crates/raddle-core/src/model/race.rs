//! Data races.

use crate::execution::Coherence;
use crate::execution::{EventId, Execution, MemoryOrder};

use super::Model;
use super::relations::{Relations, writes};

/// A race of an execution with given reads-from: two accesses of one location by different threads, at least one of them a
/// write and at least one non-atomic, neither of which happens before the other. Store-buffer models have no races. The
/// order of fences, where the model has one, is ignored: races must not depend on which order was found.
#[must_use]
pub fn race(
    execution: &Execution,
    model: Model,
    coherence: &Coherence,
) -> Option<(EventId, EventId)> {
    let given = Coherence { fences: vec![], ..coherence.clone() };
    let relations = Relations::new(execution, model, &given);
    let mut pairs = execution.events().flat_map(|a| execution.events().map(move |b| (a, b)));
    pairs.find(|&(a, b)| a < b && is_race(execution, model, &relations, a, b))
}

/// Returns `true` if two events race under the model.
#[must_use]
pub fn is_race(
    execution: &Execution,
    model: Model,
    relations: &Relations,
    a: EventId,
    b: EventId,
) -> bool {
    let before = |a: EventId, b: EventId| relations.hb.contains(a.index(), b.index());
    !model.has_store_buffers() && conflict(execution, a, b) && !before(a, b) && !before(b, a)
}

/// Returns `true` if two events race unless one happens before the other.
fn conflict(execution: &Execution, a: EventId, b: EventId) -> bool {
    let location = |event| execution.action(event).location();
    let threads = execution.thread_of(a).zip(execution.thread_of(b));
    threads.is_some_and(|(a, b)| a != b)
        && location(a).is_some()
        && location(a) == location(b)
        && [a, b].iter().any(|&e| writes(execution.action(e)))
        && [a, b].iter().any(|&e| execution.order(e) == MemoryOrder::NonAtomic)
}
