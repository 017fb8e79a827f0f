//! Errors that were found.

use std::borrow::Cow;
use std::fmt;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::finding_kind::FindingKind;
use crate::schedule::Schedule;
use crate::trace::NamedTrace;

/// An error, with an execution that shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Finding {
    /// The kind of error.
    pub kind: FindingKind,
    /// The error in one sentence, without a full stop.
    pub message: String,
    /// Where in the source it happens, if there is one such place.
    pub place: Option<Place>,
    /// Other places that take part, such as the other access of a race.
    pub related: Vec<Related>,
    /// Sentences on why it happens.
    pub why: Vec<String>,
    /// Sentences on what prevents it.
    pub help: Vec<String>,
    /// An execution that shows the error.
    pub trace: Option<NamedTrace>,
    /// The execution as a value to store and replay, if the front end can replay it.
    pub schedule: Option<Schedule>,
    /// What the program had learned about itself when the execution was found, in a format of the front end; a replay
    /// needs it.
    pub learned: Option<String>,
    /// The run that shows the error, if runs are sampled.
    pub sample: Option<SampledRun>,
}

impl Finding {
    /// A finding without place and execution.
    pub fn new(kind: FindingKind, message: impl Into<String>) -> Self {
        Finding {
            kind,
            message: message.into(),
            place: None,
            related: vec![],
            why: vec![],
            help: vec![],
            trace: None,
            schedule: None,
            learned: None,
            sample: None,
        }
    }

    /// The text of the place, or an empty string.
    #[must_use]
    pub fn place_text(&self) -> &str {
        self.place.as_ref().map_or("", Place::as_str)
    }
}

/// A position in the source, as the front end writes it: `file:line`, or the text of an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Place(String);

impl Place {
    /// The place with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Place(text.into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A place that takes part in an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Related {
    /// What happens there, in a few words.
    pub message: String,
    /// The place.
    pub place: Place,
}

/// A run of an explorer that samples.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct SampledRun {
    /// The name of the explorer.
    pub explorer: Cow<'static, str>,
    /// The number of the run, from 1.
    pub number: u64,
    /// The seed with which this run is the first one.
    pub seed: u64,
}

/// The message and the place, on two lines.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.place {
            Some(place) => write!(f, "\n  at {place}"),
            None => Ok(()),
        }
    }
}
