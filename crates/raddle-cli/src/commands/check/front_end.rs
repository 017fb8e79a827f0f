//! What every front end of `raddle check` does.

use std::num::NonZero;
use std::path::PathBuf;

use raddle_explore::plan::{Language, Plan};

use crate::args::CheckArgs;
use crate::results::check::Answer;

/// A program that can be explored.
pub(crate) trait FrontEnd: Send + Sync {
    /// What it is written in.
    fn language(&self) -> Language;

    /// Explores it, with so many workers.
    fn check(&self, plan: Plan, args: &CheckArgs, jobs: NonZero<usize>) -> Answer;

    /// Whether its exploration can be divided into parts that can be kept.
    fn is_divisible(&self) -> bool;
}

/// The name of a program: its files.
pub(crate) fn name(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    names.join(" ")
}
