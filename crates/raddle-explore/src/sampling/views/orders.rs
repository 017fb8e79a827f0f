//! What memory orders mean under each model.

use raddle_core::execution::MemoryOrder;
use raddle_core::model::Model;

/// The meaning of orders under a model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Orders {
    /// Whether every atomic access acquires and releases.
    all: bool,
    /// Whether none does, and no fence either.
    none: bool,
    /// Whether sequentially consistent accesses and fences have one order.
    pub(super) has_sc: bool,
    /// Whether sequentially consistent fences are updates of one hidden location.
    pub(super) has_hidden: bool,
    /// Whether a write comes after all writes of its location that were before it.
    pub(super) appends: bool,
    /// Whether there are modification orders.
    pub(super) has_mo: bool,
    /// Whether later writes of the same thread belong to a release sequence.
    pub(super) own_writes_follow: bool,
}

impl Orders {
    /// Whether there is an order of sequentially consistent events.
    pub(super) fn has_order(&self) -> bool {
        self.has_sc || self.has_hidden
    }

    /// The same without that.
    pub(super) fn without_order(self) -> Self {
        Orders { has_sc: false, has_hidden: false, ..self }
    }

    pub(super) fn of(model: Model) -> Self {
        Orders {
            all: matches!(model, Model::Sra | Model::Ra | Model::Wra),
            none: model == Model::Relaxed,
            has_sc: matches!(model, Model::Rc11 | Model::C20),
            has_hidden: model.orders_sc_fences(),
            appends: model == Model::Sra,
            has_mo: model.has_mo(),
            own_writes_follow: model == Model::Rc11,
        }
    }

    #[inline]
    pub(super) fn acquires(&self, order: MemoryOrder) -> bool {
        !self.none && (order.is_acquire() || self.all && order.is_atomic())
    }

    #[inline]
    pub(super) fn releases(&self, order: MemoryOrder) -> bool {
        !self.none && (order.is_release() || self.all && order.is_atomic())
    }

    /// Whether an access is one that all others of its kind are ordered with.
    #[inline]
    pub(super) fn is_sc(&self, order: MemoryOrder) -> bool {
        self.has_sc && order == MemoryOrder::SeqCst
    }

    /// Whether fences do anything.
    pub(super) fn has_fences(&self) -> bool {
        !self.none
    }
}
