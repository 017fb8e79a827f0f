//! Explorers: every behaviour of a program that a memory model allows, each class of behaviours once.
//!
//! Two executions are in the same *reads-from class* if their threads execute the same events and every read observes
//! the same write. An explorer visits every class that the model allows, and none twice, and passes each to a
//! [`Visitor`] as a [`Leaf`]. The [`dpor`] explorers also distinguish executions in which writes reach memory in a
//! different order; [`rvf_smc`] explores larger classes, in which reads need only return the same values; [`sampling`]
//! runs the program randomly.
//!
//! A front end asks [`plan`] for an explorer, and wraps its exploration in [`driver::until_stable`].
#![forbid(unsafe_code)]

pub mod counterexample;
pub mod dpor;
pub mod driver;
pub mod event_index;
mod event_list;
pub mod event_map;
pub mod event_set;
mod extent;
pub mod facts;
pub mod long_set;
pub mod model;

#[cfg(feature = "parallel")]
pub mod parallel;
pub mod plan;
pub mod replay;
pub mod rf_part_smc;
pub mod rf_smc;
pub mod robustness;
pub mod rvf_smc;
pub mod sampling;
pub mod suggest;

mod visitor;

pub use extent::{Extent, Limits, Summary};
pub use raddle_core::outcome::{CutLimit, CutThread, Unsupported};
pub(crate) use visitor::ending_of;
pub use visitor::{Control, Leaf, Visitor};
