//! Reader-writer locks of POSIX.
//!
//! The state is a synchronization object: the number of readers, whether there is a writer, and whether a thread is trying. Readers
//! may always join readers: no thread is preferred, so the behaviour of every implementation is explored. A thread knows how it
//! holds a lock.

use raddle_core::execution::Value;
use raddle_core::outcome::FindingKind;
use raddle_core::program::{Guard, Update, UpdateKind};

use super::errors::{EBUSY, EDEADLK, ETIMEDOUT};
use super::{Names, ObjectKind, Purpose, clock, life, nothing};
use crate::program::call::{Call, Step, set_to, update};

const WHAT: &str = "a reader-writer lock";
const WRITER: Value = 1;
const READER: Value = 2;
/// A thread has looked at the state and will now change it.
const TRYING: Value = 1 << 100;
/// Added when the lock is destroyed. A destroyed lock makes nobody wait.
const DESTROYED: Value = -(1 << 101);
/// What a thread remembers of a lock that it holds as a writer; otherwise it is how often it holds it as a reader.
const AS_WRITER: u64 = u64::MAX;

fn sync(call: &mut Call<'_>, lock: u64, guard: Guard, update: Update) -> Step<Value> {
    call.sync(ObjectKind::ReadWriteLock, lock, guard, update)
}

fn init(call: &mut Call<'_>) -> Step<u64> {
    let lock = call.argument(0)?;
    life::begin(call, lock, WHAT)?;
    let before = sync(call, lock, Guard::Always, set_to(0))?;
    if before > 0 && !life::is_on_stack(lock) {
        return Err(life::misuse(call, WHAT, "is initialised while a thread holds it"));
    }
    hold(call, lock, 0);
    Ok(0)
}

fn destroy(call: &mut Call<'_>) -> Step<u64> {
    let lock = call.argument(0)?;
    life::end(call, lock, WHAT)?;
    let before = sync(call, lock, Guard::Always, set_to(DESTROYED))?;
    if before > 0 {
        return Err(life::misuse(call, WHAT, "is destroyed while a thread holds it"));
    }
    Ok(0)
}

/// Looks at the state before an update that left the mark of a destroyed lock as it was.
fn check(call: &mut Call<'_>, lock: u64, state: Value) -> Step<()> {
    if state >= 0 {
        return Ok(());
    }
    if life::is_destroyed(call, lock)? {
        return Err(life::used_destroyed(call, WHAT));
    }
    sync(call, lock, Guard::Always, update(UpdateKind::Sub, DESTROYED))?;
    Ok(())
}

/// Looks at the state before an update that removed the mark of a destroyed lock.
fn check_replaced(call: &mut Call<'_>, lock: u64, state: Value) -> Step<()> {
    if state < 0 && life::is_destroyed(call, lock)? {
        return Err(life::used_destroyed(call, WHAT));
    }
    Ok(())
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
    let guard = Guard::NoBits(WRITER | TRYING);
    let state = sync(call, lock, guard, update(UpdateKind::Add, READER))?;
    check(call, lock, state)?;
    hold(call, lock, readers + 1);
    Ok(0)
}

fn write_lock(call: &mut Call<'_>) -> Step<i32> {
    let lock = call.argument(0)?;
    match held(call, lock) {
        0 => {
            let state = sync(call, lock, Guard::Below(WRITER), set_to(WRITER))?;
            check_replaced(call, lock, state)?;
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
    check(call, lock, state)?;
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
    if state > 0 {
        return Ok(EBUSY);
    }
    check_replaced(call, lock, state)?;
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
    ("pthread_rwlock_init", init),
    ("pthread_rwlock_destroy", destroy),
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
