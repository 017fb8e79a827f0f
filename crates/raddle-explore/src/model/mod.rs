//! Incremental memory models: which writes may the next read of an execution observe, while the execution grows and
//! shrinks.

pub mod c11;
mod incremental;
pub(crate) mod store_buffer;

pub use incremental::{
    IncrementalModel, NewRead, NewStore, NewUnlock, PendingRead, QuietStep, ReadEffect, ReadKind,
    RfSources, RvfOptions,
};
