//! How executions end.

use crate::Leaf;
use raddle_consistency::check::{Options, check};
use raddle_consistency::witness::{Verdict, Violation};
use raddle_core::execution::{MemoryOrder, ThreadId};
use raddle_core::program::{End, OpKind};
use raddle_core::trace::{Ending, Pending, ThreadEnd, Trace};

use super::Explorer;
use super::graph::Graph;

/// An execution, told to the visitor.
pub(super) struct ReadsFromLeaf {
    ending: Ending,
    trace: Trace,
}

impl Leaf for ReadsFromLeaf {
    fn ending(&self) -> &Ending {
        &self.ending
    }

    fn trace(&self) -> Trace {
        self.trace.clone()
    }
}

impl Explorer<'_> {
    /// An execution in which a thread has failed, or no thread can go on.
    pub(super) fn leaf(&self, graph: &Graph, failed: Option<ThreadId>) -> ReadsFromLeaf {
        let mut trace = graph.trace();
        for (&thread, end) in &mut trace.ends {
            *end = match self.end(graph, thread) {
                Some(End::Finished) => ThreadEnd::Finished,
                Some(End::Assume) => ThreadEnd::Assume,
                Some(End::Repeats(_)) => ThreadEnd::Repeats,
                Some(End::Limit) => ThreadEnd::Limit,
                Some(End::Failed(_)) => ThreadEnd::Failed,
                Some(End::Question(_)) if failed.is_none() => ThreadEnd::Waiting,
                _ => ThreadEnd::Open,
            };
        }
        let pending = |&thread: &ThreadId| {
            let is_there = self.end(graph, thread).is_some();
            let node = graph.cursor(thread).node;
            Some((thread, Pending::of(&self.histories, node).filter(|_| is_there)?))
        };
        trace.pending = trace.ends.keys().filter_map(pending).collect();
        let failure = failed.and_then(|thread| match self.end(graph, thread) {
            Some(End::Failed(failure)) => Some(Ending::Failed(thread, failure.clone())),
            _ => None,
        });
        let race = || self.race(&trace);
        let ending = failure.or_else(race).unwrap_or_else(|| ending(&trace));
        ReadsFromLeaf { ending, trace }
    }

    /// A race of the execution, under a model that has races.
    fn race(&self, trace: &Trace) -> Option<Ending> {
        let is_plain = |kind: OpKind| {
            use OpKind::{Load, Store};
            matches!(kind, Load { order, .. } | Store { order, .. } if order == MemoryOrder::NonAtomic)
        };
        let plain = trace.events.iter().any(|event| is_plain(event.op.kind));
        if self.model.has_store_buffers() || !plain {
            return None;
        }
        let (execution, placed) = trace.to_placed_execution(&*self.program).ok()?;
        let options = Options { shrink: false, ..Options::default() };
        match check(&execution, self.model, &options) {
            Verdict::Inconsistent(Violation::Race { first, second, .. }) => {
                let traced = |event| placed.iter().position(|&place| place == Some(event));
                let [a, b] = [first, second].map(traced);
                a.zip(b).map(|(a, b)| Ending::Race(a.min(b), a.max(b)))
            }
            _ => None,
        }
    }
}

/// How an execution ends in which no thread can go on and none has failed.
fn ending(trace: &Trace) -> Ending {
    let ending_with = |wanted: &[ThreadEnd]| -> Vec<ThreadId> {
        let ends = trace.ends.iter().filter(|(_, end)| wanted.contains(end));
        ends.map(|(&thread, _)| thread).collect()
    };
    if let Some(&thread) = ending_with(&[ThreadEnd::Limit]).first() {
        return Ending::Limit(thread);
    }
    if !ending_with(&[ThreadEnd::Assume, ThreadEnd::Repeats]).is_empty() {
        return Ending::Blocked;
    }
    match ending_with(&[ThreadEnd::Waiting]) {
        waiting if waiting.is_empty() => Ending::Complete,
        waiting => Ending::Deadlock(waiting),
    }
}
