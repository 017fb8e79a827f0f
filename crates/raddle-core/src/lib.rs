//! The vocabulary of Raddle: executions, memory models, programs and traces.
//!
//! Everything here is pure: no I/O, no threads, no `unsafe`.
#![forbid(unsafe_code)]

pub mod execution;
pub mod model;
pub mod program;
pub mod random;
pub mod trace;
