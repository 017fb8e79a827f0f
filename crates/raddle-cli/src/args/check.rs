//! The options of `raddle check`.

use std::num::NonZero;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, Parser, ValueEnum};
use raddle_core::model::Model;
use raddle_core::outcome::{FindingKind, KindSet};
use raddle_core::program::StoreForwarding;
use raddle_explore::Limits;
use raddle_explore::plan::{Equivalence, Explorer, Language};
use raddle_explore::sampling::Sampling;
use raddle_native::{Environment, Property};

use super::format::{Format, OutputArgs};
use super::model_choice::{ModelChoice, chosen_models};
use super::seconds::seconds;
use crate::child;
use crate::pool;

/// What `raddle check --help` shows below the options.
pub(super) const EXAMPLES: &str = "\
Exit status: 0 if the exploration is complete and no bug was found, 1 for a bug (for example a race, a
state that '~exists' or 'forall' excludes, or with --expect an unexpected verdict), 2 for invalid input or
usage, 3 if a bound was reached. If several apply, the first of 2, 1, 3, 0 counts.

Machine code (.o files, or an executable) has no memory orders, so it is explored under sc, tso or pso. Object
files that were compiled with -fsanitize=thread have them and are explored under all models.

Examples:
  raddle check examples/peterson.c --model tso
  raddle check queue.cpp main.cpp --model c20 --cc g++ -- -std=c++20 -DN=2 -- argument
  raddle check examples/store-buffering.litmus
  raddle check examples/*.litmus --model sc,tso,pso,rc11
  raddle check examples/peterson.c --robust --model tso
  raddle check corpus/litmus --model sc,tso,rc11 --expect corpus/litmus/oracle.tsv";

/// What `raddle check --help` shows above the options.
pub(super) const ABOUT: &str = "\
Explore all behaviours of programs that memory models allow

A C or C++ program is compiled, linked and explored: the report shows a bug with an execution, or the
number of execution classes. A litmus test, in herd's format, is a small program with a condition on its
final states. The result of one test under one model is printed in herd's format, several results in a
table. Two executions are in the same class if every read observes the same write in both. Positive,
Negative and the numbers of Observation count classes, where herd counts candidate executions.";

/// Options that do not support parallel exploration and checkpoints.
const SEQUENTIAL: [&str; 8] = [
    "estimate",
    "robust",
    "leaks",
    "max_executions",
    "herd",
    "expect",
    "keep_going",
    "require_join",
];

/// The options of `raddle check`.
#[derive(Clone, Debug, Args)]
pub(crate) struct CheckArgs {
    /// Programs to explore: a C or C++ program (.c, .i, .cc, .cpp, .cxx, .o; several files are linked together), an
    /// executable, a task definition of SV-COMP (.yml), litmus tests (.litmus), or directories of litmus tests
    #[arg(value_name = "PROGRAM", required = true)]
    pub(crate) programs: Vec<PathBuf>,

    /// Memory models, separated by commas (see `raddle models`), or all [default: tso for x86, c20 for C]
    #[arg(long, value_name = "MODELS", value_delimiter = ',')]
    model: Vec<ModelChoice>,

    /// When two executions are equivalent: rf, if every read observes the same write; trace, if in addition the writes
    /// of every location reach memory in the same order; rvf, if every read returns the same value and the causal
    /// orders of the reads agree. Only sc, tso and pso support trace and rvf [default: rf]
    #[arg(long, value_name = "EQUIVALENCE")]
    by: Option<Equivalence>,

    /// The exploration algorithm: rf-part-smc or rf-smc by rf, optimal-dpor or source-dpor by trace, rvf-smc by rvf;
    /// or random or pct, which test randomly and prove nothing [default: rf-part-smc by rf, optimal-dpor by trace,
    /// rvf-smc by rvf]
    #[arg(long, value_name = "NAME")]
    explorer: Option<Explorer>,

    /// With --by rvf: let a read also observe later writes of the same value. Explores fewer classes, and checks only
    /// assertions about values that threads read. Experimental (see SOUNDNESS.md)
    #[arg(long, requires = "by", conflicts_with = "explorer")]
    open: bool,

    /// With random and pct: the maximum number of runs [default: 10000]
    #[arg(long, value_name = "N")]
    iterations: Option<u64>,

    /// With random and pct: the seed of the first run, from which the other seeds are derived [default: 0]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,

    /// With pct: the maximum bug depth, that is, the number of ordering constraints that a bug requires [default: 3]
    #[arg(long, value_name = "D")]
    depth: Option<u32>,

    /// Under tso or pso, search for an execution that sc does not allow, and for fences that exclude it
    #[arg(long, conflicts_with_all = ["herd", "expect"])]
    pub(crate) robust: bool,

    /// Number of workers, for several programs and models or for the exploration of one C or C++ program [default: the
    /// number of processors]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZero<usize>>,

    /// Count all classes of a C or C++ program, as the literature does. Otherwise reads and orders without effect are left
    /// out, such as rounds of a waiting loop, and classes that differ only in the names of threads that do the same; every
    /// outcome, up to such names, and every bug is found nevertheless
    #[arg(long)]
    exact: bool,

    /// Stop each exploration after this many executions
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    max_executions: Option<u64>,

    /// Stop threads where an execution has more than this many events [default: 1000; up to 1000000 if some execution
    /// needs more and seems to end]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_events: Option<u32>,

    /// Stop each exploration after this many seconds, of which compiling the program is a part
    #[arg(long, visible_alias = "time", value_name = "S", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,

    /// Stop the exploration of a C or C++ program that needs more than this many megabytes, and its compiler [default:
    /// three quarters of the machine, divided by the number of explorations at the same time]
    #[arg(long, value_name = "MB", value_parser = at_least_one)]
    pub(crate) max_memory: Option<u64>,

    /// Save the remaining work of the exploration of a C or C++ program to this file
    #[arg(long, value_name = "FILE", conflicts_with_all = SEQUENTIAL)]
    pub(crate) checkpoint: Option<PathBuf>,

    /// Seconds between two checkpoints [default: 5]
    #[arg(long, value_name = "S", value_parser = seconds)]
    every: Option<Duration>,

    /// Continue the exploration from a file that --checkpoint has written
    #[arg(long, value_name = "FILE", conflicts_with_all = SEQUENTIAL)]
    pub(crate) resume: Option<PathBuf>,

    /// Estimate within two seconds the number of classes of a C or C++ program and the time to explore them
    #[arg(long, conflicts_with_all = ["robust", "leaks", "expect"])]
    pub(crate) estimate: bool,

    /// Maximum number of rounds of a loop: a thread that would begin another one is stopped, and the result is incomplete
    /// [default: 8 in a litmus test, none in a C or C++ program]
    #[arg(long, value_name = "N")]
    pub(crate) unroll: Option<u32>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    /// Under any model, search for a minimal set of stronger memory orders and fences that prevents the error of a C or C++
    /// program, by exploring it with them; at most 60 seconds, or until --timeout
    #[arg(long, conflicts_with_all = ["robust", "estimate", "json", "checkpoint", "resume"])]
    pub(crate) suggest: bool,

    /// Show everything in reports: events of libraries, on private memory and without influence on the error, and call stacks
    /// with the frames of libraries
    #[arg(long)]
    pub(crate) full: bool,

    /// Print nothing but errors that were found, and no progress
    #[arg(long, short, conflicts_with_all = ["json", "herd", "explain"])]
    pub(crate) quiet: bool,

    /// The same as --format json: one JSON object per line for each program and model
    #[arg(long, conflicts_with = "herd")]
    json: bool,

    /// Show an execution of a litmus test: one with a race, or one that satisfies the condition (for 'forall': that
    /// violates it)
    #[arg(long, conflicts_with = "json")]
    pub(crate) explain: bool,

    /// The same as --format herd: the result of every litmus test in herd's format, instead of a table
    #[arg(long, conflicts_with = "format")]
    herd: bool,

    /// Write an execution to this file: one with the bug, or for a litmus test one that reaches the state asked for
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,

    /// The compiler for C and C++ programs [default: gcc if it is installed, otherwise clang]
    #[arg(long, value_name = "COMPILER")]
    pub(crate) cc: Option<String>,

    /// Check this property of SV-COMP (unreach-call, no-data-race, valid-memsafety, no-deadlock, or a .prp file): other errors,
    /// such as abort() for unreach-call, end an execution silently. The default model is sc, for no-data-race c20
    #[arg(long, value_name = "PROPERTY", value_parser = Property::read)]
    pub(crate) property: Option<Property>,

    /// Report all distinct errors of a C or C++ program instead of the most important one
    #[arg(long, conflicts_with_all = ["robust", "estimate"])]
    pub(crate) keep_going: bool,

    /// Do not report threads of a C or C++ program that repeat loops forever
    #[arg(long, conflicts_with = "property")]
    pub(crate) no_livelock: bool,

    /// Do not report data races of a C or C++ program: plain accesses are relaxed atomic ones
    #[arg(long, conflicts_with = "property")]
    pub(crate) no_races: bool,

    /// Report data races of a C or C++ program under sc, tso and pso, too: plain accesses that atomic accesses, locks and joins do
    /// not order
    #[arg(long, conflicts_with_all = ["no_races", "robust", "property"])]
    pub(crate) races: bool,

    /// Report threads of a C or C++ program that were not joined when main returns
    #[arg(long, conflicts_with_all = ["robust", "property"])]
    pub(crate) require_join: bool,

    /// Let malloc and its like fail in a C or C++ program, each call by choice
    #[arg(long)]
    pub(crate) malloc_may_fail: bool,

    /// Let threads of a C or C++ program wake up spuriously from condition variables and futexes: once at each call, until they are
    /// woken there
    #[arg(long)]
    pub(crate) spurious: bool,

    /// What a load observes under tso and pso if a store in the buffer of its thread has only a part of its bytes: combine
    /// (these bytes, and the others from memory) or wait (until that store is in memory) [default: combine]
    #[arg(long, value_name = "HOW", value_parser = forwarding)]
    pub(crate) store_forwarding: Option<StoreForwarding>,

    /// The values of __VERIFIER_nondet_int and its like in a C or C++ program, as in 0..7 [default: -1..3]
    #[arg(long, value_name = "FIRST..LAST", value_parser = values, allow_hyphen_values = true)]
    pub(crate) nondet: Option<(i64, i64)>,

    /// Let a C or C++ program read this file. Others are refused. What it writes to files goes nowhere and is shown with an error
    #[arg(long, value_name = "PATH")]
    pub(crate) allow_read: Vec<PathBuf>,

    /// What volatile accesses of a C or C++ program are: plain ones, or relaxed atomic ones [default: plain]
    #[arg(long, value_name = "KIND", value_enum, default_value_t = VolatileKind::Plain, hide_default_value = true)]
    pub(crate) volatile: VolatileKind,

    /// Report memory of a C or C++ program that is not freed and unreachable at the end
    #[arg(long)]
    pub(crate) leaks: bool,

    /// Compare the verdicts of litmus tests with this table (columns: file, model, quantifier, ...)
    #[arg(long, value_name = "FILE")]
    pub(crate) expect: Option<PathBuf>,

    /// Flags for the compiler of a C or C++ program and, after another `--`, the arguments of the program
    #[arg(last = true, value_name = "FLAG")]
    rest: Vec<String>,
}

/// Parses what a load observes that a store overlaps.
fn forwarding(text: &str) -> Result<StoreForwarding, String> {
    match text {
        "combine" => Ok(StoreForwarding::Combine),
        "wait" => Ok(StoreForwarding::Wait),
        _ => Err(String::from("expected combine or wait")),
    }
}

/// What volatile accesses are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VolatileKind {
    /// Plain accesses.
    Plain,
    /// Relaxed atomic ones.
    Relaxed,
}

/// Parses the first and the last of some values.
fn values(text: &str) -> Result<(i64, i64), String> {
    let expected = || String::from("expected the first and the last value, as in 0..7");
    let (first, last) = text.split_once("..").ok_or_else(expected)?;
    let number = |text: &str| text.trim().parse::<i64>().map_err(|_| expected());
    let (first, last) = (number(first)?, number(last)?);
    /// More values than that cannot be tried.
    const MOST: u64 = 1 << 16;
    match last.checked_sub(first) {
        Some(distance) if distance >= 0 && (distance as u64) < MOST => Ok((first, last)),
        _ => Err(format!("expected at least one and at most {MOST} values")),
    }
}

/// The options of `cargo raddle test` that are those of `raddle check`.
#[derive(Debug, Parser)]
#[command(name = "cargo raddle test", version)]
pub(crate) struct TestArgs {
    #[command(flatten)]
    pub(crate) check: CheckArgs,
}

/// Parses a number that is not 0.
fn at_least_one(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) => Err(String::from("expected at least 1")),
        Ok(number) => Ok(number),
        Err(error) => Err(format!("expected a number: {error}")),
    }
}

impl CheckArgs {
    /// The format of the output.
    pub(crate) fn format(&self) -> Format {
        self.output.format(self.json, self.herd)
    }

    /// Chooses JSON.
    pub(crate) fn set_json(&mut self) {
        (self.output, self.json, self.herd) = (OutputArgs::default(), true, false);
    }

    /// The models to explore a program in this language under.
    pub(crate) fn models(&self, language: Language) -> Vec<Model> {
        if self.model.is_empty() {
            return vec![match self.property {
                _ if self.robust => Model::Tso,
                None => language.default_model(),
                Some(Property::NoDataRace) => Model::C20,
                Some(_) => Model::Sc,
            }];
        }
        chosen_models(&self.model)
    }

    /// The explorer that `--explorer`, `--by`, `--open` and the options for random testing select.
    ///
    /// # Errors
    /// If these options contradict each other.
    pub(crate) fn explorer(&self) -> Result<Explorer, String> {
        let named = if self.open { Some(Explorer::RvfOpen) } else { self.explorer };
        let explorer = named.or(self.by.map(Equivalence::explorer)).unwrap_or_default();
        let explorer = explorer.with_sampling(|default| Sampling {
            iterations: self.iterations.unwrap_or(default.iterations),
            seed: self.seed.unwrap_or(default.seed),
            depth: self.depth.unwrap_or(default.depth),
            ..default
        });
        let is_pct = matches!(explorer, Explorer::Pct(_));
        if explorer.sampling().is_none() && (self.iterations.is_some() || self.seed.is_some()) {
            return Err(String::from("--iterations and --seed require --explorer random or pct"));
        }
        if self.depth.is_some() && !is_pct {
            return Err(String::from("--depth requires --explorer pct"));
        }
        let (own, by) = (explorer.equivalence(), self.by.unwrap_or(explorer.equivalence()));
        if own == by {
            return Ok(explorer);
        }
        let (name, other) = (explorer.name(), by.explorer().name());
        let (own, by) = (own.name(), by.name());
        Err(format!("{name} explores by {own}, not by {by}: use --by {own} or --explorer {other}"))
    }

    /// What the environment of a C or C++ program may do, and what counts as an error.
    pub(crate) fn environment(&self, model: Model) -> Environment {
        let kinds = [(FindingKind::Livelock, self.no_livelock), (FindingKind::Race, self.no_races)];
        let ignored = kinds.into_iter().filter(|(_, is_ignored)| *is_ignored);
        let ignored: KindSet = ignored.map(|(kind, _)| kind).collect();
        Environment {
            ignored: self.property.map_or(ignored, Property::ignored),
            spurious: self.spurious,
            malloc_may_fail: self.malloc_may_fail,
            require_join: self.require_join,
            nondet: self.nondet,
            forwarding: self.store_forwarding.unwrap_or_default(),
            races: (self.races || self.property == Some(Property::NoDataRace))
                && model.store_buffers().is_some(),
            volatile_relaxed: self.volatile == VolatileKind::Relaxed,
        }
    }

    /// Returns `true` if memory that is not freed is reported.
    pub(crate) fn reports_leaks(&self) -> bool {
        self.leaks || self.property == Some(Property::ValidMemsafety)
    }

    /// The arguments after `--`: the flags for the compiler and the arguments of the program.
    pub(crate) fn halves(&self) -> (&[String], &[String]) {
        let mut halves = self.rest.splitn(2, |argument| argument == "--");
        (halves.next().unwrap_or_default(), halves.next().unwrap_or_default())
    }

    /// The time between two checkpoints.
    pub(crate) fn every(&self) -> Duration {
        self.every.unwrap_or(Duration::from_secs(5))
    }

    /// Returns `true` if `--every` is given.
    pub(crate) fn is_every_given(&self) -> bool {
        self.every.is_some()
    }

    /// The largest number of rounds of a loop of a litmus test.
    pub(crate) fn unroll_of_litmus(&self) -> u32 {
        self.unroll.unwrap_or(8)
    }

    /// The number of workers.
    pub(crate) fn jobs(&self) -> NonZero<usize> {
        self.jobs.unwrap_or_else(pool::default_jobs)
    }

    /// How many bytes each of several explorations may use at the same time, if that is limited.
    pub(crate) fn memory(&self, explorations: usize) -> Option<u64> {
        let share = || Some(child::default_limit()? / explorations.max(1) as u64);
        self.max_memory.map(|megabytes| megabytes.saturating_mul(1 << 20)).or_else(share)
    }

    /// The limits of an exploration that starts now.
    pub(crate) fn limits(&self) -> Limits {
        let deadline = self.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let (classes, events) = (self.max_executions, self.max_events);
        Limits { classes, deadline, events, rounds: !self.exact, symmetry: false }
    }
}
