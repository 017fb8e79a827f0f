//! `--recheck`: checks every witness and every violation again, with independent code.

use raddle_consistency::recheck::{Rechecked, recheck_violation, recheck_witness};
use raddle_consistency::witness::ConsistencyVerdict;
use raddle_core::execution::Execution;
use raddle_core::model::Model;

use crate::internal_error;
use crate::results::verify::{CheckedHistory, Recheck};

/// Maximum number of steps to recheck one violation.
const BUDGET: usize = 2_000_000;

/// Rechecks the witness or the violation of a verdict.
pub(super) fn recheck(
    execution: &Execution,
    model: Model,
    verdict: &ConsistencyVerdict,
) -> Recheck {
    match verdict {
        ConsistencyVerdict::Consistent(witness) => match recheck_witness(execution, model, witness)
        {
            Ok(Rechecked::Proved) => Recheck::Confirmed,
            Ok(Rechecked::TooLarge) => Recheck::TooLarge,
            Err(error) => Recheck::Failed(format!("the witness is wrong: {error}")),
        },
        ConsistencyVerdict::Inconsistent(violation) => {
            match recheck_violation(execution, model, violation, BUDGET) {
                Ok(Rechecked::Proved) => Recheck::Proved,
                Ok(Rechecked::TooLarge) => Recheck::TooLarge,
                Err(error) => Recheck::Failed(format!("the violation is wrong: {error}")),
            }
        }
        ConsistencyVerdict::Unknown { .. } => Recheck::Undecided,
    }
}

/// Reports every verdict that rechecking refutes as a bug in Raddle.
pub(super) fn report_failures(checks: &[CheckedHistory<'_>]) {
    for check in checks {
        if let Some(Recheck::Failed(why)) = &check.recheck {
            internal_error::report(&format!("{}, {}: {why}", check.history, check.model));
        }
    }
}
