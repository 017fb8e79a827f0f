//! Exploring programs: every behaviour that a memory model allows, each class of behaviours once.
//!
//! Two executions are in the same *reads-from class* if their threads do the same and every read
//! observes the same write. An explorer visits every class that the model allows, and none twice; each
//! is handed to a [`Visitor`] as a [`Leaf`]. Those of [`traces`] tell also executions apart in which writes reach
//! memory in another order; [`reads_value_from`] explores larger classes, in which reads need only get the same
//! values.

pub mod c11;
pub mod face;
mod linear;
pub mod online;
pub mod parallel;
pub mod reads_from;
pub mod reads_from_compact;
pub mod reads_value_from;
pub mod report;
pub mod row;
pub mod table;
pub mod trace;
pub mod traces;

use std::collections::BTreeMap;
use std::time::Instant;

pub use trace::{Class, Observed, Pending, ShashaSnir, ThreadEnd, Trace, TraceEvent};

use serde::{Deserialize, Serialize};

use crate::execution::ThreadId;
use crate::program::{End, Failure};

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All threads finished.
    Complete,
    /// No thread can go on, because an assumption failed somewhere or a thread waits in a loop for a
    /// value that may still come. Of no interest.
    Blocked,
    /// No thread can go on, and these wait for locks, synchronization objects or each other.
    Deadlock(Vec<ThreadId>),
    /// These threads go on for ever without anybody making progress.
    Livelock(Vec<ThreadId>),
    /// A thread failed.
    Failed(ThreadId, Failure),
    /// Two accesses race: their positions in the trace.
    Race(usize, usize),
    /// A thread reached the limit of its events: what comes after it was not explored.
    Limit(ThreadId),
}

impl Ending {
    /// Whether something went wrong.
    #[must_use]
    pub fn is_wrong(&self) -> bool {
        match self {
            Ending::Complete | Ending::Blocked | Ending::Limit(_) => false,
            Ending::Deadlock(_) | Ending::Livelock(_) | Ending::Failed(..) | Ending::Race(..) => {
                true
            }
        }
    }
}

/// How an execution ended whose threads ended so, not all of them finished. Or these threads repeat themselves: whether
/// for ever is for the explorer to say.
fn ending_of(
    ends: &BTreeMap<ThreadId, ThreadEnd>,
    end: impl Fn(ThreadId) -> End,
) -> Result<Ending, Vec<ThreadId>> {
    let with = |wanted| ends.iter().filter(move |(_, end)| **end == wanted).map(|(&it, _)| it);
    if let Some(thread) = with(ThreadEnd::Failed).next() {
        let End::Failed(failure) = end(thread) else { unreachable!("the thread has failed") };
        return Ok(Ending::Failed(thread, failure));
    }
    if let Some(thread) = with(ThreadEnd::Limit).next() {
        return Ok(Ending::Limit(thread));
    }
    if with(ThreadEnd::Assume).next().is_some() {
        return Ok(Ending::Blocked);
    }
    let repeating: Vec<ThreadId> = with(ThreadEnd::Repeats).collect();
    if repeating.is_empty() {
        return Ok(Ending::Deadlock(with(ThreadEnd::Waiting).collect()));
    }
    Err(repeating)
}

/// A maximal execution.
pub trait Leaf {
    /// How it ended.
    fn ending(&self) -> &Ending;
    /// What happened.
    fn trace(&self) -> Trace;
    /// By event of the trace, what it may have observed: executions that differ in that only are not told
    /// apart. Nothing: what it did observe.
    fn alternatives(&self) -> Option<Vec<Vec<Observed>>> {
        None
    }
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Explore the rest.
    Continue,
    /// Stop here.
    Stop,
}

/// What is told about every maximal execution.
pub trait Visitor {
    /// A class was seen.
    fn visit(&mut self, leaf: &dyn Leaf) -> Control;
}

impl<F: FnMut(&dyn Leaf) -> Control> Visitor for F {
    fn visit(&mut self, leaf: &dyn Leaf) -> Control {
        self(leaf)
    }
}

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

/// Why an explorer gave up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unsupported {
    /// The program accesses memory that no op carries.
    Cells,
    /// What the program does makes no sense: it releases a lock that it does not hold, say, or starts
    /// a thread twice.
    Malformed,
    /// It could not be told whether the model allows an execution.
    Undecided,
    /// It cannot explore under this model.
    Model,
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
