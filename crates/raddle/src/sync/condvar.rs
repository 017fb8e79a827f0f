//! Replacement for [`std::sync::Condvar`].
//!
//! The state is a synchronization object with one bit per waiting thread. A waiting thread sets its bit,
//! releases the mutex, and blocks until a notifier has cleared the bit. `notify_one` reads the state, chooses
//! a thread nondeterministically and clears its bit; [`CHOOSING`] makes these steps atomic. There are no spurious
//! wake-ups, so a lost wake-up is reported as a deadlock.

use std::fmt;
use std::panic::Location;
use std::sync::{LockResult, PoisonError};
use std::time::Duration;

use raddle_core::execution::Value;
use raddle_core::program::{Guard, Update, UpdateKind};
use raddle_runtime::{Kind, Tag, ops};

use super::MutexGuard;

/// State bit: a `notify_one` is choosing the thread to wake. Blocks all other operations.
pub(crate) const CHOOSING: Value = 1 << 119;

/// Number of threads that the state has bits for, below [`CHOOSING`].
const THREADS: usize = 119;

const TOO_MANY_THREADS: &str =
    "a condition variable supports only the first 119 threads of a test: spawn fewer threads";

/// Condition variable, like [`std::sync::Condvar`], without spurious wake-ups.
///
/// Only the first 119 threads of a test can wait; a wait by another thread is reported as misuse.
#[derive(Default)]
pub struct Condvar {
    tag: Tag,
}

/// Tells whether a wait ended by its timeout, like [`std::sync::WaitTimeoutResult`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns `true` if the wait ended without a notification.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// Creates a condition variable without waiting threads.
    #[must_use]
    pub const fn new() -> Self {
        Condvar { tag: Tag::new() }
    }

    #[track_caller]
    fn sync(&self, guard: Guard, update: Update) -> Value {
        ops::sync(&self.tag, Kind::Condvar, guard, update, Location::caller())
    }

    /// Sets the bit of the current thread in the state and returns that bit.
    #[track_caller]
    fn enlist(&self) -> Value {
        let thread = ops::current_thread().index();
        if thread >= THREADS {
            ops::misuse(TOO_MANY_THREADS, Location::caller());
        }
        let own = 1 << thread;
        self.sync(Guard::NoBits(CHOOSING), ops::by(UpdateKind::Or, own));
        own
    }

    /// Releases the mutex, blocks until a notification, and reacquires the mutex.
    ///
    /// There are no spurious wake-ups.
    ///
    /// # Errors
    /// Returns an error that contains the result if the mutex is poisoned.
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let own = self.enlist();
        guard.mutex.unlock();
        self.sync(Guard::NoBits(own | CHOOSING), ops::by(UpdateKind::Or, 0));
        guard.mutex.relock();
        if guard.mutex.is_poisoned() { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }

    /// Waits until `condition` returns `false`. Evaluates it before the first wait and after every notification.
    ///
    /// # Errors
    /// Returns an error that contains the result if the mutex is poisoned.
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

    /// Releases the mutex, waits for a notification or the timeout, and reacquires the mutex.
    ///
    /// The duration is ignored: the timeout may expire at any point.
    ///
    /// # Errors
    /// Returns an error that contains the result if the mutex is poisoned.
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

    /// Waits until `condition` returns `false` or a timeout expires.
    ///
    /// The duration is ignored: the timeout may expire at any point.
    ///
    /// # Errors
    /// Returns an error that contains the result if the mutex is poisoned.
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

    /// Wakes one waiting thread, if there is one. The exploration covers every choice of that thread.
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

    /// Wakes all waiting threads.
    #[track_caller]
    pub fn notify_all(&self) {
        self.sync(Guard::NoBits(CHOOSING), ops::set_to(0));
    }
}

/// Returns the `n`-th lowest set bit of `bits`, counted from 0. `bits` must have more than `n` set bits.
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
