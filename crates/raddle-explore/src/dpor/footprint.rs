//! Footprints: steps of processes, reduced to what other processes can notice.

/// No location, store or event.
pub(super) const NONE: u32 = u32::MAX;

/// Effect of a step on its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FootprintAccess {
    /// None: the step has no location.
    Silent,
    /// Reads memory, or the store buffer of its thread.
    Read,
    /// Writes memory: a flush, an atomic read-modify-write, an acquire, a release.
    Write,
}

/// What is known of a step of a process independently of when it happens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Footprint {
    pub(super) process: u32,
    /// Thread of the process; for a flush the thread whose store buffer it empties.
    pub(super) thread: u32,
    /// Which of several alternatives is taken: a choice of the program, or 1 if a weak compare-exchange fails
    /// spuriously.
    pub(super) choice: u32,
    pub(super) access: FootprintAccess,
    pub(super) location: u32,
    /// For a load that observes a store of its own thread: that store. The load accesses memory only after the store
    /// has reached it.
    pub(super) own_store: u32,
    /// For a flush: the store that reaches memory. [`NONE`] for a step of a thread.
    pub(super) flushed: u32,
}

impl Footprint {
    /// Returns `true` if the steps conflict, provided that both access memory.
    #[inline]
    pub(super) fn conflicts(&self, other: &Footprint) -> bool {
        use FootprintAccess::{Silent, Write};
        self.location == other.location
            && self.access != Silent
            && (self.access == Write || other.access == Write)
            && other.access != Silent
    }
}
