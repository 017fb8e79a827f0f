//! Reading histories.

use std::fs;
use std::io::{self, Read};
use std::num::NonZero;
use std::path::{self, Path, PathBuf};

use raddle_consistency::history::{self, HistoryError};
use raddle_core::execution::Execution;
use serde::Serialize;

use crate::pool;

/// A history that was named on the command line, and what came of reading it.
pub(crate) struct Input {
    /// Its name as given.
    pub(crate) name: String,
    /// What it says.
    pub(crate) content: Result<Execution, InputError>,
}

/// Why a history cannot be used.
pub(crate) enum InputError {
    /// It cannot be read.
    Unreadable(io::Error),
    /// It is no history.
    Malformed(HistoryError),
}

/// Reads all histories, on several threads.
pub(crate) fn load_all(paths: &[PathBuf], jobs: NonZero<usize>) -> Vec<Input> {
    pool::map(paths, jobs, |path| load(path))
}

/// Reads one history.
pub(crate) fn load(path: &Path) -> Input {
    let content = read(path)
        .map_err(InputError::Unreadable)
        .and_then(|bytes| history::parse(&bytes).map_err(InputError::Malformed));
    Input { name: path.display().to_string(), content }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    if path.as_os_str() != "-" {
        return fs::read(path);
    }
    let mut bytes = vec![];
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The error message if standard input is named more than once.
pub(crate) fn reads_stdin_twice(histories: &[PathBuf]) -> Option<&'static str> {
    let count = histories.iter().filter(|path| path.as_os_str() == "-").count();
    (count > 1).then_some("standard input can be read only once: name '-' once")
}

/// Whether writing to a file would change one of the histories, however the two are spelled.
pub(crate) fn is_one_of(file: &Path, histories: &[PathBuf]) -> bool {
    let Ok(file) = resolve(file) else { return false };
    // A terminal can be read and written.
    let loses_content = file.is_file() || !file.exists();
    loses_content
        && histories.iter().any(|history| {
            let standard = history.as_os_str() == "-";
            let history = if standard { Path::new("/dev/stdin") } else { history };
            resolve(history).is_ok_and(|history| history == file)
        })
}

/// The one name of a file without links and dots. Where there is no file yet, its directory counts.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize().or_else(|_| {
        let path = path::absolute(path)?;
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return Ok(path);
        };
        Ok(directory.canonicalize()?.join(name))
    })
}

impl InputError {
    /// The message for standard error.
    pub(crate) fn message(&self, name: &str) -> String {
        match self {
            InputError::Unreadable(error) => format!("{name}: cannot read: {error}"),
            InputError::Malformed(HistoryError { line, column, message }) => {
                format!("{name}:{line}:{column}: {message}")
            }
        }
    }

    /// The message for programs.
    pub(crate) fn json(&self) -> JsonError {
        match self {
            InputError::Unreadable(error) => {
                JsonError { line: None, column: None, message: format!("cannot read: {error}") }
            }
            InputError::Malformed(HistoryError { line, column, message }) => {
                JsonError { line: Some(*line), column: Some(*column), message: message.clone() }
            }
        }
    }
}

/// The `error` object of bad input. A file that cannot be read has no line and no column.
#[derive(Serialize)]
pub(crate) struct JsonError {
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    message: String,
}
