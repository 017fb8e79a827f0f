//! Which checker decides an execution with a reads-from map.
//!
//! The model's row of [`orders`](raddle_core::model::orders) decides. A model that combines what no checker decides is a
//! compile error.

use super::basis::Basis;
use super::by_location::ByLocation;
use super::chains::Chains;
use super::clocks::Clocks;
use super::explain::explain;
use super::graph::{Graph, id};
use super::psc::Psc;
use super::schedule::run_through;
use super::seq_cst::{self, Outcome};
use super::sra::{self, Found};
use super::{fences, psc_cycle, race, rc20, relaxed, sra_update_free, wra};
use crate::check::effort::Effort;
use crate::witness::Violation;
use raddle_core::execution::Coherence;
use raddle_core::execution::EventId;
use raddle_core::model::Model;
use raddle_core::model::orders::{C11Orders, ModificationOrder, SeqCst, Synchronization};

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
fn is_relaxed(graph: &Graph<'_>) -> bool {
    let row = C11Orders {
        synchronization: Synchronization::LocksOnly,
        seq_cst: SeqCst::Unordered,
        modification_order: ModificationOrder::PerLocation,
        ..graph.orders
    };
    graph.orders == row && relaxed::applies(graph)
}

/// Decides a graph in which every read has its source.
pub(super) fn decide_rf(graph: &mut Graph<'_>, effort: &mut Effort) -> GraphDecision {
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

/// Decides a graph in which every read has its source and, without `psc`-based checker, the fences have their order.
pub(super) fn decide_ordered(graph: &Graph<'_>, effort: &mut Effort) -> GraphDecision {
    let basis = match Basis::new(graph) {
        Ok(basis) => basis,
        Err(violation) => return GraphDecision::Refuted(violation),
    };
    match graph.orders.modification_order {
        ModificationOrder::None => wra::check(graph, &basis)
            .map_or_else(GraphDecision::Refuted, |()| allowed(graph, vec![], fences::given(graph))),
        ModificationOrder::Strong => match sra::check(graph, &basis, effort) {
            Err(violation) => GraphDecision::Refuted(violation),
            Ok(Found::Orders(mo)) => allowed(graph, mo, fences::given(graph)),
            Ok(Found::Nothing) => GraphDecision::NoOrder,
            Ok(Found::OutOfBudget) => GraphDecision::OutOfBudget,
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
pub(super) fn check_necessary(graph: &Graph<'_>) -> Result<(), Violation> {
    let basis = Basis::new(graph)?;
    match graph.orders.modification_order {
        ModificationOrder::None => wra::check(graph, &basis),
        ModificationOrder::Strong => sra_update_free::check(graph, &basis),
        ModificationOrder::PerLocation => rc20::check(graph, &basis).map(drop),
    }
}

fn relaxed(graph: &Graph<'_>) -> Result<Vec<Vec<EventId>>, Violation> {
    run_through(graph, |_| {})?;
    let by_location = ByLocation::new(graph, &Chains::new(graph)?);
    relaxed::check(graph, &by_location).map_err(|(location, clash)| match Basis::new(graph) {
        Ok(basis) => explain(graph, &basis, location, clash),
        Err(violation) => violation,
    })
}

/// Looks for modification orders with which sequentially consistent events have one order.
fn seq_cst(
    graph: &Graph<'_>,
    basis: &Basis,
    mut mo: Vec<Vec<EventId>>,
    effort: &mut Effort,
) -> GraphDecision {
    let Some(psc) = Psc::new(graph, basis, effort) else {
        return GraphDecision::OutOfBudget;
    };
    match seq_cst::search(&psc, effort) {
        Outcome::Found(orders, reach) => {
            for (place, before) in psc.places.iter().zip(&orders.before) {
                mo[place.location] = place.sorted(&basis.chains, before);
            }
            allowed(graph, mo, fences::sorted(graph, &psc, &reach))
        }
        Outcome::Cycle => GraphDecision::Refuted(psc_cycle::explain(graph, basis, &psc)),
        Outcome::None => GraphDecision::NoOrder,
        Outcome::OutOfBudget => GraphDecision::OutOfBudget,
    }
}

fn allowed(graph: &Graph<'_>, mo: Vec<Vec<EventId>>, fences: Vec<EventId>) -> GraphDecision {
    GraphDecision::Allowed(graph.coherence(mo, fences))
}

/// A race in an execution that the axioms allow.
pub(super) fn race(graph: &mut Graph<'_>, coherence: &Coherence) -> Option<(EventId, EventId)> {
    if !race::is_possible(graph) {
        return None;
    }
    graph.adopt(coherence);
    let clocks = Clocks::new(graph).ok()?;
    let by_location = ByLocation::new(graph, &Chains::new(graph).ok()?);
    let (first, second) = race::find(graph, &clocks, &by_location)?;
    Some((id(first), id(second)))
}
