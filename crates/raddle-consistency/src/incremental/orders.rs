//! What the orders of accesses and fences mean under each model.

use raddle_core::execution::MemoryOrder;
use raddle_core::model::Model;

use super::views::Fence;

/// The meaning of orders under one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Orders {
    /// Every atomic access acquires and releases, and there is no modification order.
    Causal,
    /// Every atomic access acquires and releases.
    ReleaseAcquire,
    /// As they are; a sequentially consistent access acquires and releases.
    AsWritten,
    /// No access and no fence synchronizes.
    Relaxed,
}

/// How an access synchronizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Strength {
    /// Whether it takes part in synchronization by fences.
    pub(super) atomic: bool,
    /// Whether it acquires if it reads.
    pub(super) acquires: bool,
    /// Whether it releases if it writes.
    pub(super) releases: bool,
}

impl Strength {
    pub(super) const ACQUIRE: Strength = Strength { atomic: true, acquires: true, releases: false };
    pub(super) const RELEASE: Strength = Strength { atomic: true, acquires: false, releases: true };
}

impl Orders {
    /// The orders of a model, if this checker knows it.
    pub(super) fn of(model: Model) -> Option<Orders> {
        match model {
            Model::Wra => Some(Orders::Causal),
            Model::Ra => Some(Orders::ReleaseAcquire),
            Model::Rc20 => Some(Orders::AsWritten),
            Model::Relaxed => Some(Orders::Relaxed),
            Model::Sc | Model::Tso | Model::Pso | Model::Sra | Model::Rc11 | Model::C20 => None,
        }
    }

    pub(super) fn has_modification_order(self) -> bool {
        self != Orders::Causal
    }

    pub(super) fn access(self, order: MemoryOrder) -> Strength {
        let atomic = order.is_atomic();
        let (acquires, releases) = match self {
            Orders::Causal | Orders::ReleaseAcquire => (atomic, atomic),
            Orders::AsWritten => (order.is_acquire(), order.is_release()),
            Orders::Relaxed => (false, false),
        };
        Strength { atomic, acquires, releases }
    }

    pub(super) fn fence(self, order: MemoryOrder) -> Fence {
        let counts = self != Orders::Relaxed;
        Fence {
            acquires: counts && order.is_acquire(),
            releases: counts && order.is_release(),
            sequential: counts && order == MemoryOrder::SeqCst,
        }
    }
}
