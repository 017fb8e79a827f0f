//! What is done at the end of a thread: destructors of thread-local variables and of the values of keys, and
//! at the end of the main thread of static variables, and what was given to `atexit`.
//!
//! All of that is in one list for each thread, done from its end. What other threads than the main one have registered for the
//! end of the program is not done.

use std::ffi::c_int;
use std::mem::transmute;

use super::keys;
use crate::ops;

/// How long the list is, and its entries: in three parts.
const LENGTH: u32 = 6;
const KIND: u32 = 7;
const FUNCTION: u32 = 8;
const ARGUMENT: u32 = 9;

/// Something to do at the end of a thread.
#[derive(Clone, Copy)]
pub(super) enum What {
    /// Calls a function.
    Call { function: usize, argument: usize },
    /// Calls a destructor with the value of a key, if it has one.
    Key { key: u32, destructor: usize },
}

/// Adds to the list.
pub(super) fn register(what: What) {
    let at = ops::recall(LENGTH, 0);
    ops::remember(LENGTH, 0, at + 1);
    let (kind, function, argument) = match what {
        What::Call { function, argument } => (0, function, argument),
        What::Key { key, destructor } => (1, destructor, key as usize),
    };
    ops::remember(KIND, at, kind);
    ops::remember(FUNCTION, at, function as u64);
    ops::remember(ARGUMENT, at, argument as u64);
}

fn entry(at: u64) -> What {
    let (function, argument) = (ops::recall(FUNCTION, at), ops::recall(ARGUMENT, at));
    match ops::recall(KIND, at) {
        0 => What::Call { function: function as usize, argument: argument as usize },
        _ => What::Key { key: argument as u32, destructor: function as usize },
    }
}

/// Whether a thread with these numbers has something to do at its end.
pub(crate) fn is_needed(remembered: impl Fn(u32, u64) -> u64) -> bool {
    remembered(LENGTH, 0) > 0
}

/// Does everything in the list. What is added meanwhile comes next. Returns what it gets.
pub(crate) extern "C-unwind" fn run_destructors(result: usize) -> usize {
    loop {
        let Some(last) = ops::recall(LENGTH, 0).checked_sub(1) else { return result };
        let what = entry(last);
        ops::remember(LENGTH, 0, last);
        let (function, argument) = match what {
            What::Call { function, argument } => (function, argument),
            What::Key { key, destructor } => (destructor, keys::take(key) as usize),
        };
        if matches!(what, What::Key { .. }) && argument == 0 {
            continue;
        }
        // SAFETY: the program gave us a function with one argument to call.
        unsafe { transmute::<usize, extern "C-unwind" fn(usize)>(function)(argument) };
    }
}

/// The destructor of a thread-local variable.
pub(super) extern "C" fn __cxa_thread_atexit(
    function: usize,
    argument: usize,
    _object: usize,
) -> c_int {
    register(What::Call { function, argument });
    0
}

/// The destructor of a static variable, if this is the main thread.
pub(super) extern "C" fn __cxa_atexit(function: usize, argument: usize, _object: usize) -> c_int {
    if ops::current().index() == 0 {
        register(What::Call { function, argument });
    }
    0
}

pub(super) extern "C" fn atexit(function: usize) -> c_int {
    __cxa_atexit(function, 0, 0)
}

/// Ends the program. If this is not the main thread, the others may have gone as far as they like, and then
/// none goes on.
pub(super) extern "C-unwind" fn exit(status: c_int) -> ! {
    if ops::current().index() == 0 {
        run_destructors(0);
    }
    _exit(status)
}

pub(super) extern "C" fn _exit(_status: c_int) -> ! {
    ops::assume(ops::current().index() == 0);
    ops::finish(0)
}

pub(super) use _exit as _Exit;
pub(super) use _exit as quick_exit;
