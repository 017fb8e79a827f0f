//! Subtrees of the exploration as values: they can be kept, and explored elsewhere.
//!
//! A subtree is the way to its node: which thread's read was tried, what it observed, and which threads had
//! been tried before at the same node, whose causal maps forbid what was there. Threads and events are
//! named by the execution alone, so that another program (another process, even) that follows the way comes to
//! the same node: a thread by the order in which threads started, an event by the history in whose segment it is,
//! counted along the way. Who follows a way to a place where the execution is not what it was stops there ([`Seen`]).
//!
//! An exploration that stops in the middle leaves the nodes on its stack behind, each with what is still to be tried
//! there ([`Frame`]). What was explored and what is left are disjoint and complete.

use serde::{Deserialize, Serialize};

/// A thread: how many threads started before it in the execution.
pub type Rank = u32;

/// What an execution looked like at a node: a hash of what its threads had done.
pub type Seen = u32;

/// What a question was answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pick {
    /// This number was chosen.
    Choice(u32),
    /// The initial write was observed.
    Initial {
        /// By a compare-exchange that failed nevertheless.
        spurious: bool,
    },
    /// An event was observed.
    Event {
        /// How many histories were reached before the one in whose segment the event is.
        history: u32,
        /// Which event of that segment.
        index: u32,
        /// By a compare-exchange that failed nevertheless.
        spurious: bool,
    },
}

/// From a node to a child.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The threads that were tried before.
    pub tried: Vec<Rank>,
    /// The thread whose question is answered.
    pub thread: Rank,
    /// The answer.
    pub pick: Pick,
    /// What the execution looked like before.
    pub seen: Seen,
}

/// The threads that are still to be tried at a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rest {
    /// Those that were tried before.
    pub tried: Vec<Rank>,
    /// Those that are left, not none.
    pub threads: Vec<Rank>,
    /// What the execution looked like.
    pub seen: Seen,
}

/// A part of the tree of an exploration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subtree {
    /// The way to its node.
    pub path: Vec<Step>,
    /// What is explored there, if that is not everything.
    pub rest: Option<Rest>,
}

/// A node on the stack of an exploration that was suspended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The step to the next node of the stack, if there is one.
    pub step: Step,
    /// Other answers for the thread of that step, which were not tried.
    pub left: Vec<Pick>,
    /// How many answers there are for it, tried or not; the model may forbid some.
    pub answers: u32,
    /// Threads that were not tried.
    pub rest: Vec<Rank>,
    /// Whether they need not be tried if what the others do does not matter to the thread of the step.
    pub can_skip: bool,
    /// Whether it does, as far as that was explored.
    pub matters: bool,
}

/// What came of exploring a subtree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// How many classes there are.
    pub classes: u64,
    /// How many blocked ones.
    pub blocked: u64,
    /// Whether some thread reached a limit of events.
    pub hit_limit: bool,
    /// For every step of the way to the subtree, whether something in it matters to the thread of the step.
    pub matters: Vec<bool>,
    /// What is left, if it was suspended: the nodes of the stack, the first being that of the subtree.
    pub frames: Vec<Frame>,
    /// Whether the exploration as a whole is to end, and why.
    pub ends: Option<super::super::Extent>,
    /// What the program has learned ([`Program::learned`](raddle_core::program::Program::learned)).
    pub learned: String,
}
