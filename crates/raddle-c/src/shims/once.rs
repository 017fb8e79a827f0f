//! Things that happen once: `pthread_once`, and static variables of functions in C++.
//!
//! The state is a synchronization object: nobody came yet, somebody is at it, or it is done. Who comes while
//! somebody is at it waits. `pthread_once` of C++ programs, out of which exceptions may come, is in `stub/runtime.cpp`.

use std::ffi::c_int;

use raddle_core::execution::{MemoryOrder, Value};
use raddle_core::program::{Guard, UpdateKind};

use crate::ops::{self, Kind};

const NEW: Value = 0;
const BUSY: Value = 1;
const DONE: Value = 2;

/// Whether the caller is the one who does it.
fn begin(object: usize) -> bool {
    ops::sync(object, Kind::Once, Guard::NoBits(BUSY), ops::by(UpdateKind::Max, BUSY)) == NEW
}

fn end(object: usize, state: Value) {
    ops::sync(object, Kind::Once, Guard::Always, ops::set_to(state));
}

pub(super) extern "C" fn pthread_once(once: usize, function: extern "C" fn()) -> c_int {
    if begin(once) {
        function();
        end(once, DONE);
    }
    0
}

/// What C11 has.
pub(super) extern "C" fn call_once(once: usize, function: extern "C" fn()) {
    pthread_once(once, function);
}

/// What a thread has done of the things that a library does once.
const BY_LIBRARY: u32 = 11;

/// As [`begin`], for the function with exceptions (`stub/runtime.cpp`), which has this caller. What a library that was compiled
/// without hooks does once, every thread does for itself: it fills a table, always alike, and is no event.
pub(super) extern "C" fn raddle_once_begin(once: usize, caller: usize) -> c_int {
    if !ops::is_in_library(caller) {
        return begin(once).into();
    }
    let is_new = ops::recall(BY_LIBRARY, once as u64) == 0;
    if is_new {
        ops::remember(BY_LIBRARY, once as u64, 1);
    }
    is_new.into()
}

/// The function has returned, or (if it is not `done`) thrown an exception: then the next one may try.
pub(super) extern "C" fn raddle_once_end(once: usize, done: c_int) {
    if ops::recall(BY_LIBRARY, once as u64) == 0 {
        end(once, if done == 0 { NEW } else { DONE });
    }
}

/// Whether the caller must initialise a static variable of a function.
pub(super) extern "C" fn __cxa_guard_acquire(guard: usize) -> c_int {
    begin(guard).into()
}

/// The variable is initialised. The first byte of the guard is what the compiler's own code looks at.
pub(super) extern "C" fn __cxa_guard_release(guard: usize) {
    ops::store(guard, 1, 1, MemoryOrder::Release);
    end(guard, DONE);
}

/// The initialisation threw an exception.
pub(super) extern "C" fn __cxa_guard_abort(guard: usize) {
    end(guard, NEW);
}
