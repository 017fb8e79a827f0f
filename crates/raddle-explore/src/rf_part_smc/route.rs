//! The state of an exploration that explores a part of the tree: how far it is on the way there, and what it has left
//! behind.

use super::subtree::{Frame, Pick, Rest, Step, Subtree};

/// The way to the subtree that is explored, and what is left of it.
#[derive(Default)]
pub(super) struct Route {
    pub(super) path: Vec<Step>,
    pub(super) rest: Option<Rest>,
    /// How many steps of the path are done.
    pub(super) done: usize,
    /// Whether the subtree is not yet reached.
    pub(super) is_ahead: bool,
    /// After so many leaves what is left is left behind; 0: never.
    pub(super) budget: u64,
    pub(super) matters: Vec<bool>,
    /// What was left behind, the deepest node first.
    pub(super) frames: Vec<Frame>,
    /// At the current node: the answer on which the stack goes on, and those that were not tried.
    pub(super) pick: Option<Pick>,
    pub(super) left: Vec<Pick>,
}

impl Route {
    /// The route to a subtree, of which `budget` leaves are explored at most (0: all).
    pub(super) fn to(subtree: Subtree, budget: u64) -> Self {
        let Subtree { path, rest } = subtree;
        let is_ahead = !path.is_empty() || rest.is_some();
        let matters = vec![false; path.len()];
        Route { path, rest, is_ahead, budget, matters, ..Route::default() }
    }
}
