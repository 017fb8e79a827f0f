//! Threads of POSIX, and what they are started with.

use std::ffi::c_int;

use raddle_core::execution::{ThreadId, Value};

use super::at_end;
use crate::ops::{self, Area, FindingKind, RELAXED};

/// What a `pthread_t` is: the number of the thread, plus 1.
pub(super) fn handle(thread: ThreadId) -> u64 {
    thread.index() as u64 + 1
}

fn thread_of(handle: u64) -> ThreadId {
    match handle.checked_sub(1) {
        Some(index) if index < 1 << 10 => ThreadId::new(index as usize),
        _ => ops::fail(FindingKind::Misuse, "this is no thread"),
    }
}

/// Somebody joins the thread.
const JOINED: Value = 1;
/// Nobody may.
const DETACHED: Value = 2;

/// Somebody joins a thread, or detaches it. Only one may do that, once.
fn let_go(thread: ThreadId, how: Value) {
    let state = ops::area(Area::Threads) + 4 * thread.index();
    let message = match (how, ops::cas(state, 4, 0, how, RELAXED)) {
        (_, (_, true)) => return,
        (JOINED, (JOINED, _)) => "a thread is joined twice",
        (JOINED, _) => "a thread is joined that was detached",
        (_, (JOINED, _)) => "a thread is detached that was joined",
        _ => "a thread is detached twice",
    };
    ops::fail(FindingKind::Misuse, message)
}

/// Waits for the end of a thread, as the only one.
pub(super) fn join(handle: u64) -> ThreadId {
    let thread = thread_of(handle);
    let_go(thread, JOINED);
    ops::join(thread);
    thread
}

pub(super) extern "C" fn pthread_create(
    thread: usize,
    attributes: usize,
    function: usize,
    argument: usize,
) -> c_int {
    let is_detached = attributes != 0 && ops::get_number(attributes, 4) == DETACHED_STATE;
    let id = ops::spawn(function, argument);
    if is_detached {
        let_go(id, DETACHED);
    }
    ops::put_number(thread, 8, handle(id));
    0
}

pub(super) extern "C" fn pthread_join(thread: u64, result: usize) -> c_int {
    if thread == handle(ops::current()) {
        return libc::EDEADLK;
    }
    let thread = join(thread);
    if result != 0 {
        let value = ops::result_of(thread);
        ops::put_number(result, 8, value);
    }
    0
}

pub(super) extern "C" fn pthread_self() -> u64 {
    handle(ops::current())
}

pub(super) extern "C" fn pthread_equal(one: u64, other: u64) -> c_int {
    (one == other).into()
}

/// Ends the thread. Its destructors of thread-local variables run, those of what is on its stack do not.
pub(super) extern "C-unwind" fn pthread_exit(result: u64) -> ! {
    if ops::current().index() == 0 {
        ops::note_left();
    }
    at_end::run_destructors(result as usize);
    ops::finish(result)
}

/// Nobody waits for the thread, which changes nothing for it.
pub(super) extern "C" fn pthread_detach(thread: u64) -> c_int {
    let_go(thread_of(thread), DETACHED);
    0
}

/// Names are for people who look at the running program.
pub(super) extern "C" fn pthread_setname_np(_thread: u64, _name: usize) -> c_int {
    0
}

/// Nobody is cancelled, so nothing depends on whether somebody could be.
pub(super) extern "C" fn pthread_setcancelstate(_state: c_int, old: usize) -> c_int {
    if old != 0 {
        ops::put_number(old, 4, 0);
    }
    0
}

pub(super) extern "C" fn pthread_testcancel() {}

/// The attributes of a thread: whether it is detached is all that is kept.
const ATTRIBUTES: usize = 56;
const DETACHED_STATE: u64 = libc::PTHREAD_CREATE_DETACHED as u64;

pub(super) extern "C" fn pthread_attr_init(attributes: usize) -> c_int {
    ops::put_bytes(attributes, &[0; ATTRIBUTES]);
    0
}

pub(super) extern "C" fn pthread_attr_destroy(_attributes: usize) -> c_int {
    0
}

pub(super) extern "C" fn pthread_attr_setdetachstate(attributes: usize, state: c_int) -> c_int {
    ops::put_number(attributes, 4, state as u64);
    0
}

pub(super) extern "C" fn pthread_attr_getdetachstate(attributes: usize, state: usize) -> c_int {
    let kept = ops::get_number(attributes, 4);
    ops::put_number(state, 4, kept);
    0
}

/// What only says how fast a thread is, or how large.
pub(super) extern "C" fn pthread_attr_setstacksize(_attributes: usize, _value: usize) -> c_int {
    0
}

pub(super) use pthread_attr_setstacksize as pthread_attr_setguardsize;
pub(super) use pthread_attr_setstacksize as pthread_attr_setinheritsched;
pub(super) use pthread_attr_setstacksize as pthread_attr_setschedparam;
pub(super) use pthread_attr_setstacksize as pthread_attr_setschedpolicy;
pub(super) use pthread_attr_setstacksize as pthread_attr_setscope;
pub(super) use pthread_attr_setstacksize as pthread_setconcurrency;
