//! Thread results that a number represents completely.
//!
//! A join observes the result of a thread. If the result is an integer, a `bool` or an `Option` of these, one
//! number encodes all that the joiner observes, and explorers answer the join with that number. Two local
//! histories of the thread with the same result are then equivalent for its joiner.
//!
//! Stable Rust has no specialization, so the result type is compared with a fixed list of types.

use std::any::TypeId;
use std::marker::PhantomData;
use std::mem::{self, MaybeUninit};

use raddle_core::execution::Value;

/// Type whose values a number encodes: `decode(encode(v)) == v`.
trait Plain: Copy + 'static {
    fn encode(self) -> Value;
    fn decode(number: Value) -> Self;
}

macro_rules! integers {
    ($($integer:ty)*) => { $(
        impl Plain for $integer {
            fn encode(self) -> Value {
                Value::from(self as u64)
            }
            fn decode(number: Value) -> Self {
                number as $integer
            }
        }
    )* };
}

integers!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

impl Plain for bool {
    fn encode(self) -> Value {
        Value::from(self)
    }
    fn decode(number: Value) -> Self {
        number != 0
    }
}

/// Marks the encoding of `Some`: the lowest bit that no encoded payload uses. The result is not a pointer value.
const PRESENT: Value = 1 << 64;

impl<P: Plain> Plain for Option<P> {
    fn encode(self) -> Value {
        self.map_or(0, |value| PRESENT | value.encode())
    }
    fn decode(number: Value) -> Self {
        (number & PRESENT != 0).then(|| P::decode(number & (PRESENT - 1)))
    }
}

/// Returns `Some($f::<T, P>($argument))` from the enclosing function if `T` is the plain type `P`; falls through
/// otherwise.
macro_rules! if_plain {
    ($T:ty, $f:ident, $argument:expr) => {
        if_plain!($T, $f, $argument, u8 u16 u32 u64 usize i8 i16 i32 i64 isize bool)
    };
    ($T:ty, $f:ident, $argument:expr, $($plain:ty)*) => { $(
        if id_of::<$T>() == TypeId::of::<$plain>() {
            return Some($f::<$T, $plain>($argument));
        }
        if id_of::<$T>() == TypeId::of::<Option<$plain>>() {
            return Some($f::<$T, Option<$plain>>($argument));
        }
    )* };
}

/// Returns the identity of a type that need not be `'static`. Types that differ only in lifetimes compare equal.
fn id_of<T>() -> TypeId {
    trait Identified {
        fn id(&self) -> TypeId
        where
            Self: 'static;
    }
    impl<T> Identified for PhantomData<T> {
        fn id(&self) -> TypeId
        where
            Self: 'static,
        {
            TypeId::of::<T>()
        }
    }
    let phantom: &dyn Identified = &PhantomData::<T>;
    // SAFETY: `PhantomData` holds no value, so the extended lifetime gives access to no data.
    let phantom =
        unsafe { mem::transmute::<&dyn Identified, &(dyn Identified + 'static)>(phantom) };
    phantom.id()
}

fn number_of<T, P: Plain>(value: &T) -> Value {
    // SAFETY: `if_plain` has checked that `T` and `P` are the same type.
    unsafe { mem::transmute_copy::<T, P>(value) }.encode()
}

fn value_of<T, P: Plain>(number: Value) -> T {
    // SAFETY: `if_plain` has checked that `T` and `P` are the same type.
    unsafe { mem::transmute_copy::<P, T>(&P::decode(number)) }
}

/// Returns `true` if values of the type have no bytes and need no destructor.
const fn is_trivial<T>() -> bool {
    mem::size_of::<T>() == 0 && !mem::needs_drop::<T>()
}

/// Returns `true` if [`number`] encodes every value of the type.
pub(crate) fn is_plain<T>() -> bool {
    fn size<T, P: Plain>((): ()) -> usize {
        debug_assert_eq!(mem::size_of::<T>(), mem::size_of::<P>());
        mem::size_of::<P>()
    }
    fn search<T>() -> Option<usize> {
        if_plain!(T, size, ());
        None
    }
    is_trivial::<T>() || search::<T>().is_some()
}

/// Encodes a value of a plain type. Returns 0 for types without bytes.
pub(crate) fn number<T>(value: T) -> Value {
    fn search<T>(value: &T) -> Option<Value> {
        if_plain!(T, number_of, value);
        None
    }
    let number = search(&value).unwrap_or(0);
    mem::forget(value);
    number
}

/// Decodes a number that [`number`] returned for a value of the same type, which must be plain.
pub(crate) fn value<T>(number: Value) -> T {
    fn search<T>(number: Value) -> Option<T> {
        if_plain!(T, value_of, number);
        None
    }
    debug_assert!(is_plain::<T>(), "the type must be plain");
    search(number).unwrap_or_else(|| {
        // SAFETY: a plain type outside of the list has no bytes, and `number` has forgotten a value of it.
        unsafe { MaybeUninit::zeroed().assume_init() }
    })
}

#[cfg(test)]
mod tests {
    use super::{is_plain, number, value};

    fn assert_round_trip<T: PartialEq + std::fmt::Debug + Copy>(plain: T) {
        assert!(is_plain::<T>());
        assert_eq!(value::<T>(number(plain)), plain);
    }

    #[test]
    fn plain_values_round_trip() {
        assert_round_trip(());
        assert_round_trip(-1i8);
        assert_round_trip(i64::MIN);
        assert_round_trip(u64::MAX);
        assert_round_trip(true);
        assert_round_trip(None::<bool>);
        assert_round_trip(Some(false));
        assert_round_trip(Some(-7i32));
        assert_round_trip(Some(usize::MAX));
    }

    #[test]
    fn owners_pointers_and_tuples_are_not_plain() {
        struct HasDestructor;
        impl Drop for HasDestructor {
            fn drop(&mut self) {}
        }
        assert!(!is_plain::<HasDestructor>());
        assert!(!is_plain::<&u8>());
        assert!(!is_plain::<Box<u8>>());
        assert!(!is_plain::<(u8, u8)>());
        assert!(!is_plain::<*mut u8>());
        assert!(!is_plain::<Option<&u8>>());
    }
}
