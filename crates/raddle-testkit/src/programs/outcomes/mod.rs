//! Oracle for programs with loops: all outcomes, by brute force.
//!
//! Classes of executions are the wrong measure for a program that waits in loops: it has as many as there are useless
//! rounds. Its *outcomes* are finitely many: how every thread ends, where a thread may also go around a loop forever
//! because nothing that it reads will change any more.
//!
//! Under SC, TSO and PSO the states of a machine are finitely many as well, if the states of threads are compared by
//! their live registers (`machine.rs`). Under the C11-style models all execution graphs with a bounded number of
//! questions per thread are enumerated and checked with the literal axioms (`graphs.rs`); there the result may be
//! incomplete, but everything that it contains is real.

mod cycle;
mod graphs;
mod machine;
mod of_trace;

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::execution::{ThreadId, Value};
use raddle_core::model::Model;
use raddle_core::program::{End, Naming, PlaceId};

use super::TooLarge;
use crate::script::{Script, ScriptProgram, ThreadState};

pub use graphs::{confirms, is_consistent};
pub use of_trace::{failures_of, outcome_of};

/// How a thread ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ThreadOutcome {
    /// It finished with these registers, in the order of [`ScriptProgram::register_names`].
    Finished(Vec<Value>),
    /// It failed at this place.
    Failed(PlaceId),
    /// An assumption did not hold.
    AssumptionFailed,
    /// It waits forever at this place for a lock, a synchronization object or the end of a thread.
    Waiting(PlaceId),
    /// It reads the final values of memory forever. The state is the smallest one of the cycle.
    Spinning(ThreadState),
}

/// How all threads end that were started.
pub type Outcome = BTreeMap<ThreadId, ThreadOutcome>;

/// All outcomes of a program under a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// How the threads end.
    pub outcomes: BTreeSet<Outcome>,
    /// The places at which threads fail, whatever the other threads do then.
    pub failures: BTreeSet<PlaceId>,
    /// Pairs of places that race, the smaller one first. Nothing that follows a race is explored.
    pub races: BTreeSet<(PlaceId, PlaceId)>,
    /// The states in which threads ask questions.
    pub states: BTreeSet<ThreadState>,
    /// Whether there are no others.
    pub is_complete: bool,
}

/// How much brute force may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutcomeBudget {
    /// The number of states of the machine, or of execution graphs.
    pub states: usize,
    /// The number of questions of a thread in an execution graph.
    pub questions: usize,
    /// The number of tests of the axioms, of all execution graphs together.
    pub tests: usize,
}

/// Returns all outcomes of a program under a model.
///
/// # Errors
/// If the machine has more states than the budget, or a thread never ends a segment. Execution graphs that exceed the
/// budget are left out instead ([`Outcomes::is_complete`]).
///
/// # Panics
/// If the script uses variables or threads that it does not define.
pub fn outcomes(
    script: &Script,
    model: Model,
    budget: OutcomeBudget,
) -> Result<Outcomes, TooLarge> {
    if model.has_store_buffers() {
        machine::outcomes(script, model, budget.states)
    } else {
        graphs::outcomes(script, model, budget)
    }
}

/// Returns the outcome of a thread that has come to this end; `None` if it goes on.
fn ended(program: &ScriptProgram, state: &ThreadState, end: &End) -> Option<ThreadOutcome> {
    match end {
        End::Finished => {
            let registers = program.register_names(state.thread).len();
            Some(ThreadOutcome::Finished(state.registers[..registers].to_vec()))
        }
        End::Failed(_) => Some(ThreadOutcome::Failed(program.place_of(state))),
        End::Assume => Some(ThreadOutcome::AssumptionFailed),
        End::Question(_) | End::Repeats(_) | End::Limit | End::Unrolled(_) => None,
    }
}

impl ThreadOutcome {
    /// Returns `true` if the thread does something forever.
    #[must_use]
    pub fn is_spinning(&self) -> bool {
        matches!(self, ThreadOutcome::Spinning(_))
    }

    /// Returns `true` if the thread has failed, or an assumption did not hold.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        matches!(self, ThreadOutcome::Failed(_) | ThreadOutcome::AssumptionFailed)
    }
}

/// Describes an outcome: `a r=1 s=0, b spins at b.0: r = load x`. Threads that finish without registers are left out.
#[must_use]
pub fn describe(program: &ScriptProgram, outcome: &Outcome) -> String {
    let thread = |(&thread, end): (&ThreadId, &ThreadOutcome)| {
        let name = program.thread_name(thread);
        match end {
            ThreadOutcome::Finished(values) if values.is_empty() => None,
            ThreadOutcome::Finished(values) => {
                let named = program.register_names(thread).iter().zip(values);
                let values: Vec<String> =
                    named.map(|(name, value)| format!("{name}={value}")).collect();
                Some(format!("{name} {}", values.join(" ")))
            }
            ThreadOutcome::Failed(place) => {
                Some(format!("{name} fails at {}", program.place(*place)))
            }
            ThreadOutcome::AssumptionFailed => Some(format!("{name} stops")),
            ThreadOutcome::Waiting(place) => {
                Some(format!("{name} waits at {}", program.place(*place)))
            }
            ThreadOutcome::Spinning(state) => {
                Some(format!("{name} spins at {}", program.place(program.place_of(state))))
            }
        }
    };
    outcome.iter().filter_map(thread).collect::<Vec<_>>().join(", ")
}
