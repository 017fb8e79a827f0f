//! Deferred cancellation of threads.
//!
//! Whether a thread was asked to end is a synchronization object. A thread looks at it at each cancellation point, and just before
//! it waits there. That a request comes while the thread waits is the same as that the thread comes later and finds it: so it
//! looks once. An execution in which a thread waits forever after it has missed a request is none, as the request wakes it up
//! ([`misses_request`]).
//!
//! As long as no thread is cancelled, nobody looks. The first request starts the exploration again.

use raddle_core::execution::ThreadId;
use raddle_core::program::{Guard, OpKind, UpdateKind};
use raddle_core::trace::{Pending, Trace};

use super::{Names, ObjectKind, Purpose, area, cleanup};
use crate::program::call::{Call, Step, Suspend, set_to, update};

/// What `pthread_join` returns of a thread that was cancelled (`PTHREAD_CANCELED`).
const CANCELED: u64 = u64::MAX;
/// Holds always, and only a look at a request has it.
const LOOK: Guard = Guard::Below(1 << 117);
const ASYNCHRONOUS: u64 = 1;

/// Returns `true` if a thread waits forever that has looked for a request before the request came, and has done nothing since.
pub fn misses_request(trace: &Trace) -> bool {
    let is_request = |location, kind| matches!(kind, OpKind::Sync { location: at, guard: Guard::Always, .. } if at == location);
    trace.pending.iter().any(|(thread, pending)| {
        let last = trace.events.iter().rfind(|event| event.thread == *thread);
        let Some(last) = last.filter(|last| last.read == Some(0)) else { return false };
        let OpKind::Sync { location, guard: LOOK, .. } = last.op.kind else { return false };
        matches!(pending, Pending::Question(_))
            && trace.events.iter().any(|event| is_request(location, event.op.kind))
    })
}

/// Returns `true` if the thread was asked to end and lets that happen.
pub(super) fn is_requested(call: &mut Call<'_>) -> Step<bool> {
    if !call.program.cancels || call.recall(Purpose::CancelDisabled, 0) != 0 {
        return Ok(false);
    }
    let own = area::thread_state(call.current().index());
    Ok(call.sync(ObjectKind::Cancel, own, LOOK, update(UpdateKind::Add, 0))? != 0)
}

/// Ends the thread because it was asked to. The caller must return the result as an error.
pub(super) fn act(call: &mut Call<'_>) -> Suspend {
    match exit(call, CANCELED) {
        Ok(_) => call.refuse("is cancelled where it cannot be"),
        Err(suspend) => suspend,
    }
}

/// Ends the thread, which is not cancelled any more. What it must clean up runs first.
pub(super) fn exit(call: &mut Call<'_>, result: u64) -> Step<u64> {
    if call.program.cancels {
        call.remember(Purpose::CancelDisabled, 0, 1);
    }
    if call.current() == ThreadId::new(0) {
        call.note_left();
    }
    cleanup::exit(call, result)
}

/// A cancellation point, before anything that the thread waits for.
pub(super) fn point(call: &mut Call<'_>) -> Step<()> {
    if is_requested(call)? { Err(act(call)) } else { Ok(()) }
}

/// Asks a thread to end.
pub(super) fn request(call: &mut Call<'_>, thread: ThreadId) -> Step<()> {
    if !call.program.cancels {
        call.program.note_cancels();
        return Err(call.again());
    }
    let state = area::thread_state(thread.index());
    call.sync(ObjectKind::Cancel, state, Guard::Always, set_to(1))?;
    Ok(())
}

fn test_cancel(call: &mut Call<'_>) -> Step<u64> {
    point(call)?;
    Ok(0)
}

/// `pthread_setcancelstate(state, old)`.
fn set_state(call: &mut Call<'_>) -> Step<u64> {
    let (state, old) = (call.argument(0)? & 1, call.argument(1)?);
    let before = call.recall(Purpose::CancelDisabled, 0);
    if old != 0 {
        call.store(old, 4, before)?;
    }
    call.remember(Purpose::CancelDisabled, 0, state);
    Ok(0)
}

/// `pthread_setcanceltype(type, old)`.
fn set_type(call: &mut Call<'_>) -> Step<u64> {
    let (kind, old) = (call.argument(0)? & 1, call.argument(1)?);
    if kind == ASYNCHRONOUS && call.program.cancels {
        return Err(
            call.refuse("lets itself be cancelled anywhere; Raddle models deferred cancellation")
        );
    }
    if old != 0 {
        call.store(old, 4, 0)?;
    }
    Ok(0)
}

pub(super) const TABLE: Names = &[
    ("pthread_testcancel", test_cancel),
    ("pthread_setcancelstate", set_state),
    ("pthread_setcanceltype", set_type),
];
