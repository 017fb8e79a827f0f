//! What comes of exploring a program under a model.

use std::fmt;
use std::io;

use raddle_core::model::Model;
use raddle_explore::plan;
use raddle_explore::{Extent, Unsupported};
use serde::Serialize;

use crate::status::Status;

/// What an exploration says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    /// Everything was explored, and nothing is wrong.
    Clean,
    /// Something is wrong.
    Bug,
    /// Nothing wrong was found, but not everything was explored.
    Incomplete,
}

/// Something that is wrong.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Bug {
    /// What kind of thing: a word.
    pub(crate) kind: String,
    /// What it is, in a sentence.
    pub(crate) message: String,
    /// Where in the source.
    pub(crate) place: String,
    /// The execution in which it happens, for programs.
    pub(crate) trace: String,
}

/// How large an exploration is, about.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Size {
    /// How many classes of executions there are.
    pub(crate) classes: f64,
    /// The standard error of that.
    pub(crate) error: f64,
    /// How long it takes.
    pub(crate) seconds: f64,
}

/// What came of exploring a program under a model.
pub(crate) struct Answer {
    pub(crate) program: String,
    pub(crate) model: Model,
    pub(crate) verdict: Verdict,
    /// How many classes of executions there are, as far as they were explored.
    pub(crate) classes: u64,
    /// How many classes of executions that did not end.
    pub(crate) blocked: u64,
    /// How often the program ran.
    pub(crate) executions: u64,
    pub(crate) seconds: f64,
    pub(crate) bug: Option<Bug>,
    /// Why not everything was explored, if it was not.
    pub(crate) bound: Option<String>,
    /// How large it is, if that was asked and it was not explored to the end.
    pub(crate) estimate: Option<Size>,
    /// What a litmus test has in addition.
    pub(crate) litmus: Option<Facts>,
    /// The verdict in a table.
    pub(crate) word: String,
    /// The whole answer, for people.
    pub(crate) text: String,
    /// What `--trace` writes.
    pub(crate) trace: Option<String>,
}

impl Answer {
    /// What stopped the exploration: something that makes no sense.
    pub(crate) fn failure(&self) -> Option<&Bug> {
        let goes_on = |kind: &str| matches!(kind, "race" | "condition");
        self.bug.as_ref().filter(|bug| self.litmus.is_some() && !goes_on(&bug.kind))
    }

    /// The exit status that the answer asks for.
    pub(crate) fn status(&self) -> Status {
        if self.bug.as_ref().is_some_and(|bug| bug.kind == UNSUPPORTED) {
            return Status::Failed;
        }
        match self.verdict {
            Verdict::Clean => Status::Good,
            Verdict::Bug => Status::Inconsistent,
            Verdict::Incomplete => Status::Unknown,
        }
    }
}

/// The kind of a bug that is none: the program does what is not modelled.
pub(crate) const UNSUPPORTED: &str = "unsupported";

/// Why an exploration did not see everything, if it did not.
pub(crate) fn bound(extent: Extent) -> Option<&'static str> {
    match extent {
        Extent::All | Extent::Stopped => None,
        Extent::Sampled => Some("only some executions were tried, by chance"),
        Extent::Classes => Some("the limit of executions was reached"),
        Extent::Deadline => Some("the time was up"),
        Extent::Events => {
            Some("the limit of a loop, or of the events of an execution, was reached")
        }
        Extent::Unsupported(Unsupported::Cells) => {
            Some("the explorer does not know memory that no operation carries")
        }
        Extent::Unsupported(Unsupported::Malformed) => Some("the program makes no sense"),
        Extent::Unsupported(Unsupported::Undecided) => {
            Some("it could not be told whether the model allows an execution")
        }
        Extent::Unsupported(Unsupported::Model) => {
            Some("the explorer cannot explore under this model")
        }
    }
}

/// Why a file is no program that can be explored.
#[derive(Debug, Serialize)]
pub(crate) struct LoadError {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<usize>,
    pub(crate) message: String,
}

impl LoadError {
    /// An error that is about the whole file.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        LoadError { line: None, column: None, message: message.into() }
    }

    /// A file that cannot be read.
    pub(crate) fn unreadable(error: &io::Error) -> Self {
        LoadError::new(format!("cannot read: {error}"))
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, "{line}:{column}: ")?;
        } else {
            f.write_str(" ")?;
        }
        f.write_str(&self.message)
    }
}

/// What a litmus test came to.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Facts {
    /// Its name.
    pub(crate) test: String,
    /// `exists`, `~exists` or `forall`.
    pub(crate) quantifier: &'static str,
    /// The quantifier and the condition.
    pub(crate) condition: String,
    /// The final states, over what the condition and `locations` name, in herd's order.
    pub(crate) states: Vec<String>,
    /// How many classes satisfy the condition, and how many do not.
    pub(crate) positive: u64,
    pub(crate) negative: u64,
    /// `Never`, `Sometimes` or `Always`.
    pub(crate) observation: &'static str,
    /// Whether what the quantifier claims holds.
    pub(crate) ok: bool,
    /// Whether there is a data race.
    pub(crate) race: bool,
}

/// What came of one program.
pub(crate) struct Outcome {
    pub(crate) name: String,
    /// The answers under the models that go with it, or why there are none.
    pub(crate) answers: Result<Vec<Answer>, LoadError>,
    /// Models that were asked for and do not go with it.
    pub(crate) refused: Vec<plan::Unsupported>,
}

impl Outcome {
    pub(crate) fn answer(&self, model: Model) -> Option<&Answer> {
        self.answers.as_ref().ok()?.iter().find(|answer| answer.model == model)
    }
}
