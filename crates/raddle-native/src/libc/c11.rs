//! Threads of C11, in terms of those of POSIX.

use raddle_core::execution::ThreadId;

use super::errors::{EBUSY, ETIMEDOUT};
use super::{Names, condition, ending, mutex, threads};
use crate::program::call::{Call, Step};

const SUCCESS: u64 = 0;
const BUSY: u64 = 1;
const ERROR: u64 = 2;
const TIMED_OUT: u64 = 4;

/// The result of C11 for a result of POSIX.
fn result(error: i32) -> u64 {
    match error {
        0 => SUCCESS,
        EBUSY => BUSY,
        ETIMEDOUT => TIMED_OUT,
        _ => ERROR,
    }
}

/// `thrd_create(thread, function, argument)`.
fn create(call: &mut Call<'_>) -> Step<u64> {
    let (thread, function, argument) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
    threads::create(call, thread, false, function, argument)?;
    Ok(SUCCESS)
}

/// `thrd_join(thread, result)`.
fn join(call: &mut Call<'_>) -> Step<u64> {
    let (thread, result) = (call.argument(0)?, call.argument(1)?);
    let thread = threads::join(call, thread)?;
    if result != 0 {
        let value = call.result_of(thread)?;
        call.store(result, 4, value)?;
    }
    Ok(SUCCESS)
}

fn exit(call: &mut Call<'_>) -> Step<u64> {
    let result = call.argument(0)? as i32 as u64;
    if call.current() == ThreadId::new(0) {
        call.note_left();
    }
    Err(ending::end_thread(call, result))
}

/// `mtx_init(mutex, kind)`.
fn mutex_init(call: &mut Call<'_>) -> Step<u64> {
    const RECURSIVE: u64 = 1;
    let (mutex, kind) = (call.argument(0)?, call.argument(1)?);
    mutex::set_up(call, mutex, kind & RECURSIVE)?;
    Ok(SUCCESS)
}

pub(super) const TABLE: Names = &[
    ("thrd_create", create),
    ("thrd_join", join),
    ("thrd_exit", exit),
    ("thrd_detach", threads::detach),
    ("thrd_equal", threads::equal),
    ("thrd_current", threads::current),
    ("mtx_init", mutex_init),
    ("mtx_destroy", mutex::destroy),
    ("mtx_lock", |call| mutex::lock(call).map(result)),
    ("mtx_trylock", |call| mutex::try_lock(call).map(result)),
    ("mtx_timedlock", |call| mutex::timed_lock(call, 1).map(result)),
    ("mtx_unlock", |call| mutex::unlock(call).map(result)),
    ("cnd_init", condition::construct),
    ("cnd_destroy", condition::destroy),
    ("cnd_wait", condition::wait),
    ("cnd_timedwait", |call| condition::timed_wait(call, 2).map(result)),
    ("cnd_signal", condition::signal),
    ("cnd_broadcast", condition::broadcast),
];
