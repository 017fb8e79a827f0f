//! Exploring one subtree after the other: following the path to it, and leaving the rest behind when the budget is
//! spent.
//!
//! The shape of the tree depends on which thread is tried first at a node, and that on which threads are known to write
//! which locations. That is learned in the first part of the whole tree, up to a fixed number of leaves, and never
//! after: wherever the tree is cut, and whoever explores which part of it, it is the same tree. A worker that gets
//! another part first explores the first one silently.
//!
//! *Rejected.* Learning it in every part anew. That made the tree depend on where it was cut, so that all workers had
//! to cut at the same numbers of leaves, whether these were slow or fast, and whether anybody waited. It was not
//! faster.

use std::hash::{Hash, Hasher};
use std::mem::discriminant;

use rustc_hash::FxHasher;

use super::execution::{EventRole, SearchEvent};
use super::history_cache::PendingKind;
use super::route::Route;
use super::state::{PartSearch, SearchStop};
use super::subtree::{
    ExecutionHash, RemainingThreads, Subtree, SubtreeAnswer, SubtreeReport, SubtreeStep,
    SuspendedNode, ThreadRank,
};
use super::thread_set::ThreadSet;
use crate::Extent;
use crate::driver::Restart;
use crate::event_index::{EventIndex, RfSource};
use crate::event_map::EventMap;
use crate::event_set::EventSet;
use crate::model::{IncrementalModel, RfSources};
use raddle_core::execution::ThreadId;
use raddle_core::program::{End, OpKind, Origin};

impl<R: EventSet, M: IncrementalModel<R>> PartSearch<'_, '_, R, M> {
    /// Explores all subtrees that the exploration hands out.
    pub(super) fn explore_subtrees(&mut self) -> Result<(), Restart> {
        while let Some((subtree, budget)) = self.exploration.next_subtree() {
            let mut ends = None;
            if self.learns_writers && subtree != Subtree::default() {
                ends = self.learn_writers()?;
            }
            if ends.is_none() {
                ends = self.explore_subtree(subtree, budget)?;
            }
            self.learns_writers = false;
            let report = self.report(ends);
            self.exploration.report(report);
        }
        Ok(())
    }

    /// Explores the first part of the tree silently, which another worker has explored.
    fn learn_writers(&mut self) -> Result<Option<Extent>, Restart> {
        let first = self.exploration.first_budget();
        let visited = std::mem::replace(&mut self.exploration.visited, u64::MAX);
        let ends = self.explore_subtree(Subtree::default(), first);
        self.exploration.visited = visited;
        self.learns_writers = false;
        (self.route, self.classes, self.blocked) = (Route::default(), 0, 0);
        ends
    }

    /// Explores a subtree. Returns why the exploration as a whole ends, if it does.
    fn explore_subtree(
        &mut self,
        subtree: Subtree,
        budget: u64,
    ) -> Result<Option<Extent>, Restart> {
        self.rounds.has_left_out |= self.rounds.are_left_out && subtree != Subtree::default();
        self.route = Route::to(subtree, budget);
        (self.classes, self.blocked, self.leaves) = (0, 0, 0);
        (self.symmetry.classes, self.symmetry.blocked) = (0, 0);
        self.hit_limit = self.began_at_limit;
        if !self.began_at_limit {
            self.cut_thread = None;
        }
        let mark = self.mark(ThreadId::new(0));
        self.explore_extensions();
        self.undo(mark);
        self.learn_pending_facts();
        match self.stop.take() {
            Some(SearchStop::Restart(why)) => Err(why),
            Some(SearchStop::Extent(extent)) => Ok(Some(extent)),
            Some(SearchStop::Suspended) | None => Ok(None),
        }
    }

    fn report(&mut self, ends: Option<Extent>) -> SubtreeReport {
        let Route { matters, mut frames, .. } = std::mem::take(&mut self.route);
        frames.reverse();
        let (classes, blocked, hit_limit) = (self.classes, self.blocked, self.hit_limit);
        let cut = self.cut_thread.clone();
        let symmetry = self.symmetry_of_classes();
        let report = SubtreeReport::default();
        SubtreeReport {
            classes,
            blocked,
            hit_limit,
            cut,
            symmetry,
            matters,
            frames,
            ends,
            ..report
        }
    }

    /// Raises the floors that a step of the path to the subtree says. Returns its thread, and the number of floors that
    /// were raised before.
    pub(super) fn prepare_step(&mut self, at: usize) -> (ThreadId, usize) {
        self.expect_execution(self.route.path[at].seen);
        self.route.done = at + 1;
        self.route.is_ahead = self.route.done < self.route.path.len() || self.route.rest.is_some();
        let thread = self.with_rank(self.route.path[at].thread);
        let tried = std::mem::take(&mut self.route.path[at].tried);
        let base = self.raise_floors(&tried);
        self.route.path[at].tried = tried;
        (thread, base)
    }

    /// Takes a step of the path to the subtree.
    pub(super) fn take_step(&mut self, at: usize, thread: ThreadId) {
        match self.route.path[at].pick {
            SubtreeAnswer::Choice(choice) => self.make_choice(thread, choice),
            SubtreeAnswer::Initial { spurious } => {
                self.observe(thread, RfSource::INITIAL, spurious);
            }
            SubtreeAnswer::Event { history, index, spurious } => {
                let source = self.event_at(history, index);
                self.observe(thread, source.into(), spurious);
            }
        }
    }

    /// Records whether something in the subtree matters to the thread of a step, which began at `start`.
    pub(super) fn note_step(&mut self, at: usize, thread: ThreadId, start: u64) {
        let is_read = !matches!(self.route.path[at].pick, SubtreeAnswer::Choice(_));
        let left_out = self.last_node().rounds.left_out;
        let do_not_matter = !left_out && self.others_do_not_matter(thread, start, false);
        self.route.matters[at] = is_read && !do_not_matter;
    }

    /// Begins the node of the subtree, if only some of its threads are tried.
    pub(super) fn begin_remaining_threads(&mut self) {
        self.route.is_ahead = false;
        let Some(RemainingThreads { tried, threads, seen }) = self.route.rest.take() else {
            return;
        };
        self.expect_execution(seen);
        let base = self.raise_floors(&tried);
        let mut rest = ThreadSet::default();
        for rank in threads {
            rest.insert(self.with_rank(rank));
        }
        match rest.first() {
            Some(first) => {
                self.begin_threads(first, rest, base);
                self.last_node().rounds.has_child = true;
            }
            None => self.restore_floors(base),
        }
    }

    /// A hash of what the threads have done so far, as far as it does not depend on which worker explores.
    fn execution_hash(&self) -> ExecutionHash {
        let (mut hasher, started) = (FxHasher::default(), self.started());
        for &history in &self.past {
            let thread = self.histories.thread(history);
            started.iter().position(|&other| other == thread).hash(&mut hasher);
            self.histories.effects(history).len().hash(&mut hasher);
            let end = self.histories.end(history);
            discriminant(end).hash(&mut hasher);
            if let End::Question(op) = end {
                discriminant(&op.kind).hash(&mut hasher);
            }
        }
        (hasher.finish() >> 32) as ExecutionHash
    }

    fn expect_execution(&self, seen: ExecutionHash) {
        if self.execution_hash() != seen {
            wrong_path();
        }
    }

    /// Raises the floors of threads that were tried before. Returns the base for [`PartSearch::restore_floors`].
    fn raise_floors(&mut self, tried: &[ThreadRank]) -> usize {
        let base = self.floors.len();
        for &rank in tried {
            let thread = self.with_rank(rank);
            self.raise_floor(thread);
        }
        base
    }

    /// The threads in the order in which they started.
    fn started(&self) -> Vec<ThreadId> {
        let mut threads = vec![];
        for &history in &self.past {
            let thread = self.histories.thread(history);
            if !threads.contains(&thread) {
                threads.push(thread);
            }
        }
        threads
    }

    fn with_rank(&self, rank: ThreadRank) -> ThreadId {
        let thread = self.started().get(rank as usize).copied();
        thread.unwrap_or_else(|| wrong_path())
    }

    fn ranks(&self, threads: impl Iterator<Item = ThreadId>) -> Vec<ThreadRank> {
        let started = self.started();
        let rank = |thread| started.iter().position(|&other| other == thread);
        threads.map(|thread| rank(thread).unwrap_or_else(|| wrong_path()) as ThreadRank).collect()
    }

    /// The write with this index in the segment of the history that was reached after so many others.
    fn event_at(&self, history: u32, index: u32) -> EventIndex {
        let Some(&node) = self.past.get(history as usize) else { wrong_path() };
        let origin = Origin { node, index };
        let is_it = |event: &SearchEvent| {
            event.origin == origin && matches!(event.role, EventRole::Write | EventRole::Update)
        };
        let at = self.events.first(self.len).iter().position(is_it);
        EventIndex::new(at.unwrap_or_else(|| wrong_path()))
    }

    /// A source in terms of the execution alone.
    fn subtree_answer(&self, source: RfSource, spurious: bool) -> SubtreeAnswer {
        let Some(event) = source.event() else { return SubtreeAnswer::Initial { spurious } };
        let Origin { node, index } = self.events[event].origin;
        let history = self.past.iter().position(|&past| past == node);
        let history = history.unwrap_or_else(|| wrong_path()) as u32;
        SubtreeAnswer::Event { history, index, spurious }
    }

    /// Records the answer with which the stack continues.
    #[cold]
    pub(super) fn leave_child(&mut self, source: RfSource, spurious: bool) {
        self.route.pick = Some(self.subtree_answer(source, spurious));
    }

    /// Records sources that are not tried.
    #[cold]
    pub(super) fn leave_sources(&mut self, thread: ThreadId, sources: &RfSources<R>) {
        let initial = sources.initial.then_some(RfSource::INITIAL);
        for source in initial.into_iter().chain(sources.writes.iter().map(RfSource::from)) {
            let pick = self.subtree_answer(source, false);
            self.route.left.push(pick);
            if self.may_fail_spuriously(thread, source) {
                self.leave_failure(source);
            }
        }
    }

    /// Records that the spurious failure of a compare-exchange was not tried.
    #[cold]
    pub(super) fn leave_failure(&mut self, source: RfSource) {
        let pick = self.subtree_answer(source, true);
        self.route.left.push(pick);
    }

    /// Leaves a choice behind, with the options that were not tried.
    #[cold]
    pub(super) fn leave_choices(&mut self, thread: ThreadId, chosen: u32, options: u32) {
        self.route.left = (chosen + 1..options).map(SubtreeAnswer::Choice).collect();
        self.route.pick = Some(SubtreeAnswer::Choice(chosen));
        let base = self.floors.len();
        self.leave_node(thread, &ThreadSet::default(), base, 0);
    }

    /// The number of answers for the question of a thread.
    fn answers(&mut self, thread: ThreadId) -> u32 {
        if let OpKind::Choose { options } = self.question(self.thread(thread).history).kind {
            return options;
        }
        let sources = self.candidates(thread);
        u32::from(sources.initial) + sources.writes.count() as u32
    }

    /// Leaves a node behind whose thread was being tried since `start`; `rest` was not tried. The floors of threads
    /// that were tried before are recorded from `base` on.
    #[cold]
    pub(super) fn leave_node(
        &mut self,
        thread: ThreadId,
        rest: &ThreadSet<R>,
        base: usize,
        start: u64,
    ) {
        let left_out = self.last_node().rounds.left_out;
        let tried = self.ranks(self.floors[base..].iter().map(|&(thread, _)| thread));
        let rank = self.ranks(std::iter::once(thread))[0];
        let left = std::mem::take(&mut self.route.left);
        let pick = self.route.pick.take().unwrap_or(SubtreeAnswer::Initial { spurious: false });
        let is_choice = self.thread(thread).pending == PendingKind::Choose;
        let answers = self.answers(thread);
        let frame = SuspendedNode {
            step: SubtreeStep { tried, thread: rank, pick, seen: self.execution_hash() },
            left,
            answers,
            rest: self.ranks(rest.iter()),
            can_skip: self.thread(thread).causal_floor == 0,
            matters: !is_choice && (left_out || !self.others_do_not_matter(thread, start, false)),
        };
        self.route.frames.push(frame);
    }
}

/// The path to a subtree leads there if the program is the same, and depends only on what its threads read.
fn wrong_path() -> ! {
    panic!(
        "raddle: internal error: the path to a subtree cannot be followed; either the program differs from the one that it \
         was made for, or this is a bug in Raddle: please report it"
    )
}
