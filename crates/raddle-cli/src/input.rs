//! Reading history files.

use std::fs;
use std::io::{self, Read};
use std::num::NonZero;
use std::os::unix::fs::MetadataExt;
use std::path::{self, Path, PathBuf};

use raddle_consistency::history::{self, HistoryError};
use raddle_core::execution::Execution;
use serde::Serialize;

use crate::pool;

/// A history file of the command line.
pub(crate) struct HistoryFile {
    /// The path as given.
    pub(crate) name: String,
    /// The execution that it records.
    pub(crate) content: Result<Execution, HistoryFileError>,
}

/// Why a history file cannot be used.
pub(crate) enum HistoryFileError {
    /// The file cannot be read.
    Unreadable(io::Error),
    /// The content is no history.
    Malformed(HistoryError),
}

/// Reads all history files, on `jobs` threads.
pub(crate) fn load_all(paths: &[PathBuf], jobs: NonZero<usize>) -> Vec<HistoryFile> {
    pool::map(paths, jobs, |path| load(path))
}

/// Reads a history file; `-` is standard input.
pub(crate) fn load(path: &Path) -> HistoryFile {
    let content = read(path)
        .map_err(HistoryFileError::Unreadable)
        .and_then(|bytes| history::parse(&bytes).map_err(HistoryFileError::Malformed));
    HistoryFile { name: path.display().to_string(), content }
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

/// Returns `true` if writing to `file` would overwrite one of the inputs, however the paths are spelled: symbolic links are
/// followed, and hard links are the same file. The input `-` is standard input.
pub(crate) fn is_one_of(file: &Path, inputs: &[impl AsRef<Path>]) -> bool {
    let Ok(path) = resolve(file) else { return false };
    // Terminals and pipes can be read and written at the same time.
    let loses_content = path.is_file() || !path.exists();
    let identity = |path: &Path| fs::metadata(path).map(|it| (it.dev(), it.ino())).ok();
    let own = identity(&path);
    loses_content
        && inputs.iter().map(AsRef::as_ref).any(|input| {
            let input = if input.as_os_str() == "-" { Path::new("/dev/stdin") } else { input };
            let is_same_path = resolve(input).is_ok_and(|input| input == path);
            is_same_path || own.is_some() && identity(input) == own
        })
}

/// The canonical path of a file. If the file does not exist, its directory must.
pub(crate) fn resolve(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize().or_else(|_| {
        let path = path::absolute(path)?;
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return Ok(path);
        };
        Ok(directory.canonicalize()?.join(name))
    })
}

impl HistoryFileError {
    /// The message for standard error, with the position in the file.
    pub(crate) fn message(&self, name: &str) -> String {
        match self {
            HistoryFileError::Unreadable(error) => format!("{name}: cannot read: {error}"),
            HistoryFileError::Malformed(HistoryError { line, column, message }) => {
                format!("{name}:{line}:{column}: {message}")
            }
        }
    }

    /// The `error` object of `--json`.
    pub(crate) fn json(&self) -> ErrorObject {
        match self {
            HistoryFileError::Unreadable(error) => {
                ErrorObject { line: None, column: None, message: format!("cannot read: {error}") }
            }
            HistoryFileError::Malformed(HistoryError { line, column, message }) => {
                ErrorObject { line: Some(*line), column: Some(*column), message: message.clone() }
            }
        }
    }
}

/// The `error` object of a history file. A file that cannot be read has no line and no column.
#[derive(Serialize)]
pub(crate) struct ErrorObject {
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    message: String,
}
