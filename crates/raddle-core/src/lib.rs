//! The vocabulary of Raddle: executions, memory models, programs, traces and outcomes.
//!
//! Everything here is pure: no I/O, no threads, no `unsafe`.
#![forbid(unsafe_code)]

pub mod execution;
pub mod finding_kind;
pub mod model;
pub mod outcome;
pub mod program;
pub mod random;
pub mod schedule;
pub mod trace;
