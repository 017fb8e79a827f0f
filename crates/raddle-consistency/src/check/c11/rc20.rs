//! RC20 and RA in O(nk) (Tunç et al., PLDI 2023, Algorithm 3).
//!
//! Location by location: compute the forced order (`forced`) and sort it (`sort`). Only clocks and chains are kept for all
//! locations at once.

use super::basis::Basis;
use super::explain::explain;
use super::forced::ForcedOrder;
use super::graph::C11Graph;
use super::sort::sort;
use crate::witness::Violation;
use raddle_core::execution::EventId;

/// By location, a modification order that read coherence, write coherence and atomicity allow.
///
/// # Errors
/// If there is none. `po-rf` and `weak-atomicity` must hold.
pub(super) fn check(graph: &C11Graph<'_>, basis: &Basis) -> Result<Vec<Vec<EventId>>, Violation> {
    let mut forced = ForcedOrder::default();
    (0..graph.locations())
        .map(|location| {
            forced
                .find(graph, basis, location)
                .and_then(|()| sort(&forced, basis.by_location.get(location)))
                .map_err(|clash| explain(graph, basis, location, clash))
        })
        .collect()
}
