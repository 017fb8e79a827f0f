//! The views of all threads, with undo.

use raddle_core::execution::ThreadId;

use crate::event_set::EventSet;

use super::thread_view::ThreadView;

/// The views of one thread.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ThreadViewState<R: EventSet, V: ThreadView<R>> {
    /// What it knows.
    pub(super) now: V,
    /// What it knew at its last release fence.
    pub(super) fence: V,
    /// What it will learn at its next acquire fence.
    pub(super) heard: V,
    /// Its events.
    pub(super) own: R,
    /// What it never hands on.
    pub(super) trail: V::Own,
    /// The level at which it was last changed.
    level: u32,
}

/// All threads. Each thread is saved at most once per level, when it is first changed there.
#[derive(Debug)]
pub(super) struct ThreadTable<R: EventSet, V: ThreadView<R>> {
    threads: Vec<ThreadViewState<R, V>>,
    saved: Vec<(ThreadId, ThreadViewState<R, V>)>,
    level: u32,
}

impl<R: EventSet, V: ThreadView<R>> ThreadTable<R, V> {
    pub(super) fn new(threads: usize) -> Self {
        ThreadTable { threads: vec![ThreadViewState::default(); threads], saved: vec![], level: 0 }
    }

    /// Makes room for a thread.
    #[inline]
    pub(super) fn grow(&mut self, thread: ThreadId) {
        if thread.index() >= self.threads.len() {
            self.threads.resize(thread.index() + 1, ThreadViewState::default());
        }
    }

    #[inline]
    pub(super) fn get(&self, thread: ThreadId) -> Option<&ThreadViewState<R, V>> {
        self.threads.get(thread.index())
    }

    /// Returns the thread, which is about to be changed and for which there is room, and saves it.
    #[inline]
    pub(super) fn change(&mut self, thread: ThreadId) -> &mut ThreadViewState<R, V> {
        let changed = &mut self.threads[thread.index()];
        if changed.level != self.level {
            self.saved.push((thread, changed.clone()));
            changed.level = self.level;
        }
        changed
    }

    /// Begins a level; the result is for [`ThreadTable::leave`].
    #[inline]
    pub(super) fn enter(&mut self) -> usize {
        self.level += 1;
        self.saved.len()
    }

    /// Undoes the level that began with this mark.
    #[inline]
    pub(super) fn leave(&mut self, mark: usize) {
        self.level -= 1;
        while self.saved.len() > mark {
            if let Some((thread, old)) = self.saved.pop() {
                self.threads[thread.index()] = old;
            }
        }
    }
}
