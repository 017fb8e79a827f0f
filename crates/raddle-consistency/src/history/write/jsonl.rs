//! Writing the JSON Lines form.

use std::fmt::Write as _;

use super::{initial_value, is_mention_order, source_name, stated_inits, stated_order};
use raddle_core::execution::{Action, EventId, Execution, LocationId, ThreadId};

/// Writes an execution in the JSON Lines form, in the recorded order if it has one.
pub(super) fn write(execution: &Execution) -> String {
    let mut out = String::new();
    let events: Vec<EventId> = match execution.recorded_order() {
        Some(order) => order.to_vec(),
        None => execution.events().filter(|&event| !execution.is_init(event)).collect(),
    };
    write_declarations(execution, &events, &mut out);
    for &event in &events {
        write_event(execution, event, &mut out);
    }
    out
}

/// Writes what the events do not say.
fn write_declarations(execution: &Execution, events: &[EventId], out: &mut String) {
    if execution.recorded_order().is_none() {
        out.push_str("{\"recorded\":false}\n");
    }
    if !is_thread_order(execution, events) {
        let names = execution.threads().map(|id| quoted(&execution.thread(id).name));
        let _ = writeln!(out, "{{\"threads\":[{}]}}", names.collect::<Vec<_>>().join(","));
    }
    let inits = stated_inits(execution);
    if !is_mention_order(execution, &inits, events) {
        let names = execution.locations().map(|id| quoted(&execution.location(id).name));
        let _ = writeln!(out, "{{\"locations\":[{}]}}", names.collect::<Vec<_>>().join(","));
    }
    if !inits.is_empty() {
        let value = |&id: &LocationId| {
            format!("{}:{}", quoted(&execution.location(id).name), initial_value(execution, id))
        };
        let values: Vec<String> = inits.iter().map(value).collect();
        let _ = writeln!(out, "{{\"init\":{{{}}}}}", values.join(","));
    }
}

fn write_event(execution: &Execution, event: EventId, out: &mut String) {
    let thread = execution.thread_of(event).expect("initial writes are declarations");
    let _ = write!(out, "{{\"thread\":{},", quoted(&execution.thread(thread).name));
    out.push_str(&action_fields(execution, execution.action(event)));
    if let Some(order) = stated_order(execution, event) {
        let _ = write!(out, ",\"order\":\"{order}\"");
    }
    if let Some(source) = source_name(execution, event) {
        let _ = write!(out, ",\"from\":{}", quoted(&source));
    }
    out.push_str("}\n");
}

fn action_fields(execution: &Execution, action: &Action) -> String {
    let at = |id: LocationId| quoted(&execution.location(id).name);
    let name = |id: ThreadId| quoted(&execution.thread(id).name);
    match *action {
        Action::Init { .. } => unreachable!("initial writes are declarations"),
        Action::Read { location, value } => {
            format!(r#""op":"read","location":{},"value":{value}"#, at(location))
        }
        Action::Write { location, value } => {
            format!(r#""op":"write","location":{},"value":{value}"#, at(location))
        }
        Action::Rmw { location, read, written } => {
            let location = at(location);
            format!(r#""op":"rmw","location":{location},"read":{read},"written":{written}"#)
        }
        Action::Cas { location, expected, desired, read, succeeded } => format!(
            r#""op":"cas","location":{},"expected":{expected},"desired":{desired},"read":{read},"succeeded":{succeeded}"#,
            at(location)
        ),
        Action::Fence => r#""op":"fence""#.to_owned(),
        Action::StoreFence => r#""op":"store-fence""#.to_owned(),
        Action::Lock { lock } => format!(r#""op":"lock","lock":{}"#, at(lock)),
        Action::Unlock { lock } => format!(r#""op":"unlock","lock":{}"#, at(lock)),
        Action::Spawn { thread } => format!(r#""op":"spawn","target":{}"#, name(thread)),
        Action::Join { thread } => format!(r#""op":"join","target":{}"#, name(thread)),
    }
}

fn quoted(name: &str) -> String {
    serde_json::Value::from(name).to_string()
}

/// Returns `true` if events mention every thread, in the order of the ids.
fn is_thread_order(execution: &Execution, events: &[EventId]) -> bool {
    let mut mentioned = 0;
    for thread in events.iter().filter_map(|&event| execution.thread_of(event)) {
        if thread.index() > mentioned {
            return false;
        }
        mentioned = mentioned.max(thread.index() + 1);
    }
    mentioned == execution.thread_count()
}
