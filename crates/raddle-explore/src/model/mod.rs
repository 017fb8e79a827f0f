//! Incremental memory models: which writes may the next read of an execution observe, while the execution grows and
//! shrinks.

mod boxed;
pub mod c11;
mod incremental;
pub(crate) mod joint;
pub(crate) mod store_buffer;

pub use boxed::BoxedModel;
pub use incremental::{
    IncrementalModel, NewModel, NewRead, NewStore, NewUnlock, PendingRead, QuietStep, ReadEffect,
    ReadKind, RfSources, RvfOptions,
};
