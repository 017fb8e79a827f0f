//! Symmetric threads: one class of all that differ only in the names of threads.
//!
//! *Problem.* A program that starts N threads with the same code has up to N! classes for each one that tells something.
//!
//! *Idea.* A permutation of symmetric threads maps each class to another one. A class is explored only if no renamed one lies
//! earlier *in this search tree*. So the first class of each orbit is never left out, and if all permutations are used, every
//! other one is. Nothing about the memory model is needed, and no order of classes has to be defined: the order is that of
//! the search, with whatever thread it tries first at a node.
//!
//! Causal maps partition classes. At a node where threads `t1, t2, ..` are tried in this order, a class belongs to the first
//! one whose pending read observes something that is present at the node, and there to the child with that source. So
//! what a thread observes in the renamed class, as thread and index, tells where that leaves the current path. What is not
//! known yet leaves the permutation open for the nodes below (`symmetry_state.rs`).
//!
//! *The skip* asks whether other threads wrote something in a subtree. What is left out there may have: nothing is skipped above.
//!
//! *Who is symmetric* is `candidates.rs` and `symmetric_threads.rs`.
//!
//! *Cost.* Nothing without symmetric threads. With them, a few comparisons per node: most permutations are decided near the
//! root.
//!
//! *Rejected.* Renaming only siblings of one node: 2.0 to 2.4 classes of each orbit. Sources that must not decrease with the
//! number of the thread: loses orbits (`x = r; x += 1` twice). Canonical classes at leaves: saves nothing. Skipping nevertheless,
//! with the writes of the classes that were met earlier: a worker that explores a part of the tree does not know them, and
//! compiled programs are always explored in parts.

use super::orbits::OrbitSearch;
use super::state::PartSearch;
use super::symmetry_state::{Pick, SymmetryState};
use crate::event_index::EventIndex;
use crate::event_set::EventSet;
use crate::model::IncrementalModel;
use raddle_core::outcome::Symmetry;

impl<R: EventSet, M: IncrementalModel<R>> PartSearch<'_, '_, R, M> {
    /// Returns `true` if the last child, which begins with this pick, need not be explored because a renamed class lies earlier.
    /// Called once when the child has been added.
    #[cold]
    pub(super) fn is_renamed(&mut self, pick: Pick) -> bool {
        self.compare_symmetric_threads();
        self.name_events();
        if !self.symmetry.is_active || !self.symmetry.is_complete(self.depth - 1) {
            return false;
        }
        let events = self.children[self.depth - 1].mark.len;
        let end = self.floors.len() as u32;
        let first = match pick {
            Pick::Read { .. } => self.last_node().base,
            Pick::Choice { .. } => end,
        };
        self.symmetry.add_level(self.depth, pick, (first, end), events);
        let is_renamed = self.symmetry.is_redundant(&self.floors);
        if !is_renamed || !self.continues() || !self.quiet.conflicts.is_empty() {
            return false;
        }
        self.clock += 1;
        self.unexplored = self.clock;
        true
    }

    /// Records the new events.
    fn name_events(&mut self) {
        for event in self.symmetry.recorded()..self.len {
            let event = &self.events[EventIndex::new(event)];
            let thread = self.histories.thread(event.origin.node);
            self.symmetry.add_event(thread, event.source);
        }
    }

    /// How many classes are the current one, renamed; `None` if it need not be counted because one of them lies earlier.
    #[cold]
    pub(super) fn orbit(&mut self) -> Option<u64> {
        self.compare_symmetric_threads();
        self.name_events();
        let depth = self.depth;
        if self.stop.is_some() {
            return None;
        }
        if self.race.is_some() || !self.symmetry.is_complete(depth) {
            return Some(1);
        }
        let same = self.symmetry.automorphisms(&self.floors)?;
        let automorphisms = match self.symmetry.has_all {
            true => same.len() as u128 + 1,
            false => OrbitSearch::new(&self.symmetry, &self.floors, &same).automorphisms()?,
        };
        Some(u64::try_from(self.symmetry.order / automorphisms).unwrap_or(u64::MAX))
    }

    /// The threads that are symmetric, and the number of all classes.
    pub(super) fn symmetry_of_classes(&self) -> Option<Symmetry> {
        let threads = self.exploration.symmetric.clone();
        let &SymmetryState { was_active, classes, blocked, .. } = &self.symmetry;
        let (classes, blocked) =
            (self.classes.saturating_add(classes), self.blocked.saturating_add(blocked));
        was_active.then_some(Symmetry { threads, classes, blocked })
    }
}
