//! Ids of events while an execution grows and shrinks.
//!
//! An explorer adds events to an execution and removes the last ones again, so the events form a stack, and the id of
//! an event is its position there. These ids are *not* the [`EventId`](raddle_core::execution::EventId)s of a complete
//! execution, which number the events thread by thread.

/// Position of an event on the stack of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventIndex(u32);

impl EventIndex {
    /// The event that is added when there are `index` events.
    #[inline]
    #[must_use]
    pub const fn new(index: usize) -> Self {
        EventIndex(index as u32)
    }

    /// Position on the stack, from 0.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The event that is added after this one.
    #[inline]
    #[must_use]
    pub const fn next(self) -> Self {
        EventIndex(self.0 + 1)
    }
}

/// The write that a read observes: an event, or the initial write of the location. Four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RfSource(u32);

impl RfSource {
    /// The initial write.
    pub const INITIAL: RfSource = RfSource(u32::MAX);

    /// Marks events that do not read, in tables by event. No read has this source.
    pub(crate) const NONE: RfSource = RfSource(u32::MAX - 1);

    /// The event, unless it is the initial write.
    #[inline]
    #[must_use]
    pub fn event(self) -> Option<EventIndex> {
        (self.0 < RfSource::NONE.0).then_some(EventIndex(self.0))
    }

    /// Returns `true` if it is the initial write.
    #[inline]
    #[must_use]
    pub fn is_initial(self) -> bool {
        self == RfSource::INITIAL
    }
}

impl From<EventIndex> for RfSource {
    #[inline]
    fn from(event: EventIndex) -> Self {
        RfSource(event.0)
    }
}

impl From<Option<EventIndex>> for RfSource {
    /// `None` is the initial write.
    #[inline]
    fn from(event: Option<EventIndex>) -> Self {
        event.map_or(RfSource::INITIAL, RfSource::from)
    }
}
