//! Loads programs: the extension of a file selects the front end.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::front_end::FrontEnd;
use super::{litmus, native};
use crate::args::CheckArgs;
use crate::results::check::LoadError;

/// Loads the program in these files.
pub(crate) fn load(files: &[PathBuf], args: &CheckArgs) -> Result<Arc<dyn FrontEnd>, LoadError> {
    let expected = "expected a .c, .cc, .cpp, .o or .litmus file, an executable, or a directory of litmus tests";
    match files {
        [path] if has_extension(path, "litmus") => litmus::load(path),
        [path, ..] if native::is_source(path) => native::load(files, args),
        [path] if !path.exists() => Err(LoadError::new("the file does not exist")),
        _ => Err(LoadError::new(format!("unknown kind of program: {expected}"))),
    }
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().and_then(OsStr::to_str) == Some(wanted)
}

/// Groups files into programs. All C and C++ files together are one program, every other file is its own.
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

/// Replaces every directory by the litmus tests below it, sorted.
pub(crate) fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, (PathBuf, LoadError)> {
    let mut files = vec![];
    for path in paths {
        if path.is_dir() {
            let before = files.len();
            below(path, &mut files)
                .map_err(|error| (path.clone(), LoadError::unreadable(&error)))?;
            if files.len() == before {
                let message = "the directory contains no litmus tests (*.litmus)";
                return Err((path.clone(), LoadError::new(message)));
            }
            files[before..].sort();
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

/// Collects the litmus tests below a directory.
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
