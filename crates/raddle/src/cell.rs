//! Cells with data race detection.
//!
//! The contents of a cell are in real memory. The checker sees the accesses because they go through methods:
//! closures that receive a pointer, or pointer guards. Two accesses race if at least one is a write and neither
//! happens before the other. The checker reports races as bugs.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use raddle_runtime::{Tag, ops};

/// Identity of a cell in the exploration. Its destructor records the end of the cell.
struct Watch(Tag);

impl Drop for Watch {
    /// Records a write, so that an access that is concurrent with the destruction is a race.
    fn drop(&mut self) {
        if ops::is_running() {
            ops::write_cell(&self.0, None);
        }
    }
}

/// Replacement for [`std::cell::UnsafeCell`] with data race detection.
///
/// Dropping the cell counts as a write.
pub struct UnsafeCell<T: ?Sized> {
    watch: Watch,
    data: std::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    /// Creates a cell that contains `value`. This is not an operation of the exploration.
    pub const fn new(value: T) -> Self {
        UnsafeCell { watch: Watch(Tag::new()), data: std::cell::UnsafeCell::new(value) }
    }

    /// Returns the contents. Counts as a read, and as a write that ends the cell.
    #[track_caller]
    pub fn into_inner(self) -> T {
        if ops::is_running() {
            self.read(Location::caller());
        }
        self.data.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Records a read and calls `f` with a pointer to the contents.
    ///
    /// The pointer is valid for reads until `f` returns. Writing through it is not detected.
    #[inline(always)]
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.read(Location::caller()))
    }

    /// Records a read and a write and calls `f` with a pointer to the contents.
    ///
    /// The pointer is valid for reads and writes until `f` returns.
    #[inline(always)]
    #[track_caller]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.write(Location::caller()))
    }

    /// Records a read and returns a pointer to the contents.
    ///
    /// The pointer is valid for reads until the thread's next operation of this crate.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self) -> ConstPtr<'_, T> {
        ConstPtr { pointer: self.read(Location::caller()), cell: PhantomData }
    }

    /// Records a read and a write and returns a pointer to the contents.
    ///
    /// The pointer is valid for reads and writes until the thread's next operation of this crate.
    #[inline(always)]
    #[track_caller]
    pub fn get_mut(&self) -> MutPtr<'_, T> {
        MutPtr { pointer: self.write(Location::caller()), cell: PhantomData }
    }

    #[inline(always)]
    fn read(&self, caller: raddle_runtime::Caller) -> *const T {
        ops::keep_contents(&self.watch.0, &self.data, caller);
        ops::read_cell(&self.watch.0, caller);
        self.data.get()
    }

    /// Also records a read: a thread may read through the pointer, so the explorer must determine the
    /// write that it observes.
    #[inline(always)]
    fn write(&self, caller: raddle_runtime::Caller) -> *mut T {
        ops::keep_contents(&self.watch.0, &self.data, caller);
        ops::read_cell(&self.watch.0, caller);
        ops::write_cell(&self.watch.0, Some(caller));
        self.data.get()
    }
}

/// Shared pointer to the contents of an [`UnsafeCell`], returned by [`UnsafeCell::get`].
pub struct ConstPtr<'a, T: ?Sized> {
    pointer: *const T,
    cell: PhantomData<&'a UnsafeCell<T>>,
}

impl<T: ?Sized> ConstPtr<'_, T> {
    /// Returns a shared reference to the contents.
    ///
    /// # Safety
    /// The cell must not be written while the reference is in use.
    #[must_use]
    pub unsafe fn deref(&self) -> &T {
        // SAFETY: guaranteed by the caller.
        unsafe { &*self.pointer }
    }

    /// Calls `f` with the raw pointer. Records no further access.
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.pointer)
    }
}

/// Mutable pointer to the contents of an [`UnsafeCell`], returned by [`UnsafeCell::get_mut`].
pub struct MutPtr<'a, T: ?Sized> {
    pointer: *mut T,
    cell: PhantomData<&'a UnsafeCell<T>>,
}

impl<T: ?Sized> MutPtr<'_, T> {
    /// Returns a mutable reference to the contents.
    ///
    /// # Safety
    /// The cell must not be accessed by other means while the reference is in use.
    #[allow(clippy::mut_from_ref, reason = "interior mutability")]
    #[must_use]
    pub unsafe fn deref(&self) -> &mut T {
        // SAFETY: guaranteed by the caller.
        unsafe { &mut *self.pointer }
    }

    /// Calls `f` with the raw pointer. Records no further access.
    pub fn with<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.pointer)
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

/// Replacement for [`std::cell::Cell`] with data race detection.
///
/// The type is not `Sync`, so accesses can race only if unsafe code shares it between threads.
pub struct Cell<T>(UnsafeCell<T>);

impl<T> Cell<T> {
    /// Creates a cell that contains `value`.
    pub const fn new(value: T) -> Self {
        Cell(UnsafeCell::new(value))
    }

    /// Replaces the contents and drops the previous ones. Counts as a read and a write.
    #[inline(always)]
    #[track_caller]
    pub fn set(&self, value: T) {
        drop(self.replace(value));
    }

    /// Replaces the contents and returns the previous ones. Counts as a read and a write.
    #[inline(always)]
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        // SAFETY: `Cell` never hands out references to its contents.
        self.0.with_mut(|content| unsafe { std::ptr::replace(content, value) })
    }

    /// Swaps the contents of two cells. Counts as a read and a write of each, unless both are the same cell.
    #[track_caller]
    pub fn swap(&self, other: &Self) {
        if std::ptr::eq(self, other) {
            return;
        }
        let (ours, theirs) = (self.0.write(Location::caller()), other.0.write(Location::caller()));
        // SAFETY: `Cell` never hands out references to its contents, and the two cells are distinct.
        unsafe { std::ptr::swap(ours, theirs) };
    }

    /// Returns a copy of the contents. Counts as a read.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        // SAFETY: the type is not `Sync`, so no write is concurrent with this read.
        self.0.with(|content| unsafe { *content })
    }

    /// Replaces the contents by the default value and returns the previous ones. Counts as a read and a write.
    #[inline(always)]
    #[track_caller]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.replace(T::default())
    }

    /// Returns the contents. Counts as a read, and as a write that ends the cell.
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cell").finish_non_exhaustive()
    }
}

impl<T: Default> Default for Cell<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Cell<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}
