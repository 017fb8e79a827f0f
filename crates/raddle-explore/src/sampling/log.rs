//! What happened in a run that is kept.
//!
//! A thread that comes back to where it was, having only read, goes round in a loop. The other explorers know no
//! execution in which somebody did that and went on; so its last way round is left out once it goes on. Who observed an
//! update of it, which changed nothing, observes what that observed.

use std::collections::BTreeMap;

use raddle_core::execution::{ThreadId, Value};
use raddle_core::program::Op;

use super::threads::NONE;
use raddle_core::trace::{Observed, Pending, ThreadEnd, Trace, TraceEvent};

/// An event.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) thread: u32,
    pub(super) op: Op,
    pub(super) observed: Option<Observed>,
    pub(super) read: Option<Value>,
    pub(super) written: Option<Value>,
}

#[derive(Default)]
struct Own {
    /// All events of the thread.
    all: Vec<u32>,
    /// Those that are not left out.
    kept: Vec<u32>,
    /// How many of these are no part of the loop that it has gone round, if it goes on.
    back: Option<usize>,
}

/// The events of a run.
#[derive(Default)]
pub(super) struct Log {
    entries: Vec<Entry>,
    is_left_out: Vec<bool>,
    threads: Vec<Own>,
}

impl Log {
    fn own(&mut self, thread: usize) -> &mut Own {
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Own::default);
        }
        &mut self.threads[thread]
    }

    /// Adds an event: the next one of the run.
    pub(super) fn push(&mut self, entry: Entry) {
        let (at, thread) = (self.entries.len() as u32, entry.thread as usize);
        let own = self.own(thread);
        let round = own.back.take().map(|back| own.kept.split_off(back));
        own.all.push(at);
        own.kept.push(at);
        for event in round.into_iter().flatten() {
            self.is_left_out[event as usize] = true;
        }
        self.entries.push(entry);
        self.is_left_out.push(false);
    }

    /// The thread is where it was when it had done so many ops.
    pub(super) fn came_back(&mut self, thread: usize, ops: usize) {
        self.own(thread).back = Some(ops);
    }

    /// Where the thread is in a loop: how many ops it had done there.
    pub(super) fn loop_of(&self, thread: usize) -> Option<usize> {
        self.threads.get(thread)?.back
    }

    /// An event, by its number in its thread.
    pub(super) fn event(&self, thread: usize, ops: u32) -> usize {
        self.threads[thread].all[ops as usize - 1] as usize
    }

    /// Nothing is left out, as this event matters.
    pub(super) fn need(&mut self, event: usize) {
        if self.is_left_out[event] {
            self.is_left_out.fill(false);
        }
    }

    /// The events as a trace, and where each is in it.
    pub(super) fn trace(
        &self,
        ends: BTreeMap<ThreadId, ThreadEnd>,
        pending: BTreeMap<ThreadId, Pending>,
    ) -> (Trace, Vec<usize>) {
        let mut trace = Trace { ends, pending, ..Trace::default() };
        let mut placed = vec![usize::MAX; self.entries.len()];
        let mut positions = vec![0; self.threads.len()];
        for (at, entry) in self.entries.iter().enumerate() {
            if self.is_left_out[at] {
                continue;
            }
            let &Entry { thread, op, read, written, .. } = entry;
            let observed = entry.observed.map(|observed| self.observed(observed, &placed));
            let position = &mut positions[thread as usize];
            let event = TraceEvent {
                thread: ThreadId::new(thread as usize),
                position: *position,
                op,
                observed,
                read,
                written,
            };
            *position += 1;
            placed[at] = trace.events.len();
            trace.events.push(event);
        }
        (trace, placed)
    }

    /// What was observed, if some events are left out.
    fn observed(&self, observed: Observed, placed: &[usize]) -> Observed {
        match observed {
            Observed::Event(event) if self.is_left_out[event] => {
                let before = self.entries[event].observed.unwrap_or(Observed::Initial);
                self.observed(before, placed)
            }
            Observed::Event(event) => Observed::Event(placed[event]),
            other => other,
        }
    }
}

/// The event with this number, or the initial write.
pub(super) fn observed(event: u32) -> Observed {
    if event == NONE { Observed::Initial } else { Observed::Event(event as usize) }
}
