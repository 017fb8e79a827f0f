//! Subtrees of the exploration as values: they can be stored, and explored elsewhere.
//!
//! A subtree is the path to its node: which thread's read was tried, what it observed, and which threads had been tried
//! before at the same node, whose causal maps forbid the writes that were there. Threads and events are named by the
//! execution alone, so that another program (in another process, even) that follows the path comes to the same node: a
//! thread by the order in which threads started, an event by the history in whose segment it is, counted along the
//! path. An explorer that comes to a node where the execution is not what it was stops with an error
//! ([`ExecutionHash`]).
//!
//! An exploration that is suspended leaves the nodes on its stack behind, each with what is still to be tried there
//! ([`SuspendedNode`]). What was explored and what is left are disjoint and complete.

use raddle_core::outcome::Symmetry;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::CutThread;
use crate::Extent;
use crate::facts::NewFact;

/// A thread: how many threads started before it in the execution.
pub type ThreadRank = u32;

/// A hash of what the threads of an execution have done.
pub type ExecutionHash = u32;

/// The answer of a question on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum SubtreeAnswer {
    /// This option was chosen.
    Choice(u32),
    /// The initial write was observed.
    Initial {
        /// By a compare-exchange that failed spuriously.
        spurious: bool,
    },
    /// An event was observed.
    Event {
        /// How many histories were reached before the one in whose segment the event is.
        history: u32,
        /// Index of the event in that segment.
        index: u32,
        /// By a compare-exchange that failed spuriously.
        spurious: bool,
    },
}

/// The step from a node to a child.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct SubtreeStep {
    /// The threads that were tried before at the node.
    pub tried: Vec<ThreadRank>,
    /// The thread whose question is answered.
    pub thread: ThreadRank,
    /// The answer.
    pub pick: SubtreeAnswer,
    /// The execution at the node.
    pub seen: ExecutionHash,
}

/// The threads that are still to be tried at a node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct RemainingThreads {
    /// The threads that were tried before.
    pub tried: Vec<ThreadRank>,
    /// The threads that are left, at least one.
    pub threads: Vec<ThreadRank>,
    /// The execution at the node.
    pub seen: ExecutionHash,
}

/// A part of the tree of an exploration. The default is the whole tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Subtree {
    /// The path to its node.
    pub path: Vec<SubtreeStep>,
    /// The threads to try there; `None`: all.
    pub rest: Option<RemainingThreads>,
}

/// A node on the stack of a suspended exploration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct SuspendedNode {
    /// The step to the next node of the stack; at the last node the one that was being explored.
    pub step: SubtreeStep,
    /// Other answers for the thread of that step, which were not tried.
    pub left: Vec<SubtreeAnswer>,
    /// How many answers there are for it, tried or not; the model may reject some.
    pub answers: u32,
    /// Threads that were not tried.
    pub rest: Vec<ThreadRank>,
    /// Whether these can be skipped if what other threads do does not matter to the thread of the step.
    pub can_skip: bool,
    /// Whether it matters, as far as the subtree was explored.
    pub matters: bool,
}

/// The result of exploring a subtree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct SubtreeReport {
    /// Number of classes of complete (or erroneous) executions.
    pub classes: u64,
    /// Number of classes of blocked ones.
    pub blocked: u64,
    /// Whether some thread reached a limit of events.
    pub hit_limit: bool,
    /// For every step of the path to the subtree, whether something in the subtree matters to the thread of the step.
    pub matters: Vec<bool>,
    /// What is left, if it was suspended: the nodes of the stack, beginning with that of the subtree.
    pub frames: Vec<SuspendedNode>,
    /// Why the exploration as a whole ends, if it does.
    pub ends: Option<Extent>,
    /// The first thread that was stopped because of the events of its execution.
    #[cfg_attr(feature = "serde", serde(default))]
    pub cut: Option<CutThread>,
    /// Symmetric threads, and the counts if renamed classes count.
    #[cfg_attr(feature = "serde", serde(default))]
    pub symmetry: Option<Symmetry>,
    /// What was learned: the whole exploration starts over.
    #[cfg_attr(feature = "serde", serde(default))]
    pub fact: Option<NewFact>,
    /// What the program has learned ([`Program::learned`](raddle_core::program::Program::learned)).
    pub learned: String,
}
