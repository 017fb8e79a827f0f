//! Consistency checking: does a memory model allow an execution?
//!
//! [`check`] answers with evidence. The way there:
//!
//! 1. a read without any source settles the matter;
//! 2. a short search may hit upon a run: most histories of real runs are decided here;
//! 3. the closure (`closure`) infers what must come before what, and finds most inconsistencies,
//!    with a cycle to show for it;
//! 4. otherwise a search looks for a run that respects the order found: `verify_sc`, `verify_tso`
//!    or `verify_pso`, one algorithm a file, all walking over partial runs (`run`);
//! 5. if there is none, `core` finds a small part of the execution that is inconsistent already.
//!
//! `naive` has the baselines that the benchmarks compare with.

mod c11;
mod effort;
mod inconsistent_core;
mod store_buffer;

use crate::witness::{ConsistencyVerdict, CoreSize, Violation, Witness};
use raddle_core::execution::{EventId, Execution};
use raddle_core::model::Model;
use raddle_core::model::orders::OrderSemantics;

use effort::Effort;

/// When to infer an order of the events, which every run respects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UseClosure {
    /// If a short search has not found a run.
    WhenNeeded,
    /// Before any search.
    First,
    /// Never: search only.
    Never,
}

/// Which algorithm searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchAlgorithm {
    /// The best one for the model.
    Best,
    /// The lower-set enumeration that the benchmarks compare with. Exact for reads-from maps; with
    /// several sources for a read it is not used.
    Naive,
}

/// How to check.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// When to compute the closure. It finds most inconsistencies quickly, and explains them; on
    /// consistent executions it mostly costs more than it saves.
    pub closure: UseClosure,
    /// Give up after this many search states; shrinking included.
    pub budget: u64,
    /// Which algorithm searches.
    pub algorithm: SearchAlgorithm,
    /// If the search finds no run, whether to look for a small part of the execution that has none
    /// either. Otherwise the whole execution is given.
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

/// Whether a model allows an execution, with evidence.
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

/// Whether the axioms of a model allow an execution, with races or without, if that can be told with the budget.
#[must_use]
pub fn allows(execution: &Execution, model: Model, options: &CheckOptions) -> Option<bool> {
    forbids(execution, model, options, &mut Effort::new(options.budget)).map(|forbids| !forbids)
}

/// Whether a model forbids an execution, if that can be told with what is left of the budget.
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

/// A read of a value that nobody wrote.
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
