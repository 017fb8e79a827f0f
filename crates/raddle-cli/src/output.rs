//! Standard output through one locked writer, and messages to standard error.
//!
//! A closed pipe is no error: in `raddle ... | head` the reader has read enough, and the exit status still reports the
//! verdict.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
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

/// Standard output, locked and buffered, or a file in its place.
pub(crate) struct Output {
    to: BufWriter<Box<dyn Write>>,
    name: String,
}

impl Output {
    /// Locks standard output.
    pub(crate) fn standard() -> Self {
        let to: Box<dyn Write> = Box::new(io::stdout().lock());
        Output { to: BufWriter::new(to), name: "standard output".to_owned() }
    }

    /// Creates or truncates a file.
    pub(crate) fn file(path: &Path) -> Result<Self, OutputError> {
        let file = File::create(path).map_err(|error| OutputError::file(path, error))?;
        let to: Box<dyn Write> = Box::new(file);
        Ok(Output { to: BufWriter::new(to), name: path.display().to_string() })
    }

    /// Writes to the file from now on, if one is named.
    pub(crate) fn redirect(&mut self, path: Option<&Path>) -> Result<(), OutputError> {
        if let Some(path) = path {
            *self = Output::file(path)?;
        }
        Ok(())
    }

    /// Writes text unchanged.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), OutputError> {
        let written = self.to.write_all(text.as_bytes());
        self.ignore_closed_pipe(written)
    }

    /// Writes an object as one line of JSON.
    pub(crate) fn json(&mut self, object: &impl Serialize) -> Result<(), OutputError> {
        let written = json_line(&mut self.to, object);
        self.ignore_closed_pipe(written)
    }

    /// Writes the buffered output.
    pub(crate) fn flush(&mut self) -> Result<(), OutputError> {
        let flushed = self.to.flush();
        self.ignore_closed_pipe(flushed)
    }
}

impl Output {
    /// Ignores a closed pipe.
    fn ignore_closed_pipe(&self, result: io::Result<()>) -> Result<(), OutputError> {
        match result {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(OutputError { to: self.name.clone(), error })
            }
            _ => Ok(()),
        }
    }
}

/// Writes an object as one line of JSON.
pub(crate) fn json_line(to: &mut impl Write, object: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *to, object)?;
    to.write_all(b"\n")
}
