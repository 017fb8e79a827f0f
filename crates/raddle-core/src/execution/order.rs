//! The memory order of an event, as in C11 and Rust.

use std::fmt;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::Action;

/// The memory order of an access or a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum MemoryOrder {
    /// A plain access: under the C11 models, a race with it is an error.
    NonAtomic,
    /// Atomic, without ordering.
    Relaxed,
    /// A read that synchronizes with the release that it observes.
    Acquire,
    /// A write that synchronizes with acquires that observe it.
    Release,
    /// Acquire and release.
    AcqRel,
    /// Acquire and release, and ordered with all other `SeqCst` events.
    SeqCst,
}

impl MemoryOrder {
    /// All orders, weakest first.
    pub const ALL: [MemoryOrder; 6] = [
        MemoryOrder::NonAtomic,
        MemoryOrder::Relaxed,
        MemoryOrder::Acquire,
        MemoryOrder::Release,
        MemoryOrder::AcqRel,
        MemoryOrder::SeqCst,
    ];

    /// The name in histories: `na`, `rlx`, `acq`, `rel`, `ar`, `sc`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            MemoryOrder::NonAtomic => "na",
            MemoryOrder::Relaxed => "rlx",
            MemoryOrder::Acquire => "acq",
            MemoryOrder::Release => "rel",
            MemoryOrder::AcqRel => "ar",
            MemoryOrder::SeqCst => "sc",
        }
    }

    /// The order with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<MemoryOrder> {
        MemoryOrder::ALL.into_iter().find(|order| order.name() == name)
    }

    /// Returns `true` if the access is atomic.
    #[must_use]
    pub const fn is_atomic(self) -> bool {
        !matches!(self, MemoryOrder::NonAtomic)
    }

    /// Returns `true` if the order is at least acquire.
    #[must_use]
    pub const fn is_acquire(self) -> bool {
        matches!(self, MemoryOrder::Acquire | MemoryOrder::AcqRel | MemoryOrder::SeqCst)
    }

    /// Returns `true` if an access with the other order can replace one with this order in any model.
    #[must_use]
    pub fn is_at_most(self, other: MemoryOrder) -> bool {
        self.is_atomic() == other.is_atomic()
            && (!self.is_acquire() || other.is_acquire())
            && (!self.is_release() || other.is_release())
            && (self != MemoryOrder::SeqCst || other == MemoryOrder::SeqCst)
    }

    /// Returns `true` if the order is at least release.
    #[must_use]
    pub const fn is_release(self) -> bool {
        matches!(self, MemoryOrder::Release | MemoryOrder::AcqRel | MemoryOrder::SeqCst)
    }
}

impl fmt::Display for MemoryOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Action {
    /// The orders that such an event can have, the default first.
    ///
    /// A failed compare-exchange has the order of its read. Locks, spawns, joins and store-store fences have a fixed order.
    #[must_use]
    pub fn possible_orders(&self) -> &'static [MemoryOrder] {
        use MemoryOrder::{AcqRel, Acquire, NonAtomic, Relaxed, Release, SeqCst};
        match self {
            Action::Init { .. } => &[NonAtomic],
            Action::Read { .. } => &[NonAtomic, Relaxed, Acquire, SeqCst],
            Action::Write { .. } => &[NonAtomic, Relaxed, Release, SeqCst],
            Action::Rmw { .. } | Action::Cas { succeeded: true, .. } => {
                &[SeqCst, Relaxed, Acquire, Release, AcqRel]
            }
            Action::Cas { succeeded: false, .. } => &[SeqCst, Relaxed, Acquire],
            Action::Fence => &[SeqCst, Acquire, Release, AcqRel],
            Action::Lock { .. } | Action::Join { .. } => &[Acquire],
            Action::Unlock { .. } | Action::Spawn { .. } | Action::StoreFence => &[Release],
        }
    }

    /// The order of such an event if the history gives none.
    #[must_use]
    pub fn default_order(&self) -> MemoryOrder {
        self.possible_orders()[0]
    }
}
