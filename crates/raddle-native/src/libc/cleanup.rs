//! What a thread cleans up when it calls `pthread_exit`.
//!
//! In C, `pthread_cleanup_push` registers a jump buffer. `pthread_exit` jumps to the last one; the code there calls the handler and
//! then `__pthread_unwind_next`, which continues. In C++, `pthread_exit` unwinds the stack like an exception that nobody
//! catches for good, so that destructors run: the unwinder asks a function of ours at each frame, which ends the thread at the
//! outermost one.

use super::{Names, Purpose, area, ending};
use crate::program::call::{Call, Step};

/// Offset and size of the unwinder's object in the memory of a thread.
const EXCEPTION: u64 = 2048;
const EXCEPTION_SIZE: usize = 64;
/// The unwinder has reached the end of the stack.
const END_OF_STACK: u64 = 16;

/// Ends the thread with a result, after its cleanup handlers or the destructors of objects on its stack.
pub(super) fn exit(call: &mut Call<'_>, result: u64) -> Step<u64> {
    call.remember(Purpose::ExitResult, 0, result);
    if call.recall(Purpose::Handlers, 0) > 0 {
        return continue_with_handlers(call);
    }
    if call.program.process.address_of("_Unwind_ForcedUnwind").is_none() {
        return Err(ending::end_thread(call, result));
    }
    let Some(stop) = call.program.process.host_function("raddle_stop_unwinding") else {
        return Err(call.refuse("ends a thread in a way that Raddle cannot follow"));
    };
    let exception = area::own(call) + EXCEPTION;
    call.store_bytes(exception, &[0; EXCEPTION_SIZE])?;
    Err(call.jump_to_library("_Unwind_ForcedUnwind", &[exception, stop.address(), 0]))
}

/// The unwinder is at a frame: `stop(version, actions, class, exception, context, argument)`.
fn stop_unwinding(call: &mut Call<'_>) -> Step<u64> {
    if call.argument(1)? & END_OF_STACK == 0 {
        return Ok(0);
    }
    let result = call.recall(Purpose::ExitResult, 0);
    Err(ending::end_thread(call, result))
}

/// `__pthread_register_cancel(buffer)`.
fn register(call: &mut Call<'_>) -> Step<u64> {
    let buffer = call.argument(0)?;
    let count = call.recall(Purpose::Handlers, 0) + 1;
    call.remember(Purpose::Handlers, count, buffer);
    call.remember(Purpose::Handlers, 0, count);
    Ok(0)
}

fn unregister(call: &mut Call<'_>) -> Step<u64> {
    pop(call);
    Ok(0)
}

/// Removes the last buffer and returns it.
fn pop(call: &mut Call<'_>) -> Option<u64> {
    let count = call.recall(Purpose::Handlers, 0);
    let last = count.checked_sub(1)?;
    let buffer = call.recall(Purpose::Handlers, count);
    call.remember(Purpose::Handlers, count, 0);
    call.remember(Purpose::Handlers, 0, last);
    Some(buffer)
}

/// Jumps to the last buffer, or ends the thread.
fn continue_with_handlers(call: &mut Call<'_>) -> Step<u64> {
    match pop(call) {
        Some(buffer) => Err(call.jump_to_library("longjmp", &[buffer, 1])),
        None => {
            let result = call.recall(Purpose::ExitResult, 0);
            Err(ending::end_thread(call, result))
        }
    }
}

pub(super) const TABLE: Names = &[
    ("__pthread_register_cancel", register),
    ("__pthread_unregister_cancel", unregister),
    ("__pthread_unwind_next", continue_with_handlers),
    ("raddle_stop_unwinding", stop_unwinding),
];
