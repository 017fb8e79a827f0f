//! The file of `--witness`.
//!
//! It is opened before the checks start, so that an invalid path is reported at once. It is truncated only after the
//! histories have been read.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::output::{OutputError, json_line};
use crate::render::json::verify as json;
use crate::results::verify::CheckedHistory;

/// The open file and its path for error messages.
pub(super) struct WitnessFile<'a> {
    path: &'a Path,
    file: File,
}

impl<'a> WitnessFile<'a> {
    /// Opens or creates the file without truncating it.
    pub(super) fn open(path: &'a Path) -> Result<Self, OutputError> {
        let file = File::options().write(true).create(true).truncate(false).open(path);
        Ok(WitnessFile { path, file: file.map_err(|error| OutputError::file(path, error))? })
    }

    /// Truncates the file, unless it is a pipe or a device.
    pub(super) fn clear(&self) -> Result<(), OutputError> {
        let truncate =
            |file: &File| if file.metadata()?.is_file() { file.set_len(0) } else { Ok(()) };
        truncate(&self.file).map_err(|error| OutputError::file(self.path, error))
    }

    /// Writes one line per consistent verdict.
    pub(super) fn write(self, checks: &[CheckedHistory<'_>]) -> Result<(), OutputError> {
        let path = self.path;
        write_to(BufWriter::new(self.file), checks).map_err(|error| OutputError::file(path, error))
    }
}

fn write_to(mut file: impl Write, checks: &[CheckedHistory<'_>]) -> io::Result<()> {
    for witness in checks.iter().filter_map(json::witness) {
        json_line(&mut file, &witness)?;
    }
    file.flush()
}
