//! The Rust front end: primitives, findings, reports, and the programs of the literature.

mod basics;
mod by_value;
mod checkpoint;
mod common;
mod findings;
mod jobs;
mod joins;
mod literature;
mod memory;
mod online;
mod primitives;
mod regressions;
mod reports;
mod rewind;
mod robust;
mod weak;
