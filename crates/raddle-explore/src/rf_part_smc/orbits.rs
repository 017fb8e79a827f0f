//! All permutations of many symmetric threads, at leaves.
//!
//! *Problem.* More than [720](super::permutations) permutations are too many for every node, so a few classes of an orbit
//! are left, and nobody knows how many.
//!
//! *Idea.* At a leaf, the name of a thread is chosen when the comparison with the path needs it. Mostly the first difference
//! comes before all names are chosen, and decides for all permutations that continue so. Threads that can be exchanged
//! without changing the class (*twins*) need only one attempt.
//!
//! *Cost.* Some microseconds per leaf. Classes with many automorphisms other than those of twins would need one attempt for
//! each.

use std::cmp::Ordering;

use super::permutations::Permutation;
use super::symmetry_state::{Level, NamedEvent, Pick, SymmetryState, rank};
use raddle_core::execution::ThreadId;

/// A class that is compared with its renamed ones.
pub(super) struct OrbitSearch<'s> {
    state: &'s SymmetryState,
    floors: &'s [(ThreadId, u32)],
    /// By thread: the first of its twins.
    twins: Vec<ThreadId>,
    /// By thread: its block.
    blocks: Vec<Option<u32>>,
    /// By name: the thread that has it.
    named: Vec<Option<ThreadId>>,
    /// By thread: its name.
    renamed: Vec<Option<ThreadId>>,
}

impl<'s> OrbitSearch<'s> {
    /// The search for the class at the end of the current path, which these permutations lead to itself.
    pub(super) fn new(
        state: &'s SymmetryState,
        floors: &'s [(ThreadId, u32)],
        same: &[u32],
    ) -> Self {
        let threads = state.blocks.iter().flatten().max().map_or(0, |last| last.index() + 1);
        let mut blocks = vec![None; threads];
        for (number, block) in state.blocks.iter().enumerate() {
            for thread in block {
                blocks[thread.index()] = Some(number as u32);
            }
        }
        let exchanges = |&index: &u32| -> &Permutation { &state.permutations[index as usize] };
        let mut twins: Vec<ThreadId> = (0..threads).map(ThreadId::new).collect();
        for exchange in same.iter().map(exchanges) {
            for thread in (0..threads).map(ThreadId::new) {
                let other = twins[exchange.renamed(thread).index()];
                twins[thread.index()] = twins[thread.index()].min(other);
            }
        }
        let (named, renamed) = (vec![None; threads], vec![None; threads]);
        OrbitSearch { state, floors, twins, blocks, named, renamed }
    }

    /// The number of permutations that lead to the class itself; `None` if one leads to an earlier class.
    pub(super) fn automorphisms(mut self) -> Option<u128> {
        self.walk(0, 0)
    }

    /// Compares from a level on, and there from one of the threads that were tried on.
    fn walk(&mut self, at: usize, step: u32) -> Option<u128> {
        let Some(level) = self.state.levels().get(at) else { return Some(self.of_rest()) };
        let tried = &self.floors[level.tried.0 as usize..level.tried.1 as usize];
        let thread = match (tried.get(step as usize), level.pick) {
            (Some(&(thread, _)), _) => thread,
            (None, Pick::Read { thread, .. } | Pick::Choice { thread, .. }) => thread,
        };
        let Some(named) = self.named(thread) else { return self.choose_thread(thread, (at, step)) };
        let is_tried = (step as usize) < tried.len();
        let order = match level.pick {
            Pick::Choice { option, .. } => {
                let choice = self.state.choice_of(at, thread, named);
                choice.map(|choice| choice.cmp(&option))
            }
            Pick::Read { source, is_spurious, .. } => {
                let read = self.state.read_of(at, thread, named);
                let Some(read) = read else {
                    return if is_tried { self.walk(at, step + 1) } else { Some(0) };
                };
                let writer = read.source.event().map(|write| self.state.event(write).thread);
                if let Some(writer) = writer
                    && self.renamed(writer).is_none()
                {
                    return self.choose_name(writer, (at, step));
                }
                match self.present(level, read) {
                    Some(_) if is_tried => Some(Ordering::Less),
                    None if is_tried => return self.walk(at, step + 1),
                    Some(present) => Some(present.cmp(&rank(source, is_spurious))),
                    None => Some(Ordering::Greater),
                }
            }
        };
        match order {
            Some(Ordering::Less) => None,
            Some(Ordering::Equal) => self.walk(at + 1, 0),
            Some(Ordering::Greater) | None => Some(0),
        }
    }

    /// The rank of what a read observes in the renamed class, if that is present at the node of a level.
    fn present(&self, level: &Level, read: NamedEvent) -> Option<(usize, bool)> {
        let Some(write) = read.source.event() else {
            return Some(rank(read.source, read.is_spurious));
        };
        let NamedEvent { thread, index, .. } = self.state.event(write);
        let write = self.state.write_at(level, self.renamed(thread)?, index)?;
        Some(rank(write.into(), read.is_spurious))
    }

    /// The thread with a name, if it was chosen.
    fn named(&self, name: ThreadId) -> Option<ThreadId> {
        match self.blocks.get(name.index()) {
            Some(Some(_)) => self.named[name.index()],
            _ => Some(name),
        }
    }

    /// The name of a thread, if it was chosen.
    fn renamed(&self, thread: ThreadId) -> Option<ThreadId> {
        match self.blocks.get(thread.index()) {
            Some(Some(_)) => self.renamed[thread.index()],
            _ => Some(thread),
        }
    }

    /// Gives the name to each thread that has none, but only to one of several twins.
    fn choose_thread(&mut self, name: ThreadId, at: (usize, u32)) -> Option<u128> {
        let block = self.blocks[name.index()];
        let is_free = |it: &Self, thread: ThreadId| {
            it.blocks[thread.index()] == block && it.renamed[thread.index()].is_none()
        };
        let free: Vec<ThreadId> =
            (0..self.blocks.len()).map(ThreadId::new).filter(|&it| is_free(self, it)).collect();
        let mut sum = 0;
        for (index, &thread) in free.iter().enumerate() {
            let twin = self.twins[thread.index()];
            let is_twin = |other: &&ThreadId| self.twins[other.index()] == twin;
            if free[..index].iter().any(|other| is_twin(&other)) {
                continue;
            }
            let twins = free.iter().filter(is_twin).count() as u128;
            sum += twins * self.with_name(thread, name, at)?;
        }
        Some(sum)
    }

    /// Gives each name that nobody has to the thread.
    fn choose_name(&mut self, thread: ThreadId, at: (usize, u32)) -> Option<u128> {
        let block = self.blocks[thread.index()];
        let mut sum = 0;
        for name in (0..self.blocks.len()).map(ThreadId::new) {
            if self.blocks[name.index()] == block && self.named[name.index()].is_none() {
                sum += self.with_name(thread, name, at)?;
            }
        }
        Some(sum)
    }

    fn with_name(
        &mut self,
        thread: ThreadId,
        name: ThreadId,
        (at, step): (usize, u32),
    ) -> Option<u128> {
        (self.named[name.index()], self.renamed[thread.index()]) = (Some(thread), Some(name));
        let count = self.walk(at, step);
        (self.named[name.index()], self.renamed[thread.index()]) = (None, None);
        count
    }

    /// The number of ways to give the rest of the names: no read depends on them.
    fn of_rest(&self) -> u128 {
        let free = |block: &Vec<ThreadId>| {
            block.iter().filter(|thread| self.renamed[thread.index()].is_none()).count() as u128
        };
        self.state.blocks.iter().map(|block| (1..=free(block)).product::<u128>()).product()
    }
}
