//! A list of events without duplicates.

use crate::event_map::EventMap;
use crate::event_set::EventSet;

/// Some events, each at most once, in some order.
pub(crate) struct EventList<R: EventSet> {
    events: R::Map<u16>,
    len: usize,
}

impl<R: EventSet> EventList<R> {
    /// No events.
    #[must_use]
    pub(crate) fn new() -> Self {
        EventList { events: R::Map::filled(0), len: 0 }
    }

    /// The events.
    #[inline]
    pub(crate) fn as_slice(&self) -> &[u16] {
        self.events.first(self.len)
    }

    /// How many there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The event at a position.
    #[inline]
    pub(crate) fn at(&self, position: usize) -> usize {
        usize::from(self.events[position])
    }

    /// Puts an event at a position.
    #[inline]
    pub(crate) fn set(&mut self, position: usize, event: usize) {
        self.events[position] = event as u16;
    }

    /// Adds an event at the end.
    #[inline]
    pub(crate) fn push(&mut self, event: usize) {
        self.events[self.len] = event as u16;
        self.len += 1;
    }

    /// Adds events at the end.
    #[inline]
    pub(crate) fn extend(&mut self, events: &[u16]) {
        let len = self.len + events.len();
        self.events.first_mut(len)[self.len..].copy_from_slice(events);
        self.len = len;
    }

    /// Keeps this many events, or makes room for them.
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
