//! The result of `raddle bmc`.

use std::path::PathBuf;

use raddle_bmc::{BmcOptions, BmcReport};
use raddle_core::outcome::Finding;

use crate::recorded::RecordedBug;

/// The report of the bounded model checker, and the confirmation of its counterexample.
pub(crate) struct BmcResult {
    pub(crate) program: PathBuf,
    pub(crate) options: BmcOptions,
    pub(crate) report: BmcReport,
    /// The result of exploring the compiled program, if there is a counterexample.
    pub(crate) confirmation: Option<Confirmation>,
}

impl BmcResult {
    /// The bug to report: that of the compiled program, or that of the solver if there is none.
    pub(crate) fn reported(&self) -> Option<&Finding> {
        match &self.confirmation {
            Some(Confirmation::Confirmed(_, native)) => Some(native),
            _ => self.report.outcome.finding(),
        }
    }
}

/// Whether the compiled program has the bug of a counterexample.
pub(crate) enum Confirmation {
    /// Exploration of the compiled program finds this bug. It may differ from that of the counterexample if the program
    /// has several.
    Confirmed(Option<Box<RecordedBug>>, Box<Finding>),
    /// Undecided, for this reason.
    Unknown(String),
    /// Undecided because of a bug in Raddle.
    Failed(String),
    /// Exhaustive exploration finds no bug, so the counterexample is wrong.
    Contradicted,
}

impl Confirmation {
    /// The content of the file that `--trace` writes.
    pub(crate) fn recorded(&self) -> Option<String> {
        match self {
            Confirmation::Confirmed(recorded, _) => recorded.as_ref().map(ToString::to_string),
            _ => None,
        }
    }
}
