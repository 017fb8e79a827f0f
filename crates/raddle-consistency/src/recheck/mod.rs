//! Rechecks the evidence of the checkers, with code that shares nothing with them.
//!
//! [`recheck_witness`] replays a witness on the reference machine, or tests the axioms of a C11-style model on it.
//! [`recheck_violation`] follows the derivation of a violation fact by fact in a naive graph, or searches a forbidden core
//! by brute force.

mod axiom;
mod coherence;
mod derivation;
mod order;
mod violation;
mod witness;

#[cfg(test)]
mod tests;

use std::fmt;

use crate::reference::replay::Refusal;
use raddle_core::model::Axiom;

pub use coherence::recheck_coherence;
pub use violation::recheck_violation;
pub use witness::{recheck_run, recheck_witness};

/// The result of a recheck that found no error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rechecked {
    /// The evidence shows what it claims.
    Proved,
    /// The evidence exceeds the budget of the recheck.
    TooLarge,
}

/// Returns an error unless the condition holds.
fn conclude(condition: bool, why: &'static str) -> Result<(), RecheckError> {
    if condition { Ok(()) } else { Err(RecheckError::Conclusion { why }) }
}

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
    /// A witness under a C11-style model does not fit the execution.
    Malformed {
        /// The malformed part.
        why: &'static str,
    },
    /// A witness under a C11 model breaks an axiom.
    Broken {
        /// The axiom.
        axiom: Axiom,
        /// The events of a cycle that the axiom forbids, by name.
        cycle: Vec<String>,
    },
    /// This kind of evidence does not exist for the model.
    OtherModel,
    /// A fact of a derivation does not follow from those before it.
    Fact {
        /// The index of the fact, from 0.
        index: usize,
        /// The condition that it fails.
        why: &'static str,
    },
    /// The evidence does not show the contradiction that it claims.
    Conclusion {
        /// What is missing.
        why: &'static str,
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
            RecheckError::Malformed { why } => write!(f, "the witness is malformed: {why}"),
            RecheckError::Broken { axiom, cycle } => {
                write!(f, "the witness breaks {axiom}: {}", cycle.join(" -> "))
            }
            RecheckError::OtherModel => f.write_str("such evidence is not for this model"),
            RecheckError::Fact { index, why } => write!(f, "fact {index} does not follow: {why}"),
            RecheckError::Conclusion { why } => write!(f, "the violation does not follow: {why}"),
        }
    }
}

impl std::error::Error for RecheckError {}
