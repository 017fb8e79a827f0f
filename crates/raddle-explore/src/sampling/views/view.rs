//! What a thread knows, or tells who synchronizes with it.

use super::super::clock::Clock;

/// What happened before.
#[derive(Clone, Debug, Default)]
pub(super) struct View {
    /// By happens-before.
    pub(super) clock: Clock,
    /// What happened before sequentially consistent fences that came before one which happened before.
    pub(super) fences: Clock,
    /// When the last sequentially consistent fence was that happened before.
    pub(super) time: u64,
    /// When the last sequentially consistent write or fence was that happened before.
    pub(super) sc: u64,
}

impl View {
    #[inline]
    pub(super) fn join(&mut self, other: &View) {
        self.clock.join(&other.clock);
        self.sc = self.sc.max(other.sc);
        if other.time > 0 {
            self.fences.join(&other.fences);
            self.time = self.time.max(other.time);
        }
    }

    #[inline]
    pub(super) fn copy(&mut self, other: &View) {
        self.clock.copy(&other.clock);
        self.fences.copy(&other.fences);
        self.time = other.time;
        self.sc = other.sc;
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.clock.clear();
        self.fences.clear();
        self.time = 0;
        self.sc = 0;
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.clock.is_empty()
    }
}
