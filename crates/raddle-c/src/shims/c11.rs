//! The threads of C11, made of those of POSIX. (Their functions with the same arguments are in the tables of
//! those.)

use std::ffi::c_int;

use super::{at_end, condition, mutex, threads};
use crate::ops;

const SUCCESS: c_int = 0;
const BUSY: c_int = 1;
const ERROR: c_int = 2;
const TIMED_OUT: c_int = 4;

/// What C11 says where POSIX says this.
fn told(error: c_int) -> c_int {
    match error {
        0 => SUCCESS,
        libc::EBUSY => BUSY,
        libc::ETIMEDOUT => TIMED_OUT,
        _ => ERROR,
    }
}

pub(super) extern "C" fn thrd_create(thread: usize, function: usize, argument: usize) -> c_int {
    told(threads::pthread_create(thread, 0, function, argument))
}

pub(super) extern "C" fn thrd_join(thread: u64, result: usize) -> c_int {
    let thread = threads::join(thread);
    if result != 0 {
        let value = ops::result_of(thread);
        ops::put_number(result, 4, value);
    }
    SUCCESS
}

pub(super) extern "C-unwind" fn thrd_exit(result: c_int) -> ! {
    at_end::run_destructors(0);
    ops::finish(result as u64)
}

pub(super) use threads::pthread_detach as thrd_detach;
pub(super) use threads::pthread_equal as thrd_equal;
pub(super) use threads::pthread_self as thrd_current;

const RECURSIVE: c_int = 1;

pub(super) extern "C" fn mtx_init(mutex: usize, kind: c_int) -> c_int {
    mutex::set_kind(mutex, (kind & RECURSIVE) as u64);
    SUCCESS
}

pub(super) extern "C" fn mtx_destroy(mutex: usize) {
    mutex::pthread_mutex_destroy(mutex);
}

pub(super) extern "C" fn mtx_lock(mutex: usize) -> c_int {
    told(mutex::pthread_mutex_lock(mutex))
}

pub(super) extern "C" fn mtx_trylock(mutex: usize) -> c_int {
    told(mutex::pthread_mutex_trylock(mutex))
}

pub(super) extern "C" fn mtx_timedlock(mutex: usize, deadline: usize) -> c_int {
    told(mutex::pthread_mutex_timedlock(mutex, deadline))
}

pub(super) extern "C" fn mtx_unlock(mutex: usize) -> c_int {
    told(mutex::pthread_mutex_unlock(mutex))
}

pub(super) extern "C" fn cnd_timedwait(condition: usize, mutex: usize, deadline: usize) -> c_int {
    told(condition::pthread_cond_timedwait(condition, mutex, deadline))
}

pub(super) extern "C" fn cnd_init(_condition: usize) -> c_int {
    SUCCESS
}

pub(super) extern "C" fn cnd_destroy(_condition: usize) {}

pub(super) use condition::pthread_cond_broadcast as cnd_broadcast;
pub(super) use condition::pthread_cond_signal as cnd_signal;
pub(super) use condition::pthread_cond_wait as cnd_wait;
