//! Values that belong to a thread: keys of POSIX and of C11.
//!
//! A key is named by the thread that made it and by how many it had made before, so a thread's keys depend on
//! nothing but its history. All threads must know a key's destructor without an op: it is kept beside the
//! execution, and the program is refused if a key ever gets another one.

use std::cell::RefCell;
use std::ffi::c_int;

use rustc_hash::FxHashMap;

use super::at_end;
use crate::ops;

/// How many keys a thread has made.
const MADE: u32 = 4;
/// The value that a thread has for a key.
const VALUE: u32 = 5;

/// A thread makes at most so many keys.
const EACH: u64 = 1 << 10;

thread_local! {
    /// The destructors of all keys of the program that is explored on this thread of the system.
    static DESTRUCTORS: RefCell<FxHashMap<u64, usize>> = RefCell::default();
}

pub(super) extern "C" fn pthread_key_create(key: usize, destructor: usize) -> c_int {
    let made = ops::recall(MADE, 0);
    if made + 1 == EACH {
        return libc::EAGAIN;
    }
    ops::remember(MADE, 0, made + 1);
    let number = ops::current().index() as u64 * EACH + made;
    let known = DESTRUCTORS.with_borrow_mut(|all| *all.entry(number).or_insert(destructor));
    if known != destructor {
        ops::refuse("a key gets one destructor in one execution and another one in another");
    }
    ops::put_number(key, 4, number);
    0
}

pub(super) extern "C" fn pthread_key_delete(_key: u32) -> c_int {
    0
}

pub(super) extern "C" fn pthread_setspecific(key: u32, value: u64) -> c_int {
    let destructor = DESTRUCTORS.with_borrow(|all| all.get(&key.into()).copied());
    let Some(destructor) = destructor else { return libc::EINVAL };
    if value != 0 && destructor != 0 && ops::recall(VALUE, key.into()) == 0 {
        at_end::register(at_end::What::Key { key, destructor });
    }
    ops::remember(VALUE, key.into(), value);
    0
}

pub(super) extern "C" fn pthread_getspecific(key: u32) -> u64 {
    ops::recall(VALUE, key.into())
}

/// The value of a key, which is gone then.
pub(super) fn take(key: u32) -> u64 {
    let value = ops::recall(VALUE, key.into());
    ops::remember(VALUE, key.into(), 0);
    value
}

pub(super) use pthread_getspecific as tss_get;
pub(super) use pthread_key_create as tss_create;
pub(super) use pthread_setspecific as tss_set;

pub(super) extern "C" fn tss_delete(_key: u32) {}
