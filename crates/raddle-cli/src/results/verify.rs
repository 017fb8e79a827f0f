//! Verdicts on histories.

use raddle_consistency::witness::ConsistencyVerdict;
use raddle_core::execution::Execution;
use raddle_core::model::Model;

use crate::status::Status;

/// A question, and the answer to it.
pub(crate) struct Answer<'a> {
    pub(crate) history: &'a str,
    pub(crate) execution: &'a Execution,
    pub(crate) model: Model,
    pub(crate) verdict: ConsistencyVerdict,
    pub(crate) rechecking: Option<Rechecking>,
}

impl Answer<'_> {
    pub(crate) fn status(&self) -> Status {
        match (&self.verdict, &self.rechecking) {
            (_, Some(Rechecking::Failed(_))) => Status::Failed,
            (ConsistencyVerdict::Consistent(_), _) => Status::Good,
            (ConsistencyVerdict::Inconsistent(_), _) => Status::Inconsistent,
            (ConsistencyVerdict::Unknown { .. }, _) => Status::Unknown,
        }
    }
}

/// What rechecking an answer came to.
pub(crate) enum Rechecking {
    /// The witness is one: the machine of the model ran it, or it fits the axioms.
    Confirmed,
    /// The violation is one.
    Proved,
    /// The violation was too large to recheck.
    TooLarge,
    /// The checker gave no answer that could be rechecked.
    NoAnswer,
    /// The answer is wrong: a flaw of Raddle.
    Failed(String),
}
