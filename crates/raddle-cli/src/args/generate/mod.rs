//! The options of `raddle verify --generate`.

mod limits;
mod shares;

use std::num::NonZero;

use clap::Args;
use raddle_consistency::history::Format;
use raddle_consistency::reference::generate::{HistoryShape, ValueChoice};
use raddle_core::model::Model;

pub(crate) use shares::Shares;

/// The options of `--generate`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Random histories")]
#[group(id = "random", multiple = true, conflicts_with = "histories", requires = "generate")]
pub(crate) struct GenerateArgs {
    /// Print a random history that --model allows: sc (the default), tso or pso
    #[arg(long)]
    pub(crate) generate: bool,

    /// The seed: the same one gives the same history
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,

    /// How many, with the seeds S, S+1, ...; --output names a directory
    #[arg(long, value_name = "N", default_value = "1", value_parser = limits::some)]
    pub(crate) count: NonZero<usize>,

    /// Write text or jsonl
    #[arg(long, value_name = "FORMAT", default_value_t = Format::Text)]
    pub(crate) format: Format,

    /// Let N reads observe another write; the model may forbid that
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = limits::events)]
    pub(crate) perturb: usize,

    /// Number of threads, up to 1000000
    #[arg(long, value_name = "N", value_parser = limits::some)]
    #[arg(default_value_t = positive(HistoryShape::default().threads))]
    threads: NonZero<usize>,

    /// Number of events of each thread; of all together, up to 10000000
    #[arg(long, value_name = "N", value_parser = limits::events)]
    #[arg(default_value_t = HistoryShape::default().events_per_thread)]
    events: usize,

    /// Number of memory locations, up to 1000000
    #[arg(long, value_name = "N", value_parser = limits::some)]
    #[arg(default_value_t = positive(HistoryShape::default().locations))]
    locations: NonZero<usize>,

    /// Number of locks, up to 1000000
    #[arg(long, value_name = "N", value_parser = limits::any)]
    #[arg(default_value_t = HistoryShape::default().locks)]
    locks: usize,

    /// Number of values, or distinct: another one with each write
    #[arg(long, value_name = "N", default_value = "3", value_parser = parse_values)]
    values: ValueChoice,

    /// Let threads spawn and join threads
    #[arg(long)]
    spawn_join: bool,

    /// Most stores that wait in a buffer (tso, pso)
    #[arg(long, value_name = "N", default_value_t = positive(HistoryShape::default().buffer))]
    buffer: NonZero<usize>,

    /// Tell the order in which the events ran (jsonl)
    #[arg(long)]
    keep_order: bool,
}

fn positive(number: usize) -> NonZero<usize> {
    NonZero::new(number).expect("defaults and limits make sense")
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
    /// Why the numbers are too large together, if they are.
    pub(crate) fn too_large(&self) -> Option<&'static str> {
        limits::too_many_events(self.threads.get(), self.events)
    }

    /// The shape of the histories.
    pub(crate) fn shape(&self, model: Option<Model>, shares: &Shares) -> HistoryShape {
        let mut shape = HistoryShape {
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
        shape.model = model.unwrap_or(shape.model);
        shares.apply(&mut shape);
        shape
    }

    /// The name of the file for the history with this seed, if there are several.
    pub(crate) fn file_name(&self, seed: u64) -> String {
        match self.format {
            Format::Text => format!("history-{seed}.txt"),
            Format::JsonLines => format!("history-{seed}.jsonl"),
        }
    }

    /// The command that makes the history again.
    pub(crate) fn command(&self, model: Model, shares: &Shares, seed: u64) -> String {
        let values = match self.values {
            ValueChoice::Distinct => "distinct".to_owned(),
            ValueChoice::Few(count) => count.to_string(),
        };
        let flag = |given: bool, name: &'static str| if given { name } else { "" };
        format!(
            "raddle verify --generate --model {model} --seed {seed} --perturb {} --threads {} \
             --events {} --locations {} --locks {} --values {values} {shares} --buffer {}{}{}",
            self.perturb,
            self.threads,
            self.events,
            self.locations,
            self.locks,
            self.buffer,
            flag(self.spawn_join, " --spawn-join"),
            flag(self.keep_order, " --keep-order"),
        )
    }
}
