//! Consistency checking: does a memory model allow an execution?
//!
//! [`check`] answers with evidence. A read without any source is inconsistent. Otherwise the model's row of
//! [`orders`](raddle_core::model::orders) chooses the family of checkers: `c11`, or `store_buffer` with these steps:
//!
//! 1. a short search for a run decides most histories of real runs;
//! 2. the closure infers an order that every run respects, and finds most inconsistencies, with a cycle as evidence;
//! 3. a search looks for a run that respects that order: `verify_sc`, `verify_tso` or `verify_pso`, all over partial runs.
//!
//! If an exhaustive search finds nothing, `inconsistent_core` looks for a small part of the execution that is inconsistent
//! by itself. `store_buffer::naive` has the baselines of the benchmarks.

mod c11;
mod effort;
mod inconsistent_core;
mod store_buffer;

use crate::witness::{ConsistencyVerdict, CoreSize, Violation, Witness};
use raddle_core::execution::{EventId, Execution};
use raddle_core::model::Model;
use raddle_core::model::orders::OrderSemantics;

use effort::Effort;

/// When to compute the closure: an order of the events that every run respects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UseClosure {
    /// If a short search has not found a run.
    WhenNeeded,
    /// Before any search.
    First,
    /// Never: search only.
    Never,
}

/// The search algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchAlgorithm {
    /// The best one for the model.
    Best,
    /// The lower-set enumeration that the benchmarks compare with. Exact for reads-from maps; with
    /// several sources for a read it is not used.
    Naive,
}

/// Options of a check.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// When to compute the closure. It finds and explains most inconsistencies quickly; on consistent executions it mostly
    /// costs more than it saves.
    pub closure: UseClosure,
    /// The number of search states, shrinking included, after which the answer is `Unknown`.
    pub budget: u64,
    /// The search algorithm.
    pub algorithm: SearchAlgorithm,
    /// If the search finds no run, look for a small part of the execution that has none either. Otherwise the violation is
    /// the whole execution.
    pub shrink: bool,
}

impl Default for CheckOptions {
    fn default() -> Self {
        CheckOptions {
            closure: UseClosure::WhenNeeded,
            budget: 10_000_000,
            algorithm: SearchAlgorithm::Best,
            shrink: true,
        }
    }
}

/// Decides whether a model allows an execution, with evidence.
#[must_use]
pub fn check(execution: &Execution, model: Model, options: &CheckOptions) -> ConsistencyVerdict {
    let mut effort = Effort::new(options.budget);
    match decide(execution, model, options, &mut effort) {
        Decision::Allowed(witness) => ConsistencyVerdict::Consistent(witness),
        Decision::Refuted(violation) => ConsistencyVerdict::Inconsistent(violation),
        Decision::OutOfBudget => ConsistencyVerdict::Unknown { steps: effort.steps() },
        Decision::NoRun if options.shrink => {
            ConsistencyVerdict::Inconsistent(inconsistent_core::shrink(execution, |part| {
                forbids(part, model, options, &mut effort)
            }))
        }
        Decision::NoRun => ConsistencyVerdict::Inconsistent(Violation::Core {
            lens: inconsistent_core::whole(execution),
            size: CoreSize::Unknown,
        }),
    }
}

/// Returns whether the axioms of a model allow an execution, racy or not; `None` if the budget is exhausted.
#[must_use]
pub fn allows(execution: &Execution, model: Model, options: &CheckOptions) -> Option<bool> {
    forbids(execution, model, options, &mut Effort::new(options.budget)).map(|forbids| !forbids)
}

/// Returns whether a model forbids an execution; `None` if the budget is exhausted.
fn forbids(
    execution: &Execution,
    model: Model,
    options: &CheckOptions,
    effort: &mut Effort,
) -> Option<bool> {
    match decide(execution, model, options, effort) {
        // The axioms allow an execution with a race.
        Decision::Allowed(_) | Decision::Refuted(Violation::Race { .. }) => Some(false),
        Decision::Refuted(_) | Decision::NoRun => Some(true),
        Decision::OutOfBudget => None,
    }
}

/// Decides whether a model allows an execution, with the checkers of its family.
fn decide(
    execution: &Execution,
    model: Model,
    options: &CheckOptions,
    effort: &mut Effort,
) -> Decision {
    if let Some(read) = read_without_source(execution) {
        return Decision::Refuted(Violation::UnwrittenValue { read });
    }
    match model.orders() {
        OrderSemantics::StoreBuffer(buffers) => {
            store_buffer::decide(execution, buffers, options, effort)
        }
        OrderSemantics::C11(orders) => c11::decide(execution, orders, options, effort),
    }
}

/// A read of a value that no event wrote.
fn read_without_source(execution: &Execution) -> Option<EventId> {
    execution
        .events()
        .find(|&event| execution.action(event).has_source() && execution.sources(event).is_empty())
}

enum Decision {
    Allowed(Witness),
    /// With a proof.
    Refuted(Violation),
    /// By exhaustive search.
    NoRun,
    OutOfBudget,
}
