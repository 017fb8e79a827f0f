//! The options of `raddle verify`.

use std::num::NonZero;
use std::path::PathBuf;

use clap::{ArgGroup, Args};
use raddle_consistency::check::{CheckOptions, UseClosure};
use raddle_consistency::history::Format;
use raddle_core::model::Model;

use super::generate::{GenerateArgs, Shares};
use super::model_choice::{ModelChoice, chosen_models};
use crate::input;
use crate::pool;

/// The options that ask for something else than checking.
const MODES: [&str; 3] = ["generate", "convert", "stats"];

/// What `raddle verify --help` shows below the options.
pub(super) const EXAMPLES: &str = "\
Exit status: 0 everything is consistent, 1 something is inconsistent, 2 bad input or usage,
3 something is unknown because the search was given up. Of several, the first of 2, 1, 3, 0 counts.

Examples:
  raddle verify examples/*.txt
  raddle verify --model sc,tso --explain examples/store-buffering.txt
  raddle verify --model all examples/release-acquire.txt
  raddle verify --generate --threads 4 --events 50 --seed 7 | raddle verify --json -
  raddle verify --convert jsonl examples/iriw.txt --output iriw.jsonl
  raddle verify --stats examples/*.txt";

/// What `raddle verify --help` shows above the options.
pub(super) const ABOUT: &str = "\
Check whether memory models allow recorded executions

A history tells what every thread of a program did: its loads with the values that they got, its
stores, atomic updates, fences and locks. Under sc, tso and pso, Raddle looks for an order in which
these events can run; under the C11 models, for modification orders that fit the axioms. It shows
them, or shows why there are none.";

/// The options of `raddle verify`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("mode").args(MODES))]
pub(crate) struct VerifyArgs {
    /// LocalHistories to read, as text or JSON Lines; `-` is standard input
    #[arg(value_name = "HISTORY", required_unless_present = "generate")]
    pub(crate) histories: Vec<PathBuf>,

    /// Memory models, with commas: sc, tso, pso, C11 models (see `raddle models`), or all [default:
    /// sc,tso,pso]
    ///
    /// The C11 models (sra, ra, wra, rc20, relaxed, rc11, c20) must be asked for: under them an access
    /// without a memory order, such as `R x 1`, is non-atomic, and threads that share data by such
    /// accesses race.
    #[arg(long, value_name = "MODELS", value_delimiter = ',')]
    #[arg(conflicts_with_all = ["convert", "stats"])]
    model: Vec<ModelChoice>,

    /// Explain every verdict: the run or the orders that the model allows, or why there are none
    #[arg(long, conflicts_with = "json", conflicts_with_all = MODES)]
    pub(crate) explain: bool,

    /// Write the witnesses of all consistent verdicts to this file, as JSON Lines
    #[arg(long, value_name = "FILE", conflicts_with_all = MODES)]
    pub(crate) witness: Option<PathBuf>,

    /// Check every witness and every violation again with slow, independent code
    #[arg(long, conflicts_with_all = MODES)]
    pub(crate) recheck: bool,

    /// Print one JSON object on a line for each history and model
    #[arg(long, conflicts_with_all = MODES)]
    pub(crate) json: bool,

    /// Number of checks at the same time [default: the number of processors]
    #[arg(long, value_name = "N", conflicts_with_all = ["generate", "convert"])]
    jobs: Option<NonZero<usize>>,

    /// Give up a check after this many search steps
    #[arg(long, value_name = "N", conflicts_with_all = MODES)]
    #[arg(default_value_t = CheckOptions::default().budget)]
    budget: u64,

    /// Search without inferring orders of events first (slow; to compare)
    #[arg(long, conflicts_with_all = MODES)]
    no_closure: bool,

    /// Write the history in this format: text or jsonl
    #[arg(long, value_name = "FORMAT", help_heading = "Other things to do with histories")]
    convert: Option<Format>,

    /// Count what is in the histories
    #[arg(long, help_heading = "Other things to do with histories")]
    stats: bool,

    /// Where to write instead of standard output
    #[arg(long, value_name = "FILE", help_heading = "Other things to do with histories")]
    #[arg(conflicts_with_all = ["stats", "explain", "witness", "recheck", "json", "no_closure"])]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) generate: GenerateArgs,

    #[command(flatten)]
    pub(crate) shares: Shares,
}

/// What `raddle verify` is asked to do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mode {
    /// Check the histories.
    Check,
    /// Make up histories.
    Generate,
    /// Write a history in another format.
    Convert(Format),
    /// Count what is in the histories.
    Stats,
}

impl VerifyArgs {
    /// What to do. Exits with a usage error on combinations that make no sense.
    pub(crate) fn mode(&self) -> Mode {
        let mode = match self.convert {
            _ if self.generate.generate => Mode::Generate,
            Some(format) => Mode::Convert(format),
            None if self.stats => Mode::Stats,
            None => Mode::Check,
        };
        if let Some(problem) = self.problem(mode) {
            super::usage_error(problem);
        }
        mode
    }

    /// What is wrong with the combination of options, as far as clap cannot see it.
    fn problem(&self, mode: Mode) -> Option<&'static str> {
        let standard = self.histories.iter().filter(|path| path.as_os_str() == "-").count();
        match mode {
            Mode::Convert(_) if self.histories.len() > 1 => Some("--convert takes one history"),
            Mode::Generate if self.models().len() > 1 && !self.model.is_empty() => {
                Some("--generate takes one model")
            }
            Mode::Generate if self.generate_for().is_some_and(|m| !m.has_store_buffers()) => {
                Some("--generate runs a machine, which only sc, tso and pso have")
            }
            Mode::Generate if self.generate.count.get() > 1 && self.output.is_none() => {
                Some("--count needs --output with a directory for the histories")
            }
            Mode::Generate => self.generate.too_large(),
            Mode::Check if self.output.is_some() => {
                Some("--output goes with --generate or --convert")
            }
            Mode::Check if self.witness_is_history() => {
                Some("--witness names one of the histories, which would be overwritten")
            }
            _ if standard > 1 => Some("standard input can be read only once"),
            _ => None,
        }
    }

    /// Whether the file for witnesses is also one to read.
    fn witness_is_history(&self) -> bool {
        self.witness.as_ref().is_some_and(|file| input::is_one_of(file, &self.histories))
    }

    /// The models in the order given, each once.
    pub(crate) fn models(&self) -> Vec<Model> {
        if self.model.is_empty() {
            return Model::STORE_BUFFERS.to_vec();
        }
        chosen_models(&self.model)
    }

    /// The model to generate for, if one is named.
    pub(crate) fn generate_for(&self) -> Option<Model> {
        if self.model.is_empty() { None } else { self.models().first().copied() }
    }

    /// How many threads to work on.
    pub(crate) fn jobs(&self) -> NonZero<usize> {
        self.jobs.unwrap_or_else(pool::default_jobs)
    }

    /// How to check.
    pub(crate) fn options(&self) -> CheckOptions {
        let closure = if self.no_closure { UseClosure::Never } else { UseClosure::WhenNeeded };
        CheckOptions { closure, budget: self.budget, ..CheckOptions::default() }
    }
}
