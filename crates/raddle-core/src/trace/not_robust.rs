//! Why sequential consistency forbids an execution, and which fences restore it.

use std::collections::BTreeSet;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::Trace;
use crate::program::PlaceId;

/// Evidence that sequential consistency forbids an execution that another model allows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct NotRobust {
    /// A part of the execution that SC forbids, too, if one was found; otherwise the whole execution.
    pub part: Trace,
    /// A cycle of events of `part`: under SC every event would come before the next one, and the last
    /// one before the first. Empty if none was found.
    pub cycle: Vec<CycleEdge>,
    /// The fences that make the program robust.
    pub fences: FenceSearch,
}

/// Two events of a cycle, given by their indices in the trace, the first of which comes before the
/// second under SC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct CycleEdge {
    /// The index of the first event.
    pub from: usize,
    /// The index of the second event.
    pub to: usize,
    /// Why the first comes before the second.
    pub relation: CycleRelation,
}

/// Why an event comes before another one under SC (Shasha and Snir 1988).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum CycleRelation {
    /// Program order.
    ProgramOrder,
    /// A spawn comes before the events of the spawned thread, and these before the join.
    SpawnOrJoin,
    /// The second reads from the first.
    ReadsFrom,
    /// The second overwrites the first.
    Coherence,
    /// The second overwrites what the first reads.
    FromReads,
}

/// The result of the search for a smallest set of fences.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum FenceSearch {
    /// There was no search, as only one execution was looked at.
    NotDone,
    /// The deadline was reached before the search ended.
    Deadline,
    /// The search gave up for another reason.
    Undecided,
    /// With these full fences, but with no smaller set, the program is robust.
    Found(BTreeSet<Fence>),
}

/// A full fence that could be inserted into the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Fence {
    /// On which side of the access.
    pub side: FenceSide,
    /// The position of the access.
    pub place: PlaceId,
}

/// The side of an access on which to insert a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum FenceSide {
    /// Directly after a store.
    AfterStore,
    /// Directly before a load.
    BeforeLoad,
}
