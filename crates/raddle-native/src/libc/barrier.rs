//! Barriers of POSIX.
//!
//! The state is a synchronization object: the number of threads of a round, and the number of threads that have come since the
//! barrier was initialised. A thread that comes computes its round from that and waits until the round is full. So rounds need no
//! reset, and a barrier can be used again at once. A barrier whose results nobody uses does not count
//! ([`barriers`](crate::program::barriers)).

use raddle_core::execution::{ThreadId, Value};
use raddle_core::program::{Guard, Update, UpdateKind};

use super::errors::EINVAL;
use super::{FAILED, Names, ObjectKind, life, nothing};
use crate::program::call::{Call, Step, set_to, update};

const WHAT: &str = "a barrier";
/// The barrier was destroyed. Whoever waits goes on: only a barrier at which nobody waits may be destroyed.
const DESTROYED: Value = 1 << 118;
/// The number of threads of a round is above this bit.
const SIZE: u32 = 64;
/// The result for one thread of each round, `PTHREAD_BARRIER_SERIAL_THREAD`.
const SERIAL: u64 = FAILED;

/// The number of threads of the current round that have come, and the number of threads of a round; `None` if the barrier is not
/// live. The last thread of a round begins the next one.
pub(crate) fn barrier_arrivals(state: Value) -> Option<(Value, Value)> {
    let size = state >> SIZE;
    (size > 0 && state < DESTROYED).then(|| ((state - (size << SIZE)) % size, size))
}

/// Whether a token was sent and not received; `None` if its barrier was never initialised.
pub(crate) fn has_token(state: Value) -> Option<bool> {
    (state >> SIZE > 0).then_some(state & 1 == 1)
}

fn sync(call: &mut Call<'_>, barrier: u64, guard: Guard, update: Update) -> Step<Value> {
    call.sync(ObjectKind::Barrier, barrier, guard, update)
}

/// `pthread_barrier_init(barrier, attributes, size)`.
fn init(call: &mut Call<'_>) -> Step<u64> {
    let (barrier, size) = (call.argument(0)?, call.argument(2)? as u32);
    if size == 0 {
        return Ok(EINVAL as u64);
    }
    let empty = set_to(Value::from(size) << SIZE);
    let before = sync(call, barrier, Guard::Always, empty)?;
    if barrier_arrivals(before).is_some() && !life::is_on_stack(barrier) {
        return Err(life::initialised_again(call, WHAT));
    }
    for token in call.barrier_tokens(barrier, size.into())? {
        call.sync_token(barrier, token, Guard::Always, empty)?;
    }
    Ok(0)
}

/// A barrier that exchanges tokens waits until all of them are received, as the C library does: forever, if a thread waits at it.
fn destroy(call: &mut Call<'_>) -> Step<u64> {
    let barrier = call.argument(0)?;
    let before = sync(call, barrier, Guard::Always, set_to(DESTROYED))?;
    let size = check(call, before)?;
    if (before - (size << SIZE)) % size != 0 {
        return Err(life::misuse(call, WHAT, "is destroyed while threads wait at it"));
    }
    for token in call.barrier_tokens(barrier, size)? {
        call.sync_token(barrier, token, Guard::NoBits(1), set_to(DESTROYED))?;
    }
    Ok(0)
}

fn wait(call: &mut Call<'_>) -> Step<u64> {
    let barrier = call.argument(0)?;
    let is_result_used = !call.is_result_dead(4);
    match call.barrier_group(barrier, is_result_used)? {
        Some(group) => exchange_tokens(call, barrier, &group),
        None => count(call, barrier, is_result_used),
    }
}

/// Sends a token to each other thread of the group, and receives theirs.
fn exchange_tokens(call: &mut Call<'_>, barrier: u64, group: &[ThreadId]) -> Step<u64> {
    let me = call.current();
    let empty = (group.len() as Value) << SIZE;
    let others = || group.iter().copied().filter(|&other| other != me);
    for other in others() {
        let send = update(UpdateKind::Add, 1);
        let state = call.sync_token(barrier, (me, other), Guard::NoBits(1), send)?;
        check(call, state)?;
    }
    for other in others() {
        call.sync_token(barrier, (other, me), Guard::Equal(empty + 1), set_to(empty))?;
    }
    Ok(0)
}

/// Fails if the state is not that of a live barrier. Returns its size.
fn check(call: &mut Call<'_>, state: Value) -> Step<Value> {
    match state >> SIZE {
        0 => Err(life::used_uninitialised(call, WHAT)),
        _ if state >= DESTROYED => Err(life::used_destroyed(call, WHAT)),
        size => Ok(size),
    }
}

/// Counts the thread, and waits for the last one of its round.
fn count(call: &mut Call<'_>, barrier: u64, is_result_used: bool) -> Step<u64> {
    let state = sync(call, barrier, Guard::Always, update(UpdateKind::Add, 1))?;
    let size = check(call, state)?;
    if !is_result_used {
        call.note_barrier_user(barrier, size)?;
    }
    let before = state - (size << SIZE);
    if before % size == size - 1 {
        return Ok(SERIAL);
    }
    let full = (before / size + 1) * size;
    let guard = Guard::Above((size << SIZE) + full - 1);
    sync(call, barrier, guard, update(UpdateKind::Add, 0))?;
    Ok(0)
}

pub(super) const TABLE: Names = &[
    ("pthread_barrier_init", init),
    ("pthread_barrier_destroy", destroy),
    ("pthread_barrier_wait", wait),
    ("pthread_barrierattr_init", nothing),
    ("pthread_barrierattr_destroy", nothing),
    ("pthread_barrierattr_setpshared", nothing),
];
