//! What all checkers start from.

use super::by_location::ByLocation;
use super::chains::Chains;
use super::clocks::Clocks;
use super::graph::Graph;
use crate::witness::Violation;

/// Happens-before, the chains, and the accesses of every location.
pub(super) struct Basis {
    pub(super) clocks: Clocks,
    pub(super) chains: Chains,
    pub(super) by_location: ByLocation,
}

impl Basis {
    /// Collects them.
    ///
    /// # Errors
    /// If `po-rf` or `weak-atomicity` is broken.
    pub(super) fn new(graph: &Graph<'_>) -> Result<Basis, Violation> {
        let clocks = Clocks::new(graph)?;
        let chains = Chains::new(graph)?;
        let by_location = ByLocation::new(graph, &chains);
        Ok(Basis { clocks, chains, by_location })
    }
}
