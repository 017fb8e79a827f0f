//! Standard output through one locked writer, and messages to standard error.
//!
//! A closed pipe is no error: in `raddle ... | head` the reader has read enough, and the exit status still reports the
//! verdict.

use std::fmt;
use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};
use std::path::Path;

use serde::Serialize;

/// An error while writing a file or standard output.
#[derive(Debug)]
pub(crate) struct OutputError {
    to: String,
    error: io::Error,
}

impl OutputError {
    /// An error while writing the file `path`.
    pub(crate) fn file(path: &Path, error: io::Error) -> Self {
        OutputError { to: path.display().to_string(), error }
    }
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: cannot write: {}", self.to, self.error)
    }
}

/// Prints a message to standard error. Errors are ignored, since they cannot be reported.
pub(crate) fn print_error(message: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "{message}");
}

/// Standard output, locked and buffered.
pub(crate) struct Output(BufWriter<StdoutLock<'static>>);

impl Output {
    /// Locks standard output.
    pub(crate) fn standard() -> Self {
        Output(BufWriter::new(io::stdout().lock()))
    }

    /// Writes text unchanged.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), OutputError> {
        ignore_closed_pipe(self.0.write_all(text.as_bytes()))
    }

    /// Writes an object as one line of JSON.
    pub(crate) fn json(&mut self, object: &impl Serialize) -> Result<(), OutputError> {
        ignore_closed_pipe(json_line(&mut self.0, object))
    }

    /// Writes the buffered output.
    pub(crate) fn flush(&mut self) -> Result<(), OutputError> {
        ignore_closed_pipe(self.0.flush())
    }
}

/// Writes an object as one line of JSON.
pub(crate) fn json_line(to: &mut impl Write, object: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *to, object)?;
    to.write_all(b"\n")
}

/// Ignores a closed pipe.
fn ignore_closed_pipe(result: io::Result<()>) -> Result<(), OutputError> {
    match result {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(OutputError { to: "standard output".to_owned(), error })
        }
        _ => Ok(()),
    }
}
