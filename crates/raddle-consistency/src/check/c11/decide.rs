//! Which checker decides an execution with a reads-from map.
//!
//! The model's row of [`orders`](raddle_core::model::orders) decides. A model that combines what no checker decides is a
//! compile error.

use super::basis::Basis;
use super::by_location::ByLocation;
use super::chains::UpdateChains;
use super::clocks::HbClocks;
use super::explain::explain;
use super::graph::{C11Graph, id};
use super::ordered::{GraphDecision, allowed, decide_ordered};
use super::schedule::run_through;
use super::{fences, race, relaxed};
use crate::check::effort::Effort;
use crate::witness::Violation;
use raddle_core::execution::Coherence;
use raddle_core::execution::EventId;
use raddle_core::model::Model;
use raddle_core::model::orders::{C11Orders, ModificationOrder, SeqCst, Synchronization};

/// Returns `true` if some checker decides a model with this row. `psc` is decided only together with one modification
/// order per location.
const fn has_checker(orders: C11Orders) -> bool {
    match orders.modification_order {
        ModificationOrder::PerLocation => true,
        ModificationOrder::None | ModificationOrder::Strong => !orders.has_psc(),
    }
}

const _: () = {
    let mut at = 0;
    while at < Model::C11.len() {
        if let Some(orders) = Model::C11[at].c11_orders() {
            assert!(has_checker(orders), "a model has no checker");
        }
        at += 1;
    }
};

/// Returns `true` if [`relaxed`] decides the graph.
fn is_relaxed(graph: &C11Graph<'_>) -> bool {
    let row = C11Orders {
        synchronization: Synchronization::LocksOnly,
        seq_cst: SeqCst::Unordered,
        modification_order: ModificationOrder::PerLocation,
        ..graph.orders
    };
    graph.orders == row && relaxed::applies(graph)
}

/// Decides a graph in which every read has its source.
pub(super) fn decide_rf(graph: &mut C11Graph<'_>, effort: &mut Effort) -> GraphDecision {
    if is_relaxed(graph) {
        return relaxed(graph).map_or_else(GraphDecision::Refuted, |mo| allowed(graph, mo, vec![]));
    }
    match graph.orders.modification_order {
        ModificationOrder::None | ModificationOrder::Strong if graph.has_seq_cst() => {
            fences::search(graph, effort)
        }
        ModificationOrder::None | ModificationOrder::Strong | ModificationOrder::PerLocation => {
            decide_ordered(graph, effort)
        }
    }
}

fn relaxed(graph: &C11Graph<'_>) -> Result<Vec<Vec<EventId>>, Violation> {
    run_through(graph, |_| {})?;
    let by_location = ByLocation::new(graph, &UpdateChains::new(graph)?);
    relaxed::check(graph, &by_location).map_err(|(location, clash)| match Basis::new(graph) {
        Ok(basis) => explain(graph, &basis, location, clash),
        Err(violation) => violation,
    })
}

/// A race in an execution that the axioms allow.
pub(super) fn race(graph: &mut C11Graph<'_>, coherence: &Coherence) -> Option<(EventId, EventId)> {
    if !race::is_possible(graph) {
        return None;
    }
    graph.adopt(coherence);
    let clocks = HbClocks::new(graph).ok()?;
    let by_location = ByLocation::new(graph, &UpdateChains::new(graph).ok()?);
    let (first, second) = race::find(graph, &clocks, &by_location)?;
    Some((id(first), id(second)))
}
