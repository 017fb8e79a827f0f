//! Which threads are symmetric: found by running all of them.
//!
//! *Candidates* are threads of one kind ([`Program::thread_kind`]) that one segment of another thread starts, their *creator*,
//! with nothing visible in between. Those that start first are taken.
//!
//! *Nobody is trusted.* Whenever a history of any thread is added, the histories that correspond to it are added, too: for each
//! two neighbours of a block, the one with exchanged threads, values and locations. Their ops must correspond. So all threads
//! of a block agree on all histories that were explored, and whatever is left out is a renaming of these. If two threads
//! disagree, their block is no longer one, and the exploration starts over.
//!
//! *The creator* knows its threads by the order in which it starts and joins them. Its questions about them (joins, and reads of
//! results, [`Program::location_owner`]) need not correspond, if they are the same questions with the same answers for all
//! threads of the block, before its next visible op.
//!
//! *Cost.* The runs of threads that symmetry would save, no classes.

use std::rc::Rc;

use super::candidates::position;
use super::corresponding_histories::{Asked, AskedOp, CorrespondingHistories};
use super::permutations::Block;
use super::state::{PartSearch, SearchStop};
use super::symmetry_state::SymmetryState;
use crate::Extent;
use crate::driver::Restart;
use crate::event_set::EventSet;
use crate::facts::NewFact;
use crate::model::IncrementalModel;
use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::program::{
    Answer, End, Guard, HistoryId, HistoryStep, JointStep, Op, OpKind, Program, ThreadExchange,
    Update,
};

/// Two threads of a block do not correspond.
struct Asymmetry {
    block: usize,
}

impl<R: EventSet, M: IncrementalModel<R>> PartSearch<'_, '_, R, M> {
    /// Looks for symmetric threads among those that have started at the end of a history.
    pub(super) fn find_symmetric_threads(&mut self, history: HistoryId) {
        let is_over = self.stop.is_some() || self.exploration.program.needs_restart();
        let creator = self.histories.thread(history);
        let SymmetryState { is_active, is_open, creator: known, depth, .. } = self.symmetry;
        let goes_on = is_open && known == Some(creator) && depth == self.depth;
        if is_over || is_active && !goes_on {
            return;
        }
        let blocks = self.symmetry_candidates(history);
        if !blocks.is_empty() {
            let name = |&thread: &ThreadId| self.exploration.program.thread_name(thread);
            self.exploration.symmetric =
                blocks.iter().map(|block| block.iter().map(name).collect()).collect();
            self.symmetry.begin(creator, blocks, self.threads.len(), self.depth);
        }
        self.exploration.program.pair_given_memory(&self.symmetry.blocks);
    }

    /// Adds what corresponds to everything that is known. Called before the first decision since the threads have started.
    pub(super) fn compare_symmetric_threads(&mut self) {
        if std::mem::take(&mut self.symmetry.is_open) {
            let SymmetryState { creator, blocks, .. } = &self.symmetry;
            if self.twins.blocks != *blocks || self.twins.creator != *creator {
                self.twins = CorrespondingHistories::new(*creator, blocks);
            }
            self.compare_locations(0);
        }
        self.add_corresponding_histories();
    }

    /// Adds the histories that correspond to those that are new.
    #[cold]
    pub(super) fn add_corresponding_histories(&mut self) {
        if self.symmetry.is_open {
            return;
        }
        while self.twins.images[0].len() < self.histories.len() && self.stop.is_none() {
            let history = HistoryId(self.twins.images[0].len() as u32);
            let corresponds = self
                .note_asked(history)
                .and_then(|()| self.expect_own(history))
                .and_then(|()| self.add_images(history));
            if self.exploration.program.needs_restart() {
                // Nothing that was explored counts.
                self.symmetry.is_active = false;
                self.twins = CorrespondingHistories::default();
                self.stop.get_or_insert(SearchStop::Extent(Extent::Stopped));
                return;
            }
            if let Err(Asymmetry { block }) = corresponds {
                return self.dissolve(block);
            }
        }
    }

    /// Adds the histories that correspond to one, whose parent has them.
    fn add_images(&mut self, history: HistoryId) -> Result<(), Asymmetry> {
        for at in 0..self.twins.exchanges.len() {
            let threads = self.twins.exchanges[at];
            let image = self.image(at, threads, history);
            self.twins.images[at].push(image);
            if !self.is_equivalent(threads, (history, image), at)
                || !self.writes_correspond(threads, history, image)
            {
                return Err(Asymmetry { block: self.block_of(threads.first) });
            }
        }
        Ok(())
    }

    fn is_of_creator(&self, history: HistoryId) -> bool {
        self.twins.creator == Some(self.histories.thread(history))
    }

    fn block_of(&self, thread: ThreadId) -> usize {
        let block = self.symmetry.blocks.iter().position(|block| block.contains(&thread));
        block.expect("a thread that is exchanged is in a block")
    }

    /// The history that corresponds to a history if threads are exchanged.
    fn image(&mut self, at: usize, threads: ThreadExchange, history: HistoryId) -> HistoryId {
        match self.histories.step(history) {
            HistoryStep::Start(thread, _) if threads.of(thread) == thread => history,
            HistoryStep::Start(thread, spawned_by) => {
                let program = &mut *self.exploration.program;
                self.histories.start(program, &self.past, threads.of(thread), spawned_by)
            }
            HistoryStep::After(parent, answer) => {
                let parent_image = self.twins.images[at][parent.0 as usize];
                let answer = match self.is_asked_about(parent, threads) {
                    true => answer,
                    false => self.exchanged_answer_to(parent, threads, answer),
                };
                let program = &mut *self.exploration.program;
                self.histories.after(program, &self.past, parent_image, answer)
            }
        }
    }

    /// The answer to the question of a history that corresponds to an answer.
    fn exchanged_answer_to(
        &self,
        history: HistoryId,
        threads: ThreadExchange,
        answer: Answer,
    ) -> Answer {
        match self.histories.end(history) {
            End::Question(op) => {
                exchanged_answer(&*self.exploration.program, threads, op.kind, answer)
            }
            _ => answer,
        }
    }

    /// Returns `true` if a history ends with a question of a creator about a thread of the block that is exchanged. What it learns
    /// about all of them is the same (`expect_same`), so nothing changes for it.
    fn is_asked_about(&self, history: HistoryId, threads: ThreadExchange) -> bool {
        let End::Question(op) = self.histories.end(history) else { return false };
        self.is_of_creator(history)
            && self.is_about(op.kind, &self.symmetry.blocks[self.block_of(threads.first)]).is_some()
    }

    /// Returns `true` if the last segments of two histories correspond.
    fn is_equivalent(
        &self,
        threads: ThreadExchange,
        (history, image): (HistoryId, HistoryId),
        at: usize,
    ) -> bool {
        let (effects, others) = (self.histories.effects(history), self.histories.effects(image));
        let is_creator = self.is_of_creator(history);
        let is_same_op = |op: &Op, other: &Op| {
            let exchanged = exchanged_op(&*self.exploration.program, threads, op.kind);
            exchanged == Some(other.kind)
                || is_creator
                    && op.kind == other.kind
                    && self
                        .is_about(op.kind, &self.symmetry.blocks[self.block_of(threads.first)])
                        .is_some()
        };
        effects.len() == others.len()
            && effects.iter().zip(others).all(|(op, other)| is_same_op(op, other))
            && match (self.histories.end(history), self.histories.end(image)) {
                (End::Question(op), End::Question(other)) => is_same_op(op, other),
                (End::Repeats(start), End::Repeats(other)) => {
                    self.twins.images[at].get(start.0 as usize) == Some(other)
                }
                (End::Failed(failure), End::Failed(other)) => failure.kind == other.kind,
                (end, other) => end == other,
            }
    }

    /// Returns `true` if what the questions before two histories write corresponds.
    fn writes_correspond(
        &self,
        threads: ThreadExchange,
        history: HistoryId,
        image: HistoryId,
    ) -> bool {
        let written = |history: HistoryId| {
            let HistoryStep::After(before, Answer::Value(read)) = self.histories.step(history)
            else {
                return None;
            };
            match self.histories.end(before) {
                End::Question(Op { kind: OpKind::Rmw { update, .. }, .. }) => {
                    Some((None, update.apply(read)))
                }
                End::Question(Op { kind: OpKind::Sync { location, update, guard }, .. }) => {
                    guard.admits(read).then(|| (Some(*location), update.apply(read)))
                }
                _ => None,
            }
        };
        let program = &*self.exploration.program;
        let exchanged = |(object, value): (Option<LocationId>, Value)| match object {
            Some(object) => program.exchanged_state(threads, object, value),
            None => program.exchanged_value(threads, value),
        };
        written(history).map(exchanged) == written(image).map(|(_, value)| value)
    }

    /// The thread of a block that an op of the creator is about.
    pub(super) fn is_about(&self, op: OpKind, block: &Block) -> Option<ThreadId> {
        let program = &*self.exploration.program;
        let owner = |location| program.location_owner(location).or(program.given_to(location));
        let about = match op {
            OpKind::Spawn { thread } | OpKind::Join { thread } => Some(thread),
            op if self.is_quiet_op(op) => op.location().and_then(owner),
            _ => None,
        };
        about.filter(|about| block.contains(about))
    }

    /// Returns `true` if an op is an access of a quiet location.
    pub(super) fn is_quiet_op(&self, op: OpKind) -> bool {
        op.location().is_some_and(|location| {
            let is_known = location.index() < self.cache.locations();
            is_known && self.is_quiet(location) || self.exploration.assumes_quiet(location)
        })
    }

    /// Returns `true` if an op is an access of a quiet location that is the same for all threads of the blocks, and that no other
    /// thread than the creator is known to access.
    pub(super) fn is_of_creator_alone(&self, op: OpKind, blocks: &[Block]) -> bool {
        let program = &*self.exploration.program;
        let is_fixed = |location: LocationId| {
            let pairs = blocks.iter().flat_map(|block| block.windows(2));
            pairs
                .map(|pair| ThreadExchange { first: pair[0], second: pair[1] })
                .all(|threads| program.exchanged_location(threads, location) == Some(location))
        };
        let is_own = |location| is_fixed(location) && !self.twins.of_others.contains(&location);
        self.is_quiet_op(op) && op.location().is_some_and(is_own)
    }

    /// Fails if a thread accesses what another one got from its creator, or what the creator uses while it starts or joins
    /// threads: that is not ordered in the same way for all threads.
    fn expect_own(&mut self, history: HistoryId) -> Result<(), Asymmetry> {
        let thread = self.histories.thread(history);
        if Some(thread) == self.twins.creator {
            return Ok(());
        }
        let question = match self.histories.end(history) {
            End::Question(op) => Some(op),
            _ => None,
        };
        let locations = self.histories.effects(history).iter().chain(question);
        for location in locations.filter_map(|op| op.kind.location()) {
            self.twins.of_others.insert(location);
            if self.twins.of_creator.contains(&location) {
                return Err(Asymmetry { block: 0 });
            }
            match self.exploration.program.given_to(location) {
                Some(other) if other != thread => {
                    return Err(Asymmetry { block: self.block_of(other) });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Records what a creator has asked about its threads up to the end of a history. Fails if it does something visible, or ends,
    /// after it has asked more about one thread of a block than about another, or got other answers.
    fn note_asked(&mut self, history: HistoryId) -> Result<(), Asymmetry> {
        if !self.is_of_creator(history) {
            return Ok(());
        }
        let mut asked = match self.histories.step(history) {
            HistoryStep::Start(..) => Rc::new(
                self.symmetry.blocks.iter().map(|block| vec![vec![]; block.len()]).collect(),
            ),
            HistoryStep::After(before, answer) => {
                let mut asked = self.twins.asked[&before].clone();
                if let End::Question(op) = *self.histories.end(before)
                    && self.asks_about(op.kind)
                {
                    self.add_asked(op.kind, Some(answer), &mut asked);
                }
                asked
            }
        };
        for op in self.histories.effects(history).to_vec() {
            self.add_effect(op.kind, &mut asked)?;
        }
        match self.histories.end(history).clone() {
            End::Question(op) if self.asks_about(op.kind) => {}
            End::Question(op) => self.expect_invisible(op.kind, &asked)?,
            End::Repeats(_) => {}
            _ => self.expect_same(&asked)?,
        }
        self.twins.asked.insert(history, asked);
        Ok(())
    }

    /// Adds an effect of the creator.
    fn add_effect(&mut self, op: OpKind, asked: &mut Asked) -> Result<(), Asymmetry> {
        if self.asks_about(op) {
            self.add_asked(op, None, asked);
            return Ok(());
        }
        if matches!(op, OpKind::Init { .. } | OpKind::Spawn { .. }) {
            return Ok(());
        }
        self.expect_invisible(op, asked)
    }

    /// Fails if the creator has not asked the same about all threads of a block, unless its next op concerns nobody else.
    fn expect_invisible(&mut self, op: OpKind, asked: &Asked) -> Result<(), Asymmetry> {
        let Err(asymmetry) = self.expect_same(asked) else { return Ok(()) };
        if !self.is_of_creator_alone(op, &self.symmetry.blocks) {
            return Err(asymmetry);
        }
        self.twins.of_creator.extend(op.location());
        Ok(())
    }

    fn asks_about(&self, op: OpKind) -> bool {
        self.symmetry.blocks.iter().any(|block| self.is_about(op, block).is_some())
    }

    /// Adds an op of the creator.
    fn add_asked(&self, op: OpKind, answer: Option<Answer>, asked: &mut Asked) {
        for (number, block) in self.symmetry.blocks.iter().enumerate() {
            let about = self.is_about(op, block);
            if let Some(at) = about.and_then(|about| position(block, about)) {
                Rc::make_mut(asked)[number][at].push((op, answer));
            }
        }
    }

    /// Fails if the creator has not asked the same about all threads of a block, with the same answers.
    fn expect_same(&mut self, asked: &Asked) -> Result<(), Asymmetry> {
        if self.twins.same.as_ref().is_some_and(|same| Rc::ptr_eq(same, asked)) {
            return Ok(());
        }
        for (number, block) in self.symmetry.blocks.iter().enumerate() {
            for (at, pair) in block.windows(2).enumerate() {
                let threads = ThreadExchange { first: pair[0], second: pair[1] };
                let of_block = &asked[number];
                if !self.are_exchanged(threads, &of_block[at], &of_block[at + 1]) {
                    return Err(Asymmetry { block: number });
                }
            }
        }
        self.twins.same = Some(Rc::clone(asked));
        Ok(())
    }

    /// Returns `true` if a creator has asked the same about two threads.
    pub(super) fn are_exchanged(
        &self,
        threads: ThreadExchange,
        one: &[AskedOp],
        other: &[AskedOp],
    ) -> bool {
        let program = &*self.exploration.program;
        let is_same = |(one, other): (&AskedOp, &AskedOp)| {
            let answer = one.1.map(|answer| exchanged_answer(program, threads, one.0, answer));
            exchanged_op(program, threads, one.0) == Some(other.0) && answer == other.1
        };
        one.len() == other.len() && one.iter().zip(other).all(is_same)
    }

    /// The threads of a block are not symmetric: the exploration starts over.
    fn dissolve(&mut self, block: usize) {
        let name = |&thread: &ThreadId| self.exploration.program.thread_name(thread);
        let names = self.symmetry.blocks[block].iter().map(name).collect();
        self.exploration.new_fact = Some(NewFact::Asymmetry(names));
        self.symmetry.is_active = false;
        self.stop = Some(SearchStop::Restart(Restart::ExplorationFacts));
    }

    /// Compares locations from `first` on with those that correspond to them: all of them conflict or none, and their initial
    /// values correspond.
    #[cold]
    pub(super) fn compare_locations(&mut self, first: usize) {
        for location in (first..self.cache.locations()).map(LocationId::new) {
            for at in 0..self.twins.exchanges.len() {
                let threads = self.twins.exchanges[at];
                let program = &*self.exploration.program;
                let other = program.exchanged_location(threads, location);
                let is_known = |other: &LocationId| other.index() < self.cache.locations();
                let Some(other) = other.filter(is_known).filter(|&other| other != location) else {
                    continue;
                };
                let initial = program.exchanged_value(threads, program.initial_value(location));
                if program.initial_value(other) != initial {
                    return self.dissolve(self.block_of(threads.first));
                }
                match (self.is_quiet(location), self.is_quiet(other)) {
                    (true, false) => self.note_conflict(location),
                    (false, true) => self.note_conflict(other),
                    _ => {}
                }
            }
        }
    }
}

/// The answer that corresponds to an answer.
fn exchanged_answer(
    program: &dyn Program,
    threads: ThreadExchange,
    question: OpKind,
    answer: Answer,
) -> Answer {
    if let (OpKind::Sync { location, .. }, Answer::Value(value)) = (question, answer) {
        return Answer::Value(program.exchanged_state(threads, location, value));
    }
    match answer {
        Answer::Value(value) => Answer::Value(program.exchanged_value(threads, value)),
        Answer::Spurious(value) => Answer::Spurious(program.exchanged_value(threads, value)),
        answer => answer,
    }
}

/// The op that corresponds to an op; `None` if there is none so far.
fn exchanged_op(program: &dyn Program, threads: ThreadExchange, op: OpKind) -> Option<OpKind> {
    let value = |value| program.exchanged_value(threads, value);
    let at = |location| program.exchanged_location(threads, location);
    let changed = |update: Update| Update { operand: value(update.operand), ..update };
    Some(match op {
        OpKind::Init { location, value: initial } => {
            OpKind::Init { location: at(location)?, value: value(initial) }
        }
        OpKind::Store { location, value: stored, order, carries } => {
            OpKind::Store { location: at(location)?, value: value(stored), order, carries }
        }
        OpKind::Unlock { lock } => OpKind::Unlock { lock: at(lock)? },
        OpKind::Spawn { thread } => OpKind::Spawn { thread: threads.of(thread) },
        OpKind::WriteCell { location } => OpKind::WriteCell { location: at(location)? },
        OpKind::Load { location, order } => OpKind::Load { location: at(location)?, order },
        OpKind::Rmw { location, update, order, is_blind } => {
            OpKind::Rmw { location: at(location)?, update: changed(update), order, is_blind }
        }
        OpKind::CompareExchange {
            location,
            expected,
            desired,
            carries,
            success,
            failure,
            weak,
        } => OpKind::CompareExchange {
            location: at(location)?,
            expected: value(expected),
            desired: value(desired),
            carries,
            success,
            failure,
            weak,
        },
        OpKind::Lock { lock } => OpKind::Lock { lock: at(lock)? },
        OpKind::Sync { location, guard, update } => {
            let state = |value| program.exchanged_state(threads, location, value);
            let guard = match guard {
                Guard::Equal(value) => Guard::Equal(state(value)),
                Guard::NoBits(bits) => Guard::NoBits(state(bits)),
                guard @ (Guard::Always | Guard::Below(_) | Guard::Above(_)) => guard,
            };
            let update = Update { operand: state(update.operand), ..update };
            OpKind::Sync { location: at(location)?, guard, update }
        }
        OpKind::Join { thread } => OpKind::Join { thread: threads.of(thread) },
        OpKind::ReadCell { location } => OpKind::ReadCell { location: at(location)? },
        OpKind::Joint(JointStep::Part { location }) => {
            OpKind::Joint(JointStep::Part { location: at(location)? })
        }
        op @ (OpKind::Fence { .. }
        | OpKind::StoreFence
        | OpKind::Choose { .. }
        | OpKind::Joint(_)) => op,
    })
}
