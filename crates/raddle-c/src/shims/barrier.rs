//! Barriers of POSIX.
//!
//! The state is a synchronization object: how many threads have to come, and how many have come since the
//! beginning of time. A thread that comes knows from that in which round it is, and waits until that round is
//! full; so rounds need no reset, and a barrier can be used again at once.

use std::ffi::{c_int, c_uint};

use raddle_core::execution::Value;
use raddle_core::program::{Guard, Update, UpdateKind};

use crate::ops::{self, FindingKind, Kind};

/// The number of threads that have to come is above this bit.
const SIZE: u32 = 64;

/// How many threads of the current round have come, and how many have to come; `None` if the barrier was never
/// initialised. The last thread of a round begins the next one.
pub(crate) fn barrier_arrivals(state: Value) -> Option<(Value, Value)> {
    let size = state >> SIZE;
    (size > 0).then(|| ((state - (size << SIZE)) % size, size))
}

fn sync(barrier: usize, guard: Guard, update: Update) -> Value {
    ops::sync(barrier, Kind::Barrier, guard, update)
}

pub(super) extern "C" fn pthread_barrier_init(
    barrier: usize,
    _attributes: usize,
    size: c_uint,
) -> c_int {
    if size == 0 {
        return libc::EINVAL;
    }
    sync(barrier, Guard::Always, ops::set_to(Value::from(size) << SIZE));
    0
}

pub(super) extern "C" fn pthread_barrier_destroy(_barrier: usize) -> c_int {
    0
}

pub(super) extern "C" fn pthread_barrier_wait(barrier: usize) -> c_int {
    let state = sync(barrier, Guard::Always, ops::by(UpdateKind::Add, 1));
    let size = state >> SIZE;
    if size == 0 {
        ops::fail(FindingKind::Misuse, "a barrier is used that was never initialised");
    }
    let before = state - (size << SIZE);
    if before % size == size - 1 {
        return libc::PTHREAD_BARRIER_SERIAL_THREAD;
    }
    let full = (before / size + 1) * size;
    sync(barrier, Guard::Above((size << SIZE) + full - 1), ops::by(UpdateKind::Add, 0));
    0
}
