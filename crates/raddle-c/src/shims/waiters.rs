//! Threads that wait until they are woken: what condition variables and futexes are made of.
//!
//! The state is a synchronization object with one bit for each thread that waits, as in the Rust front end's
//! condition variable. Who wakes one thread chooses which; nobody may come between the look and the
//! choice. Threads do not wake up without a reason, so a wake-up that gets lost is found as a deadlock.

use raddle_core::execution::Value;
use raddle_core::program::{Guard, Update, UpdateKind};

use crate::ops::{self, FindingKind, Kind};

/// Somebody is choosing whom to wake.
const CHOOSING: Value = 1 << 119;

/// Threads have the bits below that one.
const THREADS: usize = 119;

/// The threads that wait for the object at an address.
#[derive(Clone, Copy)]
pub(super) struct Waiters {
    pub(super) address: usize,
    pub(super) kind: Kind,
}

impl Waiters {
    fn sync(self, guard: Guard, update: Update) -> Value {
        ops::sync(self.address, self.kind, guard, update)
    }

    /// The current thread waits from now on. Returns its bit.
    pub(super) fn enlist(self) -> Value {
        let thread = ops::current().index();
        if thread >= THREADS {
            ops::fail(FindingKind::Unsupported, "too many threads for a condition variable");
        }
        let own = 1 << thread;
        self.sync(Guard::NoBits(CHOOSING), ops::by(UpdateKind::Or, own));
        own
    }

    /// Waits until somebody has woken the thread with this bit.
    pub(super) fn wait(self, own: Value) {
        self.sync(Guard::NoBits(own | CHOOSING), ops::by(UpdateKind::Or, 0));
    }

    /// The thread with this bit does not wait any more. Says whether it was not woken.
    pub(super) fn leave(self, own: Value) -> bool {
        self.sync(Guard::NoBits(CHOOSING), ops::by(UpdateKind::And, !own)) & own != 0
    }

    /// Wakes any one thread that waits. Returns how many.
    pub(super) fn wake_one(self) -> u32 {
        let waiting = self.sync(Guard::NoBits(CHOOSING), ops::by(UpdateKind::Or, CHOOSING));
        let woken = match waiting.count_ones() {
            0 => 0,
            1 => waiting,
            many => nth_bit(waiting, ops::choose(many)),
        };
        self.sync(Guard::Always, ops::by(UpdateKind::And, !(CHOOSING | woken)));
        woken.count_ones()
    }

    /// Wakes all threads that wait. Returns how many.
    pub(super) fn wake_all(self) -> u32 {
        self.sync(Guard::NoBits(CHOOSING), ops::set_to(0)).count_ones()
    }
}

fn nth_bit(mut bits: Value, n: u32) -> Value {
    for _ in 0..n {
        bits &= bits - 1;
    }
    bits & -bits
}
