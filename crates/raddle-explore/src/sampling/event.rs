//! Identity of events within one run.

use raddle_core::trace::Observed;

/// Event of a run, identified by its position in the run; or the initial write of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RunEvent(u32);

impl RunEvent {
    /// Initial write of a location, where a source is expected; no event otherwise.
    pub(super) const INITIAL: RunEvent = RunEvent(u32::MAX);

    /// `position` must be less than `u32::MAX`.
    #[inline]
    pub(super) fn new(position: u32) -> Self {
        RunEvent(position)
    }

    /// Position in the run. Out of range of every table for [`INITIAL`](Self::INITIAL).
    #[inline]
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }

    /// What a read of this event observed.
    #[inline]
    pub(super) fn observed(self) -> Observed {
        match self {
            RunEvent::INITIAL => Observed::Initial,
            RunEvent(position) => Observed::Event(position as usize),
        }
    }
}

impl Default for RunEvent {
    fn default() -> Self {
        RunEvent::INITIAL
    }
}
