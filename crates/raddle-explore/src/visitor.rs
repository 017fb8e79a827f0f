//! What an explorer reports: maximal executions, one per class.

use std::collections::BTreeMap;

use raddle_core::execution::ThreadId;
use raddle_core::program::End;
use raddle_core::trace::{Ending, Observed, ThreadEnd, Trace};

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

/// How an execution ended whose threads ended so, not all of them finished. Or these threads repeat themselves: whether
/// for ever is for the explorer to say.
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
