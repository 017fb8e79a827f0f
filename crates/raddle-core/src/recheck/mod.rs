//! Checking the evidence of the checkers again, sharing nothing with them.
//!
//! [`recheck_witness`] replays a witness on the reference machine.

mod witness;

use std::fmt;

use crate::reference::replay::Refusal;

pub use witness::recheck_witness;

/// Why evidence proves nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecheckError {
    /// The machine refuses a step of a witness.
    Step {
        /// The index of the step, from 0.
        index: usize,
        /// The event of the step, by name.
        event: String,
        /// Why.
        refusal: Refusal,
    },
    /// The witness ends before everything has run and reached memory.
    Unfinished {
        /// Its number of steps.
        steps: usize,
    },
}

impl fmt::Display for RecheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecheckError::Step { index, event, refusal } => {
                write!(f, "step {index} ({event}) is not possible: {refusal}")
            }
            RecheckError::Unfinished { steps } => {
                write!(f, "events or stores are left after all {steps} steps")
            }
        }
    }
}

impl std::error::Error for RecheckError {}
