//! What `std::sync::Arc` is.
//!
//! An [`Arc`] of the standard library is inside, and one more owner, who keeps the contents until the run
//! ends. So when the contents are dropped does not depend on which threads are run, and nothing that
//! their destructors do is explored.
//!
//! How many owners there are is of no interest to most tests. As long as nobody asks, cloning and
//! dropping are no ops. When somebody asks (`strong_count`, `get_mut`, `Weak::upgrade`, ...) the exploration
//! starts again, and from then on they are updates of a synchronization object. (These acquire and
//! release, which is more than the standard library promises for a clone.)
//!
//! Without nightly Rust a type of one's own cannot be coerced to `Arc<dyn Trait>`. Coerce the standard
//! library's: `Arc::<dyn Trait>::from_std(std::sync::Arc::new(...))`.

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

/// A shared object: see the standard library.
pub struct Arc<T: ?Sized> {
    inner: ManuallyDrop<real::Arc<T>>,
}

/// A shared object that may be gone: see the standard library.
pub struct Weak<T: ?Sized> {
    inner: real::Weak<T>,
}

/// One weak owner, in the number of owners.
const WEAK: Value = 1 << 40;
/// Somebody has looked at the number and will now change it.
const HELD: Value = 1 << 100;

/// How many owners an object has.
struct Owners {
    strong: usize,
    weak: usize,
}

/// The owners that a state stands for.
fn owners((state, outside): (Value, bool)) -> Owners {
    let state = state + 1;
    let strong = (state & (WEAK - 1)) as usize + usize::from(outside);
    Owners { strong, weak: (state >> 40) as usize }
}

/// Adds to the number of owners, if they are counted, and returns what they were.
fn add<T: ?Sized>(object: *const T, added: Value, caller: Option<Caller>) -> Option<Owners> {
    let (guard, update) = (Guard::Below(HELD), ops::by(UpdateKind::Add, added));
    ops::count_owners(object.cast(), guard, update, caller).map(owners)
}

/// Adds to the number of owners if the condition holds.
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

/// Keeps the object until the run ends.
fn keep<T: ?Sized + 'static>(inner: &real::Arc<T>, caller: Caller) {
    let weak = || real::Arc::downgrade(inner);
    let owners = |it: real::Weak<T>| Box::new(move || it.strong_count()) as Box<dyn Fn() -> usize>;
    ops::watch(|| owners(weak()), caller);
    if ops::is_running() {
        let kept = real::Arc::clone(inner);
        ops::track_counts(real::Arc::as_ptr(inner).cast());
        ops::keep(Box::new(move || release(kept)));
    }
}

fn release<T: ?Sized>(kept: real::Arc<T>) {
    let contents = real::Arc::as_ptr(&kept);
    if ops::are_contents_taken(contents.cast()) {
        let contents = real::Arc::into_raw(kept) as *const ManuallyDrop<T>;
        // SAFETY: the two types have the same layout, and this owner is counted.
        drop(unsafe { real::Arc::from_raw(contents) });
    }
}

impl<T: 'static> Arc<T> {
    /// See the standard library.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self::from_std(real::Arc::new(value))
    }

    /// See the standard library.
    #[track_caller]
    pub fn pin(value: T) -> std::pin::Pin<Self> {
        // SAFETY: what an Arc has does not move.
        unsafe { std::pin::Pin::new_unchecked(Self::new(value)) }
    }

    /// See the standard library.
    ///
    /// # Errors
    /// The object, if there are other owners.
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

    /// See the standard library.
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

    /// See the standard library.
    #[track_caller]
    pub fn unwrap_or_clone(this: Self) -> T
    where
        T: Clone,
    {
        Self::try_unwrap(this).unwrap_or_else(|this| T::clone(&this))
    }

    /// See the standard library.
    #[track_caller]
    pub fn make_mut(this: &mut Self) -> &mut T
    where
        T: Clone,
    {
        if Self::get_mut(this).is_none() {
            *this = Self::new(T::clone(this));
        }
        // SAFETY: there is no other owner.
        unsafe { &mut *real::Arc::as_ptr(&this.inner).cast_mut() }
    }

    /// Moves the contents out, of which this is the last owner. Who keeps the object does not drop them.
    fn into_contents(self) -> T {
        let inner = self.into_std();
        let contents = real::Arc::as_ptr(&inner);
        ops::take_contents(contents.cast());
        // SAFETY: nobody else has the contents, and nobody drops them any more.
        unsafe { std::ptr::read(contents) }
    }
}

impl<T: ?Sized + 'static> Arc<T> {
    /// An object that is shared by the standard library's means, and by nobody else. (This is how to get
    /// an `Arc<dyn Trait>`.)
    ///
    /// # Panics
    /// If somebody else has it.
    #[track_caller]
    pub fn from_std(inner: real::Arc<T>) -> Self {
        let owners = (real::Arc::strong_count(&inner), real::Arc::weak_count(&inner));
        assert_eq!(owners, (1, 0), "raddle: Arc::from_std needs an object that nobody else has");
        keep(&inner, Location::caller());
        Self::wrap(inner)
    }
}

impl<T: ?Sized> Arc<T> {
    fn wrap(inner: real::Arc<T>) -> Self {
        Arc { inner: ManuallyDrop::new(inner) }
    }

    /// What is inside, without an op.
    fn into_std(self) -> real::Arc<T> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used again.
        unsafe { ManuallyDrop::take(&mut this.inner) }
    }

    /// See the standard library.
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

    /// See the standard library.
    #[track_caller]
    #[must_use]
    pub fn strong_count(this: &Self) -> usize {
        Self::owners(this).strong
    }

    /// See the standard library.
    #[track_caller]
    #[must_use]
    pub fn weak_count(this: &Self) -> usize {
        Self::owners(this).weak
    }

    /// See the standard library.
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        let Owners { strong, weak } = Self::owners(this);
        if strong == 1 && weak == 0 {
            // SAFETY: there is no other owner.
            Some(unsafe { &mut *real::Arc::as_ptr(&this.inner).cast_mut() })
        } else {
            None
        }
    }

    /// See the standard library.
    #[must_use]
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        real::Arc::ptr_eq(&this.inner, &other.inner)
    }

    /// See the standard library.
    #[must_use]
    pub fn as_ptr(this: &Self) -> *const T {
        real::Arc::as_ptr(&this.inner)
    }

    /// See the standard library.
    #[must_use]
    pub fn into_raw(this: Self) -> *const T {
        real::Arc::into_raw(this.into_std())
    }

    /// See the standard library.
    ///
    /// # Safety
    /// See the standard library.
    pub unsafe fn from_raw(pointer: *const T) -> Self {
        // SAFETY: the caller's promise.
        Self::wrap(unsafe { real::Arc::from_raw(pointer) })
    }

    /// See the standard library.
    ///
    /// # Safety
    /// See the standard library.
    #[track_caller]
    pub unsafe fn increment_strong_count(pointer: *const T) {
        // SAFETY: the caller's promise; the owner that it has is not given up.
        let this = ManuallyDrop::new(unsafe { Self::from_raw(pointer) });
        std::mem::forget(Self::clone(&this));
    }

    /// See the standard library.
    ///
    /// # Safety
    /// See the standard library.
    #[track_caller]
    pub unsafe fn decrement_strong_count(pointer: *const T) {
        // SAFETY: the caller's promise.
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
        // SAFETY: it is not used again.
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
    /// See the standard library.
    #[must_use]
    pub const fn new() -> Self {
        Weak { inner: real::Weak::new() }
    }
}

impl<T: ?Sized> Weak<T> {
    /// See the standard library.
    #[track_caller]
    #[must_use]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let inner = self.inner.upgrade()?;
        if ops::is_running() {
            let lives = |owners: &Owners| owners.strong > 0;
            if !add_if(self.inner.as_ptr(), 1, Location::caller(), lives) {
                return None;
            }
        }
        Some(Arc::wrap(inner))
    }

    /// See the standard library.
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self.inner.ptr_eq(&other.inner)
    }

    /// Whether there is an object, gone or not.
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
