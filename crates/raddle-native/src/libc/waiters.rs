//! Threads that wait until another one wakes them: the base of condition variables and futexes.
//!
//! The state is a synchronization object with one bit for each thread that waits. A thread that wakes one of them chooses which; no
//! other thread may come between the look and the choice. Threads do not wake up spuriously, so a lost wake-up is found as a
//! deadlock.

use raddle_core::execution::Value;
use raddle_core::program::{Guard, Update, UpdateKind};

use super::ObjectKind;
use crate::program::call::{Call, Step, set_to, update};

/// A thread is choosing which one to wake.
const CHOOSING: Value = 1 << 119;
/// Threads have the bits below that one.
const THREADS: usize = 119;

/// The threads that wait for the object at an address.
#[derive(Clone, Copy)]
pub(super) struct Waiters {
    pub(super) address: u64,
    pub(super) kind: ObjectKind,
}

impl Waiters {
    fn sync(self, call: &mut Call<'_>, guard: Guard, update: Update) -> Step<Value> {
        call.sync(self.kind, self.address, guard, update)
    }

    /// The current thread waits from now on. Returns its bit.
    pub(super) fn enlist(self, call: &mut Call<'_>) -> Step<Value> {
        let thread = call.current().index();
        if thread >= THREADS {
            return Err(call.refuse("has too many threads for a condition variable"));
        }
        let own = 1 << thread;
        self.sync(call, Guard::NoBits(CHOOSING), update(UpdateKind::Or, own))?;
        Ok(own)
    }

    /// Waits until another thread has woken the thread with this bit.
    pub(super) fn wait(self, call: &mut Call<'_>, own: Value) -> Step<()> {
        self.sync(call, Guard::NoBits(own | CHOOSING), update(UpdateKind::Or, 0))?;
        Ok(())
    }

    /// The thread with this bit does not wait any more. Returns `true` if it was not woken.
    pub(super) fn leave(self, call: &mut Call<'_>, own: Value) -> Step<bool> {
        let state = self.sync(call, Guard::NoBits(CHOOSING), update(UpdateKind::And, !own))?;
        Ok(state & own != 0)
    }

    /// Wakes any one thread that waits. Returns the number of threads that were woken.
    pub(super) fn wake_one(self, call: &mut Call<'_>) -> Step<u32> {
        let waiting = self.sync(call, Guard::NoBits(CHOOSING), update(UpdateKind::Or, CHOOSING))?;
        let woken = match waiting.count_ones() {
            0 => 0,
            1 => waiting,
            many => nth_bit(waiting, call.choose(many)?),
        };
        self.sync(call, Guard::Always, update(UpdateKind::And, !(CHOOSING | woken)))?;
        Ok(woken.count_ones())
    }

    /// Wakes all threads that wait. Returns their number.
    pub(super) fn wake_all(self, call: &mut Call<'_>) -> Step<u32> {
        Ok(self.sync(call, Guard::NoBits(CHOOSING), set_to(0))?.count_ones())
    }
}

fn nth_bit(mut bits: Value, n: u32) -> Value {
    for _ in 0..n {
        bits &= bits - 1;
    }
    bits & -bits
}
