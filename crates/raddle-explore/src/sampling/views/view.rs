//! Views: what happens before a point of a run.

use super::super::clock::Clock;

/// Set of events that a thread knows of, or that a release publishes.
#[derive(Clone, Debug, Default)]
pub(super) struct View {
    /// Events that happen before.
    pub(super) clock: Clock,
    /// Events that happen before a sequentially consistent fence which is ordered before the last one of this view.
    pub(super) fences: Clock,
    /// Time of the last sequentially consistent fence in the view; 0 if there is none.
    pub(super) fence_time: u64,
    /// Time of the last sequentially consistent write or fence in the view; 0 if there is none.
    pub(super) sc_time: u64,
}

impl View {
    /// Adds the events of another view.
    #[inline]
    pub(super) fn join(&mut self, other: &View) {
        self.clock.join(&other.clock);
        self.sc_time = self.sc_time.max(other.sc_time);
        if other.fence_time > 0 {
            self.fences.join(&other.fences);
            self.fence_time = self.fence_time.max(other.fence_time);
        }
    }

    /// Becomes a copy of another view. Keeps the allocations, unlike `clone`.
    #[inline]
    pub(super) fn copy(&mut self, other: &View) {
        self.clock.copy(&other.clock);
        self.fences.copy(&other.fences);
        self.fence_time = other.fence_time;
        self.sc_time = other.sc_time;
    }

    /// Removes all events. Keeps the allocations.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.clock.clear();
        self.fences.clear();
        self.fence_time = 0;
        self.sc_time = 0;
    }

    /// Returns `true` if nothing happens before.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.clock.is_empty()
    }
}
