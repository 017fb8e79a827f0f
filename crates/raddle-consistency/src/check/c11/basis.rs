//! The inputs of all checkers.

use super::by_location::ByLocation;
use super::chains::UpdateChains;
use super::clocks::HbClocks;
use super::graph::C11Graph;
use crate::witness::Violation;

/// Happens-before, the chains, and the accesses of every location.
pub(super) struct Basis {
    pub(super) clocks: HbClocks,
    pub(super) chains: UpdateChains,
    pub(super) by_location: ByLocation,
}

impl Basis {
    /// Computes them.
    ///
    /// # Errors
    /// If `po-rf` or `weak-atomicity` is broken.
    pub(super) fn new(graph: &C11Graph<'_>) -> Result<Basis, Violation> {
        let clocks = HbClocks::new(graph)?;
        let chains = UpdateChains::new(graph)?;
        let by_location = ByLocation::new(graph, &chains);
        Ok(Basis { clocks, chains, by_location })
    }
}
