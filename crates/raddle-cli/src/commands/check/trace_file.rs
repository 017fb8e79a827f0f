//! The file of `--trace`.
//!
//! It is created before the exploration starts, so that an invalid path is reported at once. Without an execution to
//! write, it stays empty.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::output::OutputError;

/// The open file and its path for error messages.
pub(super) struct TraceFile<'a> {
    path: &'a Path,
    file: File,
}

impl<'a> TraceFile<'a> {
    /// Creates or truncates the file.
    pub(super) fn open(path: &'a Path) -> Result<Self, OutputError> {
        let file = File::create(path).map_err(|error| OutputError::file(path, error))?;
        Ok(TraceFile { path, file })
    }

    /// Writes an execution, if there is one.
    pub(super) fn write(mut self, trace: Option<&str>) -> Result<(), OutputError> {
        let written = self.file.write_all(trace.unwrap_or_default().as_bytes());
        written.map_err(|error| OutputError::file(self.path, error))
    }
}
