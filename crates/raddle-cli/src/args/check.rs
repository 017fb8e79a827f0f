//! The options of `raddle check`.

use std::num::NonZero;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use raddle_core::model::Model;
use raddle_explore::Limits;
use raddle_explore::plan::{Equivalence, Explorer, Language};
use raddle_explore::sampling::Sampling;

use super::model_choice::{ModelChoice, chosen_models};
use super::seconds::seconds;
use crate::pool;

/// What `raddle check --help` shows below the options.
pub(super) const EXAMPLES: &str = "\
Exit status: 0 explored completely and clean, 1 a bug (a race, a state that '~exists' or 'forall'
excludes, or with --expect another verdict than expected), 2 bad input or usage, 3 incomplete: a
bound was reached. Of several, the first of 2, 1, 3, 0 counts.

Files of a C or C++ program that are compiled already (.o, or a whole program in C as one .so, linked
without -fsanitize=thread) need the flags
  -O0 -g -fPIC -fno-common -fno-builtin -fsanitize=thread -fno-omit-frame-pointer
  -fcf-protection=none -mno-avx -U_FORTIFY_SOURCE
and are refused, with the line, where such code does not say all that it does.

Examples:
  raddle check examples/peterson.c --model tso
  raddle check queue.cpp main.cpp --model c20 --cc g++ -- -std=c++20 -DN=2 -- argument
  raddle check examples/store-buffering.litmus
  raddle check examples/*.litmus --model sc,tso,pso,rc11
  raddle check examples/peterson.c --robust --model tso
  raddle check corpus/litmus --model sc,tso,rc11 --expect corpus/litmus/oracle.tsv";

/// What `raddle check --help` shows above the options.
pub(super) const ABOUT: &str = "\
Explore programs: all behaviours that memory models allow

A litmus test, in the format of herd, is a small program and a question about its final states. One
test under one model is answered in herd's words; several in a table. Two executions count as one
behaviour if every read observes the same write in both: Positive, Negative and the numbers of
Observation count such classes, where herd counts candidate executions.";

/// With what an exploration is not divided into parts.
const UNDIVIDED: [&str; 6] = ["estimate", "robust", "leaks", "max_executions", "herd", "expect"];

/// The options of `raddle check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Programs to explore: a C or C++ program (.c, .cc, .cpp, .cxx, .o, .so; several files are linked together),
    /// litmus tests (.litmus), or directories with such
    #[arg(value_name = "PROGRAM", required = true)]
    pub(crate) programs: Vec<PathBuf>,

    /// Memory models, with commas (see `raddle models`), or all [default: tso for x86, c20 for C]
    #[arg(long, value_name = "MODELS", value_delimiter = ',')]
    model: Vec<ModelChoice>,

    /// When two executions count as the same: rf, if every read observes the same write, or under sc, tso and
    /// pso trace, if also all writes of a location reach memory in the same order, or rvf, if every read gets the
    /// same value and the causal orders of the reads agree [default: rf]
    #[arg(long, value_name = "EQUIVALENCE")]
    by: Option<Equivalence>,

    /// The algorithm: compact (RF-partSMC) or reads-from (RF-SMC) by rf, optimal (Optimal-DPOR) or source
    /// (Source-DPOR) by trace, reads-value-from (RVF-SMC) by rvf; or random or pct, which run the program again and
    /// again and prove nothing [default: compact by rf, optimal by trace]
    #[arg(long, value_name = "NAME")]
    explorer: Option<Explorer>,

    /// By rvf, let reads observe also what is written later if it has the same value: fewer classes, for assertions
    /// about what threads read; an experiment (SOUNDNESS.md)
    #[arg(long, requires = "by", conflicts_with = "explorer")]
    open: bool,

    /// With random and pct: at most this many runs [default: 10000]
    #[arg(long, value_name = "N")]
    iterations: Option<u64>,

    /// With random and pct: the seed of the first run; the others follow from it [default: 0]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,

    /// With pct: how many things must come together for an error, at most [default: 3]
    #[arg(long, value_name = "D")]
    depth: Option<u32>,

    /// Under tso or pso, ask whether there is an execution that sc does not allow, and which fences help
    #[arg(long, conflicts_with_all = ["herd", "expect"])]
    pub(crate) robust: bool,

    /// Number of workers: for several programs and models, or for parts of one exploration of a C or C++ program
    /// [default: the number of processors]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZero<usize>>,

    /// Stop each exploration after this many executions
    #[arg(long, value_name = "N")]
    max_executions: Option<u64>,

    /// Stop each exploration after this many seconds
    #[arg(long, visible_alias = "time", value_name = "S", value_parser = seconds)]
    timeout: Option<Duration>,

    /// Keep what is left of the exploration of a C or C++ program in this file
    #[arg(long, value_name = "FILE", conflicts_with_all = UNDIVIDED)]
    pub(crate) checkpoint: Option<PathBuf>,

    /// Seconds between two checkpoints
    #[arg(long, value_name = "S", value_parser = seconds, default_value = "5")]
    pub(crate) every: Duration,

    /// Go on with what is left in a file that --checkpoint has written
    #[arg(long, value_name = "FILE", conflicts_with_all = UNDIVIDED)]
    pub(crate) resume: Option<PathBuf>,

    /// Say in two seconds how many classes a C or C++ program has, about, and how long it would take
    #[arg(long, conflicts_with_all = ["robust", "leaks", "expect"])]
    pub(crate) estimate: bool,

    /// How often a thread may come back to a place in its code
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) unroll: u32,

    /// Print one JSON object on a line for each program and model
    #[arg(long, conflicts_with = "herd")]
    pub(crate) json: bool,

    /// Show an execution: one with a race, or one that satisfies the condition (of 'forall': does not)
    #[arg(long, conflicts_with = "json")]
    pub(crate) explain: bool,

    /// Print every litmus test as herd does, instead of a table
    #[arg(long)]
    pub(crate) herd: bool,

    /// Write an execution that shows the bug, or of a litmus test the state asked for, to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,

    /// The compiler of a C or C++ program [default: gcc if it is installed, otherwise clang]
    #[arg(long, value_name = "COMPILER")]
    pub(crate) cc: Option<String>,

    /// Look for memory of a C or C++ program that is never freed and that nothing points to in the end
    #[arg(long)]
    pub(crate) leaks: bool,

    /// Compare with the verdicts in this table (file, model, quantifier, ...)
    #[arg(long, value_name = "FILE")]
    pub(crate) expect: Option<PathBuf>,

    /// Flags for the compiler of a C or C++ program, and behind another `--` the program's arguments
    #[arg(last = true, value_name = "FLAG")]
    rest: Vec<String>,
}

impl CheckArgs {
    /// The models for a program in this language.
    pub(crate) fn models(&self, language: Language) -> Vec<Model> {
        if self.model.is_empty() {
            return vec![if self.robust { Model::Tso } else { language.default_model() }];
        }
        chosen_models(&self.model)
    }

    /// The algorithm that is meant.
    ///
    /// # Errors
    /// If the one that is named does not explore by what is named.
    pub(crate) fn explorer(&self) -> Result<Explorer, String> {
        let named = if self.open { Some(Explorer::RvfOpen) } else { self.explorer };
        let explorer = named.or(self.by.map(Equivalence::explorer)).unwrap_or_default();
        let explorer = explorer.with_sampling(|usual| Sampling {
            iterations: self.iterations.unwrap_or(usual.iterations),
            seed: self.seed.unwrap_or(usual.seed),
            depth: self.depth.unwrap_or(usual.depth),
            ..usual
        });
        let is_pct = matches!(explorer, Explorer::Pct(_));
        if explorer.sampling().is_none() && (self.iterations.is_some() || self.seed.is_some()) {
            return Err(String::from("--iterations and --seed go with --explorer random or pct"));
        }
        if self.depth.is_some() && !is_pct {
            return Err(String::from("--depth goes with --explorer pct"));
        }
        let (own, by) = (explorer.equivalence(), self.by.unwrap_or(explorer.equivalence()));
        if own == by {
            return Ok(explorer);
        }
        let (name, own, by) = (explorer.name(), own.name(), by.name());
        Err(format!("the explorer {name} explores by {own}: it does not go with --by {by}"))
    }

    /// The flags for the compiler, and the arguments of the program.
    pub(crate) fn halves(&self) -> (&[String], &[String]) {
        let mut halves = self.rest.splitn(2, |argument| argument == "--");
        (halves.next().unwrap_or_default(), halves.next().unwrap_or_default())
    }

    /// How many threads to work on.
    pub(crate) fn jobs(&self) -> NonZero<usize> {
        self.jobs.unwrap_or_else(pool::default_jobs)
    }

    /// How far an exploration that starts now may go.
    pub(crate) fn limits(&self) -> Limits {
        let deadline = self.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Limits { classes: self.max_executions, deadline }
    }
}
