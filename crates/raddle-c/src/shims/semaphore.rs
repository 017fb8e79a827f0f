//! Semaphores of POSIX.
//!
//! The state is a synchronization object: [`READY`] and the number of units, or 0 if it was never
//! initialised. It is negative while somebody tries to take a unit, which nobody else then does; units may be
//! added meanwhile, as if that came later.

use std::ffi::{c_int, c_uint};

use raddle_core::execution::Value;
use raddle_core::program::{Guard, Update, UpdateKind};

use super::{clock, errno};
use crate::ops::{self, FindingKind, Kind};

/// The semaphore was initialised.
const READY: Value = 1 << 64;
/// Somebody has looked at the state and will now change it.
const TRYING: Value = 1 << 100;

/// The number of units in a state; `None` if the semaphore was never initialised.
pub(crate) fn semaphore_units(state: Value) -> Option<Value> {
    let state = if state < 0 { state + TRYING } else { state };
    (state >= READY).then_some(state - READY)
}

fn sync(semaphore: usize, guard: Guard, update: Update) -> Value {
    ops::sync(semaphore, Kind::Semaphore, guard, update)
}

fn check(state: Value) {
    if (0..READY).contains(&state) {
        ops::fail(FindingKind::Misuse, "a semaphore is used that was never initialised");
    }
}

pub(super) extern "C" fn sem_init(semaphore: usize, _shared: c_int, value: c_uint) -> c_int {
    sync(semaphore, Guard::Always, ops::set_to(READY + Value::from(value)));
    0
}

pub(super) extern "C" fn sem_destroy(_semaphore: usize) -> c_int {
    0
}

pub(super) extern "C" fn sem_wait(semaphore: usize) -> c_int {
    sync(semaphore, Guard::Above(READY), ops::by(UpdateKind::Sub, 1));
    0
}

pub(super) extern "C" fn sem_post(semaphore: usize) -> c_int {
    check(sync(semaphore, Guard::Always, ops::by(UpdateKind::Add, 1)));
    0
}

/// Takes a unit if there is one.
fn try_take(semaphore: usize) -> bool {
    let state = sync(semaphore, Guard::Above(-1), ops::by(UpdateKind::Sub, TRYING));
    check(state);
    let taken = Value::from(state > READY);
    sync(semaphore, Guard::Always, ops::by(UpdateKind::Add, TRYING - taken));
    taken > 0
}

pub(super) extern "C" fn sem_trywait(semaphore: usize) -> c_int {
    if try_take(semaphore) { 0 } else { errno::fail(libc::EAGAIN) }
}

/// The time may be up at any time, so this is trying.
pub(super) extern "C" fn sem_timedwait(semaphore: usize, deadline: usize) -> c_int {
    if try_take(semaphore) {
        return 0;
    }
    clock::pass(deadline);
    errno::fail(libc::ETIMEDOUT)
}

pub(super) extern "C" fn sem_clockwait(semaphore: usize, _clock: c_int, deadline: usize) -> c_int {
    sem_timedwait(semaphore, deadline)
}

pub(super) extern "C" fn sem_getvalue(semaphore: usize, value: usize) -> c_int {
    let state = sync(semaphore, Guard::Above(-1), ops::by(UpdateKind::Add, 0));
    check(state);
    ops::put_number(value, 4, (state - READY) as u64);
    0
}
