//! Faces of the models in the style of C11.
//!
//! | model | face | where that is lost |
//! |---|---|---|
//! | `relaxed` | [`Views`] | |
//! | `rc20`, `ra` | [`Views`] | [`Witnessed`] (sequentially consistent fences) |
//! | `c20`, `rc11` | [`Views`] | [`Witnessed`] (sequentially consistent accesses and fences) |
//! | `wra` | [`Views`] | [`Checked`] (sequentially consistent fences) |
//! | `sra` | [`Witnessed`] | [`Checked`] (the same) |
//!
//! [`Views`] needs no search: under models without an order of sequentially consistent events, coherence
//! is all, and `coherent.rs` follows it exactly. [`Witnessed`] keeps modification orders as a witness and
//! searches for others where they do not fit. [`Checked`] asks the checker of whole executions each time;
//! it is for any model, and the reference for the others.

mod checked;
mod coherent;
mod forced;
mod models;
mod scb;
mod search;
mod threads;
mod view;
mod views;
mod witness;
mod witnessed;

pub use checked::Checked;
pub use models::*;
pub use views::Views;
pub use witnessed::Witnessed;
