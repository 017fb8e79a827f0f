//! What a thread knows.

use std::fmt::Debug;

use crate::event_set::EventSet;

/// What is known at some point of a thread. Views are joined where threads synchronize.
pub(super) trait View<R: EventSet>: Copy + Default + Debug {
    /// What a thread remembers for itself.
    type Own: Copy + Default + Debug;
    /// Learns what another view knows.
    fn join(&mut self, other: &Self);
    /// Learns of a write.
    fn see(&mut self, write: usize);
    /// An event happens.
    fn happen(&mut self, event: usize);
    /// The writes that are known: they happened, or somebody who happened before has read them. Where
    /// there is no modification order, only those that happened.
    fn seen(&self) -> R;
    /// The events that happened.
    fn happened(&self) -> R;
}

/// What coherence has to know.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Narrow<R> {
    seen: R,
    happened: R,
}

impl<R: EventSet> View<R> for Narrow<R> {
    type Own = ();

    #[inline]
    fn join(&mut self, other: &Self) {
        self.seen = self.seen.or(other.seen);
        self.happened = self.happened.or(other.happened);
    }
    #[inline]
    fn see(&mut self, write: usize) {
        self.seen.insert(write);
    }
    #[inline]
    fn happen(&mut self, event: usize) {
        self.happened.insert(event);
    }
    #[inline]
    fn seen(&self) -> R {
        self.seen
    }
    #[inline]
    fn happened(&self) -> R {
        self.happened
    }
}

/// What the order of sequentially consistent events has to know as well.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wide<R> {
    narrow: Narrow<R>,
    /// The sequentially consistent accesses that come here by `po|≠loc; hb?`.
    pub(super) around: R,
}

impl<R: EventSet> View<R> for Wide<R> {
    /// [`Wide::around`] when the thread last started or waited for another one.
    type Own = R;

    #[inline]
    fn join(&mut self, other: &Self) {
        self.narrow.join(&other.narrow);
        self.around = self.around.or(other.around);
    }
    #[inline]
    fn see(&mut self, write: usize) {
        self.narrow.see(write);
    }
    #[inline]
    fn happen(&mut self, event: usize) {
        self.narrow.happen(event);
    }
    #[inline]
    fn seen(&self) -> R {
        self.narrow.seen
    }
    #[inline]
    fn happened(&self) -> R {
        self.narrow.happened
    }
}
