//! What threads wait for and where they spin.

use super::wording::Wording;
use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::program::{Guard, OpKind};
use raddle_core::trace::{Ending, Observed, Pending, ThreadEnd, Trace};

/// The threads that wait or spin.
pub(super) fn stuck_threads(trace: &Trace) -> Vec<ThreadId> {
    let is_stuck = |end: &ThreadEnd| matches!(end, ThreadEnd::Waiting | ThreadEnd::Repeats);
    trace.ends.iter().filter(|(_, end)| is_stuck(end)).map(|(&thread, _)| thread).collect()
}

/// Returns `true` if a thread waits for a value, which any thread could write, and not for a lock or a thread.
pub(super) fn wait_for_value(trace: &Trace) -> bool {
    let is_open = |thread| match trace.pending.get(thread) {
        Some(Pending::Question(op)) => {
            !matches!(op.kind, OpKind::Lock { .. } | OpKind::Join { .. })
        }
        Some(Pending::Loop(_)) => true,
        None => false,
    };
    stuck_threads(trace).iter().any(is_open)
}

/// The event that makes a thread wait: the last one of the lock, object or thread that it waits for.
pub(super) fn cause(trace: &Trace, thread: ThreadId) -> Option<usize> {
    let Some(Pending::Question(op)) = trace.pending.get(&thread) else { return None };
    match op.kind {
        OpKind::Lock { lock } => holder(trace, lock),
        OpKind::Sync { location, .. } => last_update(trace, location),
        OpKind::Join { thread } => trace.events.iter().rposition(|event| event.thread == thread),
        _ => None,
    }
}

/// The acquire of a lock that was not released after it.
fn holder(trace: &Trace, lock: LocationId) -> Option<usize> {
    let is_released = |at: usize| {
        let mut later = trace.events[at..].iter();
        let thread = trace.events[at].thread;
        later.any(|event| event.thread == thread && event.op.kind == OpKind::Unlock { lock })
    };
    let acquires = |at: usize| trace.events[at].op.kind == OpKind::Lock { lock };
    (0..trace.events.len()).find(|&at| acquires(at) && !is_released(at))
}

/// The last update of a synchronization object.
fn last_update(trace: &Trace, location: LocationId) -> Option<usize> {
    let updates = |at: usize| {
        let kind = trace.events[at].op.kind;
        matches!(kind, OpKind::Sync { .. }) && kind.location() == Some(location)
    };
    let is_followed = |at| {
        let observes = |by: usize| trace.events[by].observed == Some(Observed::Event(at));
        (0..trace.events.len()).any(|by| updates(by) && observes(by))
    };
    (0..trace.events.len()).find(|&at| updates(at) && !is_followed(at))
}

/// A sentence for each thread that waits or spins, if the ending is a deadlock or livelock.
pub(super) fn sentences(wording: &Wording<'_>, ending: &Ending) -> Vec<String> {
    match ending {
        Ending::Deadlock(_) | Ending::Livelock(_) => stuck_threads(wording.trace)
            .into_iter()
            .map(|thread| sentence(wording, thread))
            .collect(),
        _ => vec![],
    }
}

fn sentence(wording: &Wording<'_>, thread: ThreadId) -> String {
    let name = wording.names.thread_name(thread);
    match wording.trace.pending.get(&thread) {
        Some(Pending::Question(op)) => {
            let what = waits_for(wording, thread, op.kind);
            format!("{name} waits {what} ({})", wording.place(op.place))
        }
        Some(&Pending::Loop(start)) => {
            format!("{name} spins: it repeats {}", spins(wording, thread, start))
        }
        None => format!("{name} waits"),
    }
}

fn waits_for(wording: &Wording<'_>, thread: ThreadId, kind: OpKind) -> String {
    let cause = cause(wording.trace, thread);
    let since = cause.map(|at| wording.name(at));
    match (kind, since) {
        (OpKind::Lock { lock }, Some(since)) => {
            let lock = wording.location(lock);
            let holder = cause.map(|at| wording.trace.events[at].thread);
            let holder = match holder {
                Some(holder) if holder != thread => wording.names.thread_name(holder),
                _ => String::from("it"),
            };
            format!("for lock {lock}, which {holder} holds since {since}")
        }
        (OpKind::Lock { lock }, None) => format!("for lock {}", wording.location(lock)),
        (OpKind::Join { thread }, _) => {
            format!("for the end of {}", wording.names.thread_name(thread))
        }
        (OpKind::Sync { location, guard, .. }, since) => {
            let value = cause.and_then(|at| wording.trace.events[at].written);
            let value = value.unwrap_or_else(|| wording.initial_value(location));
            let since = since.map_or(String::from("initially"), |since| format!("since {since}"));
            let name = wording.location(location);
            if let Some(state) = wording.object_state(location, value) {
                return format!("for {name}: {} {since}", state.clause);
            }
            let wanted = wanted(wording, &name, guard, value);
            format!("until {wanted}; its value is {} {since}", wording.value(value))
        }
        (other, _) => format!("for {}", wording.location_of(&other)),
    }
}

/// The condition on an object that a thread waits for.
fn wanted(wording: &Wording<'_>, name: &str, guard: Guard, value: Value) -> String {
    match guard {
        Guard::Always => format!("{name} can be updated"),
        Guard::Equal(expected) => format!("{name} is {}", wording.value(expected)),
        Guard::Below(bound) => format!("{name} is below {}", wording.value(bound)),
        Guard::Above(bound) => format!("{name} is above {}", wording.value(bound)),
        Guard::NoBits(bits) => format!("the bits {:#b} of {name} are clear", bits & value),
    }
}

/// The events of the last iteration of a loop.
fn spins(wording: &Wording<'_>, thread: ThreadId, start: usize) -> String {
    let events = wording.trace.events.iter().enumerate();
    let shown = |kind: OpKind| !matches!(kind, OpKind::Init { .. });
    let mut round =
        events.filter(|(_, e)| e.thread == thread && e.position >= start && shown(e.op.kind));
    let Some((first, event)) = round.next() else { return String::from("itself") };
    let place = wording.place(event.op.place);
    match round.next_back() {
        None => format!("{} forever ({place})", wording.name(first)),
        Some((last, _)) => {
            let (first, last) = (wording.step(first), wording.step(last));
            format!("steps {first} to {last} forever (from {place})")
        }
    }
}
