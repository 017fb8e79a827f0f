//! Threads of POSIX, and their attributes.

use raddle_core::execution::{ThreadId, Value};
use raddle_core::outcome::FindingKind;

use super::errors::EDEADLK;
use super::{Names, area, cancel, nothing};
use crate::program::call::{Call, CompareOrders, Step};

/// The `pthread_t` of a thread: its number plus 1.
pub(super) fn handle(thread: ThreadId) -> u64 {
    thread.index() as u64 + 1
}

/// The thread of a `pthread_t`.
fn thread_of(call: &mut Call<'_>, handle: u64) -> Step<ThreadId> {
    match handle.checked_sub(1) {
        Some(index) if index < 1 << 10 => Ok(ThreadId::new(index as usize)),
        _ => Err(call.fail(FindingKind::Misuse, "this is no thread")),
    }
}

/// A thread joins the thread.
const JOINED: Value = 1;
/// No thread may join the thread.
const DETACHED: Value = 2;

/// Notes that a thread is joined or detached. Only one of the two may happen, once.
fn let_go(call: &mut Call<'_>, thread: ThreadId, how: Value) -> Step<()> {
    let state = area::thread_state(thread.index());
    let (before, is_first) = call.compare_exchange(state, 4, 0, how, CompareOrders::RELAXED)?;
    if is_first {
        return Ok(());
    }
    let message = match (how, before) {
        (JOINED, JOINED) => "a thread is joined twice",
        (JOINED, _) => "a thread is joined that was detached",
        (_, JOINED) => "a thread is detached that was joined",
        _ => "a thread is detached twice",
    };
    Err(call.fail(FindingKind::Misuse, message))
}

/// Waits for the end of a thread, as the only thread that does.
pub(super) fn join(call: &mut Call<'_>, handle: u64) -> Step<ThreadId> {
    let thread = thread_of(call, handle)?;
    let_go(call, thread, JOINED)?;
    call.join(thread)?;
    Ok(thread)
}

/// Starts a thread and stores its handle.
pub(super) fn create(
    call: &mut Call<'_>,
    thread: u64,
    is_detached: bool,
    function: u64,
    argument: u64,
) -> Step<()> {
    let id = call.spawn(function, argument);
    if is_detached {
        let_go(call, id, DETACHED)?;
    }
    call.store(thread, 8, handle(id))
}

/// `pthread_create(thread, attributes, function, argument)`.
fn pthread_create(call: &mut Call<'_>) -> Step<u64> {
    let (thread, attributes) = (call.argument(0)?, call.argument(1)?);
    let (function, argument) = (call.argument(2)?, call.argument(3)?);
    let is_detached = attributes != 0 && call.load(attributes, 4)? == DETACHED_STATE;
    create(call, thread, is_detached, function, argument)?;
    Ok(0)
}

/// `pthread_join(thread, result)`.
fn pthread_join(call: &mut Call<'_>) -> Step<u64> {
    let (thread, result) = (call.argument(0)?, call.argument(1)?);
    if thread == handle(call.current()) {
        return Ok(EDEADLK as u64);
    }
    cancel::point(call)?;
    let thread = join(call, thread)?;
    if result != 0 {
        let value = call.result_of(thread)?;
        call.store(result, 8, value)?;
    }
    Ok(0)
}

pub(super) fn current(call: &mut Call<'_>) -> Step<u64> {
    Ok(handle(call.current()))
}

pub(super) fn equal(call: &mut Call<'_>) -> Step<u64> {
    let (first, second) = (call.argument(0)?, call.argument(1)?);
    Ok((first == second).into())
}

fn exit(call: &mut Call<'_>) -> Step<u64> {
    let result = call.argument(0)?;
    cancel::exit(call, result)
}

/// `pthread_cancel(thread)`.
fn pthread_cancel(call: &mut Call<'_>) -> Step<u64> {
    let thread = call.argument(0)?;
    let thread = thread_of(call, thread)?;
    cancel::request(call, thread)?;
    Ok(0)
}

pub(super) fn detach(call: &mut Call<'_>) -> Step<u64> {
    let thread = call.argument(0)?;
    let thread = thread_of(call, thread)?;
    let_go(call, thread, DETACHED)?;
    Ok(0)
}

/// Size of a `pthread_attr_t`. Whether the thread is detached is all that is kept.
const ATTRIBUTES: usize = 56;
const DETACHED_STATE: u64 = 1;

fn attributes_init(call: &mut Call<'_>) -> Step<u64> {
    let attributes = call.argument(0)?;
    call.store_bytes(attributes, &[0; ATTRIBUTES])?;
    Ok(0)
}

fn set_detach_state(call: &mut Call<'_>) -> Step<u64> {
    let (attributes, state) = (call.argument(0)?, call.argument(1)?);
    call.store(attributes, 4, state)?;
    Ok(0)
}

fn get_detach_state(call: &mut Call<'_>) -> Step<u64> {
    let (attributes, state) = (call.argument(0)?, call.argument(1)?);
    let kept = call.load(attributes, 4)?;
    call.store(state, 4, kept)?;
    Ok(0)
}

/// Functions of a `pthread_t` that are not modelled.
macro_rules! refused {
    ($($name:literal)*) => {
        &[$(($name, |call| {
            Err(call.refuse(concat!("calls ", $name, ", which Raddle does not model")))
        })),*]
    };
}

pub(super) const REFUSED: Names = refused! {
    "pthread_kill" "pthread_sigqueue" "pthread_getname_np" "pthread_getaffinity_np"
    "pthread_getschedparam" "pthread_getcpuclockid" "pthread_tryjoin_np" "pthread_timedjoin_np"
    "pthread_clockjoin_np" "pthread_getattr_np" "fork" "vfork" "_Fork"
};

pub(super) const TABLE: Names = &[
    ("pthread_create", pthread_create),
    ("pthread_join", pthread_join),
    ("pthread_self", current),
    ("pthread_equal", equal),
    ("pthread_exit", exit),
    ("pthread_cancel", pthread_cancel),
    ("pthread_detach", detach),
    ("pthread_setname_np", nothing),
    ("pthread_setaffinity_np", nothing),
    ("pthread_setschedparam", nothing),
    ("pthread_setschedprio", nothing),
    ("pthread_setconcurrency", nothing),
    ("pthread_attr_init", attributes_init),
    ("pthread_attr_destroy", nothing),
    ("pthread_attr_setdetachstate", set_detach_state),
    ("pthread_attr_getdetachstate", get_detach_state),
    ("pthread_attr_setstacksize", nothing),
    ("pthread_attr_setstack", nothing),
    ("pthread_attr_setguardsize", nothing),
    ("pthread_attr_setinheritsched", nothing),
    ("pthread_attr_setschedparam", nothing),
    ("pthread_attr_setschedpolicy", nothing),
    ("pthread_attr_setscope", nothing),
    ("pthread_attr_setaffinity_np", nothing),
];
