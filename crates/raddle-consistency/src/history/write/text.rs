//! Writing the text form.

use std::fmt::Write as _;

use super::{initial_value, is_mention_order, source_name, stated_inits, stated_order};
use raddle_core::execution::{Action, EventId, Execution, LocationId, ThreadId};

/// Lines of events are broken before this many bytes if possible.
const WIDTH: usize = 100;

/// Writes one event as in the text form, such as `R y 0 <- P1.2`; an initial write is `init y=0`.
#[must_use]
pub fn write_event(execution: &Execution, event: EventId) -> String {
    let location = |id: LocationId| &execution.location(id).name;
    let thread = |id: ThreadId| &execution.thread(id).name;
    let order = suffix(execution, event);
    let mut text = match *execution.action(event) {
        Action::Init { location: id, value } => format!("init {}={value}", location(id)),
        Action::Read { location: id, value } => format!("R{order} {} {value}", location(id)),
        Action::Write { location: id, value } => format!("W{order} {} {value}", location(id)),
        Action::Rmw { location: id, read, written } => {
            format!("RMW{order} {} {read} {written}", location(id))
        }
        Action::Cas { location: id, expected, desired, succeeded: true, .. } => {
            format!("CAS{order} {} {expected} {desired}", location(id))
        }
        Action::Cas { location: id, expected, desired, read, .. } => {
            format!("CAS{order} {} {expected} {desired} failed {read}", location(id))
        }
        Action::Fence => format!("F{order}"),
        Action::StoreFence => "F.ss".to_owned(),
        Action::Lock { lock } => format!("LOCK {}", location(lock)),
        Action::Unlock { lock } => format!("UNLOCK {}", location(lock)),
        Action::Spawn { thread: id } => format!("SPAWN {}", thread(id)),
        Action::Join { thread: id } => format!("JOIN {}", thread(id)),
    };
    if let Some(source) = source_name(execution, event) {
        text.push_str(" <- ");
        text.push_str(&source);
    }
    text
}

/// The memory order as a suffix; empty if it is the default.
fn suffix(execution: &Execution, event: EventId) -> String {
    match stated_order(execution, event) {
        Some(order) => format!(".{order}"),
        None => String::new(),
    }
}

/// Writes an execution in the text form.
pub(super) fn write(execution: &Execution) -> String {
    let mut out = String::new();
    let events: Vec<EventId> = execution.events().filter(|&e| !execution.is_init(e)).collect();
    let inits = stated_inits(execution);
    if !is_mention_order(execution, &inits, &events) {
        out.push_str("locations:");
        for location in execution.locations() {
            let _ = write!(out, " {}", execution.location(location).name);
        }
        out.push('\n');
    }
    if !inits.is_empty() {
        out.push_str("init:");
        for &location in &inits {
            let name = &execution.location(location).name;
            let _ = write!(out, " {name}={}", initial_value(execution, location));
        }
        out.push('\n');
    }
    for thread in execution.threads() {
        write_thread(execution, thread, &mut out);
    }
    out
}

/// Writes the events of a thread on as many lines as they need.
fn write_thread(execution: &Execution, thread: ThreadId, out: &mut String) {
    let name = &execution.thread(thread).name;
    let mut line = format!("{name}:");
    let empty = line.len();
    for event in execution.thread_events(thread) {
        let event = write_event(execution, event);
        if line.len() > empty && line.len() + event.len() + 2 > WIDTH {
            out.push_str(&line);
            out.push('\n');
            line.truncate(empty);
        }
        line.push_str(if line.len() == empty { " " } else { "; " });
        line.push_str(&event);
    }
    out.push_str(&line);
    out.push('\n');
}
