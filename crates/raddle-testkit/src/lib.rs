//! Test kit: scripts, random programs and executions, brute force, and shrinking.
//!
//! Shares no code with the checkers and explorers that are tested against it, except for the types of questions and
//! answers.
#![forbid(unsafe_code)]

pub mod axiomatic;
pub mod c11_cases;
pub mod executions;
pub mod overlapping;
pub mod programs;
pub mod script;
pub mod seeds;
