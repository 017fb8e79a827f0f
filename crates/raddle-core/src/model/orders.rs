//! The meaning of memory orders under each model: the one table that all fast paths read.
//!
//! The checkers, the incremental models of the explorers and random testing derive from [`Model::orders`] what an
//! access or a fence does. A new model is a compile error until it has a row. Everything is `const`, so generic code
//! can turn a row into associated constants and pays nothing for it.
//!
//! The reference semantics ([`reference`](super::reference), [`relations`](super::relations), [`axioms`](super::axioms())
//! and the machine of `raddle-consistency`) deliberately do not use this table: tests compare the two.
//!
//! | model | accesses synchronize | SeqCst | modification orders | release sequences |
//! |---|---|---|---|---|
//! | `sra` | all atomic ones | fences update a hidden location | strong | updates |
//! | `ra` | all atomic ones | fences update a hidden location | per location | updates |
//! | `wra` | all atomic ones | fences update a hidden location | none | updates |
//! | `rc20` | as annotated | fences update a hidden location | per location | updates |
//! | `relaxed` | only locks | nothing | per location | updates |
//! | `rc11` | as annotated | psc | per location | updates and own writes |
//! | `c20` | as annotated | psc | per location | updates |
//!
//! | model | store buffers | release store or fence | SeqCst store or fence |
//! |---|---|---|---|
//! | `sc` | none | - | - |
//! | `tso` | one FIFO per thread | - | waits until the buffer is empty |
//! | `pso` | one FIFO per thread and location | store-store fence | waits until the buffers are empty |

use super::Model;
use crate::execution::MemoryOrder;

/// The meaning of memory orders under a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderSemantics {
    /// A machine with store buffers defines the model: orders decide how stores pass through them.
    StoreBuffer(StoreBuffers),
    /// Axioms define the model: orders decide which events synchronize.
    C11(C11Orders),
}

/// The store buffers of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreBuffers {
    /// Every store reaches memory at once.
    None,
    /// One FIFO buffer per thread.
    PerThread,
    /// One FIFO buffer per thread and location.
    PerLocation,
}

/// What a store does to the store buffers of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreEffect {
    /// Waits until the buffers are empty and writes memory at once.
    AtOnce,
    /// Enters a buffer.
    Buffered,
    /// Enters a buffer and reaches memory after all earlier stores of its thread.
    BufferedBehindFence,
}

/// What a fence does to the store buffers of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceEffect {
    /// Nothing.
    Nothing,
    /// Later stores of the thread reach memory after earlier ones.
    StoreStore,
    /// Waits until the buffers are empty.
    Drain,
}

impl OrderSemantics {
    /// Returns `true` if no thread can tell in which order two updates of a location happened that do not use what they
    /// read, as long as everybody who reads the location happens after both.
    ///
    /// An update that acquires can tell. One that does not can if an acquire fence follows it
    /// ([`acquire_fences_observe`](OrderSemantics::acquire_fences_observe)).
    #[must_use]
    pub const fn blind_updates_commute(self, order: MemoryOrder) -> bool {
        match self {
            OrderSemantics::StoreBuffer(_) => true,
            OrderSemantics::C11(C11Orders { synchronization, .. }) => match synchronization {
                Synchronization::AsAnnotated => !order.is_acquire(),
                Synchronization::EveryAtomicAccess => false,
                Synchronization::LocksOnly => true,
            },
        }
    }

    /// Returns `true` if an acquire fence synchronizes with what earlier reads of its thread observed.
    #[must_use]
    pub const fn acquire_fences_observe(self) -> bool {
        match self {
            OrderSemantics::StoreBuffer(_) => false,
            OrderSemantics::C11(C11Orders { synchronization, .. }) => {
                !matches!(synchronization, Synchronization::LocksOnly)
            }
        }
    }
}

impl StoreBuffers {
    /// The effect of a store with this order.
    #[inline]
    #[must_use]
    pub const fn store(self, order: MemoryOrder) -> StoreEffect {
        if !self.has_buffers() {
            return StoreEffect::AtOnce;
        }
        match order {
            MemoryOrder::SeqCst => StoreEffect::AtOnce,
            MemoryOrder::Release | MemoryOrder::AcqRel if self.reorders_stores() => {
                StoreEffect::BufferedBehindFence
            }
            MemoryOrder::NonAtomic
            | MemoryOrder::Relaxed
            | MemoryOrder::Acquire
            | MemoryOrder::Release
            | MemoryOrder::AcqRel => StoreEffect::Buffered,
        }
    }

    /// The effect of a fence with this order. A store-store fence has the order `Release`.
    #[inline]
    #[must_use]
    pub const fn fence(self, order: MemoryOrder) -> FenceEffect {
        match order {
            MemoryOrder::SeqCst => FenceEffect::Drain,
            MemoryOrder::Release | MemoryOrder::AcqRel if self.reorders_stores() => {
                FenceEffect::StoreStore
            }
            MemoryOrder::NonAtomic
            | MemoryOrder::Relaxed
            | MemoryOrder::Acquire
            | MemoryOrder::Release
            | MemoryOrder::AcqRel => FenceEffect::Nothing,
        }
    }

    /// Returns `true` if stores wait in buffers at all.
    #[inline]
    #[must_use]
    pub const fn has_buffers(self) -> bool {
        match self {
            StoreBuffers::None => false,
            StoreBuffers::PerThread | StoreBuffers::PerLocation => true,
        }
    }

    /// Returns `true` if stores of one thread may reach memory out of order, so that store-store fences matter.
    #[inline]
    #[must_use]
    pub const fn reorders_stores(self) -> bool {
        match self {
            StoreBuffers::None | StoreBuffers::PerThread => false,
            StoreBuffers::PerLocation => true,
        }
    }
}

/// Which accesses and fences of a C11-style model synchronize. Locks and synchronization objects always do
/// ([`Strength::OBJECT`]), and so do spawn and join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synchronization {
    /// Accesses and fences synchronize as their orders say.
    AsAnnotated,
    /// Every atomic read acquires and every atomic write releases. Fences synchronize as their orders say.
    EveryAtomicAccess,
    /// No access and no fence synchronizes.
    LocksOnly,
}

/// How a C11-style model orders sequentially consistent events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeqCst {
    /// Not at all: they are acquire-release at most.
    Unordered,
    /// Fences are acquire-release updates of one hidden location; accesses are acquire-release (Lahav and Boker,
    /// TOPLAS 2022). A witness has an order of the fences.
    HiddenLocation,
    /// Accesses and fences respect `psc` (Lahav et al., PLDI 2017).
    Psc,
}

/// The modification orders of a C11-style model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModificationOrder {
    /// There are none: a write is overwritten if another one happens after it.
    None,
    /// One per location; each agrees with happens-before.
    PerLocation,
    /// One per location; all of them together agree with happens-before: `acyclic(hb ∪ mo)`.
    Strong,
}

/// What continues a release sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseSequence {
    /// Updates, of any thread.
    Updates,
    /// Updates, and later writes of the same thread to the same location.
    UpdatesAndOwnWrites,
}

/// The row of a C11-style model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct C11Orders {
    /// Which accesses and fences synchronize.
    pub synchronization: Synchronization,
    /// How sequentially consistent events are ordered.
    pub seq_cst: SeqCst,
    /// Which modification orders there are.
    pub modification_order: ModificationOrder,
    /// What continues a release sequence.
    pub release_sequence: ReleaseSequence,
}

/// What an access or a fence contributes to happens-before and to the order of sequentially consistent events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strength {
    /// It can be part of a synchronization, for example between two fences.
    pub atomic: bool,
    /// It acquires if it reads or is a fence.
    pub acquires: bool,
    /// It releases if it writes or is a fence.
    pub releases: bool,
    /// It takes part in the order of sequentially consistent events.
    pub sequential: bool,
}

impl Strength {
    /// Taking a lock, in every model.
    pub const LOCK: Strength = Strength { releases: false, ..Strength::OBJECT };
    /// Releasing a lock, in every model.
    pub const UNLOCK: Strength = Strength { acquires: false, ..Strength::OBJECT };
    /// An update of a synchronization object, in every model.
    pub const OBJECT: Strength =
        Strength { atomic: true, acquires: true, releases: true, sequential: false };
}

impl C11Orders {
    /// The effect of an access with this order.
    #[inline]
    #[must_use]
    pub const fn access(self, order: MemoryOrder) -> Strength {
        let (acquires, releases) = match self.synchronization {
            Synchronization::AsAnnotated => (order.is_acquire(), order.is_release()),
            Synchronization::EveryAtomicAccess => (order.is_atomic(), order.is_atomic()),
            Synchronization::LocksOnly => (false, false),
        };
        let sequential = match self.seq_cst {
            SeqCst::Unordered | SeqCst::HiddenLocation => false,
            SeqCst::Psc => matches!(order, MemoryOrder::SeqCst),
        };
        Strength { atomic: order.is_atomic(), acquires, releases, sequential }
    }

    /// The effect of a fence with this order. A store-store fence has the order `Release`.
    #[inline]
    #[must_use]
    pub const fn fence(self, order: MemoryOrder) -> Strength {
        let (acquires, releases) = match self.synchronization {
            Synchronization::AsAnnotated | Synchronization::EveryAtomicAccess => {
                (order.is_acquire(), order.is_release())
            }
            Synchronization::LocksOnly => (false, false),
        };
        let sequential = match self.seq_cst {
            SeqCst::Unordered => false,
            SeqCst::HiddenLocation | SeqCst::Psc => matches!(order, MemoryOrder::SeqCst),
        };
        Strength { atomic: true, acquires, releases, sequential }
    }

    /// Returns `true` if some atomic accesses do not synchronize by themselves but do so with the help of fences.
    #[inline]
    #[must_use]
    pub const fn has_weaker_accesses(self) -> bool {
        match self.synchronization {
            Synchronization::AsAnnotated => true,
            Synchronization::EveryAtomicAccess | Synchronization::LocksOnly => false,
        }
    }

    /// Returns `true` if writes of a location have a modification order.
    #[inline]
    #[must_use]
    pub const fn has_modification_order(self) -> bool {
        match self.modification_order {
            ModificationOrder::None => false,
            ModificationOrder::PerLocation | ModificationOrder::Strong => true,
        }
    }

    /// Returns `true` if all modification orders and happens-before have one common order.
    #[inline]
    #[must_use]
    pub const fn is_strong(self) -> bool {
        match self.modification_order {
            ModificationOrder::None | ModificationOrder::PerLocation => false,
            ModificationOrder::Strong => true,
        }
    }

    /// Returns `true` if later writes of the same thread continue a release sequence.
    #[inline]
    #[must_use]
    pub const fn own_writes_continue_release_sequences(self) -> bool {
        match self.release_sequence {
            ReleaseSequence::Updates => false,
            ReleaseSequence::UpdatesAndOwnWrites => true,
        }
    }

    /// Returns `true` if sequentially consistent fences are updates of a hidden location.
    #[inline]
    #[must_use]
    pub const fn fences_update_hidden_location(self) -> bool {
        match self.seq_cst {
            SeqCst::Unordered | SeqCst::Psc => false,
            SeqCst::HiddenLocation => true,
        }
    }

    /// Returns `true` if sequentially consistent accesses and fences respect `psc`.
    #[inline]
    #[must_use]
    pub const fn has_psc(self) -> bool {
        match self.seq_cst {
            SeqCst::Unordered | SeqCst::HiddenLocation => false,
            SeqCst::Psc => true,
        }
    }
}

const RELEASE_ACQUIRE: C11Orders = C11Orders {
    synchronization: Synchronization::EveryAtomicAccess,
    seq_cst: SeqCst::HiddenLocation,
    modification_order: ModificationOrder::PerLocation,
    release_sequence: ReleaseSequence::Updates,
};

const CPP20: C11Orders = C11Orders {
    synchronization: Synchronization::AsAnnotated,
    seq_cst: SeqCst::Psc,
    modification_order: ModificationOrder::PerLocation,
    release_sequence: ReleaseSequence::Updates,
};

impl Model {
    /// The model's row of the table.
    #[inline]
    #[must_use]
    pub const fn orders(self) -> OrderSemantics {
        match self {
            Model::Sc => OrderSemantics::StoreBuffer(StoreBuffers::None),
            Model::Tso => OrderSemantics::StoreBuffer(StoreBuffers::PerThread),
            Model::Pso => OrderSemantics::StoreBuffer(StoreBuffers::PerLocation),
            Model::Sra => OrderSemantics::C11(C11Orders {
                modification_order: ModificationOrder::Strong,
                ..RELEASE_ACQUIRE
            }),
            Model::Ra => OrderSemantics::C11(RELEASE_ACQUIRE),
            Model::Wra => OrderSemantics::C11(C11Orders {
                modification_order: ModificationOrder::None,
                ..RELEASE_ACQUIRE
            }),
            Model::Rc20 => {
                OrderSemantics::C11(C11Orders { seq_cst: SeqCst::HiddenLocation, ..CPP20 })
            }
            Model::Relaxed => OrderSemantics::C11(C11Orders {
                synchronization: Synchronization::LocksOnly,
                seq_cst: SeqCst::Unordered,
                modification_order: ModificationOrder::PerLocation,
                release_sequence: ReleaseSequence::Updates,
            }),
            Model::Rc11 => OrderSemantics::C11(C11Orders {
                release_sequence: ReleaseSequence::UpdatesAndOwnWrites,
                ..CPP20
            }),
            Model::C20 => OrderSemantics::C11(CPP20),
        }
    }

    /// The row of a C11-style model; `None` if a machine defines the model.
    #[inline]
    #[must_use]
    pub const fn c11_orders(self) -> Option<C11Orders> {
        match self.orders() {
            OrderSemantics::StoreBuffer(_) => None,
            OrderSemantics::C11(orders) => Some(orders),
        }
    }

    /// Returns `true` if a store may wait in a buffer before it reaches memory.
    #[must_use]
    pub const fn buffers_stores(self) -> bool {
        match self.orders() {
            OrderSemantics::StoreBuffer(buffers) => buffers.has_buffers(),
            OrderSemantics::C11(_) => false,
        }
    }

    /// Returns `true` if writes of a location have a modification order, or the order in which they reach memory.
    #[must_use]
    pub const fn has_modification_order(self) -> bool {
        match self.orders() {
            OrderSemantics::StoreBuffer(_) => true,
            OrderSemantics::C11(orders) => orders.has_modification_order(),
        }
    }

    /// Returns `true` if sequentially consistent fences are updates of a hidden location, so that a witness has an order
    /// of them.
    #[must_use]
    pub const fn fences_update_hidden_location(self) -> bool {
        match self.orders() {
            OrderSemantics::StoreBuffer(_) => false,
            OrderSemantics::C11(orders) => orders.fences_update_hidden_location(),
        }
    }

    /// The store buffers of a model that a machine defines; `None` for a C11-style model.
    #[inline]
    #[must_use]
    pub const fn store_buffers(self) -> Option<StoreBuffers> {
        match self.orders() {
            OrderSemantics::StoreBuffer(buffers) => Some(buffers),
            OrderSemantics::C11(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::{Action, EventId, Execution, ExecutionBuilder, LocationId, SourceClaim};
    use crate::model::reference::{
        Buffering, buffering, fences_update_hidden_location, has_modification_orders,
        own_writes_continue_release_sequences,
    };
    use crate::model::relations::effective_order;

    /// An execution with one event after the initial write of its location.
    fn single(action: Action, order: MemoryOrder) -> Execution {
        let mut builder = ExecutionBuilder::new();
        let (thread, location) = (builder.thread("P0"), builder.location("x"));
        builder.init(location, 0).expect("the first initial value");
        let claim = if action.has_source() { SourceClaim::Init } else { SourceClaim::Unnamed };
        builder.push_ordered(thread, action, order, claim);
        builder.build().expect("a well-formed execution")
    }

    #[test]
    fn the_table_and_the_reference_agree_on_accesses_and_fences() {
        let location = LocationId::new(0);
        let actions = [
            Action::Read { location, value: 0 },
            Action::Write { location, value: 1 },
            Action::Rmw { location, read: 0, written: 1 },
            Action::Fence,
        ];
        for (model, action) in Model::C11.into_iter().flat_map(|m| actions.map(|a| (m, a))) {
            let orders = model.c11_orders().expect("a C11-style model");
            for &order in action.possible_orders() {
                let reference = effective_order(&single(action, order), model, EventId::new(1));
                let is_fence = action == Action::Fence;
                let strength = if is_fence { orders.fence(order) } else { orders.access(order) };
                let acquires = strength.acquires && (is_fence || action.has_source());
                let releases = strength.releases && (is_fence || action.is_source());
                let what = format!("{model}, {action:?}, {order}");
                assert_eq!(strength.atomic, reference.is_atomic() || is_fence, "{what}");
                if is_fence || action.has_source() {
                    assert_eq!(acquires, reference.is_acquire(), "{what}");
                }
                if is_fence || action.is_source() {
                    assert_eq!(releases, reference.is_release(), "{what}");
                }
                assert_eq!(strength.sequential, reference == MemoryOrder::SeqCst, "{what}");
            }
        }
    }

    #[test]
    fn the_table_and_the_reference_agree_on_the_properties_of_models() {
        for model in Model::ALL {
            assert_eq!(model.has_modification_order(), has_modification_orders(model), "{model}");
            let hidden = model.fences_update_hidden_location();
            assert_eq!(hidden, fences_update_hidden_location(model), "{model}");
            let own_writes =
                model.c11_orders().is_some_and(C11Orders::own_writes_continue_release_sequences);
            assert_eq!(own_writes, own_writes_continue_release_sequences(model), "{model}");
            let buffers = buffering(model).map(|buffering| match buffering {
                Buffering::None => StoreBuffers::None,
                Buffering::Fifo => StoreBuffers::PerThread,
                Buffering::FifoPerLocation => StoreBuffers::PerLocation,
            });
            assert_eq!(model.store_buffers(), buffers, "{model}");
        }
    }

    #[test]
    fn store_buffers_are_what_the_machine_of_the_model_says() {
        use MemoryOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        let [sc, tso, pso] =
            Model::STORE_BUFFERS.map(|model| model.store_buffers().expect("store buffers"));
        let stores = |buffers: StoreBuffers| [Relaxed, Release, SeqCst].map(|o| buffers.store(o));
        use StoreEffect::{AtOnce, Buffered, BufferedBehindFence};
        assert_eq!(stores(sc), [AtOnce, AtOnce, AtOnce]);
        assert_eq!(stores(tso), [Buffered, Buffered, AtOnce]);
        assert_eq!(stores(pso), [Buffered, BufferedBehindFence, AtOnce]);
        let fences =
            |buffers: StoreBuffers| [Acquire, Release, AcqRel, SeqCst].map(|o| buffers.fence(o));
        use FenceEffect::{Drain, Nothing, StoreStore};
        assert_eq!(fences(tso), [Nothing, Nothing, Nothing, Drain]);
        assert_eq!(fences(pso), [Nothing, StoreStore, StoreStore, Drain]);
    }
}
