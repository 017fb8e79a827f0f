//! Sets of threads. There are fewer threads than events, so they fit into an [`EventSet`].

use raddle_core::execution::ThreadId;

use crate::event_index::EventIndex;
use crate::event_set::EventSet;

/// A set of threads whose indices are less than [`EventSet::BITS`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ThreadSet<R>(R);

#[inline]
fn bit(thread: ThreadId) -> EventIndex {
    EventIndex::new(thread.index())
}

#[inline]
fn thread(bit: EventIndex) -> ThreadId {
    ThreadId::new(bit.index())
}

impl<R: EventSet> ThreadSet<R> {
    /// The set of one thread.
    #[inline]
    pub(super) fn one(thread: ThreadId) -> Self {
        ThreadSet(R::one(bit(thread)))
    }

    #[inline]
    pub(super) fn has(&self, thread: ThreadId) -> bool {
        self.0.has(bit(thread))
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Intersection.
    #[inline]
    pub(super) fn and(&self, other: &Self) -> Self {
        ThreadSet(self.0.and(&other.0))
    }

    #[inline]
    pub(super) fn insert(&mut self, thread: ThreadId) {
        self.0.insert(bit(thread));
    }

    #[inline]
    pub(super) fn remove(&mut self, thread: ThreadId) {
        self.0.remove(bit(thread));
    }

    #[inline]
    pub(super) fn first(&self) -> Option<ThreadId> {
        self.0.first().map(thread)
    }

    /// The number of threads.
    #[inline]
    pub(super) fn count(&self) -> usize {
        self.0.count()
    }

    /// The threads, in ascending order.
    #[inline]
    pub(super) fn iter(&self) -> ThreadSetIter<R> {
        ThreadSetIter(self.0.iter())
    }
}

/// Iterator over the threads of a set, in ascending order.
pub(super) struct ThreadSetIter<R: EventSet>(R::Iter);

impl<R: EventSet> Iterator for ThreadSetIter<R> {
    type Item = ThreadId;

    #[inline]
    fn next(&mut self) -> Option<ThreadId> {
        self.0.next().map(thread)
    }
}
