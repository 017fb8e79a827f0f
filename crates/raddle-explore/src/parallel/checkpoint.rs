//! What is left of an exploration, in a file.
//!
//! The file says which exploration it is about, in words that front ends choose: everything that decides what is explored. It
//! is replaced as a whole, so that whoever is killed leaves a file that is right.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What is in the file.
#[derive(Serialize, Deserialize)]
struct Content<K> {
    /// Which exploration it is.
    program: String,
    kept: K,
}

/// Reads what is left of an exploration.
///
/// # Errors
/// Says what is wrong with the file.
pub fn read<K: DeserializeOwned>(path: &Path, program: &str) -> Result<K, String> {
    let told = |why: String| format!("{}: {why}", path.display());
    let text = fs::read_to_string(path).map_err(|error| told(format!("cannot read: {error}")))?;
    let content: Content<K> = serde_json::from_str(&text)
        .map_err(|error| told(format!("this is no checkpoint of an exploration: {error}")))?;
    if content.program != program {
        let was = content.program;
        return Err(told(format!(
            "it is about another exploration: `{was}`, expected `{program}`"
        )));
    }
    Ok(content.kept)
}

/// Writes what is left, from time to time.
pub struct Keeper {
    path: PathBuf,
    program: String,
    every: Duration,
    /// When it was written last, and what went wrong.
    last: Mutex<(Instant, Option<io::Error>)>,
}

impl Keeper {
    /// Keeps what is left of an exploration in this file, now and every so often.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn new<K: Serialize>(
        path: &Path,
        every: Duration,
        program: String,
        kept: &K,
    ) -> Result<Self, String> {
        let last = Mutex::new((Instant::now(), None));
        let keeper = Keeper { path: path.to_owned(), program, every, last };
        keeper.write(kept).map_err(|error| keeper.told(&error))?;
        Ok(keeper)
    }

    /// Something was explored: what is left, if that can be kept.
    pub fn note<K: Serialize>(&self, is_last: bool, kept: impl FnOnce() -> Option<K>) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = is_last || last.0.elapsed() >= self.every;
        if let Some(kept) = is_due.then(kept).flatten() {
            last.1 = self.write(&kept).err();
            last.0 = Instant::now();
        }
    }

    fn write<K: Serialize>(&self, kept: &K) -> io::Result<()> {
        let content = Content { program: self.program.clone(), kept };
        let mut beside = self.path.clone().into_os_string();
        beside.push(".new");
        let mut file = File::create(&beside)?;
        file.write_all(&serde_json::to_vec(&content)?)?;
        file.sync_all()?;
        fs::rename(&beside, &self.path)
    }

    fn told(&self, error: &io::Error) -> String {
        format!("{}: cannot write: {error}", self.path.display())
    }

    /// What went wrong with the file.
    pub fn trouble(&self) -> Option<String> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.1.as_ref().map(|error| self.told(error))
    }
}
