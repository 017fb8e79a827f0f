//! The file of `--witness`.
//!
//! It is opened before the work starts, so that a mistake in its name costs no time. What it holds
//! is dropped only after the histories have been read.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::output::{OutputError, json_line};
use crate::render::json::verify as json;
use crate::results::verify::Answer;

/// The file, and its name for complaints.
pub(super) struct WitnessFile<'a> {
    path: &'a Path,
    file: File,
}

impl<'a> WitnessFile<'a> {
    /// Opens the file, or creates it if there is none. What it holds stays.
    pub(super) fn open(path: &'a Path) -> Result<Self, OutputError> {
        let file = File::options().write(true).create(true).truncate(false).open(path);
        Ok(WitnessFile { path, file: file.map_err(|error| OutputError::file(path, error))? })
    }

    /// Drops what the file holds. Pipes and devices hold nothing and cannot be cut.
    pub(super) fn clear(&self) -> Result<(), OutputError> {
        let cut = |file: &File| if file.metadata()?.is_file() { file.set_len(0) } else { Ok(()) };
        cut(&self.file).map_err(|error| OutputError::file(self.path, error))
    }

    /// Writes a line for each answer with a witness.
    pub(super) fn write(self, answers: &[Answer<'_>]) -> Result<(), OutputError> {
        let path = self.path;
        write_to(BufWriter::new(self.file), answers).map_err(|error| OutputError::file(path, error))
    }
}

fn write_to(mut file: impl Write, answers: &[Answer<'_>]) -> io::Result<()> {
    for witness in answers.iter().filter_map(json::witness) {
        json_line(&mut file, &witness)?;
    }
    file.flush()
}
