//! The options of `raddle bmc`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use raddle_bmc::{Abstraction, BmcOptions, Model};

use super::seconds::seconds;

/// What `raddle bmc --help` shows below the options.
pub(super) const EXAMPLES: &str = "\
Exit status: 0 nothing is wrong, and the bounds leave no execution out; 1 a bug; 2 bad input or usage,
or the program does what is not modelled; 3 nothing is wrong within the bounds, or the time was up.

Examples:
  raddle bmc examples/peterson.c --model tso
  raddle bmc corpus/bmc/fib_longer.c --model pso --rounds 6 --bits 10 -- -DSAFE
  raddle bmc corpus/bmc/inputs.c --deepen --timeout 60";

/// A memory model with store buffers, or without.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ModelName {
    Sc,
    Tso,
    Pso,
}

/// How store buffers are represented.
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

    /// How store buffers are represented
    #[arg(long, value_enum, default_value = "stamps")]
    sma: AbstractionName,

    /// How often a loop is repeated, and how deep a function calls itself
    #[arg(long, value_name = "N", default_value_t = 2)]
    unwind: usize,

    /// Rounds of the round-robin schedule
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=200))]
    rounds: u16,

    /// How many stores wait at a time: in a buffer (--sma simple), or for a location (--sma etso)
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=60))]
    nodes: u8,

    /// The greatest time stamp (--sma etso)
    #[arg(long, value_name = "K", default_value_t = 7, value_parser = clap::value_parser!(u8).range(1..=250))]
    max_time: u8,

    /// How many bits shared integers and inputs have; executions that need more are cut off
    #[arg(long, value_name = "W", value_parser = clap::value_parser!(u8).range(2..=64))]
    bits: Option<u8>,

    /// How many blocks of memory are allocated
    #[arg(long, value_name = "N", default_value_t = 16)]
    mallocs: usize,

    /// Raise rounds and unwind step by step until a bug is found, nothing is left out, or the time is up
    #[arg(long)]
    pub(crate) deepen: bool,

    /// Give up after this many seconds [default with --deepen: 60]
    #[arg(long, value_name = "S", value_parser = seconds)]
    timeout: Option<Duration>,

    /// Write the sequentialised program to this file, in C
    #[arg(long, value_name = "FILE")]
    emit_c: Option<PathBuf>,

    /// Write the formula to this file
    #[arg(long, value_name = "FILE")]
    dimacs: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// Write the execution that shows the bug to this file, for `raddle replay`
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,

    /// Do not compile and explore the program to confirm a bug
    #[arg(long)]
    pub(crate) no_replay: bool,

    /// Look for the bug in the compiled program for at most this many seconds
    #[arg(long, value_name = "S", value_parser = seconds, default_value = "10")]
    pub(crate) replay_timeout: Duration,

    /// The compiler [default: for macros the system's, for the replay clang or gcc]
    #[arg(long, value_name = "COMPILER")]
    pub(crate) cc: Option<String>,

    /// Flags for the compiler
    #[arg(last = true, value_name = "FLAG")]
    flags: Vec<String>,
}

impl BmcArgs {
    /// What to check, and how far.
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
