//! What is left of an exploration, in a file.
//!
//! The file says which program it is about, by everything that decides what is explored: the text of its files, flags,
//! arguments, the model, and the version of Raddle. It is replaced as a whole, so that whoever is killed leaves a
//! file that is right.

use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use raddle_c::{Kept, Progress, Request};
use serde::{Deserialize, Serialize};

/// What is in the file.
#[derive(Serialize, Deserialize)]
struct Content {
    /// What the program is.
    program: String,
    kept: Kept,
}

/// Everything that decides what is explored, in a line.
pub(super) fn fingerprint(request: &Request) -> Result<String, String> {
    let source = &request.source;
    let mut hasher = std::hash::DefaultHasher::new();
    for file in &source.files {
        let text = fs::read(file);
        text.map_err(|error| format!("{}: cannot read: {error}", file.display()))?
            .hash(&mut hasher);
    }
    let names = source.files.iter().map(|file| file.display().to_string());
    let words = names.chain(source.flags.iter().cloned()).chain(source.compiler.iter().cloned());
    let words = words.chain([String::from("--")]).chain(request.arguments.iter().cloned());
    let words: Vec<String> = words.collect();
    let (version, model) = (env!("CARGO_PKG_VERSION"), request.model);
    let text = hasher.finish();
    Ok(format!("raddle {version}, {model}: {}, text {text:016x}", words.join(" ")))
}

/// Reads what is left of a program.
pub(super) fn read(path: &Path, program: &str) -> Result<Kept, String> {
    let told = |why: String| format!("{}: {why}", path.display());
    let text = fs::read_to_string(path).map_err(|error| told(format!("cannot read: {error}")))?;
    let content: Content = serde_json::from_str(&text).map_err(|error| {
        told(format!("this is not what `raddle check --checkpoint` writes: {error}"))
    })?;
    if content.program != program {
        let was = content.program;
        return Err(told(format!(
            "it is about another exploration: `{was}`, expected `{program}`"
        )));
    }
    Ok(content.kept)
}

/// Writes what is left, from time to time.
pub(super) struct Keeper {
    path: PathBuf,
    program: String,
    every: Duration,
    /// When it was written last, and what went wrong.
    last: Mutex<(Instant, Option<io::Error>)>,
}

impl Keeper {
    /// Keeps what is left of a program in this file, now and every so often.
    pub(super) fn new(
        path: &Path,
        every: Duration,
        program: String,
        kept: Option<&Kept>,
    ) -> Result<Self, String> {
        let last = Mutex::new((Instant::now(), None));
        let keeper = Keeper { path: path.to_owned(), program, every, last };
        let written = keeper.write(kept.cloned().unwrap_or_default());
        written.map_err(|error| format!("{}: cannot write: {error}", path.display()))?;
        Ok(keeper)
    }

    /// Something was explored.
    pub(super) fn note(&self, progress: &Progress<'_>) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = progress.is_last || last.0.elapsed() >= self.every;
        if let Some(kept) = is_due.then(|| progress.kept()).flatten() {
            last.1 = self.write(kept).err();
            last.0 = Instant::now();
        }
    }

    fn write(&self, kept: Kept) -> io::Result<()> {
        let content = Content { program: self.program.clone(), kept };
        let mut beside = self.path.clone().into_os_string();
        beside.push(".new");
        let mut file = File::create(&beside)?;
        file.write_all(&serde_json::to_vec(&content)?)?;
        file.sync_all()?;
        fs::rename(&beside, &self.path)
    }

    /// What went wrong with the file.
    pub(super) fn trouble(self) -> Option<String> {
        let (_, error) = self.last.into_inner().unwrap_or_else(PoisonError::into_inner);
        error.map(|error| format!("{}: cannot write: {error}", self.path.display()))
    }
}
