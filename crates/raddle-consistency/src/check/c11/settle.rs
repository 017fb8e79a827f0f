//! The answer for an execution with a reads-from map: which checker, when.

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
use super::{fences, psc_circle, race, rc20, relaxed, sra_update_free, wra};
use crate::check::effort::Effort;
use crate::witness::Violation;
use raddle_core::execution::Coherence;
use raddle_core::execution::EventId;
use raddle_core::model::Model;

/// What became of an execution.
pub(super) enum Settled {
    /// The axioms allow it.
    Allowed(Coherence),
    /// They do not, with a proof.
    Refuted(Violation),
    /// They do not, as an exhaustive search found.
    NoOrder,
    OutOfBudget,
}

/// Decides a graph in which every read has its source.
pub(super) fn settle(graph: &mut Graph<'_>, effort: &mut Effort) -> Settled {
    if graph.model == Model::Relaxed && relaxed::applies(graph) {
        return relaxed(graph).map_or_else(Settled::Refuted, |mo| allowed(graph, mo, vec![]));
    }
    match graph.model {
        Model::Wra | Model::Sra if graph.has_seq_cst() => fences::search(graph, effort),
        _ => settle_ordered(graph, effort),
    }
}

/// Decides a graph in which also the order of fences is fixed, if the model has one.
pub(super) fn settle_ordered(graph: &Graph<'_>, effort: &mut Effort) -> Settled {
    let basis = match Basis::new(graph) {
        Ok(basis) => basis,
        Err(violation) => return Settled::Refuted(violation),
    };
    match graph.model {
        Model::Wra => wra::check(graph, &basis)
            .map_or_else(Settled::Refuted, |()| allowed(graph, vec![], fences::given(graph))),
        Model::Sra => match sra::check(graph, &basis, effort) {
            Err(violation) => Settled::Refuted(violation),
            Ok(Found::Orders(mo)) => allowed(graph, mo, fences::given(graph)),
            Ok(Found::Nothing) => Settled::NoOrder,
            Ok(Found::OutOfBudget) => Settled::OutOfBudget,
        },
        _ => match rc20::check(graph, &basis) {
            Err(violation) => Settled::Refuted(violation),
            Ok(mo) if graph.has_seq_cst() => seq_cst(graph, &basis, mo, effort),
            Ok(mo) => allowed(graph, mo, vec![]),
        },
    }
}

/// A quick test that every graph passes which can still be completed to one that the model allows.
///
/// # Errors
/// If it cannot be completed.
pub(super) fn plausible(graph: &Graph<'_>) -> Result<(), Violation> {
    let basis = Basis::new(graph)?;
    match graph.model {
        Model::Wra => wra::check(graph, &basis),
        Model::Sra => sra_update_free::check(graph, &basis),
        _ => rc20::check(graph, &basis).map(drop),
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
) -> Settled {
    let Some(psc) = Psc::new(graph, basis, effort) else {
        return Settled::OutOfBudget;
    };
    match seq_cst::search(&psc, effort) {
        Outcome::Found(orders, reach) => {
            for (place, before) in psc.places.iter().zip(&orders.before) {
                mo[place.location] = place.sorted(&basis.chains, before);
            }
            allowed(graph, mo, fences::sorted(graph, &psc, &reach))
        }
        Outcome::Circle => Settled::Refuted(psc_circle::explain(graph, basis, &psc)),
        Outcome::None => Settled::NoOrder,
        Outcome::OutOfBudget => Settled::OutOfBudget,
    }
}

fn allowed(graph: &Graph<'_>, mo: Vec<Vec<EventId>>, fences: Vec<EventId>) -> Settled {
    Settled::Allowed(graph.coherence(mo, fences))
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
