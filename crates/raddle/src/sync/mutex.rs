//! Replacement for [`std::sync::Mutex`].
//!
//! The contents are in real memory; the explorer decides the order in which threads acquire the lock. A
//! thread that waits for a mutex that is never released is reported as a deadlock.

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use raddle_runtime::{Tag, ops};

use super::poison::Guarded;

/// Mutual exclusion lock, like [`std::sync::Mutex`].
///
/// An unlock synchronizes with every later lock.
pub struct Mutex<T: ?Sized> {
    tag: Tag,
    data: UnsafeCell<Guarded<T>>,
}

// SAFETY: same bounds as `std::sync::Mutex`.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: same bounds as `std::sync::Mutex`: only the holder of the lock accesses the contents.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}
impl<T: ?Sized> UnwindSafe for Mutex<T> {}
impl<T: ?Sized> RefUnwindSafe for Mutex<T> {}

/// Access to the contents of a locked [`Mutex`]. Dropping it unlocks the mutex.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    pub(super) mutex: &'a Mutex<T>,
    /// Whether the thread was already panicking when it acquired the lock; the guard then does not poison it.
    panicking: bool,
    not_send: PhantomData<*const ()>,
}

// SAFETY: same bounds as `std::sync::MutexGuard`.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T> Mutex<T> {
    /// Creates an unlocked lock that protects `value`. This is not an operation of the exploration.
    pub const fn new(value: T) -> Self {
        Mutex { tag: Tag::new(), data: UnsafeCell::new(Guarded::new(value)) }
    }

    /// Returns the contents. Acquires and releases the lock once, to synchronize with its last holder.
    ///
    /// # Errors
    /// Returns an error that contains the result if the lock is poisoned.
    #[track_caller]
    pub fn into_inner(self) -> LockResult<T> {
        self.sync_with_last_holder();
        self.data.into_inner().into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Acquires and releases the lock, so that the exclusive owner observes the contents that the last holder left.
    #[track_caller]
    fn sync_with_last_holder(&self) {
        if ops::is_running() {
            drop(self.lock());
        }
    }

    /// Blocks until the mutex is unlocked, and locks it.
    ///
    /// # Errors
    /// Returns an error that contains the result if the lock is poisoned.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        ops::keep_contents(&self.tag, &self.data, Location::caller());
        ops::lock(&self.tag, Location::caller());
        self.guard()
    }

    /// Locks the mutex if it is unlocked. Never blocks.
    ///
    /// Synchronizes with the last unlock even if it fails. The first call in a test restarts the exploration with a
    /// costlier representation of mutexes.
    ///
    /// # Errors
    /// Returns `WouldBlock` if the mutex is locked, and `Poisoned` with the guard if it is poisoned.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        ops::keep_contents(&self.tag, &self.data, Location::caller());
        if ops::try_lock(&self.tag, Location::caller()) {
            Ok(self.guard()?)
        } else {
            Err(TryLockError::WouldBlock)
        }
    }

    fn guard(&self) -> LockResult<MutexGuard<'_, T>> {
        let panicking = ops::is_panicking();
        let guard = MutexGuard { mutex: self, panicking, not_send: PhantomData };
        if self.is_poisoned() { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }

    /// Releases the lock while its guard still exists.
    pub(super) fn unlock(&self) {
        ops::unlock(&self.tag);
    }

    /// Reacquires the lock for a guard that released it with [`unlock`](Mutex::unlock).
    #[track_caller]
    pub(super) fn relock(&self) {
        ops::lock(&self.tag, Location::caller());
    }

    /// Returns `true` if the lock is poisoned. Does not synchronize, so the result may be outdated.
    pub fn is_poisoned(&self) -> bool {
        // SAFETY: the threads of a test are fibers of one system thread, so their accesses to the flag are
        // never simultaneous. Tests must not share a static lock (see the limits in the crate documentation).
        unsafe { (*self.data.get()).poisoned }
    }

    /// Clears the poison flag. Does not synchronize.
    pub fn clear_poison(&self) {
        // SAFETY: as above.
        unsafe { (*self.data.get()).poisoned = false };
    }

    /// Returns a mutable reference to the contents. Acquires and releases the lock once, to synchronize with its
    /// last holder.
    ///
    /// # Errors
    /// Returns an error that contains the result if the lock is poisoned.
    #[track_caller]
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.sync_with_last_holder();
        self.data.get_mut().get_mut()
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard holds the lock.
        unsafe { &(*self.mutex.data.get()).value }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard holds the lock.
        unsafe { &mut (*self.mutex.data.get()).value }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        if !self.panicking && ops::is_panicking() {
            // SAFETY: the guard holds the lock.
            unsafe { (*self.mutex.data.get()).poisoned = true };
        }
        self.mutex.unlock();
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}

impl<T: ?Sized> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutex").field("poisoned", &self.is_poisoned()).finish_non_exhaustive()
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}
