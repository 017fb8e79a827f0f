//! Semaphores of POSIX.
//!
//! The state is a synchronization object: [`EMPTY`] minus the number of units; 0 if the semaphore was never initialised. So a
//! thread that waits for a unit goes on if there is none but the semaphore is not live, and finds out. While a thread tries to
//! take a unit, which no other thread then does, [`TRYING`] is added; units may be added meanwhile, as if that came later.

use raddle_core::execution::Value;
use raddle_core::program::{Guard, Update, UpdateKind};

use super::errors::{EAGAIN, ETIMEDOUT};
use super::{FAILED, Names, ObjectKind, Purpose, cancel, clock, life};
use crate::program::call::{Call, Step, set_to, update};

const WHAT: &str = "a semaphore";
/// There is no unit.
const EMPTY: Value = 1 << 64;
/// More units than there can be.
const MOST: Value = 1 << 32;
/// A thread has looked at the state and will now change it.
const TRYING: Value = 1 << 100;
/// The semaphore was destroyed.
const DESTROYED: Value = -(1 << 101);

/// The number of units in a state; `None` if the semaphore is not live.
pub(crate) fn semaphore_units(state: Value) -> Option<Value> {
    let units = EMPTY - (state & !TRYING);
    (0..MOST).contains(&units).then_some(units)
}

fn sync(call: &mut Call<'_>, semaphore: u64, guard: Guard, update: Update) -> Step<Value> {
    call.sync(ObjectKind::Semaphore, semaphore, guard, update)
}

/// Fails if the state is not that of a live semaphore. Returns the number of units.
fn check(call: &mut Call<'_>, state: Value) -> Step<Value> {
    match semaphore_units(state) {
        Some(units) => Ok(units),
        None if state < 0 => Err(life::used_destroyed(call, WHAT)),
        None => Err(life::used_uninitialised(call, WHAT)),
    }
}

/// `sem_init(semaphore, shared, value)`.
fn init(call: &mut Call<'_>) -> Step<u64> {
    let (semaphore, units) = (call.argument(0)?, call.argument(2)? as u32);
    let before = sync(call, semaphore, Guard::Always, set_to(EMPTY - Value::from(units)))?;
    if semaphore_units(before).is_some() && !life::is_on_stack(semaphore) {
        return Err(life::initialised_again(call, WHAT));
    }
    Ok(0)
}

/// A thread that waits for a unit goes on and finds that the semaphore was destroyed.
fn destroy(call: &mut Call<'_>) -> Step<u64> {
    let semaphore = call.argument(0)?;
    let before = sync(call, semaphore, Guard::Always, set_to(DESTROYED))?;
    check(call, before)?;
    Ok(0)
}

fn wait(call: &mut Call<'_>) -> Step<u64> {
    let semaphore = call.argument(0)?;
    cancel::point(call)?;
    let state = sync(call, semaphore, Guard::Below(EMPTY), update(UpdateKind::Add, 1))?;
    check(call, state)?;
    Ok(0)
}

fn post(call: &mut Call<'_>) -> Step<u64> {
    let semaphore = call.argument(0)?;
    let state = sync(call, semaphore, Guard::Always, update(UpdateKind::Sub, 1))?;
    check(call, state)?;
    Ok(0)
}

/// Takes a unit if there is one. A thread whose last attempt has failed looks first: an attempt that fails again changes
/// nothing, so a loop of them is one that only reads.
fn try_take(call: &mut Call<'_>) -> Step<bool> {
    let semaphore = call.argument(0)?;
    if call.recall(Purpose::FailedAttempt, semaphore) != 0 {
        let state = sync(call, semaphore, Guard::Below(TRYING), update(UpdateKind::Add, 0))?;
        if state == EMPTY {
            return Ok(false);
        }
    }
    let state = sync(call, semaphore, Guard::Below(TRYING), update(UpdateKind::Add, TRYING))?;
    let taken = Value::from(check(call, state)? > 0);
    sync(call, semaphore, Guard::Always, update(UpdateKind::Sub, TRYING - taken))?;
    call.remember(Purpose::FailedAttempt, semaphore, (taken == 0).into());
    Ok(taken > 0)
}

fn try_wait(call: &mut Call<'_>) -> Step<u64> {
    if try_take(call)? {
        return Ok(0);
    }
    call.set_errno(EAGAIN)?;
    Ok(FAILED)
}

/// Waits with a deadline, which is this argument and may pass at any time.
fn timed_wait(call: &mut Call<'_>, deadline: usize) -> Step<u64> {
    cancel::point(call)?;
    if try_take(call)? {
        return Ok(0);
    }
    let deadline = call.argument(deadline)?;
    clock::pass(call, deadline)?;
    call.set_errno(ETIMEDOUT)?;
    Ok(FAILED)
}

/// `sem_getvalue(semaphore, value)`.
fn get_value(call: &mut Call<'_>) -> Step<u64> {
    let (semaphore, value) = (call.argument(0)?, call.argument(1)?);
    let state = sync(call, semaphore, Guard::Below(TRYING), update(UpdateKind::Add, 0))?;
    let units = check(call, state)?;
    call.store(value, 4, units as u64)?;
    Ok(0)
}

pub(super) const TABLE: Names = &[
    ("sem_init", init),
    ("sem_destroy", destroy),
    ("sem_wait", wait),
    ("sem_post", post),
    ("sem_trywait", try_wait),
    ("sem_timedwait", |call| timed_wait(call, 1)),
    ("sem_clockwait", |call| timed_wait(call, 2)),
    ("sem_getvalue", get_value),
];
