//! The result of `raddle bmc`.

use std::path::PathBuf;

use raddle_bmc::{BmcOptions, BmcReport};
use raddle_core::outcome::Finding;

use crate::recorded::Recorded;

/// The result of checking one program.
pub(crate) struct BmcResult {
    pub(crate) program: PathBuf,
    pub(crate) options: BmcOptions,
    pub(crate) report: BmcReport,
    /// Whether the compiled program has the bug.
    pub(crate) confirmation: Option<Confirmation>,
}

/// Whether the compiled program has a bug.
pub(crate) enum Confirmation {
    /// It has: how to replay the finding, and the finding.
    Confirmed(Box<Recorded>, Box<Finding>),
    /// Unknown, with the reason.
    Unknown(String),
    /// It has not.
    Contradicted,
}

impl Confirmation {
    /// The content of the file of `--trace`.
    pub(crate) fn recorded(&self) -> Option<String> {
        match self {
            Confirmation::Confirmed(recorded, _) => Some(recorded.to_string()),
            _ => None,
        }
    }
}
