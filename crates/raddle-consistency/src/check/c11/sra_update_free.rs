//! SRA without updates in O(nk) (Tunç et al., PLDI 2023, Algorithm 2).
//!
//! Strong release/acquire demands one order of all events that agrees with happens-before and all modification orders: an
//! order of execution. A write waits for what happens before it, and for the writes that reads force before it. Executing
//! events greedily either executes all, and then the order of execution is the evidence; or it stops, and the blockers
//! form a cycle. The paper adds the forced pairs to happens-before and looks for a cycle, which is equivalent.

use super::basis::Basis;
use super::graph::C11Graph;
use super::sra_state::SraState;
use super::sra_waits::Waits;
use crate::witness::Violation;

/// Executes all events, as if updates were plain writes.
///
/// # Errors
/// If that is impossible.
pub(super) fn execute<'a, 'e>(
    graph: &'a C11Graph<'e>,
    basis: &'a Basis,
    waits: &'a Waits,
) -> Result<SraState<'a, 'e>, Violation> {
    let mut state = SraState::new(graph, basis, waits);
    state.run_ahead(false);
    if state.is_complete() { Ok(state) } else { Err(state.waiting_cycle()) }
}

/// A necessary condition; without updates it is sufficient.
///
/// # Errors
/// If it does not hold.
pub(super) fn check(graph: &C11Graph<'_>, basis: &Basis) -> Result<(), Violation> {
    execute(graph, basis, &Waits::new(graph, basis)?).map(drop)
}
