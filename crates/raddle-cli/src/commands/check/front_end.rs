//! The interface of the front ends of `raddle check`.

use std::num::NonZero;
use std::path::PathBuf;

use raddle_explore::plan::{Language, Plan};

use crate::args::CheckArgs;
use crate::results::check::{CheckResult, LoadError};

/// A program that can be explored.
pub(crate) trait FrontEnd: Send + Sync {
    /// The language of the program.
    fn language(&self) -> Language;

    /// Explores the program with `jobs` workers.
    ///
    /// # Errors
    /// If a checkpoint cannot be read or written, or belongs to another program.
    fn check(
        &self,
        plan: Plan,
        args: &CheckArgs,
        jobs: NonZero<usize>,
    ) -> Result<CheckResult, LoadError>;

    /// Returns `true` if an exploration can be divided among workers and kept in a checkpoint.
    fn is_divisible(&self) -> bool;
}

/// The name of a program: its files.
pub(crate) fn name(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    names.join(" ")
}
