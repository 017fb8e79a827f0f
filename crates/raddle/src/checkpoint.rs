//! A file with what is left of the exploration of a test.
//!
//! What a test does is in its executable, so the file is about that executable as it is now, and about the closure, which has a
//! name of its own there.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use raddle_core::model::Model;
use raddle_explore::parallel::checkpoint::{Keeper, read};
use raddle_runtime::Settings;

use crate::parts::Kept;

/// Who keeps what is left.
pub(crate) struct Checkpoint {
    path: PathBuf,
    pub(crate) keeper: Keeper,
    /// What is left of an earlier exploration.
    pub(crate) kept: Option<Kept>,
}

impl Checkpoint {
    /// Goes on with what is in the file, if that is about the same exploration, and keeps what is left every so often.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub(crate) fn open<F>(
        (path, every): (&Path, Duration),
        model: Model,
        settings: Settings,
    ) -> Self {
        let program = fingerprint::<F>(model, settings);
        let kept = path.exists().then(|| read::<Kept>(path, &program)).and_then(|read| {
            let told = |why: &String| eprintln!("raddle: {why}: exploring from the beginning");
            read.inspect_err(told).ok()
        });
        let left = kept.clone().unwrap_or_else(|| Kept::new(settings));
        let keeper = Keeper::new(path, every, program, &left);
        let keeper = keeper.unwrap_or_else(|why| panic!("raddle: {why}"));
        Checkpoint { path: path.to_owned(), keeper, kept }
    }

    /// The exploration has ended; whether something is left.
    pub(crate) fn close(&self, is_left: bool) {
        if let Some(trouble) = self.keeper.trouble() {
            eprintln!("raddle: {trouble}");
        }
        if !is_left && let Err(error) = std::fs::remove_file(&self.path) {
            eprintln!("raddle: {}: cannot remove: {error}", self.path.display());
        }
    }
}

/// Everything that decides what is explored, in a line.
fn fingerprint<F>(model: Model, settings: Settings) -> String {
    let (version, test) = (env!("CARGO_PKG_VERSION"), std::any::type_name::<F>());
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
