//! Small executions to try the C11 models on, deterministic in a seed.
//!
//! [`random_case`] takes events and sources at random, [`cycle_case`] builds a critical cycle. Only
//! the second tells the models apart with any regularity. Both have at most [`EVENTS`] events, as
//! the oracle ([`enumerate`](raddle_consistency::reference::enumerate)) is exponential.

mod cycle;
mod random;
mod sketch;

pub use cycle::cycle_case;
pub use random::random_case;

/// The number of events that a case has at most, initial writes and spawns and joins not counted.
pub const EVENTS: usize = 10;
