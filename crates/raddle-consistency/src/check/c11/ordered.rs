//! Decides graphs in which everything but the modification orders is fixed.

use super::basis::Basis;
use super::graph::C11Graph;
use super::psc::Psc;
use super::seq_cst::{self, PscOutcome};
use super::sra::{self, SraOutcome};
use super::{fence_order, psc_cycle, rc20, sra_update_free, wra};
use crate::check::effort::Effort;
use crate::witness::Violation;
use raddle_core::execution::Coherence;
use raddle_core::execution::EventId;
use raddle_core::model::orders::ModificationOrder;

/// The answer about a graph.
pub(super) enum GraphDecision {
    /// The axioms allow it.
    Allowed(Coherence),
    /// The axioms forbid it, with a proof.
    Refuted(Violation),
    /// The axioms forbid it, as an exhaustive search found.
    NoOrder,
    OutOfBudget,
}

/// Decides a graph in which every read has its source. Under a model without one modification order per location, the
/// fences must have their order, too.
pub(super) fn decide_ordered(graph: &C11Graph<'_>, effort: &mut Effort) -> GraphDecision {
    let basis = match Basis::new(graph) {
        Ok(basis) => basis,
        Err(violation) => return GraphDecision::Refuted(violation),
    };
    match graph.orders.modification_order {
        ModificationOrder::None => wra::check(graph, &basis)
            .map_or_else(GraphDecision::Refuted, |()| {
                allowed(graph, vec![], fence_order::given(graph))
            }),
        ModificationOrder::Strong => match sra::check(graph, &basis, effort) {
            Err(violation) => GraphDecision::Refuted(violation),
            Ok(SraOutcome::Orders(mo)) => allowed(graph, mo, fence_order::given(graph)),
            Ok(SraOutcome::Nothing) => GraphDecision::NoOrder,
            Ok(SraOutcome::OutOfBudget) => GraphDecision::OutOfBudget,
        },
        ModificationOrder::PerLocation => match rc20::check(graph, &basis) {
            Err(violation) => GraphDecision::Refuted(violation),
            Ok(mo) if graph.has_seq_cst() => seq_cst(graph, &basis, mo, effort),
            Ok(mo) => allowed(graph, mo, vec![]),
        },
    }
}

/// A quick test that every graph passes which can be completed to one that the model allows.
///
/// # Errors
/// If the graph cannot be completed.
pub(super) fn check_necessary(graph: &C11Graph<'_>) -> Result<(), Violation> {
    let basis = Basis::new(graph)?;
    match graph.orders.modification_order {
        ModificationOrder::None => wra::check(graph, &basis),
        ModificationOrder::Strong => sra_update_free::check(graph, &basis),
        ModificationOrder::PerLocation => rc20::check(graph, &basis).map(drop),
    }
}

/// Looks for modification orders with which sequentially consistent events have one order.
fn seq_cst(
    graph: &C11Graph<'_>,
    basis: &Basis,
    mut mo: Vec<Vec<EventId>>,
    effort: &mut Effort,
) -> GraphDecision {
    let Some(psc) = Psc::new(graph, basis, effort) else {
        return GraphDecision::OutOfBudget;
    };
    match seq_cst::search(&psc, effort) {
        PscOutcome::Found(orders, reach) => {
            for (place, before) in psc.places.iter().zip(&orders.before) {
                mo[place.location] = place.sorted(&basis.chains, before);
            }
            allowed(graph, mo, fence_order::sorted(graph, &psc, &reach))
        }
        PscOutcome::Cycle => GraphDecision::Refuted(psc_cycle::explain(graph, basis, &psc)),
        PscOutcome::None => GraphDecision::NoOrder,
        PscOutcome::OutOfBudget => GraphDecision::OutOfBudget,
    }
}

/// The decision for modification orders and an order of the fences that satisfy the axioms.
pub(super) fn allowed(
    graph: &C11Graph<'_>,
    mo: Vec<Vec<EventId>>,
    fences: Vec<EventId>,
) -> GraphDecision {
    GraphDecision::Allowed(graph.coherence(mo, fences))
}
