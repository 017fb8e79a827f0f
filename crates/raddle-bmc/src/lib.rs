//! Bounded symbolic checking of C programs.
//!
//! ```text
//! file ─► parse ─► fixpoint (repeats exec) ─► UnrolledProgram ─► slice ─┬─► sequentialize (memory) ─► bitblast ─► SAT
//!                                                                       └─► emit                                │
//!                                                                              BmcReport ◄─ trace ◄─────────────┘
//! ```
//!
//! [`check`] decides whether a program has a bug within the bounds of the [`BmcOptions`]; [`deepen`] raises the bounds
//! step by step.

mod abi_type;
mod address_space;
mod bitblast;
mod check;
mod deepen;
mod emit;
mod error;
mod exec;
mod facts;
mod fixpoint;
mod memory;
mod options;
mod parse;
mod program;
mod sat_solver;
mod sequentialize;
mod slice;
mod term;
mod trace;

pub use check::{BmcReport, BmcStatistics, check};
pub use deepen::deepen;
pub use error::BmcError;
pub use options::{Abstraction, BmcOptions};
pub use trace::{BmcCounterexample, InputValue, ReadValue, TraceStep};
