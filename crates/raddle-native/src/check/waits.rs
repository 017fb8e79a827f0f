//! Threads that wait for a lock by asking again (`program::retry`) seem to spin. They wait.

use raddle_core::program::Op;
use raddle_core::trace::{Counterexample, Ending, Pending, ThreadEnd, Trace};

use crate::program::NativeProgram;

/// Calls a livelock a deadlock if all of its threads wait for locks.
pub(super) fn as_deadlock(program: &NativeProgram, mut found: Counterexample) -> Counterexample {
    let Ending::Livelock(threads) = &found.ending else { return found };
    let threads = threads.clone();
    let waits: Vec<Option<Op>> =
        threads.iter().map(|thread| wait(program, &found.trace, *thread)).collect();
    if waits.iter().any(Option::is_none) {
        return found;
    }
    for (thread, op) in threads.iter().zip(waits.into_iter().flatten()) {
        found.trace.pending.insert(*thread, Pending::Question(op));
        found.trace.ends.insert(*thread, ThreadEnd::Waiting);
    }
    found.ending = Ending::Deadlock(threads);
    found
}

/// What a thread waits for that seems to spin.
fn wait(
    program: &NativeProgram,
    trace: &Trace,
    thread: raddle_core::execution::ThreadId,
) -> Option<Op> {
    let op = match trace.pending.get(&thread)? {
        Pending::Question(op) => *op,
        Pending::Loop(start) => {
            let mut events = trace.events.iter();
            events.find(|event| event.thread == thread && event.position >= *start)?.op
        }
    };
    let is_awaited = |op: Op| op.kind.location().is_some_and(|it| program.awaited.contains(&it));
    let is_wait =
        matches!(trace.pending.get(&thread), Some(Pending::Question(_))) || is_awaited(op);
    is_wait.then_some(op)
}
