//! Events of a recorded run.
//!
//! A thread that returns to an earlier state after only reading has completed a loop iteration without effect. The
//! exhaustive explorers have no execution in which a thread does that and then continues. So once the thread continues,
//! its last iteration is dropped from the log. A read that observed an update of that iteration, which changed nothing,
//! observes what the update observed.

use std::collections::BTreeMap;

use raddle_core::execution::{ThreadId, Value};
use raddle_core::program::Op;
use raddle_core::trace::{Observed, Pending, ThreadEnd, Trace, TraceEvent};

use super::machine::RacingEvent;

/// What an event observed, read and wrote. Synchronization that has no value for the program has none here.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EventValues {
    pub(super) observed: Option<Observed>,
    pub(super) read: Option<Value>,
    pub(super) written: Option<Value>,
}

/// Logged event.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogEntry {
    pub(super) thread: ThreadId,
    pub(super) op: Op,
    pub(super) values: EventValues,
}

/// Events of one thread.
#[derive(Default)]
struct ThreadLog {
    all: Vec<u32>,
    /// Events that are not dropped.
    kept: Vec<u32>,
    /// Number of kept events before the loop iteration that the thread has just completed. The events from there on are
    /// dropped if the thread continues.
    loop_start: Option<usize>,
}

/// Events of a run.
#[derive(Default)]
pub(super) struct EventLog {
    entries: Vec<LogEntry>,
    is_dropped: Vec<bool>,
    threads: Vec<ThreadLog>,
}

impl EventLog {
    fn thread_mut(&mut self, thread: ThreadId) -> &mut ThreadLog {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, ThreadLog::default);
        }
        &mut self.threads[thread.index()]
    }

    /// Adds the next event of the run.
    pub(super) fn push(&mut self, entry: LogEntry) {
        let at = self.entries.len() as u32;
        let own = self.thread_mut(entry.thread);
        let iteration = own.loop_start.take().map(|start| own.kept.split_off(start));
        own.all.push(at);
        own.kept.push(at);
        for event in iteration.into_iter().flatten() {
            self.is_dropped[event as usize] = true;
        }
        self.entries.push(entry);
        self.is_dropped.push(false);
    }

    /// Notes that the thread is in the state it had after `ops` kept events.
    pub(super) fn close_loop(&mut self, thread: ThreadId, ops: usize) {
        self.thread_mut(thread).loop_start = Some(ops);
    }

    /// Returns the number of kept events before the loop in which the thread is, if it is in one.
    pub(super) fn loop_start(&self, thread: ThreadId) -> Option<usize> {
        self.threads.get(thread.index())?.loop_start
    }

    /// Returns the index of a racing event in the log. If it was dropped, all dropped events are restored.
    pub(super) fn require(&mut self, RacingEvent { thread, ops }: RacingEvent) -> usize {
        let event = self.threads[thread.index()].all[ops as usize - 1] as usize;
        if self.is_dropped[event] {
            self.is_dropped.fill(false);
        }
        event
    }

    /// Returns the kept events as a trace; and by event its index in the trace, `usize::MAX` if it is dropped.
    pub(super) fn trace(
        &self,
        ends: BTreeMap<ThreadId, ThreadEnd>,
        pending: BTreeMap<ThreadId, Pending>,
    ) -> (Trace, Vec<usize>) {
        let mut trace = Trace { ends, pending, ..Trace::default() };
        let mut indices = vec![usize::MAX; self.entries.len()];
        let mut positions = vec![0; self.threads.len()];
        for (at, entry) in self.entries.iter().enumerate() {
            if self.is_dropped[at] {
                continue;
            }
            let &LogEntry { thread, op, values: EventValues { observed, read, written } } = entry;
            let observed = observed.map(|observed| self.resolve(observed, &indices));
            let position = &mut positions[thread.index()];
            let event = TraceEvent { thread, position: *position, op, observed, read, written };
            *position += 1;
            indices[at] = trace.events.len();
            trace.events.push(event);
        }
        (trace, indices)
    }

    /// Translates an observed event to its index in the trace, skipping dropped updates.
    fn resolve(&self, observed: Observed, indices: &[usize]) -> Observed {
        match observed {
            Observed::Event(event) if self.is_dropped[event] => {
                let before = self.entries[event].values.observed.unwrap_or(Observed::Initial);
                self.resolve(before, indices)
            }
            Observed::Event(event) => Observed::Event(indices[event]),
            other => other,
        }
    }
}
