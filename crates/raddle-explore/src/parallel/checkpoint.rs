//! Checkpoints: what is left of an exploration, in a file.
//!
//! The file names the exploration by a text that front ends choose; it includes everything that decides what is
//! explored. The file is replaced as a whole, so a process that is killed leaves a valid one.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The content of the file.
#[derive(Serialize, Deserialize)]
struct CheckpointContent<C> {
    /// Names the exploration.
    program: String,
    kept: C,
}

/// Reads the checkpoint of an exploration.
///
/// # Errors
/// Says why the file cannot be used: it cannot be read, is no checkpoint, or belongs to another exploration.
pub fn read<C: DeserializeOwned>(path: &Path, program: &str) -> Result<C, String> {
    let error = |why: String| format!("{}: {why}", path.display());
    let text = fs::read_to_string(path).map_err(|why| error(format!("cannot read: {why}")))?;
    let content: CheckpointContent<C> = serde_json::from_str(&text)
        .map_err(|why| error(format!("this is no checkpoint of an exploration: {why}")))?;
    if content.program != program {
        let was = content.program;
        return Err(error(format!(
            "it is about another exploration: `{was}`, expected `{program}`"
        )));
    }
    Ok(content.kept)
}

/// Writes checkpoints of an exploration, from time to time.
pub struct CheckpointWriter {
    path: PathBuf,
    program: String,
    every: Duration,
    /// When a checkpoint was last written, and the error if that failed.
    last: Mutex<(Instant, Option<io::Error>)>,
}

impl CheckpointWriter {
    /// Writes a first checkpoint to the file; others follow at this interval.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn new<C: Serialize>(
        path: &Path,
        every: Duration,
        program: String,
        checkpoint: &C,
    ) -> Result<Self, String> {
        let last = Mutex::new((Instant::now(), None));
        let writer = CheckpointWriter { path: path.to_owned(), program, every, last };
        writer.write(checkpoint).map_err(|error| writer.message(&error))?;
        Ok(writer)
    }

    /// Writes a checkpoint, if there is one and it is due. The last one is always due.
    pub fn update<C: Serialize>(&self, is_last: bool, checkpoint: impl FnOnce() -> Option<C>) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = is_last || last.0.elapsed() >= self.every;
        if let Some(checkpoint) = is_due.then(checkpoint).flatten() {
            last.1 = self.write(&checkpoint).err();
            last.0 = Instant::now();
        }
    }

    fn write<C: Serialize>(&self, checkpoint: &C) -> io::Result<()> {
        let content = CheckpointContent { program: self.program.clone(), kept: checkpoint };
        let mut new = self.path.clone().into_os_string();
        new.push(".new");
        let mut file = File::create(&new)?;
        file.write_all(&serde_json::to_vec(&content)?)?;
        file.sync_all()?;
        fs::rename(&new, &self.path)
    }

    fn message(&self, error: &io::Error) -> String {
        format!("{}: cannot write: {error}", self.path.display())
    }

    /// The error of the last attempt to write the file.
    pub fn error(&self) -> Option<String> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.1.as_ref().map(|error| self.message(error))
    }
}
