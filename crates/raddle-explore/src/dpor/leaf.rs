//! Maximal executions: their endings and traces.

use std::collections::BTreeMap;

use super::footprint::{FootprintAccess, NONE};
use super::state::{DporState, DporThread, EarlyEnd, LoggedOp, NextAction};
use crate::event_set::EventSet;
use crate::{Leaf, ending_of};
use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::program::{Answer, End, HistoryStep, OpKind};
use raddle_core::trace::{Ending, Observed, Pending, ThreadEnd, Trace, TraceEvent, map_of};

/// Maximal execution.
pub(super) struct DporLeaf<'e, 's, R> {
    pub(super) state: &'e DporState<'s, R>,
    pub(super) ending: Ending,
}

impl<R: EventSet> Leaf for DporLeaf<'_, '_, R> {
    fn ending(&self) -> &Ending {
        &self.ending
    }

    fn trace(&self) -> Trace {
        self.state.trace()
    }
}

/// Returns the ending of the current execution, in which no process is enabled.
pub(super) fn ending<R: EventSet>(state: &DporState<'_, R>) -> Ending {
    match state.early_end {
        Some(EarlyEnd::Race(first, second)) => {
            return Ending::Race(first as usize, second as usize);
        }
        Some(EarlyEnd::Events(thread)) => return Ending::Limit(ThreadId::new(thread as usize)),
        _ => {}
    }
    if state.all_finished() { Ending::Complete } else { state.incomplete_ending() }
}

impl<R: EventSet> DporState<'_, R> {
    fn all_finished(&self) -> bool {
        self.threads.iter().all(|thread| match thread.action {
            NextAction::NotStarted => true,
            NextAction::Ended => matches!(self.histories.end(thread.node), End::Finished),
            _ => false,
        })
    }

    #[cold]
    fn incomplete_ending(&self) -> Ending {
        let end = |thread: ThreadId| self.histories.end(self.threads[thread.index()].node).clone();
        let repeating = match ending_of(&self.ends(), end) {
            Ok(ending) => return ending,
            Err(repeating) => repeating,
        };
        if repeating.iter().all(|&thread| self.repeats_forever(thread)) {
            Ending::Livelock(repeating)
        } else {
            Ending::Blocked
        }
    }

    /// Returns `true` if a thread or the execution reached its event limit.
    pub(super) fn hit_limit(&self) -> bool {
        let at_limit = |thread: &DporThread<R>| {
            thread.action == NextAction::Ended
                && matches!(self.histories.end(thread.node), End::Limit | End::Unrolled(_))
        };
        matches!(self.early_end, Some(EarlyEnd::Events(_))) || self.threads.iter().any(at_limit)
    }

    /// Returns how each thread ended that was started.
    fn ends(&self) -> BTreeMap<ThreadId, ThreadEnd> {
        let started =
            self.threads.iter().enumerate().filter(|(_, it)| it.action != NextAction::NotStarted);
        let ends = started.map(|(at, thread)| {
            let end = match (thread.action, self.histories.end(thread.node)) {
                (NextAction::Ended, End::Finished) => ThreadEnd::Finished,
                (NextAction::Ended, End::Assume) => ThreadEnd::Assume,
                (NextAction::Ended, End::Repeats(_)) => ThreadEnd::Repeats,
                (NextAction::Ended, End::Failed(_)) => ThreadEnd::Failed,
                (NextAction::Ended, End::Limit | End::Unrolled(_)) => ThreadEnd::Limit,
                (NextAction::Lock | NextAction::Sync | NextAction::Join, _) => ThreadEnd::Waiting,
                _ => ThreadEnd::Open,
            };
            (ThreadId::new(at), end)
        });
        map_of(ends)
    }

    /// Returns `true` if the thread, which has completed a loop iteration, can repeat it forever: memory keeps what it
    /// read. A spurious failure of a compare-exchange is not repeated forever.
    fn repeats_forever(&self, thread: ThreadId) -> bool {
        let mut node = self.threads[thread.index()].node;
        let End::Repeats(start) = *self.histories.end(node) else { return false };
        while node != start {
            let led_here = |entry: &&LoggedOp| entry.origin.node == node && entry.origin.index == 0;
            let Some(entry) = self.log.iter().find(led_here) else { return false };
            let HistoryStep::After(before, answer) = self.histories.step(node) else {
                return false;
            };
            let spurious = matches!(answer, Answer::Spurious(_) | Answer::SpuriousFrom(_));
            if spurious || !self.is_stable(entry) {
                return false;
            }
            node = before;
        }
        true
    }

    /// Returns `true` if memory keeps the value that an op has read: the write that it observed, or its own write, is
    /// the last one of the location, except for read-modify-writes that do not change the value.
    fn is_stable(&self, entry: &LoggedOp) -> bool {
        use OpKind::{CompareExchange, Load, Rmw, Sync};
        let location = match self.op(entry).kind {
            Load { location, .. }
            | Rmw { location, .. }
            | CompareExchange { location, .. }
            | Sync { location, .. } => location.index() as u32,
            _ => return true,
        };
        let own = self.log.iter().position(|it| it.origin == entry.origin);
        let wanted = match entry.written {
            Some(_) => own.map_or(NONE, |at| at as u32),
            None => entry.source,
        };
        let value = entry.written.or_else(|| self.read_value(entry, location));
        let mut last = self.locations[location as usize].last;
        while last != NONE && self.events[last as usize].log_index != wanted {
            let write = &self.log[self.events[last as usize].log_index as usize];
            let is_update = self.op(write).kind.is_question();
            if !is_update || write.written != value {
                return false;
            }
            last = self.events[last as usize].previous;
        }
        last != NONE || wanted == NONE
    }

    /// Returns the value that an op read.
    fn read_value(&self, entry: &LoggedOp, location: u32) -> Option<Value> {
        match entry.source {
            NONE => Some(self.locations[location as usize].initial),
            source => self.log[source as usize].written,
        }
    }

    fn trace(&self) -> Trace {
        let ends = self.ends();
        let pending = |&thread: &ThreadId| {
            Some((thread, Pending::of(&self.histories, self.threads[thread.index()].node)?))
        };
        let pending = map_of(ends.keys().filter_map(pending));
        let events = self.log.iter().map(|entry| self.trace_event(entry)).collect();
        Trace { events, ends, pending, memory: self.memory_orders() }
    }

    fn trace_event(&self, entry: &LoggedOp) -> TraceEvent {
        let op = self.op(entry);
        let observed = match (op.kind, entry.source) {
            (OpKind::Choose { .. }, choice) => Some(Observed::Choice(choice)),
            (kind, _) if !kind.is_question() => None,
            (_, NONE) => Some(Observed::Initial),
            (_, source) => Some(Observed::Event(source as usize)),
        };
        use OpKind::{CompareExchange, Load, Rmw, Sync};
        let read = match op.kind {
            Load { location, .. }
            | Rmw { location, .. }
            | CompareExchange { location, .. }
            | Sync { location, .. } => self.read_value(entry, location.index() as u32),
            _ => None,
        };
        let is_lock = matches!(op.kind, OpKind::Lock { .. } | OpKind::Unlock { .. });
        let written = entry.written.filter(|_| !is_lock);
        let (thread, position) = (ThreadId::new(entry.thread as usize), entry.position as usize);
        TraceEvent { thread, position, op, observed, read, written }
    }

    /// Returns the writes of each location, in the order in which they reached memory. Locks are omitted: what the
    /// acquires observed already determines their order.
    fn memory_orders(&self) -> BTreeMap<LocationId, Vec<usize>> {
        let mut orders: BTreeMap<LocationId, Vec<usize>> = BTreeMap::new();
        for event in &self.events {
            if event.footprint.access == FootprintAccess::Write
                && !matches!(event.action, NextAction::Lock | NextAction::Unlock)
            {
                let location = LocationId::new(event.footprint.location as usize);
                orders.entry(location).or_default().push(event.log_index as usize);
            }
        }
        orders
    }
}
