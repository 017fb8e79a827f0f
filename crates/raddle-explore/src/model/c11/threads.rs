//! The views of all threads, and their old states to return to.

use crate::event_set::EventSet;

use super::view::View;

/// A thread.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Thread<R: EventSet, V: View<R>> {
    /// What it knows.
    pub(super) now: V,
    /// What it knew at its last release fence.
    pub(super) fence: V,
    /// What it would learn at an acquire fence.
    pub(super) heard: V,
    /// Its events.
    pub(super) own: R,
    /// What else it remembers.
    pub(super) trail: V::Own,
    /// The level at which it last changed.
    level: u32,
}

/// All threads.
#[derive(Debug)]
pub(super) struct Threads<R: EventSet, V: View<R>> {
    list: Vec<Thread<R, V>>,
    /// Threads as they were before they changed, each once for each level.
    saved: Vec<(u32, Thread<R, V>)>,
    level: u32,
}

impl<R: EventSet, V: View<R>> Threads<R, V> {
    pub(super) fn new(threads: usize) -> Self {
        Threads { list: vec![Thread::default(); threads], saved: vec![], level: 0 }
    }

    /// Makes room for a thread.
    #[inline]
    pub(super) fn grow(&mut self, thread: usize) {
        if thread >= self.list.len() {
            self.list.resize(thread + 1, Thread::default());
        }
    }

    #[inline]
    pub(super) fn get(&self, thread: usize) -> Option<&Thread<R, V>> {
        self.list.get(thread)
    }

    /// A thread that is about to change. There is room for it.
    #[inline]
    pub(super) fn change(&mut self, thread: usize) -> &mut Thread<R, V> {
        let changed = &mut self.list[thread];
        if changed.level != self.level {
            self.saved.push((thread as u32, *changed));
            changed.level = self.level;
        }
        changed
    }

    /// Starts a level; the result says how to leave it.
    #[inline]
    pub(super) fn enter(&mut self) -> usize {
        self.level += 1;
        self.saved.len()
    }

    /// Leaves a level.
    #[inline]
    pub(super) fn leave(&mut self, mark: usize) {
        self.level -= 1;
        while self.saved.len() > mark {
            if let Some((thread, old)) = self.saved.pop() {
                self.list[thread as usize] = old;
            }
        }
    }
}
