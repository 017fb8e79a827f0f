//! What `std::sync::Mutex` is.

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use raddle_runtime::{Tag, ops};

use super::poison::Guarded;

/// A mutex: see the standard library.
pub struct Mutex<T: ?Sized> {
    tag: Tag,
    data: UnsafeCell<Guarded<T>>,
}

// SAFETY: as for the standard library's.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as for the standard library's: who has the lock has the only access.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}
impl<T: ?Sized> UnwindSafe for Mutex<T> {}
impl<T: ?Sized> RefUnwindSafe for Mutex<T> {}

/// A mutex that is held: see the standard library.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    pub(super) mutex: &'a Mutex<T>,
    /// Whether the thread was panicking when it got the lock.
    panicking: bool,
    not_send: PhantomData<*const ()>,
}

// SAFETY: as for the standard library's.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T> Mutex<T> {
    /// See the standard library.
    pub const fn new(value: T) -> Self {
        Mutex { tag: Tag::new(), data: UnsafeCell::new(Guarded::new(value)) }
    }

    /// See the standard library.
    ///
    /// # Errors
    /// If it is poisoned.
    #[track_caller]
    pub fn into_inner(self) -> LockResult<T> {
        self.take_over();
        self.data.into_inner().into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Whoever has the mutex alone sees what the last one who locked it left there.
    #[track_caller]
    fn take_over(&self) {
        if ops::is_running() {
            drop(self.lock());
        }
    }

    /// See the standard library.
    ///
    /// # Errors
    /// If it is poisoned.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        ops::keep_contents(&self.tag, &self.data, Location::caller());
        ops::lock(&self.tag, Location::caller());
        self.guard()
    }

    /// See the standard library. It synchronizes also if it fails.
    ///
    /// # Errors
    /// If it is poisoned, or held.
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

    /// Releases the lock without a guard.
    pub(super) fn unlock(&self) {
        ops::unlock(&self.tag);
    }

    /// Takes the lock again, which a guard has given up for a while.
    #[track_caller]
    pub(super) fn relock(&self) {
        ops::lock(&self.tag, Location::caller());
    }

    /// See the standard library.
    pub fn is_poisoned(&self) -> bool {
        // SAFETY: only who has the lock writes it; who reads it without may be early, as with the
        // standard library.
        unsafe { (*self.data.get()).poisoned }
    }

    /// See the standard library.
    pub fn clear_poison(&self) {
        // SAFETY: as above.
        unsafe { (*self.data.get()).poisoned = false };
    }

    /// See the standard library.
    ///
    /// # Errors
    /// If it is poisoned.
    #[track_caller]
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.take_over();
        self.data.get_mut().get_mut()
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard has the lock.
        unsafe { &(*self.mutex.data.get()).value }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard has the lock.
        unsafe { &mut (*self.mutex.data.get()).value }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        if !self.panicking && ops::is_panicking() {
            // SAFETY: the guard has the lock.
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
