//! The options of `raddle verify`.

use std::num::NonZero;
use std::path::PathBuf;

use clap::Args;
use raddle_consistency::check::{CheckOptions, UseClosure};
use raddle_core::model::Model;

use super::format::{Format, OutputArgs};
use super::model_choice::{ModelChoice, chosen_models};
use crate::input;
use crate::pool;

/// What `raddle verify --help` shows below the options.
pub(super) const EXAMPLES: &str = "\
Exit status: 0 if all histories are consistent, 1 if one is inconsistent, 2 for invalid input or usage,
3 if a search was given up. If several apply, the first of 2, 1, 3, 0 counts.

Examples:
  raddle verify examples/*.txt
  raddle verify --model sc,tso --explain examples/store-buffering.txt
  raddle verify --model all examples/release-acquire.txt
  raddle history generate --threads 4 --events 50 --seed 7 | raddle verify --json -";

/// What `raddle verify --help` shows above the options.
pub(super) const ABOUT: &str = "\
Check whether memory models allow recorded executions

A history records the events of every thread of a program: loads with the values that they returned,
stores, atomic updates, fences and locks. Under sc, tso and pso, Raddle searches for an order in which
these events can run; under the C11 models, for modification orders that satisfy the axioms. It prints
what it finds, or the reason why none exists.";

/// The options of `raddle verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The histories to read, as text or JSON Lines; `-` is standard input
    #[arg(value_name = "HISTORY", required = true)]
    pub(crate) histories: Vec<PathBuf>,

    /// Memory models, separated by commas: sc, tso, pso, C11 models (see `raddle models`), or all
    /// [default: sc,tso,pso]
    ///
    /// The C11 models (sra, ra, wra, rc20, relaxed, rc11, c20) are not checked by default: under them an
    /// access without a memory order, such as `R x 1`, is non-atomic, and threads that communicate by such
    /// accesses race.
    #[arg(long, value_name = "MODELS", value_delimiter = ',')]
    model: Vec<ModelChoice>,

    /// Explain every verdict: the run or the orders that the model allows, or why none exist
    #[arg(long, conflicts_with = "json")]
    pub(crate) explain: bool,

    /// Write the witnesses of all consistent verdicts to this file, as JSON Lines
    #[arg(long, value_name = "FILE")]
    pub(crate) witness: Option<PathBuf>,

    /// Check every witness and every violation again with slow, independent code
    #[arg(long)]
    pub(crate) recheck: bool,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    /// The same as --format json: one JSON object per line for each history and model
    #[arg(long)]
    json: bool,

    /// Number of parallel checks [default: the number of processors]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZero<usize>>,

    /// Give up a check after this many search steps
    #[arg(long, value_name = "N", default_value_t = CheckOptions::default().budget)]
    budget: u64,

    /// Search without inferring orders of events first (slow; for comparison)
    #[arg(long)]
    no_closure: bool,
}

impl VerifyArgs {
    /// An invalid combination of options.
    pub(super) fn problem(&self) -> Option<&'static str> {
        if self.witness.as_ref().is_some_and(|file| input::is_one_of(file, &self.histories)) {
            return Some("--witness would overwrite one of the histories: name another file");
        }
        if self.output.file().is_some_and(|file| input::is_one_of(file, &self.histories)) {
            return Some("--output would overwrite one of the histories: name another file");
        }
        if self.format() == Format::Herd {
            return Some("--format herd is for litmus tests: use another format");
        }
        input::reads_stdin_twice(&self.histories)
    }

    /// The format of the output.
    pub(crate) fn format(&self) -> Format {
        self.output.format(self.json, false)
    }

    /// The models in the order given, each once.
    pub(crate) fn models(&self) -> Vec<Model> {
        if self.model.is_empty() {
            return Model::STORE_BUFFERS.to_vec();
        }
        chosen_models(&self.model)
    }

    /// The number of threads to use.
    pub(crate) fn jobs(&self) -> NonZero<usize> {
        self.jobs.unwrap_or_else(pool::default_jobs)
    }

    /// The options of the checker.
    pub(crate) fn options(&self) -> CheckOptions {
        let closure = if self.no_closure { UseClosure::Never } else { UseClosure::WhenNeeded };
        CheckOptions { closure, budget: self.budget, ..CheckOptions::default() }
    }
}
