//! Decides executions: chooses between search and closure.
//!
//! The closure costs more than a search on most consistent executions and less on most inconsistent ones (Bui et al., OOPSLA
//! 2021, section 6.1, and `cargo bench`). So a short search comes first, of about as many states as a run has steps; then
//! the closure; then the search again, with the order that the closure found. That is never much slower than the better of
//! the two, and the closure still explains what the short search has refuted.

use rustc_hash::FxHashMap;

use super::closure::{Closed, ClosureOrder, close};
use super::instance::Instance;
use super::preserved::Preserved;
use super::queues::StoreQueues;
use super::run::{Question, own_stores_first};
use super::search::SearchOutcome;
use super::verify_pso::verify_pso;
use super::verify_sc::verify_sc;
use super::verify_tso::verify_tso;
use crate::check::effort::Effort;
use crate::check::{CheckOptions, Decision, SearchAlgorithm, UseClosure};
use crate::witness::{Violation, Witness};
use raddle_core::execution::{EventId, Execution};
use raddle_core::model::orders::StoreBuffers;

/// The largest number of clock entries (4 bytes each) for which the closure is computed.
const MOST_CLOCK_ENTRIES: usize = 1 << 26;

/// Decides whether SC, TSO or PSO allows an execution whose reads all have sources.
pub(in crate::check) fn decide(
    execution: &Execution,
    kind: StoreBuffers,
    options: &CheckOptions,
    effort: &mut Effort,
) -> Decision {
    let mut instance = Instance::new(execution, kind, &FxHashMap::default());
    let buffers = StoreQueues::new(&instance, kind);
    let guide = execution.recorded_order().map(ranks);
    let guide = guide.as_deref();
    let search = |instance: &Instance, order: Option<&ClosureOrder>, effort: &mut Effort| {
        let own_first = own_stores_first(instance);
        let question =
            Question { instance, buffers: &buffers, own_first: &own_first, order, guide };
        search_for_run(question, kind, options.algorithm, effort)
    };
    let tried = match options.closure {
        UseClosure::Never => return search(&instance, None, effort).into(),
        UseClosure::First => SearchOutcome::OutOfBudget,
        UseClosure::WhenNeeded => {
            let limit = 1_000 + 2 * instance.ops.len() as u64;
            match effort.with_limit(limit, |effort| search(&instance, None, effort)) {
                (SearchOutcome::Found, witness) => return Decision::Allowed(witness),
                (outcome, _) => outcome,
            }
        }
    };
    let closed = match closure(&instance, &buffers) {
        Err(violation) => return Decision::Refuted(violation),
        Ok(_) if tried == SearchOutcome::Exhausted => return Decision::NoRun,
        Ok(closed) => closed,
    };
    if let Some(closed) = closed.as_ref().filter(|closed| !closed.sources.is_empty()) {
        instance = Instance::new(execution, kind, &closed.sources);
    }
    search(&instance, closed.as_ref().map(|closed| &closed.order), effort).into()
}

impl From<(SearchOutcome, Witness)> for Decision {
    fn from((outcome, witness): (SearchOutcome, Witness)) -> Decision {
        match outcome {
            SearchOutcome::Found => Decision::Allowed(witness),
            SearchOutcome::Exhausted => Decision::NoRun,
            SearchOutcome::OutOfBudget => Decision::OutOfBudget,
        }
    }
}

/// Computes the closure, unless it would take too much memory.
fn closure(instance: &Instance, buffers: &StoreQueues) -> Result<Option<Closed>, Violation> {
    let preserved = Preserved::new(instance, buffers);
    if preserved.chains * instance.ops.len() > MOST_CLOCK_ENTRIES {
        return Ok(None);
    }
    close(instance, buffers, &preserved).map(Some)
}

fn search_for_run(
    question: Question<'_>,
    kind: StoreBuffers,
    algorithm: SearchAlgorithm,
    effort: &mut Effort,
) -> (SearchOutcome, Witness) {
    let has_reads_from_map = question.instance.has_reads_from_map();
    if algorithm == SearchAlgorithm::Naive && has_reads_from_map {
        return super::naive::verify_naively(question, effort);
    }
    match kind {
        StoreBuffers::None => verify_sc(question, effort),
        StoreBuffers::PerLocation if has_reads_from_map => verify_pso(question, effort),
        StoreBuffers::PerThread | StoreBuffers::PerLocation => verify_tso(question, effort),
    }
}

/// By event: its rank in a recorded order.
fn ranks(order: &[EventId]) -> Vec<u32> {
    let events = order.iter().map(|event| event.index() + 1).max().unwrap_or(0);
    let mut ranks = vec![0; events];
    for (rank, event) in order.iter().enumerate() {
        ranks[event.index()] = rank as u32;
    }
    ranks
}
