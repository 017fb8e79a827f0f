//! Rechecking witnesses under the C11 models.
//!
//! First, reads-from, modification orders and fence order must fit the execution. Then the axioms are tested one by one on
//! the relations ([`model`](raddle_core::model)). O(n^3 / 64) for n events.

use raddle_core::execution::Coherence;
use raddle_core::execution::{EventId, Execution, LocationId};
use raddle_core::model::reference::{fences_update_hidden_location, has_modification_orders};
use raddle_core::model::relations::{Relations, is_sc_fence, own_acquire, writes};
use raddle_core::model::{Model, axioms, broken};

use super::{RecheckError, Rechecked};

/// The largest number of events for which the matrices of relations are computed.
pub(super) const LIMIT: usize = 4_000;

/// Tests the axioms of a model on an execution with given reads-from and modification orders.
///
/// # Errors
/// If an axiom is broken, or if the coherence does not fit the execution.
pub fn recheck_coherence(
    execution: &Execution,
    model: Model,
    coherence: &Coherence,
) -> Result<Rechecked, RecheckError> {
    if axioms(model).is_empty() {
        return Err(RecheckError::OtherModel);
    }
    if let Some(why) = flaw(execution, model, coherence) {
        return Err(RecheckError::Malformed { why });
    }
    if execution.event_count() > LIMIT {
        return Ok(Rechecked::TooLarge);
    }
    match broken(model, &Relations::new(execution, model, coherence)) {
        None => Ok(Rechecked::Proved),
        Some((axiom, cycle)) => {
            let name = |event| execution.name(EventId::new(event));
            Err(RecheckError::Broken { axiom, cycle: cycle.into_iter().map(name).collect() })
        }
    }
}

/// The reason why the coherence does not fit the execution under the model, if there is one.
fn flaw(execution: &Execution, model: Model, coherence: &Coherence) -> Option<&'static str> {
    let locations = if has_modification_orders(model) { execution.location_count() } else { 0 };
    let fence = |e: &EventId| fences_update_hidden_location(model) && is_sc_fence(execution, *e);
    let fences: Vec<EventId> = execution.events().filter(fence).collect();
    let mut orders = execution.locations().zip(&coherence.mo);
    if coherence.rf.len() != execution.event_count() {
        Some("it does not say for every event what it observes")
    } else if !execution.events().all(|e| observes(execution, e, coherence.rf[e.index()])) {
        Some("an event observes what is none of its sources")
    } else if coherence.mo.len() != locations {
        Some("it does not have the modification orders that the model has")
    } else if !orders.all(|(location, order)| is_order(execution, location, order)) {
        Some("a modification order is not one of the location's writes, initial write first")
    } else if !is_permutation(&coherence.fences, &fences) {
        Some("it does not order the sequentially consistent fences that the model orders")
    } else {
        None
    }
}

/// Returns `true` if an event may observe the source.
fn observes(execution: &Execution, event: EventId, source: Option<EventId>) -> bool {
    match source {
        Some(source) if execution.action(event).has_source() => {
            source != event && execution.sources(event).contains(&source)
        }
        None if execution.action(event).has_source() => false,
        source => source == own_acquire(execution, event),
    }
}

/// Returns `true` if `order` contains the writes of a location, each once and the initial one first.
fn is_order(execution: &Execution, location: LocationId, order: &[EventId]) -> bool {
    let is_write = |e: &EventId| {
        let action = execution.action(*e);
        writes(action) && action.location() == Some(location)
    };
    let all: Vec<EventId> = execution.events().filter(is_write).collect();
    order.first() == Some(&execution.init_of(location)) && is_permutation(order, &all)
}

/// Returns `true` if a list is a permutation of a sorted one.
fn is_permutation(list: &[EventId], sorted: &[EventId]) -> bool {
    let mut list = list.to_vec();
    list.sort_unstable();
    list == sorted
}
