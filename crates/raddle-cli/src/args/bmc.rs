//! The options of `raddle bmc`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use raddle_bmc::{Abstraction, BmcOptions};
use raddle_core::model::Model;

use super::format::{Format, OutputArgs};
use super::seconds::seconds;
use crate::input;

/// What `raddle bmc --help` shows below the options.
pub(super) const EXAMPLES: &str = "\
Exit status: 0 if no execution has a bug and the bounds exclude none, 1 for a bug, 2 for invalid input or
usage or an unsupported program, 3 if no bug was found within the bounds or the time limit.

Examples:
  raddle bmc examples/peterson.c --model tso
  raddle bmc corpus/bmc/fib_longer.c --model pso --rounds 6 --bits 10 -- -DSAFE
  raddle bmc corpus/bmc/inputs.c --deepen --timeout 60";

/// A memory model that bounded checking supports.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ModelName {
    Sc,
    Tso,
    Pso,
}

/// The encoding of store buffers.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum AbstractionName {
    /// Every write has the round in which it reaches memory
    Stamps,
    /// Arrays: TSO-SMA
    Simple,
    /// Lists with time stamps: eTSO-SMA, PSO-SMA
    Etso,
}

/// The options of `raddle bmc`.
#[derive(Debug, Args)]
pub(crate) struct BmcArgs {
    /// The program to check
    #[arg(value_name = "PROGRAM.c")]
    pub(crate) program: PathBuf,

    /// The memory model
    #[arg(long, value_enum, default_value = "sc")]
    model: ModelName,

    /// The encoding of store buffers
    #[arg(long, value_enum, default_value = "stamps")]
    sma: AbstractionName,

    /// Maximum number of iterations of a loop, and maximum depth of recursion
    #[arg(long, value_name = "N", default_value_t = 2)]
    unwind: usize,

    /// Number of rounds of the round-robin schedule
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=200))]
    rounds: u16,

    /// Maximum number of buffered stores: per buffer (--sma simple), or per location (--sma etso)
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=60))]
    nodes: u8,

    /// The largest time stamp (--sma etso)
    #[arg(long, value_name = "K", default_value_t = 7, value_parser = clap::value_parser!(u8).range(1..=250))]
    max_time: u8,

    /// Bit width of shared integers and inputs; executions that need larger values are excluded
    #[arg(long, value_name = "W", value_parser = clap::value_parser!(u8).range(2..=64))]
    bits: Option<u8>,

    /// Maximum number of memory allocations
    #[arg(long, value_name = "N", default_value_t = 16)]
    mallocs: usize,

    /// Increase rounds and unwind step by step until a bug is found, the bounds exclude no execution, or the time limit
    /// is reached
    #[arg(long)]
    pub(crate) deepen: bool,

    /// Give up after this many seconds [default with --deepen: 60]
    #[arg(long, value_name = "S", value_parser = seconds)]
    timeout: Option<Duration>,

    /// Write the sequentialized program to this file, in C
    #[arg(long, value_name = "FILE")]
    emit_c: Option<PathBuf>,

    /// Write the formula to this file, in DIMACS format
    #[arg(long, value_name = "FILE")]
    dimacs: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    /// The same as --format json: one JSON object
    #[arg(long)]
    json: bool,

    /// Write an execution with the bug to this file, for `raddle replay`
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,

    /// Do not confirm a bug by exploring the compiled program
    #[arg(long)]
    pub(crate) no_replay: bool,

    /// Give up confirming a bug after this many seconds
    #[arg(long, value_name = "S", value_parser = seconds, default_value = "10")]
    pub(crate) replay_timeout: Duration,

    /// The compiler [default: the system's for preprocessing, clang or gcc to confirm a bug]
    #[arg(long, value_name = "COMPILER")]
    pub(crate) cc: Option<String>,

    /// Flags for the compiler
    #[arg(last = true, value_name = "FLAG")]
    flags: Vec<String>,
}

impl BmcArgs {
    /// The format of the output.
    pub(crate) fn format(&self) -> Format {
        self.output.format(self.json, false)
    }

    /// The option that would overwrite the program, if there is one.
    pub(crate) fn overwrites_program(&self) -> Option<&'static str> {
        let inputs = self.inputs_file();
        let output = self.output.file().map(Path::to_owned);
        let outputs = [
            ("--trace", &self.trace),
            ("--trace", &inputs),
            ("--emit-c", &self.emit_c),
            ("--dimacs", &self.dimacs),
            ("--output", &output),
        ];
        let overwrites = |file: &PathBuf| input::is_one_of(file, &[&self.program]);
        let found = outputs.into_iter().find(|(_, file)| file.as_ref().is_some_and(overwrites));
        found.map(|(option, _)| option)
    }

    /// The file for the inputs of a bug: a replay compiles it with the program.
    pub(crate) fn inputs_file(&self) -> Option<PathBuf> {
        let trace = self.trace.as_ref()?;
        Some(PathBuf::from(format!("{}.inputs.c", trace.display())))
    }

    /// The options of the bounded model checker.
    pub(crate) fn options(&self) -> BmcOptions {
        let model = match self.model {
            ModelName::Sc => Model::Sc,
            ModelName::Tso => Model::Tso,
            ModelName::Pso => Model::Pso,
        };
        let abstraction = match self.sma {
            AbstractionName::Stamps => Abstraction::Stamps,
            AbstractionName::Simple => Abstraction::Simple,
            AbstractionName::Etso => Abstraction::Etso,
        };
        let default = self.deepen.then_some(Duration::from_secs(60));
        BmcOptions {
            flags: self.flags.clone(),
            compiler: self.cc.clone(),
            model,
            abstraction,
            unwind: self.unwind,
            rounds: self.rounds.into(),
            nodes: self.nodes.into(),
            max_time: self.max_time.into(),
            bits: self.bits,
            mallocs: self.mallocs,
            timeout: self.timeout.or(default),
            dimacs: self.dimacs.clone(),
            emit: self.emit_c.clone(),
            ..BmcOptions::new(&self.program)
        }
    }
}
