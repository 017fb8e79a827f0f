//! How far to explore, and how far an exploration got.

use std::time::Instant;

use raddle_core::outcome::Unsupported;
use serde::{Deserialize, Serialize};

/// How far to explore.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// At most so many classes.
    pub classes: Option<u64>,
    /// Until then.
    pub deadline: Option<Instant>,
}

/// How far an exploration got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Extent {
    /// Everything was seen.
    All,
    /// The visitor stopped it.
    Stopped,
    /// The limit of classes was reached.
    Classes,
    /// The time was up.
    Deadline,
    /// Everything was seen except what comes after the limit of events of some thread.
    Events,
    /// Some executions were seen, by chance.
    Sampled,
    /// The explorer met something that it cannot explore, and gave up.
    Unsupported(Unsupported),
}

/// What an exploration did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// How far it got.
    pub extent: Extent,
    /// How many classes of complete (or erroneous) executions there are.
    pub classes: u64,
    /// How many classes of blocked ones.
    pub blocked: u64,
    /// How often the program ran: how many histories of single threads there are.
    pub histories: u64,
}
