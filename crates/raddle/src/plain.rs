//! Results of threads that are plain values.
//!
//! Whoever joins a thread learns its result. If that is a number, or one of a few types made of one, and no
//! pointer, then the number says everything there is to learn, and explorers can answer with it: two
//! histories of the thread with the same result are the same to its joiner.
//!
//! Rust cannot ask whether a type implements a trait, so types are compared with those of a list.

use std::any::TypeId;
use std::marker::PhantomData;
use std::mem::{self, MaybeUninit};

use raddle_core::execution::Value;

/// A value that a number stands for.
trait Plain: Copy + 'static {
    fn number(self) -> Value;
    fn of(number: Value) -> Self;
}

macro_rules! integers {
    ($($integer:ty)*) => { $(
        impl Plain for $integer {
            fn number(self) -> Value {
                Value::from(self as u64)
            }
            fn of(number: Value) -> Self {
                number as $integer
            }
        }
    )* };
}

integers!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

impl Plain for bool {
    fn number(self) -> Value {
        Value::from(self)
    }
    fn of(number: Value) -> Self {
        number != 0
    }
}

/// What a number is made of that may be missing: beyond 64 bits, and no pointer.
const PRESENT: Value = 1 << 64;

impl<P: Plain> Plain for Option<P> {
    fn number(self) -> Value {
        self.map_or(0, |value| PRESENT | value.number())
    }
    fn of(number: Value) -> Self {
        (number & PRESENT != 0).then(|| P::of(number & (PRESENT - 1)))
    }
}

/// Calls `$f::<T, P>($argument)` for the plain type `P` that `T` is; returns if there is one.
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

/// The identity of a type, whatever lifetimes it mentions.
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
    // SAFETY: nothing that lives for a while is reached through it: the type has no values.
    let phantom =
        unsafe { mem::transmute::<&dyn Identified, &(dyn Identified + 'static)>(phantom) };
    phantom.id()
}

fn number_of<T, P: Plain>(value: &T) -> Value {
    // SAFETY: `if_plain` has seen that the types are the same.
    unsafe { mem::transmute_copy::<T, P>(value) }.number()
}

fn value_of<T, P: Plain>(number: Value) -> T {
    // SAFETY: `if_plain` has seen that the types are the same.
    unsafe { mem::transmute_copy::<P, T>(&P::of(number)) }
}

/// Whether the type says nothing: it has one value, which nobody has to drop.
const fn is_nothing<T>() -> bool {
    mem::size_of::<T>() == 0 && !mem::needs_drop::<T>()
}

/// Whether a number stands for every value of the type.
pub(crate) fn is_plain<T>() -> bool {
    fn size<T, P: Plain>((): ()) -> usize {
        debug_assert_eq!(mem::size_of::<T>(), mem::size_of::<P>());
        mem::size_of::<P>()
    }
    fn search<T>() -> Option<usize> {
        if_plain!(T, size, ());
        None
    }
    is_nothing::<T>() || search::<T>().is_some()
}

/// The number that stands for the value, which is of a plain type.
pub(crate) fn number<T>(value: T) -> Value {
    fn search<T>(value: &T) -> Option<Value> {
        if_plain!(T, number_of, value);
        None
    }
    let number = search(&value).unwrap_or(0);
    mem::forget(value);
    number
}

/// The value that a number stands for, which `number` made of a value of this type.
pub(crate) fn value<T>(number: Value) -> T {
    fn search<T>(number: Value) -> Option<T> {
        if_plain!(T, value_of, number);
        None
    }
    debug_assert!(is_plain::<T>(), "the type is plain");
    search(number).unwrap_or_else(|| {
        // SAFETY: no type of the list, so one without bytes, of which a thread has given up a value.
        unsafe { MaybeUninit::zeroed().assume_init() }
    })
}

#[cfg(test)]
mod tests {
    use super::{is_plain, number, value};

    fn comes_back<T: PartialEq + std::fmt::Debug + Copy>(it: T) {
        assert!(is_plain::<T>());
        assert_eq!(value::<T>(number(it)), it);
    }

    #[test]
    fn plain_values_come_back() {
        comes_back(());
        comes_back(-1i8);
        comes_back(i64::MIN);
        comes_back(u64::MAX);
        comes_back(true);
        comes_back(None::<bool>);
        comes_back(Some(false));
        comes_back(Some(-7i32));
        comes_back(Some(usize::MAX));
    }

    #[test]
    fn values_that_own_or_point_are_not_plain() {
        struct Loud;
        impl Drop for Loud {
            fn drop(&mut self) {}
        }
        assert!(!is_plain::<Loud>());
        assert!(!is_plain::<&u8>());
        assert!(!is_plain::<Box<u8>>());
        assert!(!is_plain::<(u8, u8)>());
        assert!(!is_plain::<*mut u8>());
        assert!(!is_plain::<Option<&u8>>());
    }
}
