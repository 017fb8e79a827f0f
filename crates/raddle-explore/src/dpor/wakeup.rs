//! Wakeup trees: sequences to explore from a point, so that nothing is explored twice.
//!
//! *Idea.* A reversed race is a whole sequence to follow, not only its first step: with the first step alone, what
//! follows might have been explored before. Sequences with a common prefix share it, so they form an ordered tree. A
//! sequence that is equivalent to what a branch of the tree will explore anyway is not added.
//!
//! *Paper.* Abdulla, Aronis, Jonsson, Sagonas, *Optimal Dynamic Partial Order Reduction*, POPL 2014, section 6.
//! *Difference:* the paper's trees are ordered sets of sequences; ours are lists of children in one arena whose slots
//! are reused.

use super::footprint::{Footprint, NONE};
use super::not_dep::{Initial, NotDep};
use super::state::DporState;
use crate::event_set::EventSet;

/// Children of a node: first and last index of a linked list in the arena.
#[derive(Clone, Copy)]
pub(super) struct WakeupBranches {
    first: u32,
    last: u32,
}

impl WakeupBranches {
    /// No children.
    pub(super) const EMPTY: WakeupBranches = WakeupBranches { first: NONE, last: NONE };

    pub(super) fn is_empty(&self) -> bool {
        self.first == NONE
    }
}

/// Node of a wakeup tree.
#[derive(Clone, Copy)]
struct WakeupNode {
    /// Step that leads to the node.
    footprint: Footprint,
    branches: WakeupBranches,
    /// Next sibling, or [`NONE`].
    next: u32,
}

/// Nodes of all wakeup trees of an exploration.
#[derive(Default)]
pub(super) struct WakeupArena {
    nodes: Vec<WakeupNode>,
    /// Slots that can be reused.
    free: Vec<u32>,
}

impl WakeupArena {
    /// Removes the first child. Returns its step and its children.
    pub(super) fn take_first(
        &mut self,
        branches: &mut WakeupBranches,
    ) -> Option<(Footprint, WakeupBranches)> {
        if branches.is_empty() {
            return None;
        }
        let at = branches.first;
        let WakeupNode { footprint, branches: below, next } = self.nodes[at as usize];
        self.free.push(at);
        branches.first = next;
        Some((footprint, below))
    }

    /// Appends a child without children. Returns its index.
    pub(super) fn add(&mut self, branches: &mut WakeupBranches, footprint: Footprint) -> u32 {
        let node = WakeupNode { footprint, branches: WakeupBranches::EMPTY, next: NONE };
        let at = match self.free.pop() {
            Some(at) => {
                self.nodes[at as usize] = node;
                at
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        };
        if branches.is_empty() {
            branches.first = at;
        } else {
            self.nodes[branches.last as usize].next = at;
        }
        branches.last = at;
        at
    }

    /// Adds a sequence to a tree, unless a branch of the tree will explore an equivalent execution anyway.
    pub(super) fn insert<R: EventSet>(
        &mut self,
        state: &DporState<'_, R>,
        tree: &mut WakeupBranches,
        mut sequence: NotDep<R>,
    ) {
        let mut at = NONE;
        let mut branches = *tree;
        while let Some((child, initial)) = self.follow(state, branches, &sequence) {
            let WakeupNode { footprint, branches: below, .. } = self.nodes[child as usize];
            sequence.take(&footprint, initial);
            if below.is_empty() || sequence.is_empty() {
                return;
            }
            (at, branches) = (child, below);
        }
        for event in sequence.events.iter() {
            let added = self.add(&mut branches, state.events[event.index()].footprint);
            self.set_branches(tree, at, branches);
            (at, branches) = (added, WakeupBranches::EMPTY);
        }
        if let Some((last, _)) = sequence.last {
            self.add(&mut branches, last);
            self.set_branches(tree, at, branches);
        }
    }

    /// Returns the first child whose step is a weak initial of the sequence, and in which way.
    fn follow<R: EventSet>(
        &self,
        state: &DporState<'_, R>,
        branches: WakeupBranches,
        sequence: &NotDep<R>,
    ) -> Option<(u32, Initial)> {
        let mut child = branches.first;
        while child != NONE {
            let WakeupNode { footprint, next, .. } = &self.nodes[child as usize];
            match state.weak_initial(sequence, footprint) {
                Initial::No => child = *next,
                initial => return Some((child, initial)),
            }
        }
        None
    }

    /// Sets the children of a node, or of the root for [`NONE`].
    fn set_branches(&mut self, tree: &mut WakeupBranches, at: u32, branches: WakeupBranches) {
        match at {
            NONE => *tree = branches,
            at => self.nodes[at as usize].branches = branches,
        }
    }
}
