//! Models as types, so that what a model makes of memory orders is compiled in.
//!
//! The same table as `effective_order` of [`relations`](raddle_core::model::relations), told by what an access
//! or a fence does instead of by what it is called.

use raddle_core::execution::MemoryOrder;
use raddle_core::model::Model;

/// How an event synchronizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Strength {
    /// Whether it takes part in synchronization at all.
    pub(super) atomic: bool,
    /// Whether it acquires if it reads.
    pub(super) acquires: bool,
    /// Whether it releases if it writes.
    pub(super) releases: bool,
    /// Whether it has a place in the order of sequentially consistent events.
    pub(super) sequential: bool,
}

impl Strength {
    /// Locks and other synchronization objects, in every model.
    pub(super) const SYNC: Strength =
        Strength { atomic: true, acquires: true, releases: true, sequential: false };
}

/// A model. All but [`Rules::MODEL`] is about those in the style of C11.
pub trait Rules: 'static {
    /// Which one.
    const MODEL: Model;
    /// Whether writes of a location have a modification order.
    const MODIFICATION_ORDER: bool = !matches!(Self::MODEL, Model::Wra);
    /// Whether relaxed accesses and fences differ from others that are atomic.
    const FENCES: bool = matches!(Self::MODEL, Model::Rc20 | Model::C20 | Model::Rc11);
    /// Whether sequentially consistent accesses have an order of their own.
    const SC_ACCESSES: bool = matches!(Self::MODEL, Model::C20 | Model::Rc11);
    /// Whether sequentially consistent fences have one.
    const SC_FENCES: bool = !matches!(Self::MODEL, Model::Relaxed);
    /// Whether all modification orders and happens-before have one common order.
    const STRONG: bool = matches!(Self::MODEL, Model::Sra);
    /// Whether later writes of the same thread continue a release sequence.
    const LONG_RELEASE_SEQUENCES: bool = matches!(Self::MODEL, Model::Rc11);
}

/// How an access with this order synchronizes.
#[inline]
pub(super) fn access<M: Rules>(order: MemoryOrder) -> Strength {
    let atomic = order.is_atomic();
    let (acquires, releases) = match M::MODEL {
        Model::Relaxed => (false, false),
        Model::Sra | Model::Ra | Model::Wra => (atomic, atomic),
        _ => (order.is_acquire(), order.is_release()),
    };
    let sequential = M::SC_ACCESSES && order == MemoryOrder::SeqCst;
    Strength { atomic, acquires, releases, sequential }
}

/// How a fence with this order synchronizes.
#[inline]
pub(super) fn fence<M: Rules>(order: MemoryOrder) -> Strength {
    let counts = !matches!(M::MODEL, Model::Relaxed);
    Strength {
        atomic: true,
        acquires: counts && order.is_acquire(),
        releases: counts && order.is_release(),
        sequential: M::SC_FENCES && order == MemoryOrder::SeqCst,
    }
}

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Rules for $name {
            const MODEL: Model = Model::$name;
        }
    )*};
}

rules! {
    /// Sequential consistency.
    Sc
    /// Total store order.
    Tso
    /// Partial store order.
    Pso
    /// Strong release/acquire.
    Sra
    /// Release/acquire.
    Ra
    /// Weak release/acquire.
    Wra
    /// RC20.
    Rc20
    /// Relaxed accesses only.
    Relaxed
    /// RC11.
    Rc11
    /// RC20 with RC11's sequentially consistent events.
    C20
}
