//! SRA without updates in O(nk) (Tunç et al., PLDI 2023, Algorithm 2).
//!
//! Strong release/acquire wants one order of all events that happens-before and all modification
//! orders agree with: an order of execution. A write waits for what happens before it, and for the
//! writes that reads force before it. Executing whatever can be executed ends with all events, and
//! then the order of execution is the evidence; or it stops, and who waits for whom is a cycle. The
//! paper adds the forced pairs to happens-before and looks for a cycle, which is the same.

use super::basis::Basis;
use super::graph::Graph;
use super::sra_state::State;
use super::sra_waits::Waits;
use crate::witness::Violation;

/// Executes all events, as if updates were just writes.
///
/// # Errors
/// If that is impossible. With updates, that it is possible is necessary but not enough.
pub(super) fn execute<'a, 'e>(
    graph: &'a Graph<'e>,
    basis: &'a Basis,
    waits: &'a Waits,
) -> Result<State<'a, 'e>, Violation> {
    let mut state = State::new(graph, basis, waits);
    state.run_ahead(false);
    if state.is_complete() { Ok(state) } else { Err(state.waiting_cycle()) }
}

/// What must hold and can be told quickly; without updates, all.
///
/// # Errors
/// If it does not hold.
pub(super) fn check(graph: &Graph<'_>, basis: &Basis) -> Result<(), Violation> {
    execute(graph, basis, &Waits::new(graph, basis)?).map(drop)
}
