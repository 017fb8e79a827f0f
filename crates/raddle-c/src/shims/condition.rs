//! Condition variables of POSIX.

use std::ffi::c_int;

use super::clock;
use super::waiters::Waiters;
use crate::ops::{self, Kind};

fn waiters(condition: usize) -> Waiters {
    Waiters { address: condition, kind: Kind::Condition }
}

pub(super) extern "C" fn pthread_cond_init(_condition: usize, _attributes: usize) -> c_int {
    0
}

pub(super) use pthread_cond_init as pthread_cond_destroy;
pub(super) use pthread_cond_init as pthread_condattr_destroy;
pub(super) use pthread_cond_init as pthread_condattr_init;
pub(super) use pthread_cond_init as pthread_condattr_setclock;
pub(super) use pthread_cond_init as pthread_condattr_setpshared;

/// It does not wake up without a reason.
pub(super) extern "C" fn pthread_cond_wait(condition: usize, mutex: usize) -> c_int {
    let own = waiters(condition).enlist();
    ops::unlock(mutex);
    waiters(condition).wait(own);
    ops::lock(mutex);
    0
}

/// The time may be up at any time.
pub(super) extern "C" fn pthread_cond_timedwait(
    condition: usize,
    mutex: usize,
    deadline: usize,
) -> c_int {
    let own = waiters(condition).enlist();
    ops::unlock(mutex);
    let is_late = waiters(condition).leave(own);
    ops::lock(mutex);
    if !is_late {
        return 0;
    }
    clock::pass(deadline);
    libc::ETIMEDOUT
}

pub(super) extern "C" fn pthread_cond_clockwait(
    condition: usize,
    mutex: usize,
    _clock: c_int,
    deadline: usize,
) -> c_int {
    pthread_cond_timedwait(condition, mutex, deadline)
}

/// Any thread that waits may be the one.
pub(super) extern "C" fn pthread_cond_signal(condition: usize) -> c_int {
    waiters(condition).wake_one();
    0
}

pub(super) extern "C" fn pthread_cond_broadcast(condition: usize) -> c_int {
    waiters(condition).wake_all();
    0
}
