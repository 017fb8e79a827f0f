//! What went wrong, for people.

use raddle_core::execution::Value;
use raddle_core::explore::{Ending, Observed, Trace, TraceEvent};
use raddle_core::program::{OpKind, Program, is_pointer};
use raddle_runtime::ops::GONE;

/// What went wrong, in one sentence.
pub(crate) fn sentence(program: &dyn Program, ending: &Ending, trace: &Trace) -> String {
    let names = |threads: &[_]| {
        let names: Vec<_> = threads.iter().map(|&thread| program.thread_name(thread)).collect();
        names.join(", ")
    };
    match ending {
        Ending::Complete => String::from("all is well"),
        Ending::Blocked => String::from("no thread can go on"),
        Ending::Deadlock(threads) => format!("deadlock: {} wait for ever", names(threads)),
        Ending::Livelock(threads) => format!("livelock: {} spin for ever", names(threads)),
        Ending::Failed(thread, failure) => {
            format!("thread {}: {}", program.thread_name(*thread), failure.message)
        }
        Ending::Race(first, second) => {
            let tell = |at: usize| {
                let event = &trace.events[at];
                let thread = program.thread_name(event.thread);
                format!("{thread} ({})", program.place(event.op.place))
            };
            format!("data race between {} and {}", tell(*first), tell(*second))
        }
        Ending::Limit(thread) => {
            format!("thread {} reached the limit of events", program.thread_name(*thread))
        }
    }
}

/// Where it went wrong.
pub(crate) fn place(program: &dyn Program, ending: &Ending, trace: &Trace) -> String {
    match ending {
        Ending::Failed(_, failure) => program.place(failure.place),
        Ending::Race(_, second) => program.place(trace.events[*second].op.place),
        _ => (trace.events.last())
            .map_or_else(|| String::from("the start"), |event| program.place(event.op.place)),
    }
}

/// The execution, one line for each event, each thread in a column of its own.
pub(crate) fn table(program: &dyn Program, trace: &Trace) -> String {
    let threads: Vec<_> = trace.ends.keys().copied().collect();
    let mut lines = String::new();
    for event in &trace.events {
        if matches!(event.op.kind, OpKind::Init { .. }) {
            continue;
        }
        let column = threads.iter().position(|&thread| thread == event.thread).unwrap_or(0);
        let thread = program.thread_name(event.thread);
        let place = program.place(event.op.place);
        let what = what(program, trace, event);
        lines += &format!("  {:indent$}[{thread}] {what}  {place}\n", "", indent = 4 * column);
    }
    lines
}

fn what(program: &dyn Program, trace: &Trace, event: &TraceEvent) -> String {
    let at = event.op.kind.location().map_or(String::new(), |at| program.location_name(at));
    let written = event.written.map_or(String::new(), |value| format!(" := {}", number(value)));
    let read = match event.read {
        Some(value) => format!(" = {}{}", number(value), source(program, trace, event)),
        None => source(program, trace, event),
    };
    let verb = match event.op.kind {
        OpKind::Init { .. } => "starts as",
        OpKind::Store { value: GONE, .. } => return format!("drop {at}"),
        OpKind::Store { .. } => "store",
        OpKind::Fence { .. } | OpKind::StoreFence => "fence",
        OpKind::Unlock { .. } => "unlock",
        OpKind::Spawn { thread } => return format!("spawn {}", program.thread_name(thread)),
        OpKind::WriteCell { .. } => "write",
        OpKind::Load { .. } => "load",
        OpKind::Rmw { .. } => "update",
        OpKind::CompareExchange { .. } if event.written.is_some() => "exchange",
        OpKind::CompareExchange { .. } => "exchange fails",
        OpKind::Lock { .. } => "lock",
        OpKind::Sync { .. } => "sync",
        OpKind::Join { thread } => return format!("join {}", program.thread_name(thread)),
        OpKind::Choose { .. } => "choose",
        OpKind::ReadCell { .. } => "read",
    };
    format!("{verb} {at}{read}{written}")
}

/// Where a read got its value from.
fn source(program: &dyn Program, trace: &Trace, event: &TraceEvent) -> String {
    match event.observed {
        None => String::new(),
        Some(Observed::Initial) => String::from(" (initial)"),
        Some(Observed::Choice(choice)) => choice.to_string(),
        Some(Observed::Event(at)) => {
            let source = &trace.events[at];
            let thread = program.thread_name(source.thread);
            format!(" (from {thread} {})", program.place(source.op.place))
        }
    }
}

fn number(value: Value) -> String {
    if value == GONE {
        return String::from("dropped");
    }
    if !is_pointer(value) {
        return value.to_string();
    }
    let block = (value >> 64) & ((1 << 56) - 1);
    format!("block {block} + {}", value as u64)
}
