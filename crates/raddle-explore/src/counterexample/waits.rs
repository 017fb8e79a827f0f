//! What threads wait for, and where they spin.

use super::words::Words;
use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::program::{Guard, OpKind};
use raddle_core::trace::{Ending, Observed, Pending, ThreadEnd, Trace};

/// The threads that wait or spin.
pub(super) fn stuck(trace: &Trace) -> Vec<ThreadId> {
    let is_stuck = |end: &ThreadEnd| matches!(end, ThreadEnd::Waiting | ThreadEnd::Repeats);
    trace.ends.iter().filter(|(_, end)| is_stuck(end)).map(|(&thread, _)| thread).collect()
}

/// Whether a thread waits for a value, which any thread might have written, and not for a lock or a thread.
pub(super) fn is_for_anybody(trace: &Trace) -> bool {
    let is_open = |thread| match trace.pending.get(thread) {
        Some(Pending::Question(op)) => {
            !matches!(op.kind, OpKind::Lock { .. } | OpKind::Join { .. })
        }
        Some(Pending::Loop(_)) => true,
        None => false,
    };
    stuck(trace).iter().any(is_open)
}

/// The event because of which a thread waits: the last one of the lock, object or thread.
pub(super) fn cause(trace: &Trace, thread: ThreadId) -> Option<usize> {
    let Some(Pending::Question(op)) = trace.pending.get(&thread) else { return None };
    match op.kind {
        OpKind::Lock { lock } => holder(trace, lock),
        OpKind::Sync { location, .. } => last_update(trace, location),
        OpKind::Join { thread } => trace.events.iter().rposition(|event| event.thread == thread),
        _ => None,
    }
}

/// The acquire after which nobody released the lock.
fn holder(trace: &Trace, lock: LocationId) -> Option<usize> {
    let is_released = |at: usize| {
        let mut later = trace.events[at..].iter();
        let thread = trace.events[at].thread;
        later.any(|event| event.thread == thread && event.op.kind == OpKind::Unlock { lock })
    };
    let acquires = |at: usize| trace.events[at].op.kind == OpKind::Lock { lock };
    (0..trace.events.len()).find(|&at| acquires(at) && !is_released(at))
}

/// The update of a synchronization object that no other one follows.
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

/// A sentence for each thread that waits or spins, if that is what went wrong.
pub(super) fn sentences(words: &Words<'_>, ending: &Ending) -> Vec<String> {
    match ending {
        Ending::Deadlock(_) | Ending::Livelock(_) => {
            stuck(words.trace).into_iter().map(|thread| sentence(words, thread)).collect()
        }
        _ => vec![],
    }
}

fn sentence(words: &Words<'_>, thread: ThreadId) -> String {
    let name = words.program.thread_name(thread);
    match words.trace.pending.get(&thread) {
        Some(Pending::Question(op)) => {
            let what = waits_for(words, thread, op.kind);
            format!("{name} waits {what} ({})", words.place(op.place))
        }
        Some(&Pending::Loop(start)) => {
            format!("{name} spins: it repeats {}", spins(words, thread, start))
        }
        None => format!("{name} waits"),
    }
}

fn waits_for(words: &Words<'_>, thread: ThreadId, kind: OpKind) -> String {
    let cause = cause(words.trace, thread);
    let since = cause.map(|at| words.name(at));
    match (kind, since) {
        (OpKind::Lock { lock }, Some(since)) => {
            let lock = words.location(lock);
            let holder = cause.map(|at| words.trace.events[at].thread);
            let holder = match holder {
                Some(holder) if holder != thread => words.program.thread_name(holder),
                _ => String::from("it"),
            };
            format!("for lock {lock}, which {holder} holds since {since}")
        }
        (OpKind::Lock { lock }, None) => format!("for lock {}", words.location(lock)),
        (OpKind::Join { thread }, _) => {
            format!("for the end of {}", words.program.thread_name(thread))
        }
        (OpKind::Sync { location, guard, .. }, since) => {
            let value = cause.and_then(|at| words.trace.events[at].written);
            let value = value.unwrap_or_else(|| words.initial_value(location));
            let since = since.map_or(String::from("initially"), |since| format!("since {since}"));
            let wanted = wanted(words, guard, value);
            let name = words.location(location);
            format!("until {name} {wanted}; it is {} {since}", words.value(value))
        }
        (other, _) => format!("for {}", words.location_of(&other)),
    }
}

/// What an object is waited for.
fn wanted(words: &Words<'_>, guard: Guard, value: Value) -> String {
    match guard {
        Guard::Always => String::from("can be updated"),
        Guard::Equal(expected) => format!("is {}", words.value(expected)),
        Guard::Below(bound) => format!("is below {}", words.value(bound)),
        Guard::Above(bound) => format!("is above {}", words.value(bound)),
        Guard::NoBits(bits) => format!("loses the bits {:#b}", bits & value),
    }
}

/// The last round of a loop.
fn spins(words: &Words<'_>, thread: ThreadId, start: usize) -> String {
    let events = words.trace.events.iter().enumerate();
    let shown = |kind: OpKind| !matches!(kind, OpKind::Init { .. });
    let mut round =
        events.filter(|(_, e)| e.thread == thread && e.position >= start && shown(e.op.kind));
    let Some((first, event)) = round.next() else { return String::from("itself") };
    let place = words.place(event.op.place);
    match round.next_back() {
        None => format!("{} for ever ({place})", words.name(first)),
        Some((last, _)) => {
            let (first, last) = (words.name(first), words.name(last));
            format!("{first} to {last} for ever (from {place} on)")
        }
    }
}
