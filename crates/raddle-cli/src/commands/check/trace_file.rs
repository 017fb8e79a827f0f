//! The file of `--trace`.
//!
//! It is opened before the work starts, so that a mistake in its name costs no time. If there is no
//! execution to show, it is left empty.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::output::OutputError;

/// The file, and its name for complaints.
pub(super) struct TraceFile<'a> {
    path: &'a Path,
    file: File,
}

impl<'a> TraceFile<'a> {
    /// Creates the file.
    pub(super) fn open(path: &'a Path) -> Result<Self, OutputError> {
        let file = File::create(path).map_err(|error| OutputError::file(path, error))?;
        Ok(TraceFile { path, file })
    }

    /// Writes an execution.
    pub(super) fn write(mut self, trace: Option<&str>) -> Result<(), OutputError> {
        let written = self.file.write_all(trace.unwrap_or_default().as_bytes());
        written.map_err(|error| OutputError::file(self.path, error))
    }
}
