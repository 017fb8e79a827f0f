//! The steps of processes, as other processes notice them.

/// No location, store or event.
pub(super) const NONE: u32 = u32::MAX;

/// What a step does to its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// It has none.
    Silent,
    /// It reads memory, or the store buffer of its thread.
    Read,
    /// It writes memory: an update from a store buffer, an atomic update, an acquire, a release.
    Write,
}

/// What is known of a step of a process without knowing when it happens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Footprint {
    /// Who does it.
    pub(super) process: u32,
    /// Its thread, or that whose store buffer it empties.
    pub(super) thread: u32,
    /// Which of several ways to do it: a choice of the program, or 1 if a weak compare-exchange fails for
    /// no reason.
    pub(super) choice: u32,
    pub(super) access: Access,
    pub(super) location: u32,
    /// A load that observes a store of its own thread: that store. It meets memory only after the store
    /// has reached it.
    pub(super) own: u32,
    /// An update: the store that reaches memory.
    pub(super) store: u32,
}

impl Footprint {
    /// Whether the steps conflict, if both meet memory.
    #[inline]
    pub(super) fn conflicts(&self, other: &Footprint) -> bool {
        self.location == other.location
            && self.access != Access::Silent
            && (self.access == Access::Write || other.access == Access::Write)
            && other.access != Access::Silent
    }
}
