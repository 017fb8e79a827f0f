//! The result of `raddle verify`.

use raddle_consistency::witness::ConsistencyVerdict;
use raddle_core::execution::Execution;
use raddle_core::model::Model;

use crate::status::Status;

/// The verdict on one history under one model.
pub(crate) struct CheckedHistory<'a> {
    pub(crate) history: &'a str,
    pub(crate) execution: &'a Execution,
    pub(crate) model: Model,
    pub(crate) verdict: ConsistencyVerdict,
    pub(crate) recheck: Option<Recheck>,
}

impl CheckedHistory<'_> {
    /// The exit status for this verdict.
    pub(crate) fn status(&self) -> Status {
        match (&self.verdict, &self.recheck) {
            (_, Some(Recheck::Failed(_))) => Status::Failed,
            (ConsistencyVerdict::Consistent(_), _) => Status::Good,
            (ConsistencyVerdict::Inconsistent(_), _) => Status::Inconsistent,
            (ConsistencyVerdict::Unknown { .. }, _) => Status::Unknown,
        }
    }
}

/// The result of rechecking a verdict with independent code.
pub(crate) enum Recheck {
    /// The machine of the model can run the witness, or the witness satisfies the axioms.
    Confirmed,
    /// The violation is correct.
    Proved,
    /// Rechecking would cost too much.
    TooLarge,
    /// The verdict is unknown, so there is nothing to recheck.
    Undecided,
    /// The verdict is wrong, for this reason: a bug in Raddle.
    Failed(String),
}
