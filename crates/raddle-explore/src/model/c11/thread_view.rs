//! What a thread knows at some point.

use std::fmt::Debug;

use crate::event_index::EventIndex;
use crate::event_set::EventSet;

/// Knowledge of a thread, or the knowledge that a write hands on. Views are joined where threads synchronize.
pub(super) trait ThreadView<R: EventSet>: Clone + Default + Debug {
    /// What a thread also remembers, but never hands on.
    type Own: Clone + Default + Debug;
    /// Adds the knowledge of another view.
    fn join(&mut self, other: &Self);
    /// Adds a write that the thread has written or read.
    fn see(&mut self, write: EventIndex);
    /// Adds an event that happened before the thread's next event.
    fn happen(&mut self, event: EventIndex);
    /// The known writes: those that happened before, or that an event which happened before has read. Under models
    /// without modification order only the former.
    fn seen(&self) -> R;
    /// The events that happened before.
    fn happened(&self) -> R;
}

/// The knowledge that decides coherence.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CoherenceView<R> {
    seen: R,
    happened: R,
}

impl<R: EventSet> ThreadView<R> for CoherenceView<R> {
    type Own = ();

    #[inline]
    fn join(&mut self, other: &Self) {
        self.seen = self.seen.or(&other.seen);
        self.happened = self.happened.or(&other.happened);
    }
    #[inline]
    fn see(&mut self, write: EventIndex) {
        self.seen.insert(write);
    }
    #[inline]
    fn happen(&mut self, event: EventIndex) {
        self.happened.insert(event);
    }
    #[inline]
    fn seen(&self) -> R {
        self.seen.clone()
    }
    #[inline]
    fn happened(&self) -> R {
        self.happened.clone()
    }
}

/// The knowledge that also decides the order of sequentially consistent events.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ScView<R> {
    coherence: CoherenceView<R>,
    /// The sequentially consistent accesses that precede by `po|≠loc; hb?`.
    pub(super) around: R,
}

impl<R: EventSet> ThreadView<R> for ScView<R> {
    /// [`ScView::around`] when the thread last began, spawned or joined.
    type Own = R;

    #[inline]
    fn join(&mut self, other: &Self) {
        self.coherence.join(&other.coherence);
        self.around = self.around.or(&other.around);
    }
    #[inline]
    fn see(&mut self, write: EventIndex) {
        self.coherence.see(write);
    }
    #[inline]
    fn happen(&mut self, event: EventIndex) {
        self.coherence.happen(event);
    }
    #[inline]
    fn seen(&self) -> R {
        self.coherence.seen.clone()
    }
    #[inline]
    fn happened(&self) -> R {
        self.coherence.happened.clone()
    }
}
