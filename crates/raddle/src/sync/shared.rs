//! Replacement for [`std::sync::Arc`].
//!
//! An [`Arc`] wraps a [`std::sync::Arc`]. The runtime holds one more owner until the run ends. So the time at
//! which the contents are dropped does not depend on the interleaving, and operations in their destructors are
//! not explored.
//!
//! Most tests do not observe the number of owners. Until a test does, clones and drops are not operations of the
//! exploration. The first observation (`strong_count`, `get_mut`, `Weak::upgrade`, ...) restarts
//! the exploration; from then on clones and drops are updates of a synchronization object. These updates acquire
//! and release, which is stronger than the relaxed increment that the standard library uses for a clone.
//!
//! Stable Rust does not support unsized coercions of user-defined pointers. To get an `Arc<dyn Trait>`, coerce
//! the standard library's type: `Arc::<dyn Trait>::from_std(std::sync::Arc::new(...))`.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::panic::Location;
use std::sync as real;

use raddle_core::execution::Value;
use raddle_core::program::{Guard, UpdateKind};
use raddle_runtime::{Caller, ops};

/// Reference-counted pointer, like [`std::sync::Arc`]. The contents are dropped after the run.
///
/// By default, clones and drops are not operations of the exploration. The first call of a method that requires
/// owner counts restarts the exploration; from then on each clone and drop is an operation that acquires and
/// releases, which increases the number of executions.
///
/// An `Arc<dyn Trait>` is created by [`from_std`](Arc::from_std).
pub struct Arc<T: ?Sized> {
    inner: ManuallyDrop<real::Arc<T>>,
}

/// Pointer that does not own the contents, like [`std::sync::Weak`]. See [`Arc`] for owner counts.
pub struct Weak<T: ?Sized> {
    inner: real::Weak<T>,
}

/// One weak owner, in the state. Strong owners are counted in the bits below.
const WEAK: Value = 1 << 40;
/// State bit: a thread has read the counts in `add_if` and will update them. Blocks all other operations.
const HELD: Value = 1 << 100;

/// Owner counts as the program observes them, without the owner that the runtime holds.
struct Owners {
    strong: usize,
    weak: usize,
}

/// Decodes a state. The state starts at 0 with one owner, so it is the count less one. An object that was created
/// outside of the run has one more owner there.
fn owners((state, outside): (Value, bool)) -> Owners {
    let state = state + 1;
    let strong = (state & (WEAK - 1)) as usize + usize::from(outside);
    Owners { strong, weak: (state >> 40) as usize }
}

/// Adds `added` to the state and returns the previous counts. Does nothing and returns `None` if owners are not
/// counted.
fn add<T: ?Sized>(object: *const T, added: Value, caller: Option<Caller>) -> Option<Owners> {
    let (guard, update) = (Guard::Below(HELD), ops::by(UpdateKind::Add, added));
    ops::count_owners(object.cast(), guard, update, caller).map(owners)
}

/// Adds `added` to the state if `condition` holds for the counts, and returns whether it does. Takes two updates,
/// which `HELD` makes atomic.
fn add_if<T: ?Sized>(
    object: *const T,
    added: Value,
    caller: Caller,
    condition: impl FnOnce(&Owners) -> bool,
) -> bool {
    ops::need_owners(caller);
    let Some(owners) = add(object, HELD, Some(caller)) else { return false };
    let holds = condition(&owners);
    let update = ops::by(UpdateKind::Add, if holds { added } else { 0 } - HELD);
    ops::count_owners(object.cast(), Guard::Always, update, Some(caller));
    holds
}

/// Adds an owner that the runtime holds until the run ends.
fn retain<T: ?Sized + 'static>(inner: &real::Arc<T>, caller: Caller) {
    let weak = || real::Arc::downgrade(inner);
    let owners = |it: real::Weak<T>| Box::new(move || it.strong_count()) as Box<dyn Fn() -> usize>;
    ops::watch(|| owners(weak()), caller);
    if ops::is_running() {
        let kept = real::Arc::clone(inner);
        ops::track_counts(real::Arc::as_ptr(inner).cast());
        ops::keep(Box::new(move || release(kept)));
    }
}

/// Drops the owner that the runtime holds, but not the contents if the program has moved them out.
fn release<T: ?Sized>(kept: real::Arc<T>) {
    let contents = real::Arc::as_ptr(&kept);
    if ops::are_contents_taken(contents.cast()) {
        let contents = real::Arc::into_raw(kept) as *const ManuallyDrop<T>;
        // SAFETY: both types have the same layout, and `into_raw` has kept the count of this owner.
        drop(unsafe { real::Arc::from_raw(contents) });
    }
}

impl<T: 'static> Arc<T> {
    /// Creates an object with one owner.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self::from_std(real::Arc::new(value))
    }

    /// Creates a pinned object with one owner.
    #[track_caller]
    pub fn pin(value: T) -> std::pin::Pin<Self> {
        // SAFETY: the contents of an `Arc` do not move.
        unsafe { std::pin::Pin::new_unchecked(Self::new(value)) }
    }

    /// Returns the contents if `this` is the only strong owner. Requires owner counts.
    ///
    /// # Errors
    /// Returns `this` if there are other strong owners.
    #[track_caller]
    pub fn try_unwrap(this: Self) -> Result<T, Self> {
        if !ops::is_running() {
            return real::Arc::try_unwrap(this.into_std()).map_err(|inner| Self::wrap(inner));
        }
        let is_only = |owners: &Owners| owners.strong == 1;
        if add_if(real::Arc::as_ptr(&this.inner), -1, Location::caller(), is_only) {
            Ok(this.into_contents())
        } else {
            Err(this)
        }
    }

    /// Drops `this` and returns the contents if it was the last strong owner. Requires owner counts.
    ///
    /// If all owners call it, exactly one of them gets the contents.
    #[track_caller]
    #[must_use]
    pub fn into_inner(this: Self) -> Option<T> {
        if !ops::is_running() {
            return real::Arc::into_inner(this.into_std());
        }
        ops::need_owners(Location::caller());
        let owners = add(real::Arc::as_ptr(&this.inner), -1, Some(Location::caller()))?;
        if owners.strong == 1 {
            Some(this.into_contents())
        } else {
            drop(this.into_std());
            None
        }
    }

    /// Returns the contents if `this` is the only strong owner, and a clone of them otherwise. Requires owner counts.
    #[track_caller]
    pub fn unwrap_or_clone(this: Self) -> T
    where
        T: Clone,
    {
        Self::try_unwrap(this).unwrap_or_else(|this| T::clone(&this))
    }

    /// Returns a mutable reference to the contents. Clones them first if there are other strong or weak owners.
    /// Requires owner counts.
    #[track_caller]
    pub fn make_mut(this: &mut Self) -> &mut T
    where
        T: Clone,
    {
        if Self::get_mut(this).is_none() {
            *this = Self::new(T::clone(this));
        }
        // SAFETY: there is no other owner that accesses the contents.
        unsafe { &mut *real::Arc::as_ptr(&this.inner).cast_mut() }
    }

    /// Moves the contents out. `self` must be the only strong owner besides the runtime, which then does not drop
    /// the contents.
    fn into_contents(self) -> T {
        let inner = self.into_std();
        let contents = real::Arc::as_ptr(&inner);
        ops::take_contents(contents.cast());
        // SAFETY: there is no other owner that accesses the contents, and `release` does not drop them.
        unsafe { std::ptr::read(contents) }
    }
}

impl<T: ?Sized + 'static> Arc<T> {
    /// Wraps an `Arc` of the standard library. Use it to create an `Arc<dyn Trait>`.
    ///
    /// # Panics
    /// Panics if `inner` has other strong or weak owners.
    #[track_caller]
    pub fn from_std(inner: real::Arc<T>) -> Self {
        let owners = (real::Arc::strong_count(&inner), real::Arc::weak_count(&inner));
        assert_eq!(owners, (1, 0), "raddle: Arc::from_std needs an object that nobody else has");
        retain(&inner, Location::caller());
        Self::wrap(inner)
    }
}

impl<T: ?Sized> Arc<T> {
    fn wrap(inner: real::Arc<T>) -> Self {
        Arc { inner: ManuallyDrop::new(inner) }
    }

    /// Returns the wrapped `Arc` without an operation of the exploration.
    fn into_std(self) -> real::Arc<T> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used again.
        unsafe { ManuallyDrop::take(&mut this.inner) }
    }

    /// Creates a weak pointer to the object.
    #[track_caller]
    #[must_use]
    pub fn downgrade(this: &Self) -> Weak<T> {
        add(real::Arc::as_ptr(&this.inner), WEAK, Some(Location::caller()));
        Weak { inner: real::Arc::downgrade(&this.inner) }
    }

    #[track_caller]
    fn owners(this: &Self) -> Owners {
        if !ops::is_running() {
            let strong = real::Arc::strong_count(&this.inner);
            return Owners { strong, weak: real::Arc::weak_count(&this.inner) };
        }
        ops::need_owners(Location::caller());
        let owners = add(real::Arc::as_ptr(&this.inner), 0, Some(Location::caller()));
        owners.unwrap_or(Owners { strong: 1, weak: 0 })
    }

    /// Returns the number of strong owners. Requires owner counts.
    #[track_caller]
    #[must_use]
    pub fn strong_count(this: &Self) -> usize {
        Self::owners(this).strong
    }

    /// Returns the number of weak owners. Requires owner counts.
    #[track_caller]
    #[must_use]
    pub fn weak_count(this: &Self) -> usize {
        Self::owners(this).weak
    }

    /// Returns a mutable reference to the contents if there are no other strong or weak owners. Requires owner
    /// counts.
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        let Owners { strong, weak } = Self::owners(this);
        if strong == 1 && weak == 0 {
            // SAFETY: there is no other owner that accesses the contents.
            Some(unsafe { &mut *real::Arc::as_ptr(&this.inner).cast_mut() })
        } else {
            None
        }
    }

    /// Returns `true` if both point to the same object.
    #[must_use]
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        real::Arc::ptr_eq(&this.inner, &other.inner)
    }

    /// Returns a pointer to the contents. Their memory stays allocated until the run ends.
    #[must_use]
    pub fn as_ptr(this: &Self) -> *const T {
        real::Arc::as_ptr(&this.inner)
    }

    /// Returns a pointer to the contents without dropping the owner. Pass it to [`from_raw`](Arc::from_raw).
    #[must_use]
    pub fn into_raw(this: Self) -> *const T {
        real::Arc::into_raw(this.into_std())
    }

    /// Recreates an owner from a pointer that [`into_raw`](Arc::into_raw) returned.
    ///
    /// # Safety
    /// `pointer` must come from [`into_raw`](Arc::into_raw), and every owner may be recreated only once.
    pub unsafe fn from_raw(pointer: *const T) -> Self {
        // SAFETY: guaranteed by the caller.
        Self::wrap(unsafe { real::Arc::from_raw(pointer) })
    }

    /// Adds a strong owner.
    ///
    /// # Safety
    /// `pointer` must come from [`into_raw`](Arc::into_raw), and the object must have a strong owner during the call.
    #[track_caller]
    pub unsafe fn increment_strong_count(pointer: *const T) {
        // SAFETY: guaranteed by the caller, whose owner is not dropped.
        let this = ManuallyDrop::new(unsafe { Self::from_raw(pointer) });
        std::mem::forget(Self::clone(&this));
    }

    /// Drops a strong owner.
    ///
    /// # Safety
    /// `pointer` must come from [`into_raw`](Arc::into_raw), and the caller must own the dropped owner.
    #[track_caller]
    pub unsafe fn decrement_strong_count(pointer: *const T) {
        // SAFETY: guaranteed by the caller.
        drop(unsafe { Self::from_raw(pointer) });
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        add(real::Arc::as_ptr(&self.inner), 1, Some(Location::caller()));
        Self::wrap(real::Arc::clone(&self.inner))
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    fn drop(&mut self) {
        add(real::Arc::as_ptr(&self.inner), -1, None);
        // SAFETY: `inner` is not used again.
        unsafe { ManuallyDrop::drop(&mut self.inner) };
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T> Weak<T> {
    /// Creates a pointer to no object: [`upgrade`](Weak::upgrade) returns `None`.
    #[must_use]
    pub const fn new() -> Self {
        Weak { inner: real::Weak::new() }
    }
}

impl<T: ?Sized> Weak<T> {
    /// Creates a strong owner, unless there is none left. Requires owner counts.
    #[track_caller]
    #[must_use]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let inner = self.inner.upgrade()?;
        if ops::is_running() {
            let is_alive = |owners: &Owners| owners.strong > 0;
            if !add_if(self.inner.as_ptr(), 1, Location::caller(), is_alive) {
                return None;
            }
        }
        Some(Arc::wrap(inner))
    }

    /// Returns `true` if both point to the same object.
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self.inner.ptr_eq(&other.inner)
    }

    /// Returns `true` if there is no object, as after [`Weak::new`]. During a run, the runtime owns every object, so
    /// the real count of an existing object is not 0.
    fn is_dangling(&self) -> bool {
        self.inner.strong_count() == 0
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        if !self.is_dangling() {
            add(self.inner.as_ptr(), WEAK, Some(Location::caller()));
        }
        Weak { inner: self.inner.clone() }
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    fn drop(&mut self) {
        if !self.is_dangling() {
            add(self.inner.as_ptr(), -WEAK, None);
        }
    }
}

impl<T> Default for Weak<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}

impl<T: Default + 'static> Default for Arc<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: 'static> From<T> for Arc<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: ?Sized + PartialEq> PartialEq for Arc<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq> Eq for Arc<T> {}

impl<T: ?Sized + PartialOrd> PartialOrd for Arc<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: ?Sized + Ord> Ord for Arc<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (**self).cmp(&**other)
    }
}

impl<T: ?Sized + Hash> Hash for Arc<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: 'static> FromIterator<T> for Arc<[T]> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self::from_std(items.into_iter().collect())
    }
}
