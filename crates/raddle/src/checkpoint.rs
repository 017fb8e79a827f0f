//! A file with what is left of the exploration of a test.
//!
//! What a test does is in its executable, so the file is about that executable as it is now, and about the closure,
//! which has a name of its own there.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use raddle_core::model::Model;
use raddle_explore::parallel::checkpoint::{CheckpointWriter, read};
use raddle_runtime::Settings;

use crate::Test;
use crate::parts::Checkpoint;

/// The checkpoint file of a test.
pub(crate) struct CheckpointFile {
    path: PathBuf,
    pub(crate) writer: CheckpointWriter,
    /// The checkpoint of an earlier exploration.
    pub(crate) resumed: Option<Checkpoint>,
}

impl CheckpointFile {
    /// Reads the file, if it belongs to the same exploration, and begins to write checkpoints at this interval.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub(crate) fn open(
        (path, every): (&Path, Duration),
        test: Test<'_>,
        model: Model,
        settings: Settings,
    ) -> Self {
        let program = fingerprint(test.name, model, settings);
        let resumed = path.exists().then(|| read::<Checkpoint>(path, &program)).and_then(|read| {
            let warn = |why: &String| eprintln!("raddle: {why}: exploring from the beginning");
            read.inspect_err(warn).ok()
        });
        let first = resumed.clone().unwrap_or_else(|| Checkpoint::new(settings));
        let writer = CheckpointWriter::new(path, every, program, &first);
        let writer = writer.unwrap_or_else(|why| panic!("raddle: {why}"));
        CheckpointFile { path: path.to_owned(), writer, resumed }
    }

    /// Ends the exploration. Removes the file unless something is left.
    pub(crate) fn close(&self, is_left: bool) {
        if let Some(error) = self.writer.error() {
            eprintln!("raddle: {error}");
        }
        if !is_left && let Err(error) = std::fs::remove_file(&self.path) {
            eprintln!("raddle: {}: cannot remove: {error}", self.path.display());
        }
    }
}

/// Everything that decides what is explored, in a line.
fn fingerprint(test: &str, model: Model, settings: Settings) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let events = settings.max_events;
    let (length, made) = executable().unwrap_or_default();
    format!("raddle {version}, {model}, {events} events: {test}, executable {length:x}-{made:x}")
}

/// How long this executable is, and when it was made.
fn executable() -> Option<(u64, u128)> {
    let data = std::fs::metadata(std::env::current_exe().ok()?).ok()?;
    let made = data.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some((data.len(), made.as_nanos()))
}
