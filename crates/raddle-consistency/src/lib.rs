//! Consistency checking: does a memory model allow an execution?
//!
//! [`check()`] answers with a [`witness`] or a violation. [`recheck`] tests that evidence with code that shares nothing with
//! the checkers, on top of the [`mod@reference`] semantics. [`history`] reads and writes executions, [`explain`] turns evidence
//! into text.
#![forbid(unsafe_code)]

pub mod check;
#[cfg(feature = "history")]
pub mod explain;
#[cfg(feature = "history")]
pub mod history;
pub mod incremental;
pub mod page;
#[cfg(feature = "history")]
pub mod recheck;
#[cfg(feature = "history")]
pub mod reference;
pub mod witness;

pub use check::{CheckOptions, SearchAlgorithm, UseClosure, allows, check};
