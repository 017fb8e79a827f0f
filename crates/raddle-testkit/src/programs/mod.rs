//! The oracle for exploration: all classes of a small program, by trying everything.
//!
//! Under SC, TSO and PSO all runs of the [machine](raddle_consistency::reference::machine) are followed ([`by_machine()`]); under
//! the models with axioms all ways to choose the sources of all reads are tried and tested by
//! [`enumerate`](raddle_consistency::reference::enumerate) ([`by_axioms()`]). SC has both, and they must agree. Nothing is shared with
//! explorers or checkers but the program and the notion of a class. [`traces()`] tells runs of the machine apart
//! by the order of memory, too.
//!
//! An execution is maximal if no thread can do another step. A thread waits for a lock that nobody
//! releases, for a synchronization object whose values do not satisfy its guard, or for the end of a
//! thread that does not end. A thread that failed, or whose assumption does not hold, has stopped; the
//! others go on.
//!
//! Good for a dozen events. [`random`] makes programs for it, [`shrink()`] makes them smaller, and
//! [`transform`] changes them in ways that must not matter.

mod by_axioms;
mod by_machine;
pub mod random;
mod run;
mod shrink;
mod traces;
pub mod transform;
pub mod values;

use std::collections::BTreeMap;
use std::fmt;

use crate::script::Script;
use raddle_core::execution::{ThreadId, Value};
use raddle_core::model::Model;
use raddle_core::trace::Class;

pub use by_axioms::{Pruning, by_axioms};
pub use by_machine::by_machine;
pub use shrink::shrink;
pub use traces::traces;

/// The last values of the registers of all threads that were started, in the order of
/// [`ScriptProgram::register_names`](crate::script::ScriptProgram::register_names).
pub type Outcome = BTreeMap<ThreadId, Vec<Value>>;

/// All classes of a program, and their outcomes.
pub type Classes = BTreeMap<Class, Outcome>;

/// There are more states than the budget admits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the program has too many states to try them all")
    }
}

impl std::error::Error for TooLarge {}

/// All classes of the maximal executions of a program under a model.
///
/// # Errors
/// If more states than the budget says would have to be visited.
///
/// # Panics
/// If the script mentions what it does not have.
pub fn classes(script: &Script, model: Model, budget: usize) -> Result<Classes, TooLarge> {
    if model.has_store_buffers() {
        by_machine(script, model, budget)
    } else {
        by_axioms(script, model, Pruning::Prefixes, budget)
    }
}

/// Adds a class; what its threads computed follows from it.
fn add(classes: &mut Classes, (class, outcome): (Class, Outcome)) {
    if let Some(known) = classes.insert(class, outcome.clone()) {
        assert_eq!(known, outcome, "a class determines its outcome");
    }
}
