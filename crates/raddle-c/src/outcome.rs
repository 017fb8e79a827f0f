//! What comes out of an exploration.

use std::fmt;

use raddle_core::outcome::FindingKind;
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

/// Something that is wrong.
#[derive(Clone, Debug)]
pub struct Bug {
    /// What kind of thing.
    pub kind: FindingKind,
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
