//! Semaphores of POSIX.
//!
//! The state is a synchronization object: [`READY`] plus the number of units, or 0 if the semaphore was never initialised. It is
//! negative while a thread tries to take a unit, which no other thread then does; units may be added meanwhile, as if that came later.

use raddle_core::execution::Value;
use raddle_core::outcome::FindingKind;
use raddle_core::program::{Guard, Update, UpdateKind};

use super::errors::{EAGAIN, ETIMEDOUT};
use super::{FAILED, Names, ObjectKind, Purpose, clock, nothing};
use crate::program::call::{Call, Step, set_to, update};

/// The semaphore was initialised.
const READY: Value = 1 << 64;
/// A thread has looked at the state and will now change it.
const TRYING: Value = 1 << 100;

/// The number of units in a state; `None` if the semaphore was never initialised.
pub(crate) fn semaphore_units(state: Value) -> Option<Value> {
    let state = if state < 0 { state + TRYING } else { state };
    (state >= READY).then_some(state - READY)
}

fn sync(call: &mut Call<'_>, semaphore: u64, guard: Guard, update: Update) -> Step<Value> {
    call.sync(ObjectKind::Semaphore, semaphore, guard, update)
}

fn check(call: &mut Call<'_>, state: Value) -> Step<()> {
    if (0..READY).contains(&state) {
        let message = "a semaphore is used that was never initialised";
        return Err(call.fail(FindingKind::Misuse, message));
    }
    Ok(())
}

/// `sem_init(semaphore, shared, value)`.
fn init(call: &mut Call<'_>) -> Step<u64> {
    let (semaphore, value) = (call.argument(0)?, call.argument(2)? as u32);
    sync(call, semaphore, Guard::Always, set_to(READY + Value::from(value)))?;
    Ok(0)
}

fn wait(call: &mut Call<'_>) -> Step<u64> {
    let semaphore = call.argument(0)?;
    sync(call, semaphore, Guard::Above(READY), update(UpdateKind::Sub, 1))?;
    Ok(0)
}

fn post(call: &mut Call<'_>) -> Step<u64> {
    let semaphore = call.argument(0)?;
    let state = sync(call, semaphore, Guard::Always, update(UpdateKind::Add, 1))?;
    check(call, state)?;
    Ok(0)
}

/// Takes a unit if there is one. A thread whose last attempt has failed looks first: an attempt that fails again changes
/// nothing, so a loop of them is one that only reads.
fn try_take(call: &mut Call<'_>) -> Step<bool> {
    let semaphore = call.argument(0)?;
    if call.recall(Purpose::FailedAttempt, semaphore) != 0 {
        let state = sync(call, semaphore, Guard::Above(-1), update(UpdateKind::Add, 0))?;
        if state == READY {
            return Ok(false);
        }
    }
    let state = sync(call, semaphore, Guard::Above(-1), update(UpdateKind::Sub, TRYING))?;
    check(call, state)?;
    let taken = Value::from(state > READY);
    sync(call, semaphore, Guard::Always, update(UpdateKind::Add, TRYING - taken))?;
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
    let state = sync(call, semaphore, Guard::Above(-1), update(UpdateKind::Add, 0))?;
    check(call, state)?;
    call.store(value, 4, (state - READY) as u64)?;
    Ok(0)
}

pub(super) const TABLE: Names = &[
    ("sem_init", init),
    ("sem_destroy", nothing),
    ("sem_wait", wait),
    ("sem_post", post),
    ("sem_trywait", try_wait),
    ("sem_timedwait", |call| timed_wait(call, 1)),
    ("sem_clockwait", |call| timed_wait(call, 2)),
    ("sem_getvalue", get_value),
];
