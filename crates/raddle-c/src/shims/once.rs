//! Things that happen once: `pthread_once`, and static variables of functions in C++.
//!
//! The state is a synchronization object: nobody came yet, somebody is at it, or it is done. Who comes while
//! somebody is at it waits.

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

/// If the function throws an exception, the next one may try.
struct Attempt(usize);

impl Drop for Attempt {
    fn drop(&mut self) {
        end(self.0, NEW);
    }
}

pub(super) extern "C-unwind" fn pthread_once(
    once: usize,
    function: extern "C-unwind" fn(),
) -> c_int {
    if begin(once) {
        let attempt = Attempt(once);
        function();
        std::mem::forget(attempt);
        end(once, DONE);
    }
    0
}

/// What C11 has.
pub(super) extern "C-unwind" fn call_once(once: usize, function: extern "C-unwind" fn()) {
    pthread_once(once, function);
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
