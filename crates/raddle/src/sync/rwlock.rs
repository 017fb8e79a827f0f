//! What `std::sync::RwLock` is.
//!
//! Its state is a synchronization object: how many readers there are, whether there is a writer, and
//! whether somebody is just trying. Readers may always join readers: there are no rules about who is
//! preferred, so everything that some implementation does is explored.

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

const WRITER: Value = 1;
const READER: Value = 2;
/// Somebody has looked at the state and will now change it.
const TRYING: Value = 1 << 100;

/// A reader-writer lock: see the standard library.
pub struct RwLock<T: ?Sized> {
    tag: Tag,
    data: UnsafeCell<Guarded<T>>,
}

// SAFETY: as for the standard library's.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: as for the standard library's: writers have the only access.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}
impl<T: ?Sized> UnwindSafe for RwLock<T> {}
impl<T: ?Sized> RefUnwindSafe for RwLock<T> {}

/// A lock that is held for reading: see the standard library.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    not_send: PhantomData<*const ()>,
}

/// A lock that is held for writing: see the standard library.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    panicking: bool,
    not_send: PhantomData<*const ()>,
}

// SAFETY: as for the standard library's.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}
// SAFETY: as for the standard library's.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<T> RwLock<T> {
    /// See the standard library.
    pub const fn new(value: T) -> Self {
        RwLock { tag: Tag::new(), data: UnsafeCell::new(Guarded::new(value)) }
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

impl<T: ?Sized> RwLock<T> {
    /// Whoever has the lock alone sees what the last one who wrote left there.
    #[track_caller]
    fn take_over(&self) {
        if ops::is_running() {
            drop(self.write());
        }
    }

    #[track_caller]
    fn sync(&self, guard: Guard, update: Update) -> Value {
        ops::keep_contents(&self.tag, &self.data, Location::caller());
        ops::sync(&self.tag, Kind::RwLock, guard, update, Location::caller())
    }

    /// See the standard library.
    ///
    /// # Errors
    /// If it is poisoned.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        self.sync(Guard::NoBits(WRITER | TRYING), ops::by(UpdateKind::Add, READER));
        self.read_guard()
    }

    /// See the standard library.
    ///
    /// # Errors
    /// If it is poisoned.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        self.sync(Guard::Equal(0), ops::set_to(WRITER));
        self.write_guard()
    }

    /// Adds to the state if it has none of the bits.
    #[track_caller]
    fn try_add(&self, bits: Value, added: Value) -> bool {
        let state = self.sync(Guard::NoBits(TRYING), ops::by(UpdateKind::Add, TRYING));
        let free = state & bits == 0;
        let change = if free { added } else { 0 };
        self.sync(Guard::Always, ops::by(UpdateKind::Add, change - TRYING));
        free
    }

    /// See the standard library. It synchronizes also if it fails.
    ///
    /// # Errors
    /// If it is poisoned, or held by a writer.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        if self.try_add(WRITER, READER) {
            Ok(self.read_guard()?)
        } else {
            Err(TryLockError::WouldBlock)
        }
    }

    /// See the standard library. It synchronizes also if it fails.
    ///
    /// # Errors
    /// If it is poisoned, or held.
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

    /// See the standard library.
    pub fn is_poisoned(&self) -> bool {
        // SAFETY: only a writer writes it; who reads it without the lock may be early, as with the
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

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard has the lock, so nobody writes.
        unsafe { &(*self.lock.data.get()).value }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard has the lock for itself.
        unsafe { &(*self.lock.data.get()).value }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard has the lock for itself.
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
            // SAFETY: the guard has the lock for itself.
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
