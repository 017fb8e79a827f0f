//! State of a search that explores a subtree: how far it is on the path, and what it has left behind.

use super::subtree::{RemainingThreads, Subtree, SubtreeAnswer, SubtreeStep, SuspendedNode};

/// The path to the subtree that is explored, and what is left of it.
#[derive(Default)]
pub(super) struct Route {
    pub(super) path: Vec<SubtreeStep>,
    pub(super) rest: Option<RemainingThreads>,
    /// How many steps of the path are done.
    pub(super) done: usize,
    /// Whether the subtree is not yet reached.
    pub(super) is_ahead: bool,
    /// The number of leaves after which the search is suspended; 0: never.
    pub(super) budget: u64,
    /// For every step of the path, whether something in the subtree matters to its thread.
    pub(super) matters: Vec<bool>,
    /// The nodes that were left behind, the deepest one first.
    pub(super) frames: Vec<SuspendedNode>,
    /// At the current node: the answer with which the stack continues.
    pub(super) pick: Option<SubtreeAnswer>,
    /// At the current node: the answers that were not tried.
    pub(super) left: Vec<SubtreeAnswer>,
}

impl Route {
    /// The route to a subtree, of which at most `budget` leaves are explored (0: all).
    pub(super) fn to(subtree: Subtree, budget: u64) -> Self {
        let Subtree { path, rest } = subtree;
        let is_ahead = !path.is_empty() || rest.is_some();
        let matters = vec![false; path.len()];
        Route { path, rest, is_ahead, budget, matters, ..Route::default() }
    }
}
