//! RC20 and RA in O(nk) (Tunç et al., PLDI 2023, Algorithm 3).
//!
//! Location by location: find what is forced (`forced`), sort it (`sort`). Of the tables, only the
//! clocks and the chains are there for all locations at once.

use super::basis::Basis;
use super::explain::explain;
use super::forced::Forced;
use super::graph::Graph;
use super::sort::sort;
use crate::witness::Violation;
use raddle_core::execution::EventId;

/// By location, a modification order that read coherence, write coherence and atomicity allow.
///
/// # Errors
/// If there is none. The caller has seen that `po-rf` and `weak-atomicity` hold.
pub(super) fn check(graph: &Graph<'_>, basis: &Basis) -> Result<Vec<Vec<EventId>>, Violation> {
    let mut forced = Forced::default();
    (0..graph.locations())
        .map(|location| {
            forced
                .find(graph, basis, location)
                .and_then(|()| sort(&forced, basis.by_location.get(location)))
                .map_err(|clash| explain(graph, basis, location, clash))
        })
        .collect()
}
