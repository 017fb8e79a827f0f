//! The order of sequentially consistent fences that a graph has, or that `psc` suggests.

use super::bits::Bits;
use super::graph::{Graph, NONE, id};
use super::psc::Psc;
use super::seq_cst::respecting;
use raddle_core::execution::EventId;

/// The order of the fences in a graph in which it is fixed.
pub(super) fn given(graph: &Graph<'_>) -> Vec<EventId> {
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

/// The fences in an order that respects `psc`, which is closed, if the model has such an order.
pub(super) fn sorted(graph: &Graph<'_>, psc: &Psc, reach: &Bits) -> Vec<EventId> {
    if !graph.hides_fences() {
        return vec![];
    }
    respecting(reach).into_iter().map(|event| id(psc.events[event])).collect()
}
