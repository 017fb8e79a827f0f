//! Wakeup trees: how to go on, so that nothing is explored twice.
//!
//! *Idea.* A race that was turned round is a whole word to follow, not just its first step: with only
//! the first step known, what follows might be what was explored before. Words that begin alike share
//! their beginnings, so they form an ordered tree; a word that only repeats what a branch of the tree
//! will see anyway is not added.
//!
//! *Paper.* Abdulla, Aronis, Jonsson, Sagonas, *Optimal Dynamic Partial Order Reduction*, POPL 2014, section 6.
//! Its trees are sets of sequences with an order; ours are lists of children in one arena, whose places
//! are used again.

use super::footprint::{Footprint, NONE};
use super::not_dep::{NotDep, Place};
use super::state::State;
use crate::event_set::EventSet;

/// The branches below a place of a tree: the first and the last of a list.
#[derive(Clone, Copy)]
pub(super) struct Branches {
    first: u32,
    last: u32,
}

impl Branches {
    /// No branch.
    pub(super) const EMPTY: Branches = Branches { first: NONE, last: NONE };

    pub(super) fn is_empty(&self) -> bool {
        self.first == NONE
    }
}

#[derive(Clone, Copy)]
struct Twig {
    foot: Footprint,
    branches: Branches,
    next: u32,
}

/// All wakeup trees of an exploration.
#[derive(Default)]
pub(super) struct Arena {
    twigs: Vec<Twig>,
    free: Vec<u32>,
}

impl Arena {
    /// Takes the first branch away: its step, and what is below.
    pub(super) fn take_first(&mut self, branches: &mut Branches) -> Option<(Footprint, Branches)> {
        if branches.is_empty() {
            return None;
        }
        let at = branches.first;
        let Twig { foot, branches: below, next } = self.twigs[at as usize];
        self.free.push(at);
        branches.first = next;
        Some((foot, below))
    }

    /// Adds a branch of one step behind all others; its place.
    pub(super) fn add(&mut self, branches: &mut Branches, foot: Footprint) -> u32 {
        let twig = Twig { foot, branches: Branches::EMPTY, next: NONE };
        let at = match self.free.pop() {
            Some(at) => {
                self.twigs[at as usize] = twig;
                at
            }
            None => {
                self.twigs.push(twig);
                self.twigs.len() as u32 - 1
            }
        };
        if branches.is_empty() {
            branches.first = at;
        } else {
            self.twigs[branches.last as usize].next = at;
        }
        branches.last = at;
        at
    }

    /// Adds a word to a tree, unless the tree has a branch that will see it anyway.
    pub(super) fn insert<R: EventSet>(
        &mut self,
        state: &State<'_, R>,
        tree: &mut Branches,
        mut word: NotDep<R>,
    ) {
        let mut at = NONE;
        let mut branches = *tree;
        while let Some((child, place)) = self.follow(state, branches, &word) {
            let Twig { foot, branches: below, .. } = self.twigs[child as usize];
            word.take(&foot, place);
            if below.is_empty() || word.is_empty() {
                return;
            }
            (at, branches) = (child, below);
        }
        for event in word.rest.iter() {
            let added = self.add(&mut branches, state.events[event].foot);
            self.put(tree, at, branches);
            (at, branches) = (added, Branches::EMPTY);
        }
        if let Some((last, _)) = word.last {
            self.add(&mut branches, last);
            self.put(tree, at, branches);
        }
    }

    /// The first of the branches whose step may come first in the word.
    fn follow<R: EventSet>(
        &self,
        state: &State<'_, R>,
        branches: Branches,
        word: &NotDep<R>,
    ) -> Option<(u32, Place)> {
        let mut child = branches.first;
        while child != NONE {
            let Twig { foot, next, .. } = &self.twigs[child as usize];
            match state.place(word, foot) {
                Place::No => child = *next,
                place => return Some((child, place)),
            }
        }
        None
    }

    fn put(&mut self, tree: &mut Branches, at: u32, branches: Branches) {
        match at {
            NONE => *tree = branches,
            at => self.twigs[at as usize].branches = branches,
        }
    }
}
