//! Why an exploration left executions out.

use std::borrow::Cow;
use std::fmt;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// Why an exploration left executions out. Its text continues "incomplete: ".
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum Bound {
    /// The limit on the number of classes was reached.
    Classes,
    /// The time limit was reached.
    Deadline,
    /// The exploration needed more memory than it may use.
    Memory {
        /// The limit in megabytes (2^20 bytes).
        megabytes: u64,
    },
    /// The user ended the exploration.
    Interrupted {
        /// What it was doing.
        phase: Phase,
        /// The number of execution classes that it had explored.
        classes: u64,
    },
    /// A thread exceeds the limit on its events, or an execution that of an explorer.
    Events,
    /// A thread was stopped because of the events of its execution, or the rounds of one of its loops.
    LongExecution(Box<CutThread>),
    /// A loop exceeds its limit of iterations.
    LoopIterations,
    /// Runs were sampled instead of exploring all executions.
    Sampled {
        /// The number of runs.
        runs: u64,
        /// The name of the explorer.
        explorer: Cow<'static, str>,
        /// The seed of the first run.
        seed: u64,
    },
    /// Every execution is blocked, so nothing was checked.
    AllBlocked,
    /// The explorer gave up.
    Unsupported(Unsupported),
    /// The bounds of a bounded check may exclude executions, for these reasons.
    Excluded(Vec<String>),
    /// Only an estimate was asked for.
    Estimated,
    /// A reason that only the front end knows.
    Other(String),
}

/// A thread that was stopped because it, or its execution, exceeds a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct CutThread {
    /// Its name.
    pub thread: String,
    /// The place where it was most often, of its last op if it went on without a question, or of the loop that has too many
    /// rounds.
    pub place: String,
    /// The function that contains the place, if it is known.
    pub function: Option<String>,
    /// What was exceeded.
    pub limit: CutLimit,
}

/// What a thread that was stopped exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum CutLimit {
    /// The bound on the events of an execution.
    Events {
        /// The bound.
        events: u32,
        /// How often the thread was at the place: in a loop, the number of its rounds.
        rounds: u32,
    },
    /// The limit on the rounds of a loop.
    Rounds,
    /// The number of rounds of a loop that does not seem to end, as an execution had too many events because of it.
    Endless {
        /// The number of rounds.
        rounds: u32,
    },
}

impl fmt::Display for CutThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CutThread { thread, place, function, limit } = self;
        let function = function.as_ref().map(|name| format!(" in {name}")).unwrap_or_default();
        match limit {
            CutLimit::Events { events, rounds: 0 | 1 } => write!(
                f,
                "an execution has more than {events} events, most of them of thread {thread}, which was stopped at \
                 {place}{function}"
            ),
            CutLimit::Events { events, rounds } => write!(
                f,
                "an execution has more than {events} events, most of them of thread {thread}, which was stopped after \
                 {rounds} rounds of the loop at {place}{function}"
            ),
            CutLimit::Rounds => write!(
                f,
                "a loop has more rounds than it may have: thread {thread} was stopped at {place}{function}"
            ),
            CutLimit::Endless { rounds } => write!(
                f,
                "a loop does not seem to end: thread {thread} was stopped after {rounds} rounds of the loop at \
                 {place}{function}"
            ),
        }
    }
}

/// What is done with a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum Phase {
    /// It waits for other programs.
    Waiting,
    /// It is compiled and linked.
    Building,
    /// It is loaded, and its executions are explored.
    Exploring,
    /// The number of its executions is estimated.
    Estimating,
}

/// Why an explorer gave up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum Unsupported {
    /// The program accesses memory that no op carries.
    Cells,
    /// The ops of the program contradict each other: it releases a lock that it does not hold, say, or starts
    /// a thread twice.
    Malformed,
    /// The search for a consistent execution was cut off.
    Undecided,
    /// The explorer does not support the memory model.
    Model,
    /// Accesses of different sizes overlap.
    Overlaps,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Classes => f.write_str("the limit on executions was reached"),
            Bound::Deadline => f.write_str("the time limit was reached"),
            Bound::Memory { megabytes } => write!(
                f,
                "the memory limit of {megabytes} MB was reached: raise it with --max-memory, or use fewer workers (--jobs)"
            ),
            Bound::Interrupted { phase, classes: 0 } => write!(f, "interrupted while {phase}"),
            Bound::Interrupted { phase, classes } => {
                let plural = if *classes == 1 { "" } else { "es" };
                write!(f, "interrupted while {phase}, after {classes} execution class{plural}")
            }
            Bound::Events => f.write_str(
                "a thread has more events than its limit, or an execution more than the explorer supports",
            ),
            Bound::LongExecution(thread) => thread.fmt(f),
            Bound::LoopIterations => f.write_str("a loop has more iterations than its limit"),
            Bound::Sampled { runs, explorer, seed } => {
                let plural = if *runs == 1 { "" } else { "s" };
                let runs = format_args!("{runs} run{plural}");
                write!(
                    f,
                    "no bug found in {runs} ({explorer}, seed {seed}); random testing is no proof"
                )
            }
            Bound::AllBlocked => f.write_str("nothing was checked, as every execution is blocked"),
            Bound::Unsupported(reason) => reason.fmt(f),
            Bound::Excluded(reasons) => f.write_str(&reasons.join("; ")),
            Bound::Estimated => f.write_str("this is an estimate"),
            Bound::Other(reason) => f.write_str(reason),
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::Waiting => "waiting for other programs",
            Phase::Building => "compiling the program",
            Phase::Exploring => "exploring",
            Phase::Estimating => "estimating",
        })
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unsupported::Cells => {
                "the explorer does not support memory that threads share without atomic operations"
            }
            Unsupported::Malformed => {
                "the program uses locks or threads in a way that the explorer does not support"
            }
            Unsupported::Undecided => "it is unknown whether the model allows an execution",
            Unsupported::Model => {
                "the explorer does not support the memory model: expected sc, tso or pso"
            }
            Unsupported::Overlaps => {
                "accesses of different sizes overlap, which only the default explorer supports, and only under sc, tso and pso"
            }
        })
    }
}
