//! Reader-writer locks of POSIX.
//!
//! The state is a synchronization object: how many readers there are, whether there is a writer, and whether
//! somebody is just trying. Readers may always join readers: there are no rules about who is preferred, so
//! everything that some implementation does is explored. A thread knows how it holds a lock.

use std::ffi::c_int;

use raddle_core::execution::Value;
use raddle_core::program::{Guard, Update, UpdateKind};

use super::clock;
use crate::ops::{self, FindingKind, Kind};

const WRITER: Value = 1;
const READER: Value = 2;
/// Somebody has looked at the state and will now change it.
const TRYING: Value = 1 << 100;

/// How a thread holds a lock: how often as a reader, or as a writer.
const HELD: u32 = 2;
const AS_WRITER: u64 = u64::MAX;

fn sync(lock: usize, guard: Guard, update: Update) -> Value {
    ops::sync(lock, Kind::ReadWriteLock, guard, update)
}

fn held(lock: usize) -> u64 {
    ops::recall(HELD, lock as u64)
}

fn hold(lock: usize, how: u64) {
    ops::remember(HELD, lock as u64, how);
}

pub(super) extern "C" fn pthread_rwlock_init(_lock: usize, _attributes: usize) -> c_int {
    0
}

pub(super) use pthread_rwlock_init as pthread_rwlock_destroy;
pub(super) use pthread_rwlock_init as pthread_rwlockattr_destroy;
pub(super) use pthread_rwlock_init as pthread_rwlockattr_init;
pub(super) use pthread_rwlock_init as pthread_rwlockattr_setkind_np;
pub(super) use pthread_rwlock_init as pthread_rwlockattr_setpshared;

pub(super) extern "C" fn pthread_rwlock_rdlock(lock: usize) -> c_int {
    let readers = held(lock);
    if readers == AS_WRITER {
        return libc::EDEADLK;
    }
    sync(lock, Guard::NoBits(WRITER | TRYING), ops::by(UpdateKind::Add, READER));
    hold(lock, readers + 1);
    0
}

pub(super) extern "C" fn pthread_rwlock_wrlock(lock: usize) -> c_int {
    match held(lock) {
        0 => {
            sync(lock, Guard::Equal(0), ops::set_to(WRITER));
            hold(lock, AS_WRITER);
            0
        }
        AS_WRITER => libc::EDEADLK,
        _ => {
            let message =
                "deadlock: a thread wants to write under a lock that it holds as a reader";
            ops::fail(FindingKind::Deadlock, message)
        }
    }
}

/// Adds to the state if it has none of the bits.
fn try_add(lock: usize, bits: Value, added: Value) -> bool {
    let state = sync(lock, Guard::NoBits(TRYING), ops::by(UpdateKind::Add, TRYING));
    let is_free = state & bits == 0;
    let change = if is_free { added } else { 0 };
    sync(lock, Guard::Always, ops::by(UpdateKind::Add, change - TRYING));
    is_free
}

pub(super) extern "C" fn pthread_rwlock_tryrdlock(lock: usize) -> c_int {
    let readers = held(lock);
    if readers == AS_WRITER || !try_add(lock, WRITER, READER) {
        return libc::EBUSY;
    }
    hold(lock, readers + 1);
    0
}

pub(super) extern "C" fn pthread_rwlock_trywrlock(lock: usize) -> c_int {
    if held(lock) != 0 || !try_add(lock, TRYING - 1, WRITER) {
        return libc::EBUSY;
    }
    hold(lock, AS_WRITER);
    0
}

fn timed(result: c_int, deadline: usize) -> c_int {
    if result != libc::EBUSY {
        return result;
    }
    clock::pass(deadline);
    libc::ETIMEDOUT
}

/// The time may be up at any time, so this is trying.
pub(super) extern "C" fn pthread_rwlock_timedrdlock(lock: usize, deadline: usize) -> c_int {
    timed(pthread_rwlock_tryrdlock(lock), deadline)
}

pub(super) extern "C" fn pthread_rwlock_timedwrlock(lock: usize, deadline: usize) -> c_int {
    timed(pthread_rwlock_trywrlock(lock), deadline)
}

pub(super) extern "C" fn pthread_rwlock_clockrdlock(
    lock: usize,
    _clock: c_int,
    deadline: usize,
) -> c_int {
    pthread_rwlock_timedrdlock(lock, deadline)
}

pub(super) extern "C" fn pthread_rwlock_clockwrlock(
    lock: usize,
    _clock: c_int,
    deadline: usize,
) -> c_int {
    pthread_rwlock_timedwrlock(lock, deadline)
}

pub(super) extern "C" fn pthread_rwlock_unlock(lock: usize) -> c_int {
    let (how, released) = match held(lock) {
        0 => ops::fail(FindingKind::Misuse, "a lock is released by a thread that does not hold it"),
        AS_WRITER => (0, WRITER),
        readers => (readers - 1, READER),
    };
    sync(lock, Guard::NoBits(TRYING), ops::by(UpdateKind::Sub, released));
    hold(lock, how);
    0
}
