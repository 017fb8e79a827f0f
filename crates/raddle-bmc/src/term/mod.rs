//! Bit-vector terms with hash consing and local simplification.
//!
//! A term has a width of 1 to 64 bits; a term of one bit is a truth value. Terms of equal structure are the same term,
//! and the constructors simplify: constants are folded, operations move into choices between constants, and
//! [`ValueSet`] bounds the possible values of a term where they are few. So code that does not depend on values read
//! from shared memory costs nothing, and infeasible branches have the condition [`FALSE`].
//!
//! Rewrites look at two or three terms at a time only. The SAT solver is better at everything else.

mod conjunction;
mod logic;
mod node;
mod number;
mod operation;
mod store;
mod value_set;
mod width;

pub(crate) use node::{BinaryOp, FALSE, TRUE, Term, TermNode};
pub(crate) use number::{evaluate, mask, signed};
pub(crate) use store::TermStore;
pub(crate) use value_set::ValueSet;
