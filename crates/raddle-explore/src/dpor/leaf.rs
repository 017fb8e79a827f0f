//! Maximal executions: how they ended, and what happened in them.

use std::collections::BTreeMap;

use super::super::{Leaf, ending_of};
use super::footprint::{Access, NONE};
use super::state::{Ask, Cut, Logged, State, Thread};
use crate::event_set::EventSet;
use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::program::{Answer, End, HistoryStep, OpKind};
use raddle_core::trace::{Ending, Observed, Pending, ThreadEnd, Trace, TraceEvent};

/// A maximal execution.
pub(super) struct Maximal<'e, 's, R> {
    pub(super) state: &'e State<'s, R>,
    pub(super) ending: Ending,
}

impl<R: EventSet> Leaf for Maximal<'_, '_, R> {
    fn ending(&self) -> &Ending {
        &self.ending
    }

    fn trace(&self) -> Trace {
        self.state.trace()
    }
}

/// How the current execution, in which no process can go on, ended.
pub(super) fn ending<R: EventSet>(state: &State<'_, R>) -> Ending {
    match state.cut {
        Some(Cut::Race(first, second)) => return Ending::Race(first as usize, second as usize),
        Some(Cut::Events(thread)) => return Ending::Limit(ThreadId::new(thread as usize)),
        _ => {}
    }
    if state.all_finished() { Ending::Complete } else { state.unusual_ending() }
}

impl<R: EventSet> State<'_, R> {
    fn all_finished(&self) -> bool {
        self.threads.iter().all(|thread| match thread.ask {
            Ask::Absent => true,
            Ask::Ended => matches!(self.histories.end(thread.node), End::Finished),
            _ => false,
        })
    }

    #[cold]
    fn unusual_ending(&self) -> Ending {
        let end = |thread: ThreadId| self.histories.end(self.threads[thread.index()].node).clone();
        let repeating = match ending_of(&self.ends(), end) {
            Ok(ending) => return ending,
            Err(repeating) => repeating,
        };
        if repeating.iter().all(|&thread| self.repeats_for_ever(thread)) {
            Ending::Livelock(repeating)
        } else {
            Ending::Blocked
        }
    }

    /// Whether a thread reached the limit of its events, or the execution that of all.
    pub(super) fn hit_limit(&self) -> bool {
        let at_limit = |thread: &Thread<R>| {
            thread.ask == Ask::Ended && matches!(self.histories.end(thread.node), End::Limit)
        };
        matches!(self.cut, Some(Cut::Events(_))) || self.threads.iter().any(at_limit)
    }

    /// How each thread that was started ended.
    fn ends(&self) -> BTreeMap<ThreadId, ThreadEnd> {
        let started = self.threads.iter().enumerate().filter(|(_, it)| it.ask != Ask::Absent);
        let ends = started.map(|(at, thread)| {
            let end = match (thread.ask, self.histories.end(thread.node)) {
                (Ask::Ended, End::Finished) => ThreadEnd::Finished,
                (Ask::Ended, End::Assume) => ThreadEnd::Assume,
                (Ask::Ended, End::Repeats(_)) => ThreadEnd::Repeats,
                (Ask::Ended, End::Failed(_)) => ThreadEnd::Failed,
                (Ask::Ended, End::Limit) => ThreadEnd::Limit,
                (Ask::Lock | Ask::Sync | Ask::Join, _) => ThreadEnd::Waiting,
                _ => ThreadEnd::Open,
            };
            (ThreadId::new(at), end)
        });
        ends.collect()
    }

    /// Whether the thread, which went round a loop, may go on so: memory keeps what it read there. A
    /// compare-exchange that failed for no reason does not do so for ever.
    fn repeats_for_ever(&self, thread: ThreadId) -> bool {
        let mut node = self.threads[thread.index()].node;
        let End::Repeats(start) = *self.histories.end(node) else { return false };
        while node != start {
            let led_here = |entry: &&Logged| entry.origin.node == node && entry.origin.index == 0;
            let Some(entry) = self.log.iter().find(led_here) else { return false };
            let HistoryStep::After(before, answer) = self.histories.step(node) else {
                return false;
            };
            let spurious = matches!(answer, Answer::Spurious(_) | Answer::SpuriousFrom(_));
            if spurious || !self.stays(entry) {
                return false;
            }
            node = before;
        }
        true
    }

    /// Whether memory keeps what an op has read: what it observed, or itself if it wrote, is the last
    /// write of its location, but for updates that change nothing.
    fn stays(&self, entry: &Logged) -> bool {
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
        let value = entry.written.or_else(|| self.read_by(entry, location));
        let mut last = self.locations[location as usize].last;
        while last != NONE && self.events[last as usize].log != wanted {
            let log = &self.log[self.events[last as usize].log as usize];
            let is_update = self.op(log).kind.is_question();
            if !is_update || log.written != value {
                return false;
            }
            last = self.events[last as usize].previous;
        }
        last != NONE || wanted == NONE
    }

    /// The value that an op read.
    fn read_by(&self, entry: &Logged, location: u32) -> Option<Value> {
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
        let pending = ends.keys().filter_map(pending).collect();
        let events = self.log.iter().map(|entry| self.traced(entry)).collect();
        Trace { events, ends, pending, memory: self.memory_orders() }
    }

    fn traced(&self, entry: &Logged) -> TraceEvent {
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
            | Sync { location, .. } => self.read_by(entry, location.index() as u32),
            _ => None,
        };
        let is_lock = matches!(op.kind, OpKind::Lock { .. } | OpKind::Unlock { .. });
        let written = entry.written.filter(|_| !is_lock);
        let (thread, position) = (ThreadId::new(entry.thread as usize), entry.position as usize);
        TraceEvent { thread, position, op, observed, read, written }
    }

    /// For each location what was written to memory, in this order. Locks are left out: who acquired them
    /// in which order is told by what the acquires observed.
    fn memory_orders(&self) -> BTreeMap<LocationId, Vec<usize>> {
        let mut orders: BTreeMap<LocationId, Vec<usize>> = BTreeMap::new();
        for event in &self.events {
            if event.foot.access == Access::Write && !matches!(event.ask, Ask::Lock | Ask::Unlock) {
                let location = LocationId::new(event.foot.location as usize);
                orders.entry(location).or_default().push(event.log as usize);
            }
        }
        orders
    }
}
