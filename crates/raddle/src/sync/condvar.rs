//! What `std::sync::Condvar` is.
//!
//! Its state is a synchronization object with one bit for each thread that waits. A thread that waits
//! sets its bit, releases the mutex, and goes on when somebody has cleared the bit. Who notifies one
//! thread chooses which; nobody may come between the look and the choice. Threads do not wake up
//! without a reason, so a wake-up that gets lost is found as a deadlock.

use std::fmt;
use std::panic::Location;
use std::sync::{LockResult, PoisonError};
use std::time::Duration;

use raddle_core::execution::Value;
use raddle_core::program::{Guard, Update, UpdateKind};
use raddle_runtime::{Kind, Tag, ops};

use super::MutexGuard;

/// Somebody is choosing whom to wake.
pub(crate) const CHOOSING: Value = 1 << 119;

/// Threads have the bits below that one.
const THREADS: usize = 119;

/// A condition variable: see the standard library.
#[derive(Default)]
pub struct Condvar {
    tag: Tag,
}

/// Whether a wait ended because the time was up: see the standard library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// See the standard library.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// See the standard library.
    #[must_use]
    pub const fn new() -> Self {
        Condvar { tag: Tag::new() }
    }

    #[track_caller]
    fn sync(&self, guard: Guard, update: Update) -> Value {
        ops::sync(&self.tag, Kind::Condvar, guard, update, Location::caller())
    }

    /// Sets the bit of the current thread and returns it.
    #[track_caller]
    fn enlist(&self) -> Value {
        let thread = ops::current_thread().index();
        if thread >= THREADS {
            ops::misuse("too many threads for a condition variable", Location::caller());
        }
        let own = 1 << thread;
        self.sync(Guard::NoBits(CHOOSING), ops::by(UpdateKind::Or, own));
        own
    }

    /// See the standard library. It does not wake up without a reason.
    ///
    /// # Errors
    /// If the mutex is poisoned.
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let own = self.enlist();
        guard.mutex.unlock();
        self.sync(Guard::NoBits(own | CHOOSING), ops::by(UpdateKind::Or, 0));
        guard.mutex.relock();
        if guard.mutex.is_poisoned() { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }

    /// See the standard library.
    ///
    /// # Errors
    /// If the mutex is poisoned.
    #[track_caller]
    pub fn wait_while<'a, T, F: FnMut(&mut T) -> bool>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: F,
    ) -> LockResult<MutexGuard<'a, T>> {
        while condition(&mut *guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// See the standard library. The time may be up at any time.
    ///
    /// # Errors
    /// If the mutex is poisoned.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        _timeout: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let own = self.enlist();
        guard.mutex.unlock();
        let state = self.sync(Guard::NoBits(CHOOSING), ops::by(UpdateKind::And, !own));
        let result = WaitTimeoutResult(state & own != 0);
        guard.mutex.relock();
        let poisoned = guard.mutex.is_poisoned();
        if poisoned { Err(PoisonError::new((guard, result))) } else { Ok((guard, result)) }
    }

    /// See the standard library.
    ///
    /// # Errors
    /// If the mutex is poisoned.
    #[track_caller]
    pub fn wait_timeout_while<'a, T, F: FnMut(&mut T) -> bool>(
        &self,
        mut guard: MutexGuard<'a, T>,
        timeout: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        loop {
            if !condition(&mut *guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            let (again, result) = self.wait_timeout(guard, timeout)?;
            guard = again;
            if result.timed_out() {
                let result = WaitTimeoutResult(condition(&mut *guard));
                return Ok((guard, result));
            }
        }
    }

    /// See the standard library. Any thread that waits may be the one.
    #[track_caller]
    pub fn notify_one(&self) {
        let waiting = self.sync(Guard::NoBits(CHOOSING), ops::by(UpdateKind::Or, CHOOSING));
        let woken = match waiting.count_ones() {
            0 => 0,
            1 => waiting,
            many => nth_bit(waiting, ops::choose(many, Location::caller())),
        };
        self.sync(Guard::Always, ops::by(UpdateKind::And, !(CHOOSING | woken)));
    }

    /// See the standard library.
    #[track_caller]
    pub fn notify_all(&self) {
        self.sync(Guard::NoBits(CHOOSING), ops::set_to(0));
    }
}

fn nth_bit(mut bits: Value, n: u32) -> Value {
    for _ in 0..n {
        bits &= bits - 1;
    }
    bits & -bits
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
