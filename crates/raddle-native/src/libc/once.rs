//! Initialisation that happens once: `pthread_once`, and static variables of C++ functions.
//!
//! The state is a synchronization object: new, busy or done. A thread that comes while another one is busy waits.
//!
//! *Exceptions.* The function of `pthread_once` may throw: then the next thread tries. The unwinder must find its way through the
//! frame of `pthread_once`, so this frame is the library's own: its code runs with a control variable that belongs to the thread, and
//! so finds that the function was never called. Both when the function returns and when it throws, the library wakes threads that
//! wait for the control variable. This system call ends the initialisation.

use raddle_core::execution::{MemoryOrder, Value};
use raddle_core::program::{Guard, UpdateKind};

use super::{Names, ObjectKind, Purpose, area};
use crate::program::call::{Call, Step, set_to, update};

const NEW: Value = 0;
const BUSY: Value = 1;
const DONE: Value = 2;

/// Size of a control variable.
const CONTROL: u64 = 8;
/// The deepest nesting of initialisations.
const DEEPEST: u64 = 256;

/// Waits while another thread is busy. Returns `true` if the caller must initialise.
fn begin(call: &mut Call<'_>, object: u64) -> Step<bool> {
    let guard = Guard::NoBits(BUSY);
    Ok(call.sync(ObjectKind::Once, object, guard, update(UpdateKind::Max, BUSY))? == NEW)
}

fn end(call: &mut Call<'_>, object: u64, state: Value) -> Step<()> {
    call.sync(ObjectKind::Once, object, Guard::Always, set_to(state))?;
    Ok(())
}

/// `pthread_once(object, function)`. Objects of libraries may have been used before the program started, so libraries look at them
/// themselves. The code of `call_once` may call `pthread_once` with a control variable.
fn once(call: &mut Call<'_>) -> Step<u64> {
    let object = call.argument(0)?;
    if call.program.is_library_data(object) || area::is_own(object) {
        return Err(call.run_library_code());
    }
    if !begin(call, object)? {
        return Ok(0);
    }
    let depth = call.recall(Purpose::OnceDepth, 0);
    if depth == DEEPEST {
        return Err(call.refuse("nests initialisations too deeply"));
    }
    let control = area::own(call) + depth * CONTROL;
    call.remember(Purpose::OnceDepth, 0, depth + 1);
    call.remember(Purpose::OnceObject, control, object);
    call.store(control, 4, 0)?;
    call.set_argument(0, control);
    Err(call.run_library_code())
}

/// The library has stored the outcome in the control variable at this address: the function has returned, or thrown.
pub(super) fn finish(call: &mut Call<'_>, control: u64) -> Step<()> {
    const RETURNED: u64 = 2;
    let state = if call.load(control, 4)? == RETURNED { DONE } else { NEW };
    let object = call.recall(Purpose::OnceObject, control);
    // Initialisations that were left by `longjmp` are never ended.
    let depth = (control - area::own(call)) / CONTROL;
    call.remember(Purpose::OnceDepth, 0, depth);
    end(call, object, state)
}

/// `__cxa_guard_acquire(guard)`: returns whether the caller must initialise a static variable of a function.
fn guard_acquire(call: &mut Call<'_>) -> Step<u64> {
    let guard = call.argument(0)?;
    if call.program.is_library_data(guard) {
        return Err(call.run_library_code());
    }
    Ok(begin(call, guard)?.into())
}

/// The variable is initialised. Compiled code reads the first byte of the guard.
fn guard_release(call: &mut Call<'_>) -> Step<u64> {
    let guard = call.argument(0)?;
    if call.program.is_library_data(guard) {
        return Err(call.run_library_code());
    }
    call.atomic_store(guard, 1, 1, MemoryOrder::Release)?;
    end(call, guard, DONE)?;
    Ok(0)
}

/// The initialisation threw an exception.
fn guard_abort(call: &mut Call<'_>) -> Step<u64> {
    let guard = call.argument(0)?;
    if call.program.is_library_data(guard) {
        return Err(call.run_library_code());
    }
    end(call, guard, NEW)?;
    Ok(0)
}

pub(super) const TABLE: Names = &[
    ("pthread_once", once),
    ("call_once", once),
    ("__cxa_guard_acquire", guard_acquire),
    ("__cxa_guard_release", guard_release),
    ("__cxa_guard_abort", guard_abort),
];
