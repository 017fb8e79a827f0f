//! SRA with updates in O(k n^(k+1)) (Tunç et al., PLDI 2023, section 4.2).
//!
//! With updates the problem is NP-hard. As soon as a write is executed that an update observes, no
//! other write of the location may be executed before the update. So the order of execution matters,
//! and we search over sets of executed events that are closed under happens-before, each visited once.
//!
//! Where we differ from the paper: what happens before or is forced without regard to updates is
//! checked first (`sra_update_free`), which refutes most and explains it. And events that cannot get in
//! anybody's way (all but writes to locations with updates) are executed as soon as possible, and
//! are not part of the search.

use rustc_hash::FxHashSet;

use super::basis::Basis;
use super::graph::Graph;
use super::sra_state::State;
use super::sra_update_free::execute;
use super::sra_waits::Waits;
use crate::check::effort::Effort;
use crate::witness::Violation;
use raddle_core::execution::EventId;

/// What became of the search.
pub(super) enum Found {
    /// By location, a modification order.
    Orders(Vec<Vec<EventId>>),
    /// There is none.
    Nothing,
    OutOfBudget,
}

/// Looks for modification orders that SRA allows.
///
/// # Errors
/// If there are none already without regard to updates. The caller has seen that `po-rf` and
/// `weak-atomicity` hold.
pub(super) fn check(
    graph: &Graph<'_>,
    basis: &Basis,
    effort: &mut Effort,
) -> Result<Found, Violation> {
    let waits = Waits::new(graph, basis)?;
    let state = execute(graph, basis, &waits)?;
    if !state.has_updates() {
        return Ok(Found::Orders(state.orders()));
    }
    Ok(search(&mut State::new(graph, basis, &waits), effort))
}

/// A visited state with moves left.
struct Frame {
    done: Vec<u32>,
    trail: usize,
    moves: Vec<u32>,
}

/// Searches over the sets of executed events.
fn search(state: &mut State<'_, '_>, effort: &mut Effort) -> Found {
    let mut visited: FxHashSet<Vec<u32>> = FxHashSet::default();
    let mut path: Vec<Frame> = vec![];
    loop {
        state.run_ahead(true);
        if state.is_complete() {
            return Found::Orders(state.orders());
        }
        if visited.insert(state.done.clone()) {
            if !effort.spend() {
                return Found::OutOfBudget;
            }
            let (done, trail) = (state.done.clone(), state.trail.len());
            path.push(Frame { done, trail, moves: state.moves() });
        }
        loop {
            let Some(frame) = path.last_mut() else { return Found::Nothing };
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
