//! What `std::sync::atomic` has.
//!
//! The memory of a variable holds its initial value; what is stored later is known to the explorer
//! only. So there is no `as_ptr` and no `from_ptr`.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use raddle_core::execution::MemoryOrder;
use raddle_core::program::UpdateKind;
use raddle_runtime::ops::{self, Atom, Orders, Shape};

pub use std::sync::atomic::{Ordering, compiler_fence};

#[cfg(target_endian = "big")]
compile_error!("raddle keeps small integers in the first bytes of a word");

#[inline(always)]
fn any(order: Ordering) -> MemoryOrder {
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
fn of_load(order: Ordering) -> MemoryOrder {
    match order {
        Ordering::Release => panic!("there is no such thing as a release load"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release load"),
        order => any(order),
    }
}

#[inline(always)]
#[track_caller]
fn of_store(order: Ordering) -> MemoryOrder {
    match order {
        Ordering::Acquire => panic!("there is no such thing as an acquire store"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release store"),
        order => any(order),
    }
}

#[inline(always)]
#[track_caller]
fn of_exchange(success: Ordering, failure: Ordering, weak: bool) -> Orders {
    match failure {
        Ordering::Release => panic!("there is no such thing as a release failure ordering"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release failure ordering"),
        failure => Orders { success: any(success), failure: any(failure), weak },
    }
}

/// A fence.
///
/// # Panics
/// If the order is relaxed.
#[track_caller]
pub fn fence(order: Ordering) {
    assert!(order != Ordering::Relaxed, "there is no such thing as a relaxed fence");
    ops::fence(any(order), Location::caller());
}

/// What all atomic types have.
macro_rules! common {
    ($type:ty, [$($generics:tt)*], $value:ty, $name:expr, $from:expr) => {
        impl<$($generics)*> $type {
            #[inline(always)]
            fn of_bits(bits: u64) -> $value {
                ($from)(bits)
            }

            /// See the standard library.
            #[inline(always)]
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                Self::of_bits(ops::load(&self.atom, of_load(order), Location::caller()))
            }

            /// See the standard library.
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                ops::store(&self.atom, Self::bits(value), of_store(order), Location::caller());
            }

            #[inline(always)]
            #[track_caller]
            fn update_by(&self, kind: UpdateKind, operand: $value, order: Ordering) -> $value {
                let operand = Self::bits(operand);
                Self::of_bits(ops::update(&self.atom, kind, operand, any(order), Location::caller()))
            }

            /// See the standard library.
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

            /// See the standard library.
            ///
            /// # Errors
            /// The value that was there, if it was another.
            #[inline(always)]
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.exchange(current, new, of_exchange(success, failure, false))
            }

            /// See the standard library. It does fail now and then.
            ///
            /// # Errors
            /// The value that was there.
            #[inline(always)]
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.exchange(current, new, of_exchange(success, failure, true))
            }

            /// See the standard library. Each attempt is a compare-exchange that does not fail without
            /// reason, as that would only be repeated.
            ///
            /// # Errors
            /// The value that was there, if the function gives none.
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

            /// See the standard library.
            #[track_caller]
            pub fn get_mut(&mut self) -> &mut $value {
                let memory = ops::lend(&mut self.atom, Location::caller());
                // SAFETY: the word holds a value of this type in its first bytes, and nobody else
                // accesses it while `self` is borrowed.
                unsafe { &mut *memory.cast::<$value>() }
            }

            /// See the standard library.
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

/// What integers and booleans have.
macro_rules! bitwise {
    ($type:ty, $value:ty) => {
        impl $type {
            /// See the standard library.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                self.update_by(UpdateKind::And, value, order)
            }

            /// See the standard library.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_nand(&self, value: $value, order: Ordering) -> $value {
                self.update_by(UpdateKind::Nand, value, order)
            }

            /// See the standard library.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                self.update_by(UpdateKind::Or, value, order)
            }

            /// See the standard library.
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
        /// An atomic integer: see the standard library.
        pub struct $type {
            atom: Atom,
        }

        impl $type {
            /// See the standard library.
            #[must_use]
            pub const fn new(value: $value) -> Self {
                let shape = Shape { bits: <$value>::BITS as u8, signed: $signed };
                Self { atom: Atom::new(value as $unsigned as u64, shape) }
            }

            #[inline(always)]
    fn bits(value: $value) -> u64 {
                value as $unsigned as u64
            }

            /// See the standard library.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.update_by(UpdateKind::Add, value, order)
            }

            /// See the standard library.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.update_by(UpdateKind::Sub, value, order)
            }

            /// See the standard library.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_max(&self, value: $value, order: Ordering) -> $value {
                self.update_by(UpdateKind::Max, value, order)
            }

            /// See the standard library.
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

/// An atomic boolean: see the standard library.
pub struct AtomicBool {
    atom: Atom,
}

impl AtomicBool {
    /// See the standard library.
    #[must_use]
    pub const fn new(value: bool) -> Self {
        Self { atom: Atom::new(value as u64, Shape { bits: 1, signed: false }) }
    }

    #[inline(always)]
    fn bits(value: bool) -> u64 {
        u64::from(value)
    }

    /// See the standard library.
    #[inline(always)]
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.update_by(UpdateKind::Xor, true, order)
    }
}

common!(AtomicBool, [], bool, "AtomicBool", |bits: u64| bits != 0);
bitwise!(AtomicBool, bool);

/// An atomic pointer: see the standard library.
pub struct AtomicPtr<T> {
    atom: Atom,
    pointer: PhantomData<*mut T>,
}

// SAFETY: as for the standard library's: a pointer is only a number.
unsafe impl<T> Send for AtomicPtr<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for AtomicPtr<T> {}
impl<T> std::panic::RefUnwindSafe for AtomicPtr<T> {}
impl<T> std::panic::UnwindSafe for AtomicPtr<T> {}

impl<T> AtomicPtr<T> {
    /// See the standard library.
    #[must_use]
    #[allow(clippy::not_unsafe_ptr_arg_deref, reason = "nothing is dereferenced")]
    pub const fn new(pointer: *mut T) -> Self {
        // SAFETY: a pointer and a word that may hold one have the same size.
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
