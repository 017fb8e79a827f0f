//! Models as types, so that what a model makes of memory orders is compiled in.
//!
//! All constants come from the table of [`orders`](raddle_core::model::orders).

use raddle_core::execution::MemoryOrder;
use raddle_core::model::Model;
pub(super) use raddle_core::model::orders::Strength;
use raddle_core::model::orders::{C11Orders, OrderSemantics};

/// A model as a type. All but [`Rules::MODEL`] is about C11-style models: using it with another one does not compile.
pub trait Rules: 'static {
    /// The model.
    const MODEL: Model;
    /// The row of the model.
    const ORDERS: C11Orders = match Self::MODEL.orders() {
        OrderSemantics::C11(orders) => orders,
        OrderSemantics::StoreBuffer(_) => panic!("a store-buffer model has no C11 orders"),
    };
    /// Writes of a location have a modification order.
    const MODIFICATION_ORDER: bool = Self::ORDERS.has_modification_order();
    /// Some atomic accesses synchronize only with the help of fences.
    const FENCES: bool = Self::ORDERS.has_weaker_accesses();
    /// All modification orders and happens-before have one common order.
    const STRONG: bool = Self::ORDERS.is_strong();
    /// Later writes of the same thread continue a release sequence.
    const LONG_RELEASE_SEQUENCES: bool = Self::ORDERS.own_writes_continue_release_sequences();
}

/// How an access with this order synchronizes.
#[inline]
pub(super) fn access<M: Rules>(order: MemoryOrder) -> Strength {
    M::ORDERS.access(order)
}

/// How a fence with this order synchronizes.
#[inline]
pub(super) fn fence<M: Rules>(order: MemoryOrder) -> Strength {
    M::ORDERS.fence(order)
}

/// The ways to follow executions under a C11-style model, as generic functions of the model.
pub(crate) trait Strategies {
    /// The result of following executions.
    type Output;

    /// Coherence is all that the model demands.
    fn coherence<M: Rules>(self) -> Self::Output;

    /// Coherence, and a witness if something is sequentially consistent.
    fn coherence_then_witness<M: Rules>(self) -> Self::Output;

    /// Coherence, and the checker if there are sequentially consistent fences.
    fn coherence_then_checker<M: Rules>(self) -> Self::Output;

    /// A witness, and the checker if there are sequentially consistent fences.
    fn witness_then_checker<M: Rules>(self) -> Self::Output;
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

/// Declares the C11-style models with their strategies.
macro_rules! c11_models {
    ($($(#[$doc:meta])* $name:ident => $strategy:ident)*) => {
        rules! { $($(#[$doc])* $name)* }

        /// Calls the strategy of a C11-style model with the type of the model. Returns `None` for store-buffer models.
        pub(crate) fn with_strategy<S: Strategies>(model: Model, strategies: S) -> Option<S::Output> {
            match model {
                $(Model::$name => Some(strategies.$strategy::<$name>()),)*
                Model::Sc | Model::Tso | Model::Pso => None,
            }
        }
    };
}

rules! {
    /// Sequential consistency.
    Sc
    /// Total store order.
    Tso
    /// Partial store order.
    Pso
}

c11_models! {
    /// Strong release/acquire.
    Sra => witness_then_checker
    /// Release/acquire.
    Ra => coherence_then_witness
    /// Weak release/acquire.
    Wra => coherence_then_checker
    /// RC20.
    Rc20 => coherence_then_witness
    /// Relaxed accesses only.
    Relaxed => coherence
    /// RC11.
    Rc11 => coherence_then_witness
    /// RC20 with RC11's sequentially consistent events.
    C20 => coherence_then_witness
}
