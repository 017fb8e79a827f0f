//! What a test can tell `cargo raddle test`, where the code alone does not say it.
//!
//! A test needs none of this to be explored. Under `cargo test` all of it compiles to nothing.
//!
//! ```ignore
//! raddle_test::options! { hands_over: model = "tso,c20", timeout = "60" }
//!
//! #[test]
//! fn hands_over() {
//!     let length = 1 + raddle_test::any_of(3);
//!     // ...
//!     raddle_test::assume(was_full);
//! }
//! ```

#![no_std]

/// Discards the current execution unless the condition holds. Other executions go on; if none is left, the test is incomplete.
/// Under `cargo test` it does nothing.
#[inline]
pub fn assume(condition: bool) {
    #[cfg(raddle)]
    hooks::assume(condition);
    let _ = condition;
}

/// Any number below `count`: each is explored. Under `cargo test` it is 0.
///
/// # Panics
/// If `count` is 0.
#[inline]
#[must_use]
pub fn any_of(count: usize) -> usize {
    assert!(count > 0, "one of no numbers");
    #[cfg(raddle)]
    return hooks::any_of(count);
    #[cfg(not(raddle))]
    0
}

/// Calls the function: `raddle_test::model` can take the place of `loom::model`. What the test does outside of it is explored, too.
#[inline]
pub fn model<R>(function: impl FnOnce() -> R) -> R {
    function()
}

/// The functions that Raddle finds by their names. They use their arguments, so that the compiler keeps these.
#[cfg(raddle)]
mod hooks {
    use core::hint::black_box;

    #[inline(never)]
    pub(super) fn assume(condition: bool) {
        black_box(condition);
    }

    #[inline(never)]
    pub(super) fn any_of(count: usize) -> usize {
        black_box(count);
        black_box(0)
    }
}

/// Options for a test of the same module: `options! { name: model = "tso", timeout = "60" }`. The names are those of options of
/// `cargo raddle test`, with `_` for `-`; a value is a string, and that of a flag is "true". Options of the command line have priority.
///
/// This is a macro of its own, and no attribute, because an attribute needs another crate.
#[cfg(raddle)]
#[macro_export]
macro_rules! options {
    ($test:ident: $($option:ident = $value:literal),+ $(,)?) => {
        mod $test {
            // A module and a function may have the same name. Raddle reads the reasons, and does not list these tests.
            $(mod $option {
                #[test]
                #[ignore = $value]
                fn raddle_option() {}
            })+
        }
    };
}

/// Options for a test of the same module: `options! { name: model = "tso", timeout = "60" }`. The names are those of options of
/// `cargo raddle test`, with `_` for `-`; a value is a string, and that of a flag is "true". Options of the command line have priority.
///
/// This is a macro of its own, and no attribute, because an attribute needs another crate.
#[cfg(not(raddle))]
#[macro_export]
macro_rules! options {
    ($test:ident: $($option:ident = $value:literal),+ $(,)?) => {};
}
