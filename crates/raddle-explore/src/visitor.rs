//! What an explorer reports: maximal executions, one per class.

use std::collections::BTreeMap;

use raddle_core::execution::ThreadId;
use raddle_core::program::End;
use raddle_core::trace::{Ending, Observed, ThreadEnd, Trace};

/// A maximal execution, which represents its class.
pub trait Leaf {
    /// How it ended.
    fn ending(&self) -> &Ending;
    /// Its trace. Computed on each call, in time linear in the execution.
    fn trace(&self) -> Trace;
    /// By event of the trace: all that it may have observed in executions of the class. `None`: only what it did
    /// observe.
    fn alternatives(&self) -> Option<Vec<Vec<Observed>>> {
        None
    }
}

/// Whether an exploration continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Explore the rest.
    Continue,
    /// Stop here.
    Stop,
}

/// Receives the leaves of an exploration, each class once.
pub trait Visitor {
    /// Visits a leaf.
    fn visit(&mut self, leaf: &dyn Leaf) -> Control;
}

impl<F: FnMut(&dyn Leaf) -> Control> Visitor for F {
    fn visit(&mut self, leaf: &dyn Leaf) -> Control {
        self(leaf)
    }
}

/// How an execution ended in which not all threads finished.
///
/// # Errors
/// Returns the threads that repeat themselves, if the ending depends on whether they do so forever: that is up to the
/// explorer.
pub(crate) fn ending_of(
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
