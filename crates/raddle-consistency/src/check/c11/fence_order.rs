//! The order of sequentially consistent fences that a graph has, or that `psc` suggests.

use super::bits::BitMatrix;
use super::graph::{C11Graph, NONE, id};
use super::psc::Psc;
use super::seq_cst::respecting;
use raddle_core::execution::EventId;

/// The order of the fences in a graph whose fences have sources.
pub(super) fn given(graph: &C11Graph<'_>) -> Vec<EventId> {
    let fences = graph.seq_cst_fences();
    let mut next = rustc_hash::FxHashMap::default();
    let mut first = None;
    for &fence in &fences {
        match graph.rf(fence) {
            NONE => first = Some(fence),
            before => drop(next.insert(before, fence)),
        }
    }
    std::iter::successors(first, |fence| next.get(fence).copied()).map(id).collect()
}

/// The fences in an order that respects `reach`, the closure of `psc`; empty if the model does not order fences.
pub(super) fn sorted(graph: &C11Graph<'_>, psc: &Psc, reach: &BitMatrix) -> Vec<EventId> {
    if !graph.updates_hidden_location() {
        return vec![];
    }
    respecting(reach).into_iter().map(|event| id(psc.events[event])).collect()
}
