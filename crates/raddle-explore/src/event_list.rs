//! Lists of events without duplicates, such as a linear order of all events.

use crate::event_index::EventIndex;
use crate::event_map::EventMap;
use crate::event_set::{EventSet, Position};

/// Events in some order, each at most once. Never allocates: it has room for all events.
pub(crate) struct EventList<R: EventSet> {
    /// By position; a list is never longer than a table by event.
    events: R::Map<R::Position>,
    len: usize,
}

impl<R: EventSet> EventList<R> {
    #[must_use]
    pub(crate) fn new() -> Self {
        EventList { events: R::Map::filled(R::Position::default()), len: 0 }
    }

    /// Indices of the events.
    #[inline]
    pub(crate) fn as_slice(&self) -> &[R::Position] {
        self.events.first(self.len)
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The event at a position, which must be less than the number of events that were ever in the list.
    #[inline]
    pub(crate) fn at(&self, position: usize) -> EventIndex {
        EventIndex::new(self.events[EventIndex::new(position)].index())
    }

    /// Replaces the event at a position.
    #[inline]
    pub(crate) fn set(&mut self, position: usize, event: EventIndex) {
        self.events[EventIndex::new(position)] = R::Position::new(event.index());
    }

    /// Appends an event.
    #[inline]
    pub(crate) fn push(&mut self, event: EventIndex) {
        self.set(self.len, event);
        self.len += 1;
    }

    /// Appends events that are given by their indices.
    #[inline]
    pub(crate) fn extend(&mut self, events: &[R::Position]) {
        let len = self.len + events.len();
        self.events.first_mut(len)[self.len..].copy_from_slice(events);
        self.len = len;
    }

    /// Changes the length. If the list grows, the new positions hold what they held before, until they are
    /// [set](Self::set).
    #[inline]
    pub(crate) fn set_len(&mut self, len: usize) {
        self.len = len;
    }
}

impl<R: EventSet> Default for EventList<R> {
    fn default() -> Self {
        Self::new()
    }
}
