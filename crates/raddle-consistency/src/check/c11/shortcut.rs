//! A run under SC as evidence for every C11-style model.
//!
//! All models allow what SC allows: the modification orders are the orders in which writes reach memory. Where a C11-style
//! model would need a search, a short search for such a run comes first. It also decides the sources of reads that the
//! history gives by value only.

use super::graph::{C11Graph, Traits, id};
use crate::check::effort::Effort;
use crate::check::store_buffer::decide;
use crate::check::{CheckOptions, Decision, UseClosure};
use crate::witness::{MachineStep, Witness};
use raddle_core::execution::Coherence;
use raddle_core::execution::EventId;
use raddle_core::model::orders::StoreBuffers;

/// Evidence for a model, if a short search finds a run under SC.
pub(super) fn find(
    graph: &C11Graph<'_>,
    options: &CheckOptions,
    effort: &mut Effort,
) -> Option<Coherence> {
    let quick = CheckOptions { closure: UseClosure::Never, ..options.clone() };
    let limit = 1_000 + 2 * graph.events() as u64;
    let decision = effort
        .with_limit(limit, |effort| decide(graph.execution, StoreBuffers::None, &quick, effort));
    match decision {
        Decision::Allowed(Witness::Run(run)) => Some(replay(graph, &run.steps)),
        _ => None,
    }
}

/// Reads-from, modification orders and fence order of a run under SC.
fn replay(graph: &C11Graph<'_>, steps: &[MachineStep]) -> Coherence {
    let execution = graph.execution;
    let mut mo: Vec<Vec<EventId>> =
        execution.locations().map(|location| vec![execution.init_of(location)]).collect();
    let mut rf = vec![None; graph.events()];
    let mut fences = vec![];
    for step in steps {
        let (MachineStep::Run(event) | MachineStep::Flush(event)) = *step;
        let at = event.index() as u32;
        if let Some(location) = execution.action(event).location() {
            let order = &mut mo[location.index()];
            if graph.is(at, Traits::READ) {
                rf[event.index()] = order.last().copied();
            }
            if graph.is(at, Traits::WRITE) {
                order.push(event);
            }
        }
        if graph.updates_hidden_location() && graph.is_seq_cst_fence(at) {
            fences.push(id(at));
        }
    }
    if !graph.orders.has_modification_order() {
        mo.clear();
    }
    Coherence { rf, mo, fences }
}
