//! Barriers of POSIX.
//!
//! The state is a synchronization object: the number of threads of a round, and the number of threads that have come since the
//! barrier was initialised. A thread that comes computes its round from that and waits until the round is full. So rounds need no
//! reset, and a barrier can be used again at once.

use raddle_core::execution::Value;
use raddle_core::outcome::FindingKind;
use raddle_core::program::{Guard, Update, UpdateKind};

use super::errors::EINVAL;
use super::{FAILED, Names, ObjectKind, nothing};
use crate::program::call::{Call, Step, set_to, update};

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

fn sync(call: &mut Call<'_>, barrier: u64, guard: Guard, update: Update) -> Step<Value> {
    call.sync(ObjectKind::Barrier, barrier, guard, update)
}

/// `pthread_barrier_init(barrier, attributes, size)`.
fn init(call: &mut Call<'_>) -> Step<u64> {
    let (barrier, size) = (call.argument(0)?, call.argument(2)? as u32);
    if size == 0 {
        return Ok(EINVAL as u64);
    }
    sync(call, barrier, Guard::Always, set_to(Value::from(size) << SIZE))?;
    Ok(0)
}

fn wait(call: &mut Call<'_>) -> Step<u64> {
    let barrier = call.argument(0)?;
    let state = sync(call, barrier, Guard::Always, update(UpdateKind::Add, 1))?;
    let size = state >> SIZE;
    if size == 0 {
        let message = "a barrier is used that was never initialised";
        return Err(call.fail(FindingKind::Misuse, message));
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
