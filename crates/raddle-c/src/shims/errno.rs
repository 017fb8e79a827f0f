//! `errno`: every thread has its own.

use std::ffi::c_int;

use crate::ops;

/// Where it is.
pub(super) extern "C" fn __errno_location() -> usize {
    ops::own_block()
}

/// What a function returns that says in `errno` what went wrong.
pub(super) fn fail(error: c_int) -> c_int {
    let own = __errno_location() as *mut c_int;
    // SAFETY: the block belongs to this thread.
    unsafe { *own = error };
    -1
}
