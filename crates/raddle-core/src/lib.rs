//! The core of Raddle: executions, memory models, and consistency checking.
//!
//! Everything here is pure: no I/O, no threads, no `unsafe`.
#![forbid(unsafe_code)]

pub mod consistency;
pub mod execution;
pub mod explore;
pub mod history;
pub mod incremental;
pub mod litmus;
pub mod model;
pub mod plan;
pub mod program;
pub mod recheck;
pub mod reference;
pub mod report;
pub mod robust;
pub mod script;
pub mod witness;
