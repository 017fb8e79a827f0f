//! The system call `futex`.
//!
//! A thread that waits says so first and then looks at the value. A thread that changes the value and wakes either comes before, and
//! then the new value is seen, or finds the other thread among those that wait.
//!
//! *Cost.* A call that finds another value changes the set of waiting threads twice, so a round with it is not silent: three threads
//! with the mutex of Drepper have 20,658 classes, and 20,688 with `--exact`. The two changes cancel out if no other thread changes
//! the set in between, but the history of a thread, for which rounds are left out, does not tell.

use raddle_core::execution::MemoryOrder;

use super::errors::{EAGAIN, ETIMEDOUT};
use super::waiters::Waiters;
use super::{ObjectKind, area, once, rust_std};
use crate::process::FutexCall;
use crate::program::call::{Call, Step};

const WAIT: u32 = 0;
const WAKE: u32 = 1;
const WAIT_BITSET: u32 = 9;
const WAKE_BITSET: u32 = 10;

/// The result of a system call that failed.
fn error(number: i32) -> u64 {
    -i64::from(number) as u64
}

/// Performs a futex operation and returns the result of the system call.
pub(super) fn perform(call: &mut Call<'_>, futex: FutexCall) -> Step<u64> {
    if call.program.table.rust.is_some()
        && let Some(result) = rust_std::futex(call, futex)
    {
        return result;
    }
    let waiters = Waiters { address: futex.address, kind: ObjectKind::Futex };
    match futex.operation {
        WAKE if area::is_own(futex.address) => once::finish(call, futex.address).map(|()| 0),
        WAIT | WAIT_BITSET => wait(call, waiters, futex.value, futex.timeout != 0),
        WAKE | WAKE_BITSET => Ok(wake(call, waiters, futex.value)?.into()),
        _ => {
            let message = format!("futex operation {} is not modelled", futex.operation);
            Err(call.refuse(&message))
        }
    }
}

fn wait(call: &mut Call<'_>, waiters: Waiters, expected: u32, is_timed: bool) -> Step<u64> {
    let own = waiters.enlist(call)?;
    let value = call.atomic_load(waiters.address, 4, MemoryOrder::SeqCst)?;
    if value != expected.into() {
        waiters.leave(call, own)?;
        return Ok(error(EAGAIN));
    }
    if is_timed {
        let is_late = waiters.leave(call, own)?;
        return Ok(if is_late { error(ETIMEDOUT) } else { 0 });
    }
    waiters.wait(call, own)?;
    Ok(0)
}

/// Wakes at most this many threads. Returns their number.
fn wake(call: &mut Call<'_>, waiters: Waiters, most: u32) -> Step<u32> {
    /// More threads than there can be.
    const ALL: u32 = 1 << 20;
    match most {
        0 => Ok(0),
        many if many > ALL => waiters.wake_all(call),
        many => {
            let mut woken = 0;
            for _ in 0..many {
                woken += waiters.wake_one(call)?;
            }
            Ok(woken)
        }
    }
}
