//! Incremental memory models: what an explorer asks while an execution grows and shrinks.

pub mod c11;
mod incremental;
pub(crate) mod store_buffer;

pub use incremental::{Effect, IncrementalModel, Reads, RvfOptions, Sources};
