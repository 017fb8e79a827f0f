//! An execution of a litmus test in the file that `--trace` writes.
//!
//! The file is a history, for `raddle verify`. Its first line is a comment with the test and the schedule, for `raddle replay`.

use std::fs;
use std::path::Path;

use raddle_core::outcome::FindingKind;
use raddle_core::schedule::Schedule;
use raddle_litmus::LitmusTest;
use serde::{Deserialize, Serialize};

use crate::recorded::RecordedFile;

/// How the first line begins.
const HEAD: &str = "# raddle replay: ";

/// An execution of a litmus test.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RecordedLitmus {
    pub(crate) test: RecordedFile,
    pub(crate) model: String,
    pub(crate) unroll: u32,
    /// What it shows; `None` if it only answers what the test asks.
    pub(crate) kind: Option<FindingKind>,
    pub(crate) schedule: Schedule,
}

impl RecordedLitmus {
    /// The first line of the file.
    pub(crate) fn line(&self) -> String {
        format!("{HEAD}{}\n", serde_json::to_string(self).unwrap_or_default())
    }

    /// The execution in a file, if it contains one of a litmus test.
    pub(crate) fn parse(text: &str) -> Option<Result<Self, String>> {
        let line = text.lines().next()?.strip_prefix(HEAD)?;
        Some(
            serde_json::from_str(line)
                .map_err(|error| format!("its first line is damaged: {error}")),
        )
    }

    /// The test.
    ///
    /// # Errors
    /// If it is not the recorded one.
    pub(crate) fn read_test(&self) -> Result<LitmusTest, String> {
        if let Some(change) = self.test.change() {
            return Err(format!(
                "the test has changed since the trace was recorded: {change}. Explore it again with `raddle check`"
            ));
        }
        read(self.test.path())
    }
}

fn read(path: &Path) -> Result<LitmusTest, String> {
    let error = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let bytes = fs::read(path).map_err(|it| error(&it))?;
    LitmusTest::parse(&bytes).map_err(|it| error(&it))
}
