//! How executions end.

use crate::ending_of;
use crate::{Leaf, Unsupported};
use raddle_consistency::check::{CheckOptions, check};
use raddle_consistency::witness::{ConsistencyVerdict, Violation};
use raddle_core::execution::{MemoryOrder, ThreadId};
use raddle_core::program::{End, OpKind};
use raddle_core::trace::{Ending, Pending, ThreadEnd, Trace, map_of};

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

impl ReadsFromLeaf {
    /// Returns `true` if a thread has more events than its limit.
    pub(super) fn hit_limit(&self) -> bool {
        self.trace.ends.values().any(|&end| end == ThreadEnd::Limit)
    }
}

impl Explorer<'_> {
    /// An execution in which no thread can go on, or that stopped at a race of cells.
    pub(super) fn leaf(
        &self,
        graph: &Graph,
        race: Option<(usize, usize)>,
    ) -> Result<ReadsFromLeaf, Unsupported> {
        let mut trace = graph.trace();
        for (&thread, end) in &mut trace.ends {
            *end = match self.end(graph, thread) {
                Some(End::Finished) => ThreadEnd::Finished,
                Some(End::Assume) => ThreadEnd::Assume,
                Some(End::Repeats(_)) => ThreadEnd::Repeats,
                Some(End::Limit | End::Unrolled(_)) => ThreadEnd::Limit,
                Some(End::Failed(_)) => ThreadEnd::Failed,
                Some(End::Question(_)) if race.is_none() => ThreadEnd::Waiting,
                _ => ThreadEnd::Open,
            };
        }
        let pending = |&thread: &ThreadId| {
            self.end(graph, thread)?;
            Some((thread, Pending::of(&self.histories, graph.cursor(thread).node)?))
        };
        trace.pending = map_of(trace.ends.keys().filter_map(pending));
        let race = race.map(|(first, second)| Ending::Race(first, second));
        let ending = match race.or_else(|| self.race(&trace)) {
            Some(race) => race,
            None => self.ending(graph, &trace)?,
        };
        Ok(ReadsFromLeaf { ending, trace })
    }

    fn last_end(&self, graph: &Graph, thread: ThreadId) -> &End {
        self.histories.end(graph.cursor(thread).node)
    }

    /// How an execution without a race ended.
    fn ending(&self, graph: &Graph, trace: &Trace) -> Result<Ending, Unsupported> {
        if trace.ends.values().all(|&end| end == ThreadEnd::Finished) {
            return Ok(Ending::Complete);
        }
        let repeating = match ending_of(&trace.ends, |it| self.last_end(graph, it).clone()) {
            Ok(ending) => return Ok(ending),
            Err(repeating) => repeating,
        };
        let is_livelock = self.is_livelock(trace)?;
        Ok(if is_livelock { Ending::Livelock(repeating) } else { Ending::Blocked })
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
        let options = CheckOptions { shrink: false, ..CheckOptions::default() };
        match check(&execution, self.model, &options) {
            ConsistencyVerdict::Inconsistent(Violation::Race { first, second, .. }) => {
                let traced = |event| placed.iter().position(|&place| place == Some(event));
                let [a, b] = [first, second].map(traced);
                a.zip(b).map(|(a, b)| Ending::Race(a.min(b), a.max(b)))
            }
            _ => None,
        }
    }
}
