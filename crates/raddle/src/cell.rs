//! Cells that are watched for races.
//!
//! [`UnsafeCell`] has the shape that makes accesses visible: closures that get a pointer. The contents
//! are in real memory; every access says that it reads or writes, and two accesses of which one writes
//! and neither happens before the other are reported.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use raddle_runtime::{Tag, ops};

/// The hidden part of a cell.
struct Watch(Tag);

impl Drop for Watch {
    /// The end of a cell is an access: nobody may access it at the same time.
    fn drop(&mut self) {
        if ops::is_running() {
            ops::write_cell(&self.0, None);
        }
    }
}

/// A cell that is watched for races.
pub struct UnsafeCell<T: ?Sized> {
    watch: Watch,
    data: std::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    /// A cell with this content.
    pub const fn new(value: T) -> Self {
        UnsafeCell { watch: Watch(Tag::new()), data: std::cell::UnsafeCell::new(value) }
    }

    /// The content.
    #[track_caller]
    pub fn into_inner(self) -> T {
        if ops::is_running() {
            self.read(Location::caller());
        }
        self.data.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Reads the cell: the pointer is good for that until the closure returns.
    #[inline(always)]
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.read(Location::caller()))
    }

    /// Writes the cell, or reads and writes it: the pointer is good for that until the closure returns.
    #[inline(always)]
    #[track_caller]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.write(Location::caller()))
    }

    /// Reads the cell: the pointer is good for that until the thread's next op.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self) -> ConstPtr<'_, T> {
        ConstPtr { pointer: self.read(Location::caller()), cell: PhantomData }
    }

    /// Writes the cell, or reads and writes it: the pointer is good for that until the thread's next op.
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

    /// Who writes through a pointer may also read, so it must know what it reads.
    #[inline(always)]
    fn write(&self, caller: raddle_runtime::Caller) -> *mut T {
        ops::keep_contents(&self.watch.0, &self.data, caller);
        ops::read_cell(&self.watch.0, caller);
        ops::write_cell(&self.watch.0, Some(caller));
        self.data.get()
    }
}

/// A pointer to what a cell holds, for reading.
pub struct ConstPtr<'a, T: ?Sized> {
    pointer: *const T,
    cell: PhantomData<&'a UnsafeCell<T>>,
}

impl<T: ?Sized> ConstPtr<'_, T> {
    /// The content.
    ///
    /// # Safety
    /// Nobody may write the cell meanwhile.
    #[must_use]
    pub unsafe fn deref(&self) -> &T {
        // SAFETY: the caller's promise.
        unsafe { &*self.pointer }
    }

    /// Calls the closure with the pointer.
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.pointer)
    }
}

/// A pointer to what a cell holds, for reading and writing.
pub struct MutPtr<'a, T: ?Sized> {
    pointer: *mut T,
    cell: PhantomData<&'a UnsafeCell<T>>,
}

impl<T: ?Sized> MutPtr<'_, T> {
    /// The content.
    ///
    /// # Safety
    /// Nobody may access the cell meanwhile.
    #[allow(clippy::mut_from_ref, reason = "that is what a cell is for")]
    #[must_use]
    pub unsafe fn deref(&self) -> &mut T {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.pointer }
    }

    /// Calls the closure with the pointer.
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

/// What `std::cell::Cell` is. As it cannot be shared, accesses race only if somebody lies about that.
pub struct Cell<T>(UnsafeCell<T>);

impl<T> Cell<T> {
    /// See the standard library.
    pub const fn new(value: T) -> Self {
        Cell(UnsafeCell::new(value))
    }

    /// See the standard library.
    #[inline(always)]
    #[track_caller]
    pub fn set(&self, value: T) {
        drop(self.replace(value));
    }

    /// See the standard library.
    #[inline(always)]
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        // SAFETY: nobody has a reference to the content.
        self.0.with_mut(|content| unsafe { std::ptr::replace(content, value) })
    }

    /// See the standard library.
    #[track_caller]
    pub fn swap(&self, other: &Self) {
        if std::ptr::eq(self, other) {
            return;
        }
        let (ours, theirs) = (self.0.write(Location::caller()), other.0.write(Location::caller()));
        // SAFETY: nobody has a reference to the contents, and they are different.
        unsafe { std::ptr::swap(ours, theirs) };
    }

    /// See the standard library.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        // SAFETY: nobody writes meanwhile.
        self.0.with(|content| unsafe { *content })
    }

    /// See the standard library.
    #[inline(always)]
    #[track_caller]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.replace(T::default())
    }

    /// See the standard library.
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
