//! Causal pasts: the part of a trace that led to some of its events.
//!
//! The causal past of an event contains the earlier events of its thread, the event that it observes, the
//! spawn of its thread and, for a join, the spawn of the joined thread; and the causal pasts of these.
//! If a model allows an execution, it also allows the causal past of any of its events. So a report can
//! leave out everything else and still shows an execution.

use super::{Observed, ThreadEnd, Trace, TraceEvent};
use crate::execution::ThreadId;
use crate::program::OpKind;

impl Trace {
    /// The causal past of these events as a trace, and by event its index there.
    #[must_use]
    pub fn causal_past(&self, events: &[usize]) -> (Trace, Vec<Option<usize>>) {
        let mut index = vec![None; self.events.len()];
        let kept = self.is_in_past(events);
        for (new, old) in (0..kept.len()).filter(|&at| kept[at]).enumerate() {
            index[old] = Some(new);
        }
        (self.restricted(&index), index)
    }

    /// The index of the event that started a thread.
    #[must_use]
    pub fn spawn_of(&self, thread: ThreadId) -> Option<usize> {
        self.events.iter().position(|event| event.op.kind == OpKind::Spawn { thread })
    }

    /// By event, whether it is in the causal past of one of these, or is one of these.
    fn is_in_past(&self, events: &[usize]) -> Vec<bool> {
        let mut seen = vec![false; self.events.len()];
        let mut open = events.to_vec();
        while let Some(at) = open.pop() {
            if at < seen.len() && !seen[at] {
                seen[at] = true;
                open.extend(self.direct_causes(at));
            }
        }
        seen
    }

    fn direct_causes(&self, at: usize) -> impl Iterator<Item = usize> {
        let event = &self.events[at];
        let earlier = &self.events[..at];
        let own = earlier.iter().rposition(|before| before.thread == event.thread);
        let own = own.or_else(|| self.spawn_of(event.thread));
        let observed = match event.observed {
            Some(Observed::Event(source)) => Some(source),
            _ => None,
        };
        // A joined thread without events has no last event to observe, but it was spawned.
        let joined = match event.op.kind {
            OpKind::Join { thread } => self.spawn_of(thread),
            _ => None,
        };
        [own, observed, joined].into_iter().flatten()
    }

    /// The events that have a new index, in their order.
    fn restricted(&self, index: &[Option<usize>]) -> Trace {
        let renamed = |event: &TraceEvent| {
            let observed = match event.observed {
                Some(Observed::Event(source)) => index[source].map(Observed::Event),
                other => other,
            };
            TraceEvent { observed, ..event.clone() }
        };
        let kept = self.events.iter().zip(index).filter(|(_, new)| new.is_some());
        let events: Vec<TraceEvent> = kept.map(|(event, _)| renamed(event)).collect();
        let mut ends = self.ends.clone();
        for event in &events {
            ends.entry(event.thread).or_insert(ThreadEnd::Open);
            if let OpKind::Spawn { thread } = event.op.kind {
                ends.entry(thread).or_insert(ThreadEnd::Open);
            }
        }
        Trace { events, ends, pending: self.pending.clone(), ..Trace::default() }
    }
}
