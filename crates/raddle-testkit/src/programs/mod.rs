//! Oracle for exploration: all classes of a small program, by brute force.
//!
//! Under SC, TSO and PSO it enumerates all runs of the [reference machine](raddle_consistency::reference::machine)
//! ([`by_machine()`]); under the C11-style models it enumerates all sources of all reads and checks them by
//! [`enumerate`](raddle_consistency::reference::enumerate) ([`by_axioms()`]). SC has both, and they must agree. The
//! oracle shares only the program and the definition of a class with explorers and checkers. [`traces()`] also
//! distinguishes runs of the machine by the order in which writes reach memory.
//!
//! An execution is maximal if no thread can take another step. A thread may wait for a lock that is not released, for a
//! synchronization object whose values do not satisfy its guard, or for a thread that does not end. A thread that
//! failed, or whose assumption does not hold, has stopped; the others continue.
//!
//! Programs with endless loops have too many classes; [`outcomes`] is the oracle for them.
//!
//! *Cost.* Exponential; suitable for about a dozen events. [`random`], [`counters()`], [`handover()`], [`loops()`] and
//! [`combined()`] generate programs, [`shrink()`] makes them smaller, and [`transform`] changes them in ways that must
//! preserve the classes.

mod by_axioms;
mod by_machine;
mod combined;
mod counters;
mod handover;
mod loops;
pub mod outcomes;
pub mod random;
mod run;
mod shrink;
pub mod symmetric;
mod traces;
pub mod transform;
pub mod traps;
pub mod values;

use std::collections::BTreeMap;
use std::fmt;

use crate::script::Script;
use raddle_core::execution::{ThreadId, Value};
use raddle_core::model::Model;
use raddle_core::trace::Class;

pub use by_axioms::{Pruning, by_axioms};
pub use by_machine::by_machine;
pub use combined::{combined, with_results, without_results};
pub use counters::counters;
pub use handover::handover;
pub use loops::loops;
pub use shrink::shrink;
pub use symmetric::symmetric;
pub use traces::traces;

/// Final registers of all threads that were started, in the order of
/// [`ScriptProgram::register_names`](crate::script::ScriptProgram::register_names).
pub type FinalRegisters = BTreeMap<ThreadId, Vec<Value>>;

/// Classes of a program with the final registers.
pub type Classes = BTreeMap<Class, FinalRegisters>;

/// The budget of states is exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the program has too many states for brute force")
    }
}

impl std::error::Error for TooLarge {}

/// Returns all classes of the maximal executions of a program under a model.
///
/// # Errors
/// If there are more states than `budget`.
///
/// # Panics
/// If the script uses variables or threads that it does not define.
pub fn classes(script: &Script, model: Model, budget: usize) -> Result<Classes, TooLarge> {
    if model.has_store_buffers() {
        by_machine(script, model, budget)
    } else {
        by_axioms(script, model, Pruning::Prefixes, budget)
    }
}

/// Adds a class. The class determines the final registers.
fn add(classes: &mut Classes, (class, outcome): (Class, FinalRegisters)) {
    if let Some(known) = classes.insert(class, outcome.clone()) {
        assert_eq!(known, outcome, "a class determines the final registers");
    }
}
