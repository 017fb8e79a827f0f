//! Condition variables of POSIX.

use super::errors::ETIMEDOUT;
use super::waiters::Waiters;
use super::{Names, ObjectKind, cancel, clock, life, nothing};
use crate::program::call::{Call, Step};

fn waiters(condition: u64) -> Waiters {
    Waiters { address: condition, kind: ObjectKind::Condition }
}

/// Bytes of a `pthread_cond_t`.
const SIZE: usize = 48;

fn init(call: &mut Call<'_>) -> Step<u64> {
    let condition = call.argument(0)?;
    life::begin(call, condition, "a condition variable")?;
    waiters(condition).init(call)?;
    Ok(0)
}

pub(super) fn destroy(call: &mut Call<'_>) -> Step<u64> {
    let condition = call.argument(0)?;
    waiters(condition).destroy(call)?;
    Ok(0)
}

/// Initialises a condition variable, which may be one that was initialised before: in C11, and in C++.
pub(super) fn construct(call: &mut Call<'_>) -> Step<u64> {
    let condition = call.argument(0)?;
    call.store_bytes(condition, &[0; SIZE])?;
    waiters(condition).init(call)?;
    Ok(0)
}

/// `pthread_cond_wait(condition, mutex)`.
pub(super) fn wait(call: &mut Call<'_>) -> Step<u64> {
    let (condition, mutex) = (call.argument(0)?, call.argument(1)?);
    call.note_wait();
    let own = waiters(condition).enlist(call)?;
    call.unlock(mutex)?;
    let is_woken = waiters(condition).wait_unless_cancelled(call, own)?;
    call.lock(mutex)?;
    if is_woken { Ok(0) } else { Err(cancel::act(call)) }
}

/// `pthread_cond_timedwait(condition, mutex, deadline)`, where `deadline` is the index of the argument. The deadline may pass at any
/// time.
pub(super) fn timed_wait(call: &mut Call<'_>, deadline: usize) -> Step<i32> {
    let (condition, mutex) = (call.argument(0)?, call.argument(1)?);
    let deadline = call.argument(deadline)?;
    let own = waiters(condition).enlist(call)?;
    call.unlock(mutex)?;
    let is_requested = cancel::is_requested(call)?;
    let is_late = waiters(condition).leave(call, own)?;
    call.lock(mutex)?;
    if is_requested && is_late {
        return Err(cancel::act(call));
    }
    if !is_late {
        return Ok(0);
    }
    clock::pass(call, deadline)?;
    Ok(ETIMEDOUT)
}

/// Wakes any one thread that waits.
pub(super) fn signal(call: &mut Call<'_>) -> Step<u64> {
    let condition = call.argument(0)?;
    waiters(condition).wake_one(call)?;
    Ok(0)
}

/// Wakes all threads that wait.
pub(super) fn broadcast(call: &mut Call<'_>) -> Step<u64> {
    let condition = call.argument(0)?;
    waiters(condition).wake_all(call)?;
    Ok(0)
}

pub(super) const TABLE: Names = &[
    ("pthread_cond_init", init),
    ("pthread_cond_destroy", destroy),
    ("_ZNSt18condition_variableC1Ev", construct),
    ("_ZNSt18condition_variableC2Ev", construct),
    ("pthread_cond_wait", wait),
    ("pthread_cond_timedwait", |call| Ok(timed_wait(call, 2)? as u64)),
    ("pthread_cond_clockwait", |call| Ok(timed_wait(call, 3)? as u64)),
    ("pthread_cond_signal", signal),
    ("pthread_cond_broadcast", broadcast),
    ("pthread_condattr_init", nothing),
    ("pthread_condattr_destroy", nothing),
    ("pthread_condattr_setclock", nothing),
    ("pthread_condattr_setpshared", nothing),
];
