//! The interface of the front ends of `raddle check`.

use std::num::NonZero;
use std::path::PathBuf;

use raddle_core::outcome::Bound;
use raddle_explore::plan::{Language, Plan};

use crate::args::CheckArgs;
use crate::results::check::{CheckResult, LoadError};

/// What one exploration may use.
#[derive(Clone, Copy)]
pub(crate) struct Resources {
    /// The number of workers.
    pub(crate) jobs: NonZero<usize>,
    /// Memory in bytes, if it is limited.
    pub(crate) memory: Option<u64>,
}

/// A program that can be explored.
pub(crate) trait FrontEnd: Send + Sync {
    /// The language of the program.
    fn language(&self) -> Language;

    /// Explores the program.
    ///
    /// # Errors
    /// If a checkpoint cannot be read or written, or belongs to another program, or because of a bug in Raddle.
    fn check(
        &self,
        plan: Plan,
        args: &CheckArgs,
        resources: Resources,
    ) -> Result<CheckResult, LoadError>;

    /// The bound at which the program was not built yet, if it is not.
    fn not_built(&self) -> Option<&Bound> {
        None
    }

    /// Returns `true` if an exploration can be divided among workers and kept in a checkpoint.
    fn is_divisible(&self) -> bool;
}

/// The name of a program: its files.
pub(crate) fn name(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    names.join(" ")
}
