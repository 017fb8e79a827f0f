//! How far to explore, and how far an exploration got.

use std::time::Instant;

use raddle_core::outcome::{Counts, CutThread, Symmetry, Unsupported};
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// How far to explore.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// The maximal number of classes.
    pub classes: Option<u64>,
    /// When to stop.
    pub deadline: Option<Instant>,
    /// The maximal number of events of an execution. `None` lets the explorer choose, and longer executions be explored
    /// unless they seem to be endless.
    pub events: Option<u32>,
    /// Whether reads without effect are left out: rounds of a loop that change nothing, say. Then every outcome, failure,
    /// race, deadlock and livelock is found, but not every class. Only RF-partSMC has that.
    pub rounds: bool,
    /// Whether executions count as one class if they differ only in which of several threads that run the same code does
    /// what. Only RF-partSMC has that.
    pub symmetry: bool,
}

/// How far an exploration got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum Extent {
    /// Everything was explored.
    All,
    /// The visitor stopped the exploration.
    Stopped,
    /// The limit of classes was reached.
    Classes,
    /// The deadline was reached.
    Deadline,
    /// Everything was explored except what follows after some thread reached its limit of events.
    Events,
    /// Random executions were run.
    Sampled,
    /// The explorer gave up.
    Unsupported(Unsupported),
}

/// The counts of an exploration, and how far it got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// How far the exploration got.
    pub extent: Extent,
    /// Classes of executions that ended, with or without an error.
    pub classes: u64,
    /// Classes of blocked executions.
    pub blocked: u64,
    /// Distinct histories of single threads, each of which the program ran once.
    pub histories: u64,
    /// The first thread that was stopped, if the extent is [`Extent::Events`] for that reason.
    pub cut: Option<CutThread>,
    /// Which threads were symmetric, if any were.
    pub symmetry: Option<Symmetry>,
}

impl Summary {
    /// The summary of an explorer that does not support the model.
    pub(crate) fn unsupported_model() -> Self {
        Self::unsupported(Unsupported::Model)
    }

    /// The summary of an explorer that does not support the program.
    pub(crate) fn unsupported(reason: Unsupported) -> Self {
        let extent = Extent::Unsupported(reason);
        Summary { extent, classes: 0, blocked: 0, histories: 0, cut: None, symmetry: None }
    }

    /// The number of runs, if the explorer samples.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.classes + self.blocked
    }

    /// The summary as counts, with `executions` as the number of thread runs.
    #[must_use]
    pub fn counts(&self, executions: u64) -> Counts {
        let &Summary { classes, blocked, histories, .. } = self;
        Counts { classes, blocked, executions, histories, ..Counts::default() }
    }
}
