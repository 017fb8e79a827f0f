//! A witness for people.

use super::Page;
use super::coherence::coherence;
use super::run::run;
use crate::witness::Witness;
use raddle_core::execution::Execution;
use raddle_core::model::Model;

/// What a witness shows: a run, or the modification orders.
#[must_use]
pub fn witness(execution: &Execution, model: Model, witness: &Witness, page: Page) -> String {
    match witness {
        Witness::Run(steps) => run(execution, model, steps, page),
        Witness::Coherence(order) => coherence(execution, model, order, page),
    }
}
