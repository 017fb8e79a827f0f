//! Replacement for [`std::sync::RwLock`].
//!
//! The state is a synchronization object: the number of readers, a bit for a writer, and a bit for a
//! `try_read` or `try_write` in progress. A reader may always join other readers. There is no priority between
//! readers and writers, so the exploration covers the policies of all implementations.

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use raddle_core::execution::Value;
use raddle_core::program::{Guard, Update, UpdateKind};
use raddle_runtime::{Kind, Tag, ops};

use super::poison::Guarded;

/// State bit: a writer holds the lock.
const WRITER: Value = 1;
/// One reader, in the state.
const READER: Value = 2;
/// State bit: a thread has read the state in `try_add` and will update it. Blocks all other operations.
const TRYING: Value = 1 << 100;

/// Reader-writer lock, like [`std::sync::RwLock`].
///
/// A release by any holder synchronizes with every later acquisition, also between readers.
pub struct RwLock<T: ?Sized> {
    tag: Tag,
    data: UnsafeCell<Guarded<T>>,
}

// SAFETY: same bounds as `std::sync::RwLock`.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: same bounds as `std::sync::RwLock`: a writer has exclusive access, readers share theirs.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}
impl<T: ?Sized> UnwindSafe for RwLock<T> {}
impl<T: ?Sized> RefUnwindSafe for RwLock<T> {}

/// Shared access to the contents of an [`RwLock`]. Dropping it releases the lock.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    not_send: PhantomData<*const ()>,
}

/// Exclusive access to the contents of an [`RwLock`]. Dropping it releases the lock.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    /// Whether the thread was already panicking when it acquired the lock; the guard then does not poison it.
    panicking: bool,
    not_send: PhantomData<*const ()>,
}

// SAFETY: same bounds as `std::sync::RwLockReadGuard`.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}
// SAFETY: same bounds as `std::sync::RwLockWriteGuard`.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<T> RwLock<T> {
    /// Creates an unlocked lock that protects `value`. This is not an operation of the exploration.
    pub const fn new(value: T) -> Self {
        RwLock { tag: Tag::new(), data: UnsafeCell::new(Guarded::new(value)) }
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

impl<T: ?Sized> RwLock<T> {
    /// Acquires and releases the lock, so that the exclusive owner observes the contents that the last writer left.
    #[track_caller]
    fn sync_with_last_holder(&self) {
        if ops::is_running() {
            drop(self.write());
        }
    }

    #[track_caller]
    fn sync(&self, guard: Guard, update: Update) -> Value {
        ops::keep_contents(&self.tag, &self.data, Location::caller());
        ops::sync(&self.tag, Kind::RwLock, guard, update, Location::caller())
    }

    /// Blocks until no writer holds the lock, and acquires it for reading.
    ///
    /// # Errors
    /// Returns an error that contains the result if the lock is poisoned.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        self.sync(Guard::NoBits(WRITER | TRYING), ops::by(UpdateKind::Add, READER));
        self.read_guard()
    }

    /// Blocks until neither readers nor writers hold the lock, and acquires it for writing.
    ///
    /// # Errors
    /// Returns an error that contains the result if the lock is poisoned.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        self.sync(Guard::Equal(0), ops::set_to(WRITER));
        self.write_guard()
    }

    /// Adds `added` to the state unless one of `bits` is set. Returns `true` if it did. Takes two updates, which
    /// `TRYING` makes atomic.
    #[track_caller]
    fn try_add(&self, bits: Value, added: Value) -> bool {
        let state = self.sync(Guard::NoBits(TRYING), ops::by(UpdateKind::Add, TRYING));
        let free = state & bits == 0;
        let change = if free { added } else { 0 };
        self.sync(Guard::Always, ops::by(UpdateKind::Add, change - TRYING));
        free
    }

    /// Acquires the lock for reading unless a writer holds it. Synchronizes with the last release even if it fails.
    ///
    /// # Errors
    /// Returns `WouldBlock` if a writer holds the lock, and `Poisoned` with the guard if it is poisoned.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        if self.try_add(WRITER, READER) {
            Ok(self.read_guard()?)
        } else {
            Err(TryLockError::WouldBlock)
        }
    }

    /// Acquires the lock for writing unless a reader or writer holds it. Synchronizes with the last release even if
    /// it fails.
    ///
    /// # Errors
    /// Returns `WouldBlock` if a reader or writer holds the lock, and `Poisoned` with the guard if it is poisoned.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        if self.try_add(TRYING - 1, WRITER) {
            Ok(self.write_guard()?)
        } else {
            Err(TryLockError::WouldBlock)
        }
    }

    fn read_guard(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let guard = RwLockReadGuard { lock: self, not_send: PhantomData };
        if self.is_poisoned() { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }

    fn write_guard(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let panicking = ops::is_panicking();
        let guard = RwLockWriteGuard { lock: self, panicking, not_send: PhantomData };
        if self.is_poisoned() { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }

    fn release(&self, held: Value) {
        let update = ops::by(UpdateKind::Sub, held);
        ops::sync_unless_ending(&self.tag, Kind::RwLock, Guard::NoBits(TRYING), update);
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

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard holds the lock, so there is no writer.
        unsafe { &(*self.lock.data.get()).value }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard holds the lock exclusively.
        unsafe { &(*self.lock.data.get()).value }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard holds the lock exclusively.
        unsafe { &mut (*self.lock.data.get()).value }
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        self.lock.release(READER);
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        if !self.panicking && ops::is_panicking() {
            // SAFETY: the guard holds the lock exclusively.
            unsafe { (*self.lock.data.get()).poisoned = true };
        }
        self.lock.release(WRITER);
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: ?Sized> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RwLock").field("poisoned", &self.is_poisoned()).finish_non_exhaustive()
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}
