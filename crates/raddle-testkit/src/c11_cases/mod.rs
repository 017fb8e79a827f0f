//! Small executions for tests of the C11-style models, deterministic in a seed.
//!
//! [`random_case`] draws events and sources at random, [`cycle_case`] builds a critical cycle. Only the second
//! distinguishes the models regularly. Both have at most [`EVENTS`] events, because the oracle
//! ([`enumerate`](raddle_consistency::reference::enumerate)) is exponential.

mod cycle;
mod random;
mod sketch;

pub use cycle::cycle_case;
pub use random::random_case;

/// Maximal number of events of a case, without initial writes, spawns and joins.
pub const EVENTS: usize = 10;
