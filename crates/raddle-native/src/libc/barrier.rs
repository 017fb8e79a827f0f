//! Barriers of POSIX.
//!
//! The state is a synchronization object: the number of threads of a round, and the number of threads that have come since the
//! barrier was initialised. A thread that comes computes its round from that and waits until the round is full. So rounds need no
//! reset, and a barrier can be used again at once. A barrier whose results nobody uses does not count
//! ([`barriers`](crate::program::barriers)).

use raddle_core::execution::{ThreadId, Value};
use raddle_core::outcome::FindingKind;
use raddle_core::program::{Guard, Update, UpdateKind};

use super::errors::EINVAL;
use super::{FAILED, Names, ObjectKind, nothing};
use crate::program::call::{Call, Step, Suspend, set_to, update};

/// The number of threads of a round is above this bit.
const SIZE: u32 = 64;
/// The result for one thread of each round, `PTHREAD_BARRIER_SERIAL_THREAD`.
const SERIAL: u64 = FAILED;

/// The number of threads of the current round that have come, and the number of threads of a round; `None` if the barrier was never
/// initialised. The last thread of a round begins the next one.
pub(crate) fn barrier_arrivals(state: Value) -> Option<(Value, Value)> {
    let size = state >> SIZE;
    (size > 0).then(|| ((state - (size << SIZE)) % size, size))
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
    sync(call, barrier, Guard::Always, empty)?;
    for token in call.barrier_tokens(barrier, size.into())? {
        call.sync_token(barrier, token, Guard::Always, empty)?;
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
        if state >> SIZE == 0 {
            return Err(uninitialised(call));
        }
    }
    for other in others() {
        call.sync_token(barrier, (other, me), Guard::Equal(empty + 1), set_to(empty))?;
    }
    Ok(0)
}

fn uninitialised(call: &mut Call<'_>) -> Suspend {
    call.fail(FindingKind::Misuse, "a barrier is used that was never initialised")
}

/// Counts the thread, and waits for the last one of its round.
fn count(call: &mut Call<'_>, barrier: u64, is_result_used: bool) -> Step<u64> {
    let state = sync(call, barrier, Guard::Always, update(UpdateKind::Add, 1))?;
    let size = state >> SIZE;
    if size == 0 {
        return Err(uninitialised(call));
    }
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
    ("pthread_barrier_destroy", nothing),
    ("pthread_barrier_wait", wait),
    ("pthread_barrierattr_init", nothing),
    ("pthread_barrierattr_destroy", nothing),
    ("pthread_barrierattr_setpshared", nothing),
];
