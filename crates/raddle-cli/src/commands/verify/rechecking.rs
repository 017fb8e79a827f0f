//! `--recheck`: every witness and every violation once more, by independent code.

use raddle_consistency::recheck::{Rechecked, recheck_violation, recheck_witness};
use raddle_consistency::witness::ConsistencyVerdict;
use raddle_core::execution::Execution;
use raddle_core::model::Model;

use crate::internal_error;
use crate::results::verify::{Answer, Rechecking};

/// How much work to spend on one violation before it counts as too large.
const BUDGET: usize = 2_000_000;

/// Rechecks a verdict.
pub(super) fn recheck(
    execution: &Execution,
    model: Model,
    verdict: &ConsistencyVerdict,
) -> Rechecking {
    match verdict {
        ConsistencyVerdict::Consistent(witness) => match recheck_witness(execution, model, witness)
        {
            Ok(Rechecked::Proved) => Rechecking::Confirmed,
            Ok(Rechecked::TooLarge) => Rechecking::TooLarge,
            Err(error) => Rechecking::Failed(format!("the witness is wrong: {error}")),
        },
        ConsistencyVerdict::Inconsistent(violation) => {
            match recheck_violation(execution, model, violation, BUDGET) {
                Ok(Rechecked::Proved) => Rechecking::Proved,
                Ok(Rechecked::TooLarge) => Rechecking::TooLarge,
                Err(error) => Rechecking::Failed(format!("the violation is wrong: {error}")),
            }
        }
        ConsistencyVerdict::Unknown { .. } => Rechecking::NoAnswer,
    }
}

/// Reports every answer that rechecking found wrong as a bug in Raddle.
pub(super) fn complain_about_failures(answers: &[Answer<'_>]) {
    for answer in answers {
        if let Some(Rechecking::Failed(why)) = &answer.rechecking {
            internal_error::report(&format!("{}, {}: {why}", answer.history, answer.model));
        }
    }
}
