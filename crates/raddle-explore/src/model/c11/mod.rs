//! Incremental models in the style of C11.
//!
//! | model | first | if that is [not enough](crate::model::IncrementalModel::needs_stronger_model) |
//! |---|---|---|
//! | `relaxed` | [`CoherenceModel`] | |
//! | `rc20`, `ra` | [`CoherenceModel`] | [`WitnessModel`] (sequentially consistent fences) |
//! | `c20`, `rc11` | [`CoherenceModel`] | [`WitnessModel`] (sequentially consistent accesses and fences) |
//! | `wra` | [`CoherenceModel`] | [`CheckerModel`] (sequentially consistent fences) |
//! | `sra` | [`WitnessModel`] | [`CheckerModel`] (sequentially consistent fences) |
//!
//! [`CoherenceModel`] needs no search: without an order of sequentially consistent events, coherence is all that a
//! model demands, and `coherence.rs` follows it exactly. [`WitnessModel`] keeps modification orders as a witness and
//! searches for others if they do not fit. [`CheckerModel`] asks the checker about the whole execution each time; it
//! works for every model and is the reference for the others.

mod checker_model;
mod coherence;
mod coherence_model;
mod forced_mo;
mod mo_search;
mod mo_witness;
mod models;
mod scb;
mod thread_table;
mod thread_view;
mod witness_model;

pub use checker_model::CheckerModel;
pub use coherence_model::CoherenceModel;
pub use models::*;
pub use witness_model::WitnessModel;
