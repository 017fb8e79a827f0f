//! SRA with updates in O(k n^(k+1)) (Tunç et al., PLDI 2023, section 4.2).
//!
//! With updates the problem is NP-hard. As soon as a write is executed that an update observes, no
//! other write of the location may be executed before the update. So the order of execution matters,
//! and we search over sets of executed events that are closed under happens-before, each visited once.
//!
//! *Where we differ.* Happens-before and what is forced without updates is checked first (`sra_update_free`), which refutes
//! most inconsistent executions and explains them. Events that cannot block others (all but writes to locations with
//! updates) are executed as soon as possible and are not part of the search.

use rustc_hash::FxHashSet;

use super::basis::Basis;
use super::graph::C11Graph;
use super::sra_state::SraState;
use super::sra_update_free::execute;
use super::sra_waits::Waits;
use crate::check::effort::Effort;
use crate::witness::Violation;
use raddle_core::execution::EventId;

/// The result of the search.
pub(super) enum SraOutcome {
    /// By location, a modification order.
    Orders(Vec<Vec<EventId>>),
    /// There is none.
    Nothing,
    OutOfBudget,
}

/// Searches for modification orders that SRA allows. `po-rf` and `weak-atomicity` must hold.
///
/// # Errors
/// If there are none even if updates were plain writes.
pub(super) fn check(
    graph: &C11Graph<'_>,
    basis: &Basis,
    effort: &mut Effort,
) -> Result<SraOutcome, Violation> {
    let waits = Waits::new(graph, basis)?;
    let state = execute(graph, basis, &waits)?;
    if !state.has_updates() {
        return Ok(SraOutcome::Orders(state.orders()));
    }
    Ok(search(&mut SraState::new(graph, basis, &waits), effort))
}

/// A visited state and its untried moves.
struct SraFrame {
    done: Vec<u32>,
    trail: usize,
    moves: Vec<u32>,
}

/// Searches over the sets of executed events.
fn search(state: &mut SraState<'_, '_>, effort: &mut Effort) -> SraOutcome {
    let mut visited: FxHashSet<Vec<u32>> = FxHashSet::default();
    let mut path: Vec<SraFrame> = vec![];
    loop {
        state.run_ahead(true);
        if state.is_complete() {
            return SraOutcome::Orders(state.orders());
        }
        if visited.insert(state.done.clone()) {
            if !effort.spend() {
                return SraOutcome::OutOfBudget;
            }
            let (done, trail) = (state.done.clone(), state.trail.len());
            path.push(SraFrame { done, trail, moves: state.moves() });
        }
        loop {
            let Some(frame) = path.last_mut() else { return SraOutcome::Nothing };
            state.undo_to(&frame.done, frame.trail);
            let Some(event) = frame.moves.pop() else {
                path.pop();
                continue;
            };
            state.execute(event);
            break;
        }
    }
}
