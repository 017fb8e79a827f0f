//! Preprocessing and parsing.
//!
//! The system's compiler runs the preprocessor, with the headers in `include` in place of the system's. Headers of a C
//! library use extensions that only their compiler parses, and the functions that they declare would have to be
//! modelled anyway. The headers in `include` define library functions in C, on top of a few intrinsic functions of the
//! executor (`exec/builtin`). Including any other header is an error. `lang-c` parses the preprocessed text.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lang_c::ast::TranslationUnit;
use lang_c::driver::{self, Config, Flavor};
use lang_c::span::Span;

use crate::error::BmcError;

/// The supported standard headers: name and text.
const HEADERS: &[(&str, &str)] = &[
    ("assert.h", include_str!("../include/assert.h")),
    ("errno.h", include_str!("../include/errno.h")),
    ("inttypes.h", include_str!("../include/inttypes.h")),
    ("limits.h", include_str!("../include/limits.h")),
    ("pthread.h", include_str!("../include/pthread.h")),
    ("sched.h", include_str!("../include/sched.h")),
    ("semaphore.h", include_str!("../include/semaphore.h")),
    ("stdatomic.h", include_str!("../include/stdatomic.h")),
    ("stdbool.h", include_str!("../include/stdbool.h")),
    ("stddef.h", include_str!("../include/stddef.h")),
    ("stdint.h", include_str!("../include/stdint.h")),
    ("stdio.h", include_str!("../include/stdio.h")),
    ("stdlib.h", include_str!("../include/stdlib.h")),
    ("string.h", include_str!("../include/string.h")),
    ("unistd.h", include_str!("../include/unistd.h")),
];

/// The position of a line of the preprocessed text.
#[derive(Clone, Copy)]
struct LineOrigin {
    /// The offset of the line in the preprocessed text.
    offset: usize,
    /// Index of the original file.
    file: usize,
    /// Line number in the original file, counted from 1.
    line: usize,
}

/// A parsed program.
pub(crate) struct ParsedSource {
    pub(crate) unit: TranslationUnit,
    /// The origins of all lines, sorted by offset.
    lines: Vec<LineOrigin>,
    files: Vec<String>,
    /// The directory of the headers in [`HEADERS`].
    headers: String,
}

impl ParsedSource {
    /// Returns `true` if the span is in one of the headers in `include`.
    pub(crate) fn is_header(&self, span: Span) -> bool {
        self.origin(span).is_some_and(|at| self.files[at.file].starts_with(&self.headers))
    }

    /// The position of a span in the original source: `file:line`.
    pub(crate) fn place(&self, span: Span) -> String {
        match self.origin(span) {
            Some(at) => format!("{}:{}", self.files[at.file], at.line),
            None => String::from("?"),
        }
    }

    fn origin(&self, span: Span) -> Option<LineOrigin> {
        let count = self.lines.partition_point(|line| line.offset <= span.start);
        count.checked_sub(1).map(|index| self.lines[index])
    }
}

/// Reads, preprocesses and parses a file.
///
/// # Errors
/// If one of these steps fails.
pub(crate) fn parse(
    file: &Path,
    flags: &[String],
    compiler: Option<&str>,
) -> Result<ParsedSource, BmcError> {
    if file.is_dir() {
        return Err(BmcError::new(file.display(), "this is a directory: expected a C file"));
    }
    if let Err(error) = std::fs::File::open(file) {
        return Err(BmcError::new(file.display(), format!("cannot read: {error}")));
    }
    let (text, headers) = preprocess(file, flags, compiler)?;
    let (lines, files) = line_origins(&text);
    let config = Config { cpp_command: String::new(), cpp_options: vec![], flavor: Flavor::GnuC11 };
    match driver::parse_preprocessed(&config, text) {
        Ok(parsed) => Ok(ParsedSource { unit: parsed.unit, lines, files, headers }),
        Err(error) => {
            let source = ParsedSource { unit: TranslationUnit(vec![]), lines, files, headers };
            let place = source.place(Span::span(error.offset, error.offset));
            let rest = &error.source[error.offset.min(error.source.len())..];
            let near: String = rest.chars().take_while(|c| !c.is_whitespace()).take(30).collect();
            let message = format!("column {}: unknown syntax at '{near}'", error.column);
            Err(BmcError::new(place, message))
        }
    }
}

/// Runs the preprocessor. Returns the text and the directory in which the headers were.
fn preprocess(
    file: &Path,
    flags: &[String],
    compiler: Option<&str>,
) -> Result<(String, String), BmcError> {
    let failed = |message: String| BmcError::new(file.display(), message);
    let headers = tempfile::TempDir::with_prefix("raddle-")
        .map_err(|error| failed(format!("cannot create a temporary directory: {error}")))?;
    for (name, text) in HEADERS {
        std::fs::write(headers.path().join(name), text)
            .map_err(|error| failed(format!("cannot write a temporary file {name}: {error}")))?;
    }
    let candidates = compiler.map_or(vec!["cc", "gcc", "clang"], |name| vec![name]);
    for name in candidates {
        let mut command = Command::new(name);
        command
            .args(["-E", "-nostdinc", "-D__RADDLE__", "-D__thread=_Thread_local", "-isystem"])
            .arg(headers.path());
        command.args(flags).arg(file).stdin(Stdio::null());
        let Ok(output) = command.output() else { continue };
        if output.status.success() {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            return Ok((text, headers.path().display().to_string()));
        }
        let errors = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
        let names: Vec<&str> = HEADERS.iter().map(|(name, _)| *name).collect();
        return Err(failed(format!(
            "the preprocessor failed (supported standard headers: {}):\n{errors}",
            names.join(", ")
        )));
    }
    let tried = compiler.unwrap_or("cc, gcc, clang");
    Err(failed(format!(
        "no C compiler found to run the preprocessor (tried {tried}): install one or use --cc"
    )))
}

/// The origins of all lines of the preprocessed text, and the files that they refer to.
fn line_origins(text: &str) -> (Vec<LineOrigin>, Vec<String>) {
    let (mut lines, mut files) = (vec![], vec![String::from("?")]);
    let (mut offset, mut file, mut line) = (0, 0, 1);
    for full in text.split_inclusive('\n') {
        if let Some((number, name)) = line_marker(full) {
            line = number;
            file = files.iter().position(|known| *known == name).unwrap_or(files.len());
            if file == files.len() {
                files.push(name);
            }
        } else {
            lines.push(LineOrigin { offset, file, line });
            line += 1;
        }
        offset += full.len();
    }
    (lines, files)
}

/// Line and file of a line marker such as `# 12 "file.c" 1`.
fn line_marker(text: &str) -> Option<(usize, String)> {
    let (number, rest) = text.strip_prefix("# ")?.split_once(' ')?;
    let (name, _) = rest.strip_prefix('"')?.split_once('"')?;
    let name = PathBuf::from(name.replace("\\\\", "\\"));
    Some((number.parse().ok()?, name.display().to_string()))
}
