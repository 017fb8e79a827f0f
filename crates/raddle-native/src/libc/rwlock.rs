//! Reader-writer locks of POSIX.
//!
//! The state is a synchronization object: the number of readers, whether there is a writer, and whether a thread is trying. Readers
//! may always join readers: no thread is preferred, so the behaviour of every implementation is explored. A thread knows how it
//! holds a lock.

use raddle_core::execution::Value;
use raddle_core::outcome::FindingKind;
use raddle_core::program::{Guard, Update, UpdateKind};

use super::errors::{EBUSY, EDEADLK, ETIMEDOUT};
use super::{Names, ObjectKind, Purpose, clock, nothing};
use crate::program::call::{Call, Step, set_to, update};

const WRITER: Value = 1;
const READER: Value = 2;
/// A thread has looked at the state and will now change it.
const TRYING: Value = 1 << 100;
/// What a thread remembers of a lock that it holds as a writer; otherwise it is how often it holds it as a reader.
const AS_WRITER: u64 = u64::MAX;

fn sync(call: &mut Call<'_>, lock: u64, guard: Guard, update: Update) -> Step<Value> {
    call.sync(ObjectKind::ReadWriteLock, lock, guard, update)
}

fn held(call: &Call<'_>, lock: u64) -> u64 {
    call.recall(Purpose::ReadWriteLockHeld, lock)
}

fn hold(call: &mut Call<'_>, lock: u64, how: u64) {
    call.remember(Purpose::ReadWriteLockHeld, lock, how);
}

fn read_lock(call: &mut Call<'_>) -> Step<i32> {
    let lock = call.argument(0)?;
    let readers = held(call, lock);
    if readers == AS_WRITER {
        return Ok(EDEADLK);
    }
    sync(call, lock, Guard::NoBits(WRITER | TRYING), update(UpdateKind::Add, READER))?;
    hold(call, lock, readers + 1);
    Ok(0)
}

fn write_lock(call: &mut Call<'_>) -> Step<i32> {
    let lock = call.argument(0)?;
    match held(call, lock) {
        0 => {
            sync(call, lock, Guard::Equal(0), set_to(WRITER))?;
            hold(call, lock, AS_WRITER);
            Ok(0)
        }
        AS_WRITER => Ok(EDEADLK),
        _ => {
            let message =
                "deadlock: a thread wants to write under a lock that it holds as a reader";
            Err(call.fail(FindingKind::Deadlock, message))
        }
    }
}

/// Adds a reader if there is no writer. A thread whose last attempt has failed looks first: an attempt that fails again
/// changes nothing, so a loop of them is one that only reads.
fn try_add_reader(call: &mut Call<'_>, lock: u64) -> Step<bool> {
    let is_free = |state: Value| state & WRITER == 0;
    if call.recall(Purpose::FailedAttempt, lock) != 0 {
        let state = sync(call, lock, Guard::NoBits(TRYING), update(UpdateKind::Add, 0))?;
        if !is_free(state) {
            return Ok(false);
        }
    }
    let state = sync(call, lock, Guard::NoBits(TRYING), update(UpdateKind::Add, TRYING))?;
    let added = if is_free(state) { READER } else { 0 };
    sync(call, lock, Guard::Always, update(UpdateKind::Add, added - TRYING))?;
    call.remember(Purpose::FailedAttempt, lock, (!is_free(state)).into());
    Ok(is_free(state))
}

fn try_read_lock(call: &mut Call<'_>) -> Step<i32> {
    let lock = call.argument(0)?;
    let readers = held(call, lock);
    if readers == AS_WRITER || !try_add_reader(call, lock)? {
        return Ok(EBUSY);
    }
    hold(call, lock, readers + 1);
    Ok(0)
}

/// The state of a lock that is not free is at least [`WRITER`].
fn try_write_lock(call: &mut Call<'_>) -> Step<i32> {
    let lock = call.argument(0)?;
    if held(call, lock) != 0 {
        return Ok(EBUSY);
    }
    let state = sync(call, lock, Guard::NoBits(TRYING), update(UpdateKind::Max, WRITER))?;
    if state != 0 {
        return Ok(EBUSY);
    }
    hold(call, lock, AS_WRITER);
    Ok(0)
}

/// The result of an attempt with a deadline, which may pass at any time.
fn timed(call: &mut Call<'_>, result: i32, deadline: usize) -> Step<i32> {
    if result != EBUSY {
        return Ok(result);
    }
    let deadline = call.argument(deadline)?;
    clock::pass(call, deadline)?;
    Ok(ETIMEDOUT)
}

fn timed_read_lock(call: &mut Call<'_>, deadline: usize) -> Step<i32> {
    let result = try_read_lock(call)?;
    timed(call, result, deadline)
}

fn timed_write_lock(call: &mut Call<'_>, deadline: usize) -> Step<i32> {
    let result = try_write_lock(call)?;
    timed(call, result, deadline)
}

fn unlock(call: &mut Call<'_>) -> Step<u64> {
    let lock = call.argument(0)?;
    let (how, released) = match held(call, lock) {
        0 => {
            let message = "a lock is released by a thread that does not hold it";
            return Err(call.fail(FindingKind::Misuse, message));
        }
        AS_WRITER => (0, WRITER),
        readers => (readers - 1, READER),
    };
    sync(call, lock, Guard::NoBits(TRYING), update(UpdateKind::Sub, released))?;
    hold(call, lock, how);
    Ok(0)
}

pub(super) const TABLE: Names = &[
    ("pthread_rwlock_init", nothing),
    ("pthread_rwlock_destroy", nothing),
    ("pthread_rwlock_rdlock", |call| Ok(read_lock(call)? as u64)),
    ("pthread_rwlock_wrlock", |call| Ok(write_lock(call)? as u64)),
    ("pthread_rwlock_tryrdlock", |call| Ok(try_read_lock(call)? as u64)),
    ("pthread_rwlock_trywrlock", |call| Ok(try_write_lock(call)? as u64)),
    ("pthread_rwlock_timedrdlock", |call| Ok(timed_read_lock(call, 1)? as u64)),
    ("pthread_rwlock_timedwrlock", |call| Ok(timed_write_lock(call, 1)? as u64)),
    ("pthread_rwlock_clockrdlock", |call| Ok(timed_read_lock(call, 2)? as u64)),
    ("pthread_rwlock_clockwrlock", |call| Ok(timed_write_lock(call, 2)? as u64)),
    ("pthread_rwlock_unlock", unlock),
    ("pthread_rwlockattr_init", nothing),
    ("pthread_rwlockattr_destroy", nothing),
    ("pthread_rwlockattr_setkind_np", nothing),
    ("pthread_rwlockattr_setpshared", nothing),
];
