//! The result of `raddle bmc`.

use std::path::PathBuf;

use raddle_bmc::{BmcOptions, BmcReport};
use raddle_core::outcome::Finding;

use crate::recorded::Recorded;

/// What came of it.
pub(crate) struct Outcome {
    pub(crate) program: PathBuf,
    pub(crate) options: BmcOptions,
    pub(crate) report: BmcReport,
    /// What the compiled program says to a bug.
    pub(crate) confirmation: Option<Confirmation>,
}

/// What the compiled program says.
pub(crate) enum Confirmation {
    /// The bug is there: how to run it again, and the bug.
    Confirmed(Box<Recorded>, Box<Finding>),
    /// It is not known, and why.
    Unknown(String),
    /// It is not there.
    Contradicted,
}

impl Confirmation {
    /// What `--trace` writes.
    pub(crate) fn recorded(&self) -> Option<String> {
        match self {
            Confirmation::Confirmed(recorded, _) => Some(recorded.to_string()),
            _ => None,
        }
    }
}
