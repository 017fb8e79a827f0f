//! A model checker for concurrent Rust.
//!
//! Write a test with the threads, atomics and locks of this crate, which mirror those of the standard
//! library, and hand it to [`check`]. Raddle runs it again and again, until every behaviour that the
//! memory model allows has been seen, and it sees each class of behaviours once.
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
//! assert_eq!(outcome.classes, 3);
//! ```
//!
//! # What a test must be
//!
//! A test is a closure that is called many times. What its threads do must be a function of what they
//! read: no time, no random numbers, no thread-local variables of the standard library (all threads of a
//! test share them), no memory shared behind raddle's back. If it is not, the checker says so. Objects
//! that are shared are made in the closure, or they are static; results can be collected in a variable
//! that the closure captures, such as a `std::sync::Mutex`.
//!
//! A run may be ended while its threads wait, and then they are unwound. So do not hold a lock of the
//! standard library while a thread does something that raddle sees: `results.lock().unwrap().insert(x)` is
//! fine, but `results.lock().unwrap().insert(x.load(SeqCst))` loads while the lock is held.
//!
//! Memory that threads share must be reached through the types of this crate: what a [`sync::Mutex`]
//! protects, what a [`cell::UnsafeCell`] holds, what a pointer in an atomic variable points to, and what
//! a thread returns. Memory that threads share by other means, such as a `std::sync::Mutex`, may be read after
//! they were joined, but not before; that takes more runs. (If it is static, or captured by the closure, not
//! even then.)
//!
//! # Limits
//!
//! - A mutex, lock or cell that is static keeps its contents for one run only if they need no destructor;
//!   otherwise the test fails and says so. Two tests that use the same static lock at the same time fail, too.
//! - The contents of an [`sync::Arc`] are dropped after the run, when destructors can do nothing that is
//!   seen; a destructor that reads an atomic variable stays where it is, and what it has is leaked.
//! - What a thread got from the thread that spawned it (a `String`, an `Arc`) must not be moved into static memory
//!   of the standard library's types: threads are run again without the others, and would move it twice.
//! - A `try_lock` synchronizes also if it fails.
//! - Timeouts can happen at any time.
//! - What a lock or cell holds that was reached by a raw pointer and is then moved (`into_inner`) may be what
//!   it held in the beginning. Look at it in its place first (`get_mut`, `with`).
//! - A pointer in an atomic integer must be whole, but for tags in its low or high bits: one that was shifted,
//!   or that is put together or taken apart by `fetch_or` and the like, is refused.
//! - Memory that is used after it was freed is found only if it is an object of this crate. (Memory that is
//!   freed twice is found.)
//! - A loop without any operation of this crate, such as `loop {}`, is not interrupted, not even by a timeout.
//! - The library installs a global allocator that forwards to the system's.
//! - A loop that spins is found by comparing stacks and memory; memory that the closure captures is not
//!   compared.

pub mod cell;
mod checker;
mod checkpoint;
mod parts;
mod plain;
mod replay;
mod report;
pub mod sync;
pub mod thread;

pub use checker::{Bug, Checker, Outcome, Verdict, check};
pub use raddle_core::model::Model;
pub use raddle_core::outcome::Estimate;
pub use raddle_core::outcome::FindingKind;
pub use raddle_explore::plan::{Equivalence, Explorer};
pub use replay::{Schedule, ScheduleError, replay};

/// The Rust code in README.md.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The Rust code in the book.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/src/rust.md")]
struct Book;

/// Hints to the processor.
pub mod hint {
    /// Says that the thread spins. Does nothing: a loop that spins is recognised as such.
    pub fn spin_loop() {}

    pub use std::hint::black_box;
}

/// This execution is of no interest if the condition does not hold.
#[track_caller]
pub fn assume(condition: bool) {
    if !condition {
        raddle_runtime::ops::give_up();
    }
}

/// Any number below `options`: every one is explored.
///
/// # Panics
/// If there are no options.
#[must_use]
#[track_caller]
pub fn any_of(options: u32) -> u32 {
    assert!(options > 0, "there is nothing to choose from");
    raddle_runtime::ops::choose(options, std::panic::Location::caller())
}
