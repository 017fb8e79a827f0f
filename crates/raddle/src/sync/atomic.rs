//! Replacement for [`std::sync::atomic`].
//!
//! Each operation is an event of the execution with the given memory order. The explorer decides, for each
//! load and read-modify-write, the store that it reads from, within the limits of the memory model.
//!
//! The memory of a variable holds its initial value. Only the explorer knows the values of later stores, so
//! there is no `as_ptr` and no `from_ptr`.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use raddle_core::execution::MemoryOrder;
use raddle_core::program::UpdateKind;
use raddle_runtime::ops::{self, Atom, Orders, Shape};

pub use std::sync::atomic::{Ordering, compiler_fence};

#[cfg(target_endian = "big")]
compile_error!(
    "raddle supports only little-endian targets: it stores small integers in the first bytes of a word"
);

#[inline(always)]
fn memory_order(order: Ordering) -> MemoryOrder {
    match order {
        Ordering::Relaxed => MemoryOrder::Relaxed,
        Ordering::Acquire => MemoryOrder::Acquire,
        Ordering::Release => MemoryOrder::Release,
        Ordering::AcqRel => MemoryOrder::AcqRel,
        _ => MemoryOrder::SeqCst,
    }
}

#[inline(always)]
#[track_caller]
fn load_order(order: Ordering) -> MemoryOrder {
    match order {
        Ordering::Release => panic!("there is no such thing as a release load"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release load"),
        order => memory_order(order),
    }
}

#[inline(always)]
#[track_caller]
fn store_order(order: Ordering) -> MemoryOrder {
    match order {
        Ordering::Acquire => panic!("there is no such thing as an acquire store"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release store"),
        order => memory_order(order),
    }
}

#[inline(always)]
#[track_caller]
fn exchange_orders(success: Ordering, failure: Ordering, weak: bool) -> Orders {
    match failure {
        Ordering::Release => panic!("there is no such thing as a release failure ordering"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release failure ordering"),
        failure => Orders { success: memory_order(success), failure: memory_order(failure), weak },
    }
}

/// Memory fence, like [`std::sync::atomic::fence`].
///
/// # Panics
/// Panics if `order` is `Relaxed`.
#[track_caller]
pub fn fence(order: Ordering) {
    assert!(order != Ordering::Relaxed, "there is no such thing as a relaxed fence");
    ops::fence(memory_order(order), Location::caller());
}

/// Implements the methods of all atomic types.
macro_rules! common {
    ($type:ty, [$($generics:tt)*], $value:ty, $name:expr, $from:expr) => {
        impl<$($generics)*> $type {
            #[inline(always)]
            fn of_bits(bits: u64) -> $value {
                ($from)(bits)
            }

            /// Loads the value.
            ///
            /// # Panics
            /// Panics if `order` is `Release` or `AcqRel`.
            #[inline(always)]
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                Self::of_bits(ops::load(&self.atom, load_order(order), Location::caller()))
            }

            /// Stores `value`.
            ///
            /// # Panics
            /// Panics if `order` is `Acquire` or `AcqRel`.
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                ops::store(&self.atom, Self::bits(value), store_order(order), Location::caller());
            }

            #[inline(always)]
            #[track_caller]
            fn update_by(&self, kind: UpdateKind, operand: $value, order: Ordering) -> $value {
                let operand = Self::bits(operand);
                Self::of_bits(ops::update(&self.atom, kind, operand, memory_order(order), Location::caller()))
            }

            /// Stores `value` and returns the previous value, as one read-modify-write.
            #[inline(always)]
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.update_by(UpdateKind::Swap, value, order)
            }

            #[inline(always)]
            #[track_caller]
            fn exchange(
                &self,
                current: $value,
                new: $value,
                orders: Orders,
            ) -> Result<$value, $value> {
                let (current, new) = (Self::bits(current), Self::bits(new));
                match ops::compare_exchange(&self.atom, current, new, orders, Location::caller()) {
                    Ok(bits) => Ok(Self::of_bits(bits)),
                    Err(bits) => Err(Self::of_bits(bits)),
                }
            }

            /// Stores `new` if the value equals `current`, and returns the previous value.
            ///
            /// A success is a read-modify-write with order `success`, a failure is a load with order `failure`.
            ///
            /// # Errors
            /// Returns the value that it read if that differs from `current`.
            ///
            /// # Panics
            /// Panics if `failure` is `Release` or `AcqRel`.
            #[inline(always)]
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.exchange(current, new, exchange_orders(success, failure, false))
            }

            /// Like `compare_exchange`, but it may fail spuriously. The exploration covers spurious failures, which
            /// increases the number of executions.
            ///
            /// # Errors
            /// Returns the value that it read, which equals `current` if the failure is spurious.
            ///
            /// # Panics
            /// Panics if `failure` is `Release` or `AcqRel`.
            #[inline(always)]
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.exchange(current, new, exchange_orders(success, failure, true))
            }

            /// Replaces the value by the result of `f`, and returns the previous value.
            ///
            /// Loads with `fetch_order`, then retries a strong compare-exchange until it succeeds. A spurious failure
            /// would only repeat the attempt, so none is explored.
            ///
            /// # Errors
            /// Returns the last value that it read if `f` returns `None`.
            ///
            /// # Panics
            /// Panics if `fetch_order` is `Release` or `AcqRel`.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_update<F: FnMut($value) -> Option<$value>>(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: F,
            ) -> Result<$value, $value> {
                let mut current = self.load(fetch_order);
                while let Some(new) = f(current) {
                    match self.compare_exchange(current, new, set_order, fetch_order) {
                        Ok(before) => return Ok(before),
                        Err(other) => current = other,
                    }
                }
                Err(current)
            }

            /// Returns a mutable reference to the value. Counts as a non-atomic load.
            ///
            /// A change through the reference becomes a non-atomic store at the next operation of the thread.
            #[track_caller]
            pub fn get_mut(&mut self) -> &mut $value {
                let memory = ops::lend(&mut self.atom, Location::caller());
                // SAFETY: the word holds a value of this type in its first bytes, and `self` is borrowed
                // mutably, so there is no other access.
                unsafe { &mut *memory.cast::<$value>() }
            }

            /// Returns the value. Counts as a non-atomic load.
            #[track_caller]
            #[must_use]
            pub fn into_inner(self) -> $value {
                Self::of_bits(ops::into_inner(self.atom, Location::caller()))
            }
        }

        impl<$($generics)*> fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                if ops::is_running() {
                    fmt::Debug::fmt(&self.load(Ordering::Relaxed), f)
                } else {
                    write!(f, "{}(..)", $name)
                }
            }
        }
    };
}

/// Implements bitwise read-modify-writes and conversions for integers and booleans.
macro_rules! bitwise {
    ($type:ty, $value:ty) => {
        impl $type {
            /// Replaces the value by its bitwise and with `value`, and returns the previous value.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                self.update_by(UpdateKind::And, value, order)
            }

            /// Replaces the value by the negation of its bitwise and with `value`, and returns the previous value.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_nand(&self, value: $value, order: Ordering) -> $value {
                self.update_by(UpdateKind::Nand, value, order)
            }

            /// Replaces the value by its bitwise or with `value`, and returns the previous value.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                self.update_by(UpdateKind::Or, value, order)
            }

            /// Replaces the value by its bitwise exclusive or with `value`, and returns the previous value.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_xor(&self, value: $value, order: Ordering) -> $value {
                self.update_by(UpdateKind::Xor, value, order)
            }
        }

        impl Default for $type {
            fn default() -> Self {
                Self::new(<$value>::default())
            }
        }

        impl From<$value> for $type {
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }
    };
}

macro_rules! integers {
    ($($type:ident $value:ty, $unsigned:ty, $signed:literal;)*) => { $(
        #[doc = concat!("Atomic integer, like [`std::sync::atomic::", stringify!($type), "`].")]
        pub struct $type {
            atom: Atom,
        }

        impl $type {
            /// Creates a variable with this initial value. This is not an operation of the exploration.
            #[must_use]
            pub const fn new(value: $value) -> Self {
                let shape = Shape { bits: <$value>::BITS as u8, signed: $signed };
                Self { atom: Atom::new(value as $unsigned as u64, shape) }
            }

            #[inline(always)]
            fn bits(value: $value) -> u64 {
                value as $unsigned as u64
            }

            /// Adds `value`, wrapping on overflow, and returns the previous value.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.update_by(UpdateKind::Add, value, order)
            }

            /// Subtracts `value`, wrapping on overflow, and returns the previous value.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.update_by(UpdateKind::Sub, value, order)
            }

            /// Replaces the value by its maximum with `value`, and returns the previous value. Always stores.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_max(&self, value: $value, order: Ordering) -> $value {
                self.update_by(UpdateKind::Max, value, order)
            }

            /// Replaces the value by its minimum with `value`, and returns the previous value. Always stores.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_min(&self, value: $value, order: Ordering) -> $value {
                self.update_by(UpdateKind::Min, value, order)
            }
        }

        common!($type, [], $value, stringify!($type), |bits: u64| bits as $unsigned as $value);
        bitwise!($type, $value);
    )* };
}

integers! {
    AtomicU8 u8, u8, false;
    AtomicU16 u16, u16, false;
    AtomicU32 u32, u32, false;
    AtomicU64 u64, u64, false;
    AtomicUsize usize, usize, false;
    AtomicI8 i8, u8, true;
    AtomicI16 i16, u16, true;
    AtomicI32 i32, u32, true;
    AtomicI64 i64, u64, true;
    AtomicIsize isize, usize, true;
}

/// Atomic boolean, like [`std::sync::atomic::AtomicBool`].
pub struct AtomicBool {
    atom: Atom,
}

impl AtomicBool {
    /// Creates a variable with this initial value. This is not an operation of the exploration.
    #[must_use]
    pub const fn new(value: bool) -> Self {
        Self { atom: Atom::new(value as u64, Shape { bits: 1, signed: false }) }
    }

    #[inline(always)]
    fn bits(value: bool) -> u64 {
        u64::from(value)
    }

    /// Negates the value and returns the previous value.
    #[inline(always)]
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.update_by(UpdateKind::Xor, true, order)
    }
}

common!(AtomicBool, [], bool, "AtomicBool", |bits: u64| bits != 0);
bitwise!(AtomicBool, bool);

/// Atomic pointer, like [`std::sync::atomic::AtomicPtr`].
pub struct AtomicPtr<T> {
    atom: Atom,
    pointer: PhantomData<*mut T>,
}

// SAFETY: same bounds as `std::sync::atomic::AtomicPtr`: accesses do not dereference the pointer.
unsafe impl<T> Send for AtomicPtr<T> {}
// SAFETY: see `Send`.
unsafe impl<T> Sync for AtomicPtr<T> {}
impl<T> std::panic::RefUnwindSafe for AtomicPtr<T> {}
impl<T> std::panic::UnwindSafe for AtomicPtr<T> {}

impl<T> AtomicPtr<T> {
    /// Creates a variable with this initial value. This is not an operation of the exploration.
    #[must_use]
    #[allow(clippy::not_unsafe_ptr_arg_deref, reason = "the pointer is not dereferenced")]
    pub const fn new(pointer: *mut T) -> Self {
        // SAFETY: both types have the same size, and `MaybeUninit` accepts every bit pattern.
        let bits = unsafe { std::mem::transmute::<*mut T, std::mem::MaybeUninit<u64>>(pointer) };
        Self { atom: Atom::of_pointer(bits), pointer: PhantomData }
    }

    #[inline(always)]
    fn bits(pointer: *mut T) -> u64 {
        pointer.expose_provenance() as u64
    }
}

common!(AtomicPtr<T>, [T], *mut T, "AtomicPtr", |bits: u64| {
    std::ptr::with_exposed_provenance_mut(bits as usize)
});

impl<T> Default for AtomicPtr<T> {
    fn default() -> Self {
        Self::new(std::ptr::null_mut())
    }
}

impl<T> From<*mut T> for AtomicPtr<T> {
    fn from(pointer: *mut T) -> Self {
        Self::new(pointer)
    }
}
