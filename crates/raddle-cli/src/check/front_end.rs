//! From files to programs that can be explored: one front end for each kind of file.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use raddle_explore::plan::{Language, Plan};
use serde::Serialize;

use super::answer::Answer;
use super::args::CheckArgs;
use super::{litmus, native};

/// A program that can be explored.
pub(crate) trait FrontEnd: Send + Sync {
    /// What it is written in.
    fn language(&self) -> Language;

    /// Explores it, with so many workers.
    fn check(&self, plan: Plan, args: &CheckArgs, jobs: NonZero<usize>) -> Answer;

    /// Whether its exploration can be divided into parts that can be kept.
    fn is_divisible(&self) -> bool;
}

/// Why a file is no program that can be explored.
#[derive(Debug, Serialize)]
pub(crate) struct LoadError {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<usize>,
    pub(crate) message: String,
}

impl LoadError {
    /// An error that is about the whole file.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        LoadError { line: None, column: None, message: message.into() }
    }

    /// A file that cannot be read.
    pub(crate) fn unreadable(error: &io::Error) -> Self {
        LoadError::new(format!("cannot read: {error}"))
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, "{line}:{column}: ")?;
        } else {
            f.write_str(" ")?;
        }
        f.write_str(&self.message)
    }
}

/// Reads a program; the extension of its files says what it is.
pub(crate) fn load(files: &[PathBuf], args: &CheckArgs) -> Result<Box<dyn FrontEnd>, LoadError> {
    let expected =
        "expected a .c, .cc, .cpp, .o, .so or .litmus file, or a directory of litmus tests";
    match files {
        [path] if has_extension(path, "litmus") => litmus::load(path),
        [path, ..] if native::is_source(path) => native::load(files, args),
        [path] if !path.exists() => Err(LoadError::new("there is no such file")),
        _ => Err(LoadError::new(format!("unknown kind of program: {expected}"))),
    }
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().and_then(OsStr::to_str) == Some(wanted)
}

/// The name of a program: its files.
pub(crate) fn name(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    names.join(" ")
}

/// The programs that files are: all those in C and C++ are one.
pub(crate) fn programs(files: Vec<PathBuf>) -> Vec<Vec<PathBuf>> {
    let mut programs: Vec<Vec<PathBuf>> = vec![];
    for file in files {
        let is_source = |program: &&mut Vec<PathBuf>| native::is_source(&program[0]);
        match programs.iter_mut().find(is_source) {
            Some(program) if native::is_source(&file) => program.push(file),
            _ => programs.push(vec![file]),
        }
    }
    programs
}

/// The files that are meant: of a directory all litmus tests below it, sorted.
pub(crate) fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, (PathBuf, LoadError)> {
    let mut files = vec![];
    for path in paths {
        if path.is_dir() {
            let before = files.len();
            below(path, &mut files)
                .map_err(|error| (path.clone(), LoadError::unreadable(&error)))?;
            if files.len() == before {
                let message = "no litmus test is in this directory: expected *.litmus";
                return Err((path.clone(), LoadError::new(message)));
            }
            files[before..].sort();
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

fn below(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            below(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "litmus") {
            files.push(path);
        }
    }
    Ok(())
}
