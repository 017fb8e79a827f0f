//! Mutexes and spin locks of POSIX.
//!
//! The kind of a mutex is where the C library has it too, so that static initialisers work. It is read by a plain load, so a mutex
//! that is used while another thread initialises it is a race. A thread knows which mutexes it holds, and how often. A deadline may
//! pass at any time, so a lock with a deadline is an attempt. A thread that ends while it holds a robust mutex is refused; up to
//! there, a robust mutex is one that only its owner can unlock.

use raddle_core::execution::Value;
use raddle_core::outcome::FindingKind;

use super::errors::{EBUSY, EDEADLK, EINVAL, EPERM, ETIMEDOUT};
use super::{Names, ObjectKind, Purpose, clock, life, nothing};
use crate::program::call::{Call, Step};

/// Offset and size of the kind in a `pthread_mutex_t`.
const KIND: u64 = 16;
const KIND_SIZE: u64 = 4;
/// The kind of a mutex that was destroyed.
const DESTROYED: u64 = 0x7f;

/// Bit of the kind of a mutex that was initialised by a call. A thread that holds a mutex finds by it that another one has
/// initialised it meanwhile.
const INITIALISED: u64 = 1 << 8;

const WHAT: &str = "a mutex";
const SPIN: &str = "a spin lock";
/// Whether a spin lock was initialised or destroyed. Its memory has no room for that.
const LIVE: Value = 1;
const DEAD: Value = 2;

/// Bit of the kind of a robust mutex: the next lock returns an error if the owner has ended.
const ROBUST: u64 = 16;
/// The same in attributes.
const ROBUST_ATTRIBUTE: u64 = 4;

/// What happens if the owner of a mutex locks it again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Normal,
    Recursive,
    ErrorCheck,
}

fn kind(call: &mut Call<'_>, mutex: u64) -> Step<Kind> {
    let number = call.load_setting(mutex + KIND, KIND_SIZE)?;
    if call.recall(Purpose::MutexKind, mutex) != number {
        if call.is_held(mutex) && number & INITIALISED != 0 {
            return Err(life::misuse(call, WHAT, "was initialised while a thread held it"));
        }
        call.remember(Purpose::MutexKind, mutex, number);
    }
    match number & !(ROBUST | INITIALISED) {
        _ if number == DESTROYED => Err(life::used_destroyed(call, WHAT)),
        0 | 3 => Ok(Kind::Normal),
        1 => Ok(Kind::Recursive),
        2 => Ok(Kind::ErrorCheck),
        _ => Err(life::used_uninitialised(call, WHAT)),
    }
}

fn set_kind(call: &mut Call<'_>, mutex: u64, number: u64) -> Step<()> {
    call.store(mutex + KIND, KIND_SIZE, number)
}

/// Gives a mutex a kind, as a static initialiser does: it may be one that was initialised before.
pub(super) fn set_up(call: &mut Call<'_>, mutex: u64, number: u64) -> Step<()> {
    life::clear(call, mutex)?;
    set_kind(call, mutex, number)
}

/// `pthread_mutex_init(mutex, attributes)`.
fn init(call: &mut Call<'_>) -> Step<u64> {
    let (mutex, attributes) = (call.argument(0)?, call.argument(1)?);
    let number = if attributes == 0 { 0 } else { call.load(attributes, 4)? };
    let robust = if number & ROBUST_ATTRIBUTE == 0 { 0 } else { ROBUST };
    life::begin(call, mutex, WHAT)?;
    if call.is_held(mutex) {
        return Err(life::misuse(call, WHAT, "is initialised while a thread holds it"));
    }
    set_kind(call, mutex, INITIALISED | (number & 3) | robust)?;
    Ok(0)
}

/// Fails if a lock that is destroyed is held by the thread, or by one that has ended. If it is held by another one, that one
/// finds out when it releases the lock.
fn check_free(call: &mut Call<'_>, lock: u64, what: &str) -> Step<()> {
    if call.is_held(lock) || call.is_abandoned(lock)? {
        return Err(life::misuse(call, what, "is destroyed while a thread holds it"));
    }
    Ok(())
}

pub(super) fn destroy(call: &mut Call<'_>) -> Step<u64> {
    let mutex = call.argument(0)?;
    kind(call, mutex)?;
    check_free(call, mutex, WHAT)?;
    set_kind(call, mutex, DESTROYED)?;
    life::end(call, mutex, WHAT)?;
    Ok(0)
}

fn is_robust(call: &Call<'_>, mutex: u64) -> bool {
    call.recall(Purpose::MutexKind, mutex) & ROBUST != 0
}

/// Returns `true` if the thread holds a robust mutex. If it ended now, the next lock would return an error.
pub(super) fn holds_robust(call: &Call<'_>) -> bool {
    call.program.thread().own.held.iter().any(|&mutex| is_robust(call, mutex))
}

/// The result of locking a mutex that the thread holds already; `None` if it does not.
fn lock_again(call: &mut Call<'_>, mutex: u64) -> Step<Option<i32>> {
    let kind = kind(call, mutex)?;
    if !call.is_held(mutex) {
        return Ok(None);
    }
    match kind {
        Kind::Recursive => {
            let again = call.recall(Purpose::MutexAgain, mutex);
            call.remember(Purpose::MutexAgain, mutex, again + 1);
            Ok(Some(0))
        }
        Kind::ErrorCheck => Ok(Some(EDEADLK)),
        Kind::Normal => {
            let message = "deadlock: a thread locks a mutex that it holds already";
            Err(call.fail(FindingKind::Deadlock, message))
        }
    }
}

/// The dynamic linker's lock, which guards data that no thread changes.
fn is_ignored(call: &Call<'_>, mutex: u64) -> bool {
    call.program.is_dynamic_linker(mutex)
}

pub(super) fn lock(call: &mut Call<'_>) -> Step<i32> {
    let mutex = call.argument(0)?;
    if is_ignored(call, mutex) {
        return Ok(0);
    }
    match lock_again(call, mutex)? {
        Some(result) => Ok(result),
        None => {
            call.lock(mutex)?;
            Ok(0)
        }
    }
}

/// Tries to lock; `busy` is the result if another thread holds the mutex.
fn attempt(call: &mut Call<'_>, busy: i32) -> Step<i32> {
    let mutex = call.argument(0)?;
    if kind(call, mutex)? != Kind::Recursive && call.is_held(mutex) {
        return Ok(busy);
    }
    match lock_again(call, mutex)? {
        Some(result) => Ok(result),
        None if call.try_lock(mutex)? => Ok(0),
        None => Ok(busy),
    }
}

pub(super) fn try_lock(call: &mut Call<'_>) -> Step<i32> {
    attempt(call, EBUSY)
}

/// Locks with a deadline, which is this argument.
pub(super) fn timed_lock(call: &mut Call<'_>, deadline: usize) -> Step<i32> {
    let deadline = call.argument(deadline)?;
    let result = attempt(call, ETIMEDOUT)?;
    if result == ETIMEDOUT {
        clock::pass(call, deadline)?;
    }
    Ok(result)
}

pub(super) fn unlock(call: &mut Call<'_>) -> Step<i32> {
    let mutex = call.argument(0)?;
    if is_ignored(call, mutex) {
        return Ok(0);
    }
    let kind = kind(call, mutex)?;
    if (kind != Kind::Normal || is_robust(call, mutex)) && !call.is_held(mutex) {
        return Ok(EPERM);
    }
    let again = call.recall(Purpose::MutexAgain, mutex);
    if again > 0 {
        call.remember(Purpose::MutexAgain, mutex, again - 1);
    } else {
        call.unlock(mutex)?;
    }
    Ok(0)
}

fn attributes_init(call: &mut Call<'_>) -> Step<u64> {
    let attributes = call.argument(0)?;
    call.store(attributes, 4, 0)?;
    Ok(0)
}

fn set_type(call: &mut Call<'_>) -> Step<u64> {
    let (attributes, kind) = (call.argument(0)?, call.argument(1)?);
    if !(0..=3).contains(&(kind as i32)) {
        return Ok(EINVAL as u64);
    }
    let robust = call.load(attributes, 4)? & ROBUST_ATTRIBUTE;
    call.store(attributes, 4, kind | robust)?;
    Ok(0)
}

fn get_type(call: &mut Call<'_>) -> Step<u64> {
    let (attributes, kind) = (call.argument(0)?, call.argument(1)?);
    let number = call.load(attributes, 4)? & 3;
    call.store(kind, 4, number)?;
    Ok(0)
}

fn set_robust(call: &mut Call<'_>) -> Step<u64> {
    let (attributes, robust) = (call.argument(0)?, call.argument(1)? as u32);
    let kind = call.load(attributes, 4)? & 3;
    let number = match robust {
        0 => kind,
        1 => kind | ROBUST_ATTRIBUTE,
        _ => return Ok(EINVAL as u64),
    };
    call.store(attributes, 4, number)?;
    Ok(0)
}

fn get_robust(call: &mut Call<'_>) -> Step<u64> {
    let (attributes, robust) = (call.argument(0)?, call.argument(1)?);
    let is_robust = call.load(attributes, 4)? & ROBUST_ATTRIBUTE != 0;
    call.store(robust, 4, is_robust.into())?;
    Ok(0)
}

fn spin_init(call: &mut Call<'_>) -> Step<u64> {
    let lock = call.argument(0)?;
    if call.noted(ObjectKind::Life, lock)? == LIVE && !life::is_on_stack(lock) {
        return Err(life::initialised_again(call, SPIN));
    }
    call.note(ObjectKind::Life, lock, LIVE);
    Ok(0)
}

fn spin_destroy(call: &mut Call<'_>) -> Step<u64> {
    let lock = live_spin_lock(call)?;
    check_free(call, lock, SPIN)?;
    call.note(ObjectKind::Life, lock, DEAD);
    Ok(0)
}

/// The lock of the call, which is not destroyed.
fn live_spin_lock(call: &mut Call<'_>) -> Step<u64> {
    let lock = call.argument(0)?;
    if call.noted(ObjectKind::Life, lock)? == DEAD {
        return Err(life::used_destroyed(call, SPIN));
    }
    Ok(lock)
}

fn spin_lock(call: &mut Call<'_>) -> Step<u64> {
    let lock = live_spin_lock(call)?;
    if call.is_held(lock) {
        let message = "deadlock: a thread locks a spin lock that it holds already";
        return Err(call.fail(FindingKind::Deadlock, message));
    }
    call.lock(lock)?;
    Ok(0)
}

fn spin_try_lock(call: &mut Call<'_>) -> Step<u64> {
    let lock = live_spin_lock(call)?;
    let is_locked = !call.is_held(lock) && call.try_lock(lock)?;
    Ok(if is_locked { 0 } else { EBUSY as u64 })
}

fn spin_unlock(call: &mut Call<'_>) -> Step<u64> {
    let lock = live_spin_lock(call)?;
    call.unlock(lock)?;
    Ok(0)
}

/// An `int` as the result of a function.
fn result(number: i32) -> u64 {
    u64::from(number as u32)
}

pub(super) const TABLE: Names = &[
    ("pthread_mutex_init", init),
    ("pthread_mutex_destroy", destroy),
    ("pthread_mutex_lock", |call| lock(call).map(result)),
    ("pthread_mutex_trylock", |call| try_lock(call).map(result)),
    ("pthread_mutex_timedlock", |call| timed_lock(call, 1).map(result)),
    ("pthread_mutex_clocklock", |call| timed_lock(call, 2).map(result)),
    ("pthread_mutex_unlock", |call| unlock(call).map(result)),
    ("pthread_mutexattr_init", attributes_init),
    ("pthread_mutexattr_destroy", nothing),
    ("pthread_mutexattr_settype", set_type),
    ("pthread_mutexattr_gettype", get_type),
    ("pthread_mutexattr_setrobust", set_robust),
    ("pthread_mutexattr_getrobust", get_robust),
    ("pthread_mutexattr_setrobust_np", set_robust),
    ("pthread_mutexattr_getrobust_np", get_robust),
    // No owner of a robust mutex has ended.
    ("pthread_mutex_consistent", |_| Ok(EINVAL as u64)),
    ("pthread_mutex_consistent_np", |_| Ok(EINVAL as u64)),
    ("pthread_mutexattr_setprotocol", nothing),
    ("pthread_mutexattr_setpshared", nothing),
    ("pthread_spin_init", spin_init),
    ("pthread_spin_destroy", spin_destroy),
    ("pthread_spin_lock", spin_lock),
    ("pthread_spin_trylock", spin_try_lock),
    ("pthread_spin_unlock", spin_unlock),
];
