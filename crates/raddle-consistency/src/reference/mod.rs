//! The oracle side: what the models mean, told as plainly as possible.
//!
//! [`machine`] *defines* SC, TSO and PSO. [`brute_force`] explores all its runs and so decides small
//! executions beyond doubt; [`generate`] makes random executions, of any size, by running it. [`enumerate`] decides small executions under
//! the models with axioms ([`model`](raddle_core::model)), and [`c11_cases`] makes executions for it.
//! Nothing here is shared with the fast checkers, which are tested against it.

pub mod brute_force;
pub mod enumerate;
pub mod generate;
pub mod machine;
mod perturb;
mod program;
pub mod replay;
