//! Mutexes and spin locks of POSIX.
//!
//! What kind of mutex it is stands where the C library has it too, so that initialisers work: it is read by a plain
//! load, and so a mutex that is used while somebody initialises it is a race. A thread knows which ones it
//! holds, and how often. A deadline may pass at any time; so a lock with a deadline is one that is tried.

use std::ffi::c_int;

use super::clock;
use crate::ops::{self, FindingKind};

/// Where the kind is in a `pthread_mutex_t`, and how large it is.
const KIND: usize = 16;
const KIND_SIZE: usize = 4;
/// The kind of a mutex that was destroyed.
const DESTROYED: u64 = 0x7f;
/// How often a thread has locked a mutex again.
const AGAIN: u32 = 1;

/// What a mutex does if its owner locks it again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Normal,
    Recursive,
    ErrorCheck,
}

fn kind(mutex: usize) -> Kind {
    match ops::get_setting(mutex + KIND, KIND_SIZE) {
        0 | 3 => Kind::Normal,
        1 => Kind::Recursive,
        2 => Kind::ErrorCheck,
        DESTROYED => ops::fail(FindingKind::Misuse, "a mutex is used that was destroyed"),
        _ => ops::fail(FindingKind::Misuse, "a mutex is used that was never initialised"),
    }
}

pub(super) fn set_kind(mutex: usize, number: u64) {
    ops::put_number(mutex + KIND, KIND_SIZE, number);
}

pub(super) extern "C" fn pthread_mutex_init(mutex: usize, attributes: usize) -> c_int {
    let number = if attributes == 0 { 0 } else { ops::get_number(attributes, 4) & 3 };
    set_kind(mutex, number);
    0
}

pub(super) extern "C" fn pthread_mutex_destroy(mutex: usize) -> c_int {
    kind(mutex);
    if ops::is_held(mutex) {
        return libc::EBUSY;
    }
    set_kind(mutex, DESTROYED);
    0
}

/// What to do with a mutex that the thread holds already: `None` if it does not.
fn lock_again(mutex: usize) -> Option<c_int> {
    let kind = kind(mutex);
    if !ops::is_held(mutex) {
        return None;
    }
    match kind {
        Kind::Recursive => {
            ops::remember(AGAIN, mutex as u64, ops::recall(AGAIN, mutex as u64) + 1);
            Some(0)
        }
        Kind::ErrorCheck => Some(libc::EDEADLK),
        Kind::Normal => ops::fail(
            FindingKind::Deadlock,
            "deadlock: a thread locks a mutex that it holds already",
        ),
    }
}

pub(super) extern "C" fn pthread_mutex_lock(mutex: usize) -> c_int {
    lock_again(mutex).unwrap_or_else(|| {
        ops::lock(mutex);
        0
    })
}

/// Tries to lock; `busy` says that somebody else holds it.
fn try_lock(mutex: usize, busy: c_int) -> c_int {
    if kind(mutex) != Kind::Recursive && ops::is_held(mutex) {
        return busy;
    }
    match lock_again(mutex) {
        Some(result) => result,
        None if ops::try_lock(mutex) => 0,
        None => busy,
    }
}

pub(super) extern "C" fn pthread_mutex_trylock(mutex: usize) -> c_int {
    try_lock(mutex, libc::EBUSY)
}

pub(super) extern "C" fn pthread_mutex_timedlock(mutex: usize, deadline: usize) -> c_int {
    let result = try_lock(mutex, libc::ETIMEDOUT);
    if result == libc::ETIMEDOUT {
        clock::pass(deadline);
    }
    result
}

pub(super) extern "C" fn pthread_mutex_clocklock(
    mutex: usize,
    _clock: c_int,
    deadline: usize,
) -> c_int {
    pthread_mutex_timedlock(mutex, deadline)
}

pub(super) extern "C" fn pthread_mutex_unlock(mutex: usize) -> c_int {
    let kind = kind(mutex);
    if kind != Kind::Normal && !ops::is_held(mutex) {
        return libc::EPERM;
    }
    let again = ops::recall(AGAIN, mutex as u64);
    if again > 0 {
        ops::remember(AGAIN, mutex as u64, again - 1);
    } else {
        ops::unlock(mutex);
    }
    0
}

pub(super) extern "C" fn pthread_mutexattr_init(attributes: usize) -> c_int {
    ops::put_number(attributes, 4, 0);
    0
}

pub(super) extern "C" fn pthread_mutexattr_settype(attributes: usize, kind: c_int) -> c_int {
    if !(0..=3).contains(&kind) {
        return libc::EINVAL;
    }
    ops::put_number(attributes, 4, kind as u64);
    0
}

pub(super) extern "C" fn pthread_mutexattr_gettype(attributes: usize, kind: usize) -> c_int {
    let number = ops::get_number(attributes, 4);
    ops::put_number(kind, 4, number);
    0
}

/// There is one process, and no priorities.
pub(super) extern "C" fn pthread_mutexattr_destroy(_attributes: usize, _value: c_int) -> c_int {
    0
}

pub(super) use pthread_mutexattr_destroy as pthread_mutexattr_setprotocol;
pub(super) use pthread_mutexattr_destroy as pthread_mutexattr_setpshared;

pub(super) extern "C" fn pthread_spin_init(_lock: usize, _shared: c_int) -> c_int {
    0
}

pub(super) use pthread_spin_init as pthread_spin_destroy;

pub(super) extern "C" fn pthread_spin_lock(lock: usize) -> c_int {
    if ops::is_held(lock) {
        ops::fail(
            FindingKind::Deadlock,
            "deadlock: a thread locks a spin lock that it holds already",
        );
    }
    ops::lock(lock);
    0
}

pub(super) extern "C" fn pthread_spin_trylock(lock: usize) -> c_int {
    if !ops::is_held(lock) && ops::try_lock(lock) { 0 } else { libc::EBUSY }
}

pub(super) extern "C" fn pthread_spin_unlock(lock: usize) -> c_int {
    ops::unlock(lock);
    0
}
