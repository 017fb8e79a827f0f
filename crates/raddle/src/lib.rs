//! A model checker for concurrent Rust.
//!
//! Write a test with the threads, atomics and locks of this crate, which mirror those of the standard
//! library, and pass it to [`check`]. Raddle runs the test repeatedly until it has explored every behaviour
//! that the memory model allows. It groups executions into equivalence classes and explores each class once.
//!
//! ```
//! use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
//!
//! let outcome = raddle::Checker::new().explore(|| {
//!     let (x, y) = (AtomicUsize::new(0), AtomicUsize::new(0));
//!     let (a, b) = raddle::thread::scope(|s| {
//!         let a = s.spawn(|| { x.store(1, SeqCst); y.load(SeqCst) });
//!         let b = s.spawn(|| { y.store(1, SeqCst); x.load(SeqCst) });
//!         (a.join().unwrap(), b.join().unwrap())
//!     });
//!     assert!(a == 1 || b == 1);
//! });
//! assert_eq!(outcome.counts.classes, 3);
//! ```
//!
//! # Requirements on a test
//!
//! A test is a closure that is called many times. The behaviour of its threads must be a function of the
//! values that they read: no time, no random numbers, no thread-local variables of the standard library (all
//! threads of a test share them), and no shared memory that Raddle does not observe. The checker reports
//! nondeterminism that it detects. Shared objects are created in the closure, or they are static. Results can
//! be collected in a variable that the closure captures, such as a `std::sync::Mutex`.
//!
//! A run may end while threads wait; their stacks are then unwound. Therefore, do not hold a lock of the
//! standard library during an operation of this crate: `results.lock().unwrap().insert(x)` is correct, but
//! `results.lock().unwrap().insert(x.load(SeqCst))` loads while the lock is held.
//!
//! Threads share memory through the types of this crate: the contents of a [`sync::Mutex`] or a
//! [`cell::UnsafeCell`], the target of a pointer in an atomic variable, and the return value of a thread.
//! Memory that threads share by other means, such as a `std::sync::Mutex`, may be read only after these
//! threads were joined, which costs additional runs. If that memory is static or captured by the closure, the
//! test must not read it at all.
//!
//! Operations of this crate panic outside of an exploration.
//!
//! # Limits
//!
//! - The contents of a static mutex, lock or cell are restored after each run. This is impossible if they need
//!   a destructor; the test then fails with a message. Two tests that use the same static lock or cell at the
//!   same time fail, too.
//! - The contents of an [`sync::Arc`] are dropped after the run. Operations in their destructors are not
//!   explored. A destructor that reads an atomic variable is abandoned at the read, and what it owns is leaked.
//! - A value that a thread received from its parent (a `String`, an `Arc`) must not be moved into static memory
//!   of the standard library's types: a thread may be run again without the others, and would move it twice.
//! - A failed `try_lock` synchronizes like a successful one.
//! - A timeout may expire at any point.
//! - `into_inner` of a lock or cell that was accessed through a raw pointer may return the initial contents.
//!   Access the contents in place first (`get_mut`, `with`).
//! - A pointer in an atomic integer must be complete, except for tags in its low or high bits. Shifted pointers
//!   and pointers that `fetch_or` and similar operations compose or split are rejected.
//! - A use after free is detected only for objects of this crate. A double free is detected for all memory.
//! - A loop without operations of this crate, such as `loop {}`, is never interrupted, not even by a timeout.
//! - The library installs a global allocator that forwards to the system allocator.
//! - Spin loops are detected by comparing stacks and memory. Memory that the closure captures is not compared.

pub mod cell;
mod checker;
#[cfg(feature = "parallel")]
mod checkpoint;
#[cfg(feature = "parallel")]
mod parts;
mod plain;
mod replay;
mod report;
mod schedule;
pub mod sync;
mod test;
pub mod thread;
#[cfg(feature = "parallel")]
mod workers;

pub use checker::{Checker, check};
pub use raddle_core::model::Model;
pub use raddle_core::outcome::{
    Bound, Counts, Estimate, Finding, FindingKind, Outcome, Place, Related, SampledRun, Verdict,
};
pub use raddle_core::schedule::{Schedule, ScheduleError};
pub use raddle_core::trace::NamedTrace;
pub use raddle_explore::plan::{Equivalence, Explorer};
pub use replay::replay;
pub use report::{report, report_finding};
pub(crate) use test::{Test, TestProgram};

/// Compiles and runs the Rust code blocks of README.md as doctests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// Compiles and runs the Rust code blocks of the book as doctests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/src/rust.md")]
struct Book;

/// Replacement for [`std::hint`].
pub mod hint {
    /// Does nothing: the checker detects spin loops without annotations.
    pub fn spin_loop() {}

    pub use std::hint::black_box;
}

/// Discards the current execution unless `condition` holds.
///
/// A discarded execution counts as blocked (`outcome.counts.blocked`); it is neither a success nor a bug.
#[track_caller]
pub fn assume(condition: bool) {
    if !condition {
        raddle_runtime::ops::give_up();
    }
}

/// Chooses a number below `options` nondeterministically: the checker explores every choice.
///
/// The number of explored executions can grow by a factor of `options`.
///
/// # Panics
/// Panics if `options` is 0.
#[must_use]
#[track_caller]
pub fn any_of(options: u32) -> u32 {
    assert!(options > 0, "raddle: any_of needs at least one option");
    raddle_runtime::ops::choose(options, std::panic::Location::caller())
}
