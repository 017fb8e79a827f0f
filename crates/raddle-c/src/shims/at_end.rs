//! What is done at the end of a thread: destructors of thread-local variables and of the values of keys; and
//! at the end of the program: destructors of static variables, and what was given to `atexit`.
//!
//! Each thread has a list of the first, and the program of the second, in memory that threads share; both are done from the
//! end. Whoever calls `exit`, or returns from `main`, does what is in the list. Then the others may have gone as far as
//! they like, and none goes on: a thread that has ended the program waits for what never comes, so nobody learns that
//! it has ended, and an execution in which it waits is complete, whatever the others wait for.

use std::ffi::c_int;
use std::mem::transmute;

use raddle_core::execution::{MemoryOrder, Value};

use super::keys;
use crate::ops::{self, Area, EXITED, Kind, RELAXED};

/// The list for the end of the program: how long it is, and behind it functions and arguments.
const MOST: usize = 128;
const FIRST: usize = 16;
const ENTRY: usize = 16;
/// How large it is.
pub(crate) const EXITS: usize = FIRST + MOST * ENTRY;

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

/// Adds to the list for the end of the program.
pub(super) extern "C" fn __cxa_atexit(function: usize, argument: usize, _object: usize) -> c_int {
    let list = ops::area(Area::Exits);
    let mut length = ops::load(list, 8, MemoryOrder::Relaxed);
    while let (read, false) = ops::cas(list, 8, length, length + 1, RELAXED) {
        length = read;
    }
    if length >= MOST as Value {
        ops::refuse("registers more functions for its end than Raddle has room for");
    }
    let entry = list + FIRST + length as usize * ENTRY;
    ops::store(entry + 8, 8, argument as Value, MemoryOrder::Relaxed);
    ops::store(entry, 8, function as Value, MemoryOrder::Release);
    0
}

pub(super) extern "C" fn atexit(function: usize) -> c_int {
    __cxa_atexit(function, 0, 0)
}

/// Does what is in the list for the end of the program. What another thread is just adding is not done.
fn run_exits() {
    let list = ops::area(Area::Exits);
    loop {
        let length = ops::load(list, 8, MemoryOrder::Relaxed);
        if length == 0 {
            return;
        }
        let (_, is_taken) = ops::cas(list, 8, length, length - 1, RELAXED);
        let entry = list + FIRST + (length as usize - 1) * ENTRY;
        let function = if is_taken { ops::load(entry, 8, MemoryOrder::Acquire) } else { 0 };
        if function != 0 {
            ops::store(entry, 8, 0, MemoryOrder::Relaxed);
            let argument = ops::load(entry + 8, 8, MemoryOrder::Relaxed) as usize;
            let function = function as usize;
            // SAFETY: the program gave us a function with at most one argument to call.
            unsafe { transmute::<usize, extern "C-unwind" fn(usize)>(function)(argument) };
        }
    }
}

/// What comes after `main`.
pub(crate) extern "C-unwind" fn end_main() {
    run_destructors(0);
    run_exits();
}

/// Ends the program.
pub(super) extern "C-unwind" fn exit(status: c_int) -> ! {
    end_main();
    _exit(status)
}

pub(super) extern "C" fn _exit(_status: c_int) -> ! {
    if ops::current().index() != 0 {
        ops::sync(0, Kind::Exit, EXITED, ops::set_to(0));
    }
    ops::finish(0)
}

pub(super) use _exit as _Exit;
pub(super) use _exit as quick_exit;
