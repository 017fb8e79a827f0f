//! The system call `futex`.
//!
//! *Problem.* A call compares the value and begins to wait in one step, and the two are in different locations here.
//!
//! *Idea.* A call that finds another value is a load. A call that does not says that it waits, and then looks at the value once
//! more. A thread that changes the value and wakes either comes before, and then the new value is seen, or finds the other thread
//! among those that wait. If the new value is seen, the execution is discarded: without the first look it is one in which that
//! look found the new value, and wakes did not meet a thread that does not wait.

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
    if call.atomic_load(waiters.address, 4, MemoryOrder::SeqCst)? != expected.into() {
        return Ok(error(EAGAIN));
    }
    let own = waiters.enlist(call)?;
    let value = call.atomic_load(waiters.address, 4, MemoryOrder::SeqCst)?;
    call.assume(value == expected.into())?;
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
