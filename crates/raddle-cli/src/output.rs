//! Standard output through one locked writer, and complaints to standard error.
//!
//! A closed pipe is no error: in `raddle ... | head` the reader has seen enough, and the exit
//! status still tells the verdict.

use std::fmt;
use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};
use std::path::Path;

use serde::Serialize;

/// Output that could not be written.
#[derive(Debug)]
pub(crate) struct OutputError {
    to: String,
    error: io::Error,
}

impl OutputError {
    /// The failure to write a file.
    pub(crate) fn file(path: &Path, error: io::Error) -> Self {
        OutputError { to: path.display().to_string(), error }
    }
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: cannot write: {}", self.to, self.error)
    }
}

/// Says something on standard error. If nobody listens there is nobody to tell.
pub(crate) fn complain(message: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "{message}");
}

/// Standard output, locked and buffered.
pub(crate) struct Output(BufWriter<StdoutLock<'static>>);

impl Output {
    /// Locks standard output.
    pub(crate) fn standard() -> Self {
        Output(BufWriter::new(io::stdout().lock()))
    }

    /// Writes text as it is.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), OutputError> {
        open_or_closed(self.0.write_all(text.as_bytes()))
    }

    /// Writes an object as one line of JSON.
    pub(crate) fn json(&mut self, object: &impl Serialize) -> Result<(), OutputError> {
        open_or_closed(json_line(&mut self.0, object))
    }

    /// Makes sure that everything is written.
    pub(crate) fn flush(&mut self) -> Result<(), OutputError> {
        open_or_closed(self.0.flush())
    }
}

/// Writes an object as one line of JSON.
pub(crate) fn json_line(to: &mut impl Write, object: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *to, object)?;
    to.write_all(b"\n")
}

fn open_or_closed(result: io::Result<()>) -> Result<(), OutputError> {
    match result {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(OutputError { to: "standard output".to_owned(), error })
        }
        _ => Ok(()),
    }
}
