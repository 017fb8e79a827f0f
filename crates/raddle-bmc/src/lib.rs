//! Bounded symbolic checking of C programs.
//!
//! ```text
//! file ─► parse ─► settle (exec, again and again) ─► Program ─► slice ─► sequence (memory) ─► blast ─► SAT
//!                                                                                             │
//!                                                                     Report ◄─ trace ◄───────┘
//! ```
//!
//! [`check`] answers whether something goes wrong within the bounds of the [`Options`].

mod blast;
mod check;
mod deepen;
mod emit;
mod exec;
mod memory;
mod options;
mod parse;
mod program;
mod refuse;
mod sequence;
mod settle;
mod slice;
mod solve;
mod space;
mod term;
mod trace;
mod types;

pub use check::{Answer, Report, Statistics, check};
pub use deepen::deepen;
pub use options::{Abstraction, Model, Options};
pub use refuse::Refusal;
pub use trace::{Bug, InputValue, ReadValue, TraceStep};
