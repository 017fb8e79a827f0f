//! The oracles: what the models mean, as plainly as possible.
//!
//! [`machine`] *defines* SC, TSO and PSO. [`brute_force`] explores all its runs and so decides small executions;
//! [`generate`] runs it to make random executions of any size. [`enumerate`] decides small executions under the models with
//! axioms ([`model`](raddle_core::model)). Nothing here is shared with the fast checkers, which are tested against it.

pub mod brute_force;
pub mod enumerate;
pub mod generate;
pub mod machine;
mod perturb;
mod random_program;
pub mod replay;
mod shape;
