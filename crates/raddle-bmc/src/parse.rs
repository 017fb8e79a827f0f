//! From a file to a syntax tree.
//!
//! The system's compiler expands macros, with headers of our own in place of the system's: those of a C library are
//! full of what no parser but its compiler's knows, and what they declare would still have to be modelled. Here a header
//! that is modelled is there, written in terms of a few functions that the executor knows, and any other one is an error
//! with its place. `lang-c` parses what comes out.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lang_c::ast::TranslationUnit;
use lang_c::driver::{self, Config, Flavor};
use lang_c::span::Span;

use crate::refuse::Refusal;

/// The headers, by name.
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

/// A program as it was written.
pub(crate) struct Source {
    /// Its syntax tree.
    pub(crate) unit: TranslationUnit,
    /// Where lines of the expanded text come from: offset, file, line.
    lines: Vec<(usize, usize, usize)>,
    files: Vec<String>,
    /// Where our headers were.
    headers: String,
}

impl Source {
    /// Whether something is in one of our headers.
    pub(crate) fn is_header(&self, span: Span) -> bool {
        let at = self.lines.partition_point(|line| line.0 <= span.start);
        let file = at.checked_sub(1).map(|at| &self.files[self.lines[at].1]);
        file.is_some_and(|file| file.starts_with(&self.headers))
    }

    /// Where something is: file and line.
    pub(crate) fn place(&self, span: Span) -> String {
        let at = self.lines.partition_point(|line| line.0 <= span.start);
        match at.checked_sub(1).map(|at| self.lines[at]) {
            Some((_, file, line)) => format!("{}:{line}", self.files[file]),
            None => String::from("?"),
        }
    }
}

/// Reads a file.
///
/// # Errors
/// If it cannot be read, expanded or parsed.
pub(crate) fn parse(
    file: &Path,
    flags: &[String],
    compiler: Option<&str>,
) -> Result<Source, Refusal> {
    if let Err(error) = std::fs::File::open(file) {
        return Err(Refusal::new(file.display(), format!("cannot read: {error}")));
    }
    let (text, headers) = expand(file, flags, compiler)?;
    let (lines, files) = lines(&text);
    let config = Config { cpp_command: String::new(), cpp_options: vec![], flavor: Flavor::GnuC11 };
    match driver::parse_preprocessed(&config, text) {
        Ok(parsed) => Ok(Source { unit: parsed.unit, lines, files, headers }),
        Err(error) => {
            let source = Source { unit: TranslationUnit(vec![]), lines, files, headers };
            let place = source.place(Span::span(error.offset, error.offset));
            let rest = &error.source[error.offset.min(error.source.len())..];
            let near: String = rest.chars().take_while(|c| !c.is_whitespace()).take(30).collect();
            let what = format!("column {}: a syntax that is not known, at '{near}'", error.column);
            Err(Refusal::new(place, what))
        }
    }
}

/// The file with all macros expanded, and where our headers were.
fn expand(
    file: &Path,
    flags: &[String],
    compiler: Option<&str>,
) -> Result<(String, String), Refusal> {
    let refuse = |what: String| Refusal::new(file.display(), what);
    let headers = tempfile::TempDir::with_prefix("raddle-")
        .map_err(|error| refuse(format!("no temporary directory: {error}")))?;
    for (name, text) in HEADERS {
        std::fs::write(headers.path().join(name), text)
            .map_err(|error| refuse(format!("cannot write {name}: {error}")))?;
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
        let told = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
        return Err(refuse(format!(
            "the preprocessor failed (of the system's headers only those that are modelled are there):\n{told}"
        )));
    }
    Err(refuse(String::from("no C compiler was found to expand macros: cc, gcc, clang")))
}

type Lines = Vec<(usize, usize, usize)>;

/// Where every line comes from.
fn lines(text: &str) -> (Lines, Vec<String>) {
    let (mut lines, mut files) = (vec![], vec![String::from("?")]);
    let (mut offset, mut file, mut line) = (0, 0, 1);
    for full in text.split_inclusive('\n') {
        if let Some((number, name)) = marker(full) {
            line = number;
            file = files.iter().position(|known| *known == name).unwrap_or(files.len());
            if file == files.len() {
                files.push(name);
            }
        } else {
            lines.push((offset, file, line));
            line += 1;
        }
        offset += full.len();
    }
    (lines, files)
}

/// `# 12 "file.c" 1`
fn marker(text: &str) -> Option<(usize, String)> {
    let (number, rest) = text.strip_prefix("# ")?.split_once(' ')?;
    let (name, _) = rest.strip_prefix('"')?.split_once('"')?;
    let name = PathBuf::from(name.replace("\\\\", "\\"));
    Some((number.parse().ok()?, name.display().to_string()))
}
