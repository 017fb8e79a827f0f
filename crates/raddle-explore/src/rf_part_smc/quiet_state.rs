//! What threads know of the accesses of quiet locations (`quiet.rs`).

use super::quiet_table::{QuietAccess, QuietMark, QuietTable, Time};
use crate::driver::TableSizes;
use crate::event_map::EventMap;
use crate::event_set::EventSet;
use raddle_core::execution::{LocationId, ThreadId};

/// What an event publishes.
#[derive(Clone, Copy)]
pub(super) struct Publication {
    /// The accesses of its thread up to this time.
    pub(super) time: Time,
    /// What the thread knew from spawns and joins: an index of [`QuietState::bases`].
    pub(super) base: u32,
}

impl Publication {
    /// No accesses.
    pub(super) const NOTHING: Publication = Publication { time: 0, base: 0 };
}

/// What a thread knows from spawns and joins: one time per thread, in [`QuietState::times`].
#[derive(Clone, Copy)]
struct KnowledgeBase {
    /// It is what this thread knew at this time.
    of: ThreadId,
    at: Time,
}

/// What a thread knows, and what it publishes. Separate from the rest of its state, which every step of the search
/// saves, also if there is no quiet location.
#[derive(Clone, Copy, Default)]
pub(super) struct QuietThread {
    /// What it knows from spawns and joins: an index of [`QuietState::bases`].
    pub(super) base: u32,
    /// From which entry of [`QuietState::joins`] on its own ones are not part of `base`.
    pub(super) joined_from: u32,
    /// When its stores last had to reach memory before its later ones; only if the model reorders stores.
    pub(super) flushed: Time,
}

/// The state of quiet locations.
pub(super) struct QuietState<R: EventSet> {
    pub(super) table: QuietTable,
    /// Whether there is a quiet location. Otherwise nothing is published.
    pub(super) is_active: bool,
    pub(super) now: Time,
    pub(super) published: R::Map<Publication>,
    /// What threads know from spawns and joins, one time per thread. The first one is of the main thread at its begin.
    bases: Vec<KnowledgeBase>,
    /// The times of all of them.
    times: Vec<Time>,
    pub(super) threads: Vec<QuietThread>,
    /// Earlier states of threads.
    saved: Vec<(ThreadId, QuietThread)>,
    /// The last joins: who joined whom.
    pub(super) joins: Vec<(ThreadId, ThreadId)>,
    /// One more than the largest thread that was started.
    pub(super) started: usize,
    /// What a thread knows, if that was computed since it last learned something.
    pub(super) known: Vec<Time>,
    pub(super) known_of: Option<ThreadId>,
    /// Locations whose accesses turned out to conflict.
    pub(super) conflicts: Vec<LocationId>,
}

/// A state of quiet locations, to return to.
#[derive(Clone, Copy)]
pub(super) struct QuietStateMark {
    table: QuietMark,
    bases: u32,
    joins: u32,
    saved: u32,
}

impl QuietStateMark {
    /// The state as long as there is no quiet location.
    const INITIAL: QuietStateMark =
        QuietStateMark { table: QuietMark::INITIAL, bases: 1, joins: 0, saved: 0 };
}

impl<R: EventSet> QuietState<R> {
    pub(super) fn new(sizes: TableSizes) -> Self {
        let TableSizes { threads, locations } = sizes;
        QuietState {
            table: QuietTable::new(threads, locations),
            is_active: false,
            now: 0,
            published: R::Map::filled(Publication::NOTHING),
            bases: vec![KnowledgeBase { of: ThreadId::new(0), at: 0 }],
            times: vec![0; threads],
            threads: vec![QuietThread::default(); threads],
            saved: vec![],
            joins: vec![],
            started: 1,
            known: vec![0; threads],
            known_of: None,
            conflicts: vec![],
        }
    }

    /// There is a quiet location from now on. Until then nothing has changed, so this is what is restored if the search
    /// returns to an earlier state.
    pub(super) fn activate(&mut self) {
        if !std::mem::replace(&mut self.is_active, true) {
            let initial = QuietThread::default();
            self.saved.extend((0..self.threads.len()).map(|at| (ThreadId::new(at), initial)));
        }
    }

    #[inline]
    pub(super) fn mark(&self) -> QuietStateMark {
        if !self.is_active {
            return QuietStateMark::INITIAL;
        }
        let (bases, joins) = (self.bases.len() as u32, self.joins.len() as u32);
        QuietStateMark { table: self.table.mark(), bases, joins, saved: self.saved.len() as u32 }
    }

    /// Saves the state of a thread, which is going to change.
    #[inline]
    pub(super) fn save(&mut self, thread: ThreadId) {
        if self.is_active {
            self.saved.push((thread, self.threads[thread.index()]));
        }
    }

    #[inline]
    pub(super) fn undo_to(&mut self, mark: QuietStateMark) {
        self.table.undo_to(mark.table);
        self.bases.truncate(mark.bases as usize);
        self.times.truncate(mark.bases as usize * self.threads.len());
        self.joins.truncate(mark.joins as usize);
        while self.saved.len() > mark.saved as usize {
            let Some((thread, old)) = self.saved.pop() else { break };
            self.threads[thread.index()] = old;
        }
        self.known_of = None;
    }

    /// The table, and the next access of the thread, with what it knows if that was computed.
    #[inline]
    pub(super) fn access(&mut self, thread: ThreadId) -> (&mut QuietTable, QuietAccess<'_>) {
        let known = if self.known_of == Some(thread) { self.known.as_slice() } else { &[] };
        (&mut self.table, QuietAccess { thread, time: self.now + 1, known })
    }

    /// The thread has learned something, or another thread continues.
    #[inline]
    pub(super) fn forget_known(&mut self) {
        self.known_of = None;
    }

    /// Adds what a base contains to what is known, unless that is known already: who knows what a thread did at some
    /// time knows what that thread knew then.
    #[inline]
    pub(super) fn learn_base(&mut self, base: u32) {
        let KnowledgeBase { of, at } = self.bases[base as usize];
        if self.known[of.index()] >= at {
            return;
        }
        let times = &self.times[base as usize * self.threads.len()..][..self.started];
        for (known, &time) in self.known.iter_mut().zip(times) {
            *known = (*known).max(time);
        }
    }

    /// Keeps what a thread knows, with all its accesses up to now. Returns the index of the base.
    pub(super) fn keep_known(&mut self, thread: ThreadId) -> u32 {
        self.now += 1;
        self.known[thread.index()] = self.now;
        let base = self.bases.len();
        self.bases.push(KnowledgeBase { of: thread, at: self.now });
        self.times.extend_from_slice(&self.known);
        self.known_of = None;
        base as u32
    }
}
