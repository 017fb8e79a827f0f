//! What comes out of an exploration.

use std::fmt;

use raddle_core::trace::{Ending, Trace};

/// What an exploration says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All executions were explored, and nothing is wrong.
    Clean,
    /// Something is wrong.
    Bug,
    /// Nothing wrong was found, but not all executions were explored.
    Incomplete,
}

/// What can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BugKind {
    /// An assertion failed.
    Assertion,
    /// The program aborts, or calls an error function.
    Abort,
    /// The system would have killed the program: a wild pointer, a division by zero.
    Crash,
    /// The stack overflowed.
    StackOverflow,
    /// A block of memory was used after it had been freed.
    UseAfterFree,
    /// A block of memory was freed twice, or something was freed that is no block.
    DoubleFree,
    /// A block of memory is never freed, and nothing points to it in the end.
    Leak,
    /// An access beside a block of memory.
    HeapOverflow,
    /// A lock or thread was used against its rules.
    Misuse,
    /// Threads wait for each other.
    Deadlock,
    /// Threads spin for ever.
    Livelock,
    /// Two accesses race.
    Race,
    /// A loop without any access to memory goes on for ever.
    EndlessLoop,
    /// The program does what is not modelled.
    Unsupported,
    /// The program does not only depend on what its threads read.
    Nondeterminism,
    /// The model allows an execution that SC does not allow.
    NotRobust,
}

impl BugKind {
    /// Its name, for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            BugKind::Assertion => "assertion",
            BugKind::Abort => "abort",
            BugKind::Crash => "crash",
            BugKind::StackOverflow => "stack-overflow",
            BugKind::UseAfterFree => "use-after-free",
            BugKind::DoubleFree => "double-free",
            BugKind::Leak => "leak",
            BugKind::HeapOverflow => "heap-overflow",
            BugKind::Misuse => "misuse",
            BugKind::Deadlock => "deadlock",
            BugKind::Livelock => "livelock",
            BugKind::Race => "race",
            BugKind::EndlessLoop => "endless-loop",
            BugKind::Unsupported => "unsupported",
            BugKind::Nondeterminism => "nondeterminism",
            BugKind::NotRobust => "not-robust",
        }
    }
}

/// Something that is wrong.
#[derive(Clone, Debug)]
pub struct Bug {
    /// What kind of thing.
    pub kind: BugKind,
    /// What it is, in a sentence.
    pub message: String,
    /// Where in the source.
    pub place: String,
    /// The execution in which it happens, for people.
    pub report: String,
    /// What the program printed in it.
    pub printed: String,
    /// The execution in one line: what every question of every thread observed.
    pub schedule: String,
    /// How it ended.
    pub ending: Ending,
    /// The execution.
    pub trace: Trace,
}

/// What came out of an exploration.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Whether all is well.
    pub verdict: Verdict,
    /// How many classes of executions there are, as far as they were explored.
    pub classes: u64,
    /// How many classes of executions that did not end: an assumption failed, or a thread waits in a
    /// loop.
    pub blocked: u64,
    /// How often a thread was run from its beginning.
    pub executions: u64,
    /// How many histories of single threads there are.
    pub histories: u64,
    /// How long it took, with compiling.
    pub seconds: f64,
    /// How long it took to compile and load.
    pub start_up: f64,
    /// What is wrong.
    pub bug: Option<Bug>,
    /// Why not everything was explored, if a bound was the reason.
    pub bound: Option<String>,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(bug) = &self.bug {
            write!(f, "{bug}")?;
        }
        if let Some(bound) = &self.bound {
            write!(f, "{bound}: ")?;
        }
        write!(
            f,
            "{} classes of executions explored, {} blocked, {} runs, {:.3} s",
            self.classes, self.blocked, self.executions, self.seconds
        )
    }
}

impl fmt::Display for Bug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.message)?;
        writeln!(f, "  at {}", self.place)?;
        write!(f, "\n{}\n", self.report)
    }
}
