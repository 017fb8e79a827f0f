//! Writing both forms.
//!
//! Reading what was written gives an equal execution, ids included: if the order of first mention is not that of the ids,
//! locations and threads are listed first. Text cannot express the recorded order. Two things that only
//! [`Execution::prefix`] creates cannot be expressed: a location that is read but no longer written gets its initial value 0
//! explicitly, and a lock that is no longer used becomes a location. Names and values are not checked: reading rejects those
//! that the [form](super) does not allow.

mod jsonl;
mod text;

use super::Format;
use raddle_core::execution::{Action, EventId, Execution, LocationId, MemoryOrder, Value};
pub use text::write_event;

/// Writes an execution as a history.
#[must_use]
pub fn write(execution: &Execution, format: Format) -> String {
    match format {
        Format::Text => text::write(execution),
        Format::JsonLines => jsonl::write(execution),
    }
}

/// The source that the history names for an event.
fn source_name(execution: &Execution, event: EventId) -> Option<String> {
    let &source = execution.sources(event).first().filter(|_| execution.names_source(event))?;
    Some(if execution.is_init(source) { "init".to_owned() } else { execution.name(source) })
}

/// The memory order of an event, if it is not the one that such an event has by default.
fn stated_order(execution: &Execution, event: EventId) -> Option<MemoryOrder> {
    let order = execution.order(event);
    (order != execution.action(event).default_order()).then_some(order)
}

/// The locations whose initial value must be written: those that the history gave one, and those
/// that are read but not written, which need one.
fn stated_inits(execution: &Execution) -> Vec<LocationId> {
    let mut read = vec![false; execution.location_count()];
    let mut written = vec![false; execution.location_count()];
    for event in execution.events().filter(|&event| !execution.is_init(event)) {
        let action = execution.action(event);
        if let Some(location) = action.location() {
            read[location.index()] |= action.read_value().is_some();
            written[location.index()] |= action.written_value().is_some();
        }
    }
    let needs = |id: LocationId| read[id.index()] && !written[id.index()];
    execution.locations().filter(|&id| execution.location(id).declared || needs(id)).collect()
}

fn initial_value(execution: &Execution, location: LocationId) -> Value {
    match *execution.action(execution.init_of(location)) {
        Action::Init { value, .. } => value,
        ref other => unreachable!("the initial write of a location is not {other:?}"),
    }
}

/// Returns `true` if initial values and then events mention every location, in the order of the ids.
fn is_mention_order(execution: &Execution, inits: &[LocationId], events: &[EventId]) -> bool {
    let mut mentioned = 0;
    let accessed = events.iter().filter_map(|&event| execution.action(event).location());
    for location in inits.iter().copied().chain(accessed) {
        if location.index() > mentioned {
            return false;
        }
        mentioned = mentioned.max(location.index() + 1);
    }
    mentioned == execution.location_count()
}
