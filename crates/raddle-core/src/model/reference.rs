//! The properties of each model that the reference semantics are built on.
//!
//! These rows deliberately repeat the table of [`orders`](super::orders) in other terms: the reference relations, the
//! reference machine and the recheck of evidence use only this file, the fast paths only that table, and tests compare the
//! two. The [axioms](super::axioms()) of a model are the other half of its reference semantics.

use super::Model;

/// When stores leave the buffer of their thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Buffering {
    /// Stores never enter it.
    None,
    /// In their order.
    Fifo,
    /// In their order for each location.
    FifoPerLocation,
}

/// Which memory orders a model lacks, and what replaces them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// None.
    Nothing,
    /// Sequentially consistent accesses acquire if they read and release if they write.
    SeqCstAccesses,
    /// Atomic accesses acquire if they read and release if they write.
    AtomicAccesses,
    /// Atomic accesses and fences are relaxed, except those of locks and synchronization objects.
    Everything,
}

/// The store buffers of a model that a machine defines; `None` if axioms define it.
#[must_use]
pub fn buffering(model: Model) -> Option<Buffering> {
    match model {
        Model::Sc => Some(Buffering::None),
        Model::Tso => Some(Buffering::Fifo),
        Model::Pso => Some(Buffering::FifoPerLocation),
        Model::Sra
        | Model::Ra
        | Model::Wra
        | Model::Rc20
        | Model::Relaxed
        | Model::Rc11
        | Model::C20 => None,
    }
}

/// Which memory orders the model replaces.
#[must_use]
pub fn replacement(model: Model) -> Replacement {
    match model {
        Model::Sra | Model::Ra | Model::Wra => Replacement::AtomicAccesses,
        Model::Rc20 => Replacement::SeqCstAccesses,
        Model::Relaxed => Replacement::Everything,
        Model::Sc | Model::Tso | Model::Pso | Model::Rc11 | Model::C20 => Replacement::Nothing,
    }
}

/// Returns `true` if the model has modification orders.
#[must_use]
pub fn has_modification_orders(model: Model) -> bool {
    match model {
        Model::Wra => false,
        Model::Sc
        | Model::Tso
        | Model::Pso
        | Model::Sra
        | Model::Ra
        | Model::Rc20
        | Model::Relaxed
        | Model::Rc11
        | Model::C20 => true,
    }
}

/// Returns `true` if sequentially consistent fences are updates of one hidden location, so that a witness has an order of
/// them.
#[must_use]
pub fn fences_update_hidden_location(model: Model) -> bool {
    match model {
        Model::Sra | Model::Ra | Model::Wra | Model::Rc20 => true,
        Model::Sc | Model::Tso | Model::Pso | Model::Relaxed | Model::Rc11 | Model::C20 => false,
    }
}

/// Returns `true` if later writes of the same thread continue a release sequence.
#[must_use]
pub fn own_writes_continue_release_sequences(model: Model) -> bool {
    match model {
        Model::Rc11 => true,
        Model::Sc
        | Model::Tso
        | Model::Pso
        | Model::Sra
        | Model::Ra
        | Model::Wra
        | Model::Rc20
        | Model::Relaxed
        | Model::C20 => false,
    }
}
