//! The options of `raddle history`.

use std::num::NonZero;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use raddle_consistency::history::Format;

use super::generate::{self, GenerateArgs};
use crate::input;
use crate::pool;

/// What `raddle history --help` shows below the commands.
pub(super) const EXAMPLES: &str = "\
Examples:
  raddle history generate --threads 4 --events 50 --seed 7 | raddle verify --json -
  raddle history convert --format jsonl examples/iriw.txt --output iriw.jsonl
  raddle history stats examples/*.txt";

/// The commands on histories.
#[derive(Debug, Subcommand)]
pub(crate) enum HistoryCommand {
    /// Generate random histories that a model allows
    #[command(after_help = generate::EXAMPLES)]
    Generate(Box<GenerateArgs>),

    /// Convert a history between text and JSON Lines
    Convert(ConvertArgs),

    /// Count the threads, events and possible sources of histories
    Stats(StatsArgs),
}

/// The options of `raddle history convert`.
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// The history to read, as text or JSON Lines; `-` is standard input
    #[arg(value_name = "HISTORY")]
    pub(crate) history: PathBuf,

    /// The format to write: text or jsonl
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Format,

    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

impl ConvertArgs {
    /// An invalid combination of options.
    pub(super) fn problem(&self) -> Option<&'static str> {
        let overwrites = |file: &PathBuf| input::is_one_of(file, &[&self.history]);
        let problem = "--output would overwrite the history: name another file";
        self.output.as_ref().is_some_and(overwrites).then_some(problem)
    }
}

/// The options of `raddle history stats`.
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// The histories to read, as text or JSON Lines; `-` is standard input
    #[arg(value_name = "HISTORY", required = true)]
    pub(crate) histories: Vec<PathBuf>,

    /// Number of files to read in parallel [default: the number of processors]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZero<usize>>,
}

impl StatsArgs {
    /// An invalid combination of options.
    pub(super) fn problem(&self) -> Option<&'static str> {
        input::reads_stdin_twice(&self.histories)
    }

    /// The number of threads to use.
    pub(crate) fn jobs(&self) -> NonZero<usize> {
        self.jobs.unwrap_or_else(pool::default_jobs)
    }
}
