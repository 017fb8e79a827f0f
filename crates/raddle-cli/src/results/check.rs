//! The results of `raddle check`.

use std::fmt;
use std::io;
use std::sync::Arc;

use raddle_core::model::Model;
use raddle_core::outcome::{Bound, Counts, Finding, FindingKind, Outcome, Verdict};
use raddle_explore::plan::{self, Plan};
use raddle_litmus::{FinalStates, LitmusTest};
use serde::Serialize;

use crate::recorded::RecordedBug;
use crate::status::Status;

/// The result of exploring one program under one model.
pub(crate) struct CheckResult {
    pub(crate) program: String,
    pub(crate) plan: Plan,
    /// Whether the program was checked for robustness.
    pub(crate) robust: bool,
    pub(crate) outcome: Outcome,
    /// What only litmus tests have.
    pub(crate) litmus: Option<LitmusResult>,
    /// How to replay the finding of a C or C++ program.
    pub(crate) recorded: Option<RecordedBug>,
}

/// A litmus test and its final states.
pub(crate) struct LitmusResult {
    pub(crate) test: Arc<LitmusTest>,
    /// `None` if the final states were not collected.
    pub(crate) finals: Option<FinalStates>,
    /// The largest number of rounds of a loop.
    pub(crate) unroll: u32,
}

impl CheckResult {
    /// The result of an exploration that ended before anything was explored.
    pub(crate) fn not_explored(program: String, plan: Plan, robust: bool, bound: Bound) -> Self {
        let outcome = Outcome::new(vec![], Counts::default(), Some(bound));
        CheckResult { program, plan, robust, outcome, litmus: None, recorded: None }
    }

    /// The memory model.
    pub(crate) fn model(&self) -> Model {
        self.plan.model
    }

    /// The final states of a litmus test, if they were collected.
    pub(crate) fn finals(&self) -> Option<(&LitmusTest, &FinalStates)> {
        let LitmusResult { test, finals, .. } = self.litmus.as_ref()?;
        Some((&**test, finals.as_ref()?))
    }

    /// The finding because of which not all final states of a litmus test are known.
    pub(crate) fn failure(&self) -> Option<&Finding> {
        self.finals().and_then(|_| raddle_litmus::failure(&self.outcome))
    }

    /// The exit status of the command if this is its only result.
    pub(crate) fn status(&self) -> Status {
        match (self.outcome.kind(), self.outcome.verdict) {
            (Some(FindingKind::Unsupported), _) => Status::Failed,
            (_, Verdict::Clean) => Status::Good,
            (_, Verdict::Bug) => Status::Inconsistent,
            (_, Verdict::Incomplete) => Status::Unknown,
        }
    }
}

/// Why a file cannot be explored.
#[derive(Debug, Serialize)]
pub(crate) struct LoadError {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<usize>,
    pub(crate) message: String,
    /// It is a bug in Raddle.
    #[serde(skip)]
    pub(crate) is_internal: bool,
}

impl LoadError {
    /// An error without a position in the file.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        LoadError { line: None, column: None, message: message.into(), is_internal: false }
    }

    /// A bug in Raddle.
    pub(crate) fn internal(message: String) -> Self {
        LoadError { is_internal: true, ..LoadError::new(message) }
    }

    /// A file that cannot be read.
    pub(crate) fn unreadable(error: &io::Error) -> Self {
        LoadError::new(format!("cannot read: {error}"))
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, "{line}:{column}: ")?;
        } else {
            f.write_str(" ")?;
        }
        f.write_str(&self.message)
    }
}

/// The results of one program.
pub(crate) struct ProgramResults {
    pub(crate) name: String,
    /// One result for each model that supports the program, or why it cannot be explored.
    pub(crate) results: Result<Vec<CheckResult>, LoadError>,
    /// The models under which the exploration failed.
    pub(crate) failed: Vec<(Model, LoadError)>,
    /// The requested models that do not support the program.
    pub(crate) refused: Vec<plan::UnsupportedModel>,
}

impl ProgramResults {
    /// The result under a model.
    pub(crate) fn result(&self, model: Model) -> Option<&CheckResult> {
        self.results.as_ref().ok()?.iter().find(|result| result.model() == model)
    }
}

/// The comparison of results with a table.
pub(crate) struct Comparison {
    /// The number of results that are as expected.
    pub(crate) agree: usize,
    pub(crate) differences: Vec<Difference>,
}

/// A result that is not as expected.
pub(crate) struct Difference {
    pub(crate) program: String,
    pub(crate) model: Model,
    pub(crate) status: Status,
    pub(crate) message: String,
}

impl Comparison {
    /// The exit status of the command if all programs can be explored.
    pub(crate) fn status(&self) -> Status {
        self.differences.iter().map(|difference| difference.status).max().unwrap_or_default()
    }
}
