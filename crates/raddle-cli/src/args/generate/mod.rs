//! The options of `raddle history generate`.

mod limits;
mod shares;

use std::num::NonZero;
use std::path::PathBuf;

use clap::Args;
use raddle_consistency::history::Format;
use raddle_consistency::reference::generate::{HistoryShape, ValueChoice};
use raddle_core::model::Model;

use shares::Shares;

/// What `raddle history generate --help` shows below the options.
pub(super) const EXAMPLES: &str = "\
Examples:
  raddle history generate --threads 4 --events 50 --seed 7 | raddle verify --json -
  raddle history generate --model tso --perturb 1 --count 100 --output histories";

/// The options of `raddle history generate`.
#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    /// The model whose machine runs the random program: sc, tso or pso
    #[arg(long, value_name = "MODEL", default_value_t = Model::Sc, value_parser = machine)]
    model: Model,

    /// The seed; the same options and seed give the same history
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,

    /// Number of histories, with the seeds S, S+1, ...; more than one requires --output
    #[arg(long, value_name = "N", default_value = "1", value_parser = limits::positive)]
    pub(crate) count: NonZero<usize>,

    /// The format to write: text or jsonl
    #[arg(long, value_name = "FORMAT", default_value_t = Format::Text)]
    pub(crate) format: Format,

    /// Change the source of N reads; the model may not allow the result
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = limits::events)]
    pub(crate) perturb: usize,

    /// Number of threads, at most 1000000
    #[arg(long, value_name = "N", value_parser = limits::positive)]
    #[arg(default_value_t = positive(HistoryShape::default().threads))]
    threads: NonZero<usize>,

    /// Number of events of each thread; at most 10000000 in total
    #[arg(long, value_name = "N", value_parser = limits::events)]
    #[arg(default_value_t = HistoryShape::default().events_per_thread)]
    events: usize,

    /// Number of memory locations, at most 1000000
    #[arg(long, value_name = "N", value_parser = limits::positive)]
    #[arg(default_value_t = positive(HistoryShape::default().locations))]
    locations: NonZero<usize>,

    /// Number of locks, at most 1000000
    #[arg(long, value_name = "N", value_parser = limits::count)]
    #[arg(default_value_t = HistoryShape::default().locks)]
    locks: usize,

    /// Number of values, or distinct: each write has its own value
    #[arg(long, value_name = "N", default_value = "3", value_parser = parse_values)]
    values: ValueChoice,

    /// Let threads spawn and join threads
    #[arg(long)]
    spawn_join: bool,

    /// Capacity of a store buffer (tso, pso)
    #[arg(long, value_name = "N", default_value_t = positive(HistoryShape::default().buffer))]
    buffer: NonZero<usize>,

    /// Record the order in which the events ran (jsonl)
    #[arg(long)]
    keep_order: bool,

    /// Write to this file instead of standard output; with --count, the directory for the histories
    #[arg(long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    shares: Shares,
}

fn positive(number: usize) -> NonZero<usize> {
    NonZero::new(number).expect("defaults and limits are positive")
}

/// Parses a model that is defined by a machine.
fn machine(name: &str) -> Result<Model, String> {
    let model: Model = name.parse().map_err(|error| format!("{error}"))?;
    if model.has_store_buffers() {
        return Ok(model);
    }
    Err(format!(
        "no machine is defined for {model}, so it generates no histories: use sc, tso or pso"
    ))
}

fn parse_values(text: &str) -> Result<ValueChoice, String> {
    if text == "distinct" {
        return Ok(ValueChoice::Distinct);
    }
    let count: Option<NonZero<usize>> = text.parse().ok();
    let count = count.ok_or("expected a number above 0, or distinct")?;
    Ok(ValueChoice::Few(count.get()))
}

impl GenerateArgs {
    /// An invalid combination of options.
    pub(super) fn problem(&self) -> Option<&'static str> {
        if self.count.get() > 1 && self.output.is_none() {
            return Some("--count requires --output with a directory for the histories");
        }
        limits::too_many_events(self.threads.get(), self.events)
    }

    /// The shape of the histories.
    pub(crate) fn shape(&self) -> HistoryShape {
        let mut shape = HistoryShape {
            model: self.model,
            threads: self.threads.get(),
            locations: self.locations.get(),
            locks: self.locks,
            events_per_thread: self.events,
            values: self.values,
            spawn_join: self.spawn_join,
            buffer: self.buffer.get(),
            keep_order: self.keep_order,
            ..HistoryShape::default()
        };
        self.shares.apply(&mut shape);
        shape
    }

    /// The name of the file for the history with this seed, if there are several histories.
    pub(crate) fn file_name(&self, seed: u64) -> String {
        match self.format {
            Format::Text => format!("history-{seed}.txt"),
            Format::JsonLines => format!("history-{seed}.jsonl"),
        }
    }

    /// The command that generates the history with this seed. It names every option, so it does not depend on defaults.
    pub(crate) fn command(&self, seed: u64) -> String {
        let values = match self.values {
            ValueChoice::Distinct => "distinct".to_owned(),
            ValueChoice::Few(count) => count.to_string(),
        };
        let flag = |given: bool, name: &'static str| if given { name } else { "" };
        format!(
            "raddle history generate --model {} --seed {seed} --perturb {} --threads {} \
             --events {} --locations {} --locks {} --values {values} {} --buffer {}{}{}",
            self.model,
            self.perturb,
            self.threads,
            self.events,
            self.locations,
            self.locks,
            self.shares,
            self.buffer,
            flag(self.spawn_join, " --spawn-join"),
            flag(self.keep_order, " --keep-order"),
        )
    }
}
