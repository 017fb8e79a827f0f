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

use super::corresponding_histories::{Asked, CorrespondingHistories};
use super::permutations::Block;
use super::state::{PartSearch, SearchStop};
use crate::Extent;
use crate::driver::Restart;
use crate::event_set::EventSet;
use crate::facts::NewFact;
use crate::model::IncrementalModel;
use raddle_core::execution::{LocationId, ThreadId};
use raddle_core::program::{
    Answer, End, HistoryId, HistoryStep, JointStep, Op, OpKind, Program, ThreadExchange, Update,
};

/// Two threads of a block do not correspond.
struct Asymmetry {
    block: usize,
}

impl<R: EventSet, M: IncrementalModel<R>> PartSearch<'_, '_, R, M> {
    /// Looks for symmetric threads among those that start at the end of a history.
    pub(super) fn find_symmetric_threads(&mut self, history: HistoryId) {
        let is_over = self.stop.is_some() || self.exploration.program.needs_restart();
        if self.symmetry.is_active || is_over {
            return;
        }
        let blocks = self.candidates_of(history);
        if blocks.is_empty() {
            return;
        }
        let creator = self.histories.thread(history);
        if !self.symmetry.was_active
            || self.symmetry.blocks != blocks
            || self.twins.creator != creator
        {
            self.twins = CorrespondingHistories::new(creator, &blocks);
        }
        let name = |&thread: &ThreadId| self.exploration.program.thread_name(thread);
        self.exploration.symmetric =
            blocks.iter().map(|block| block.iter().map(name).collect()).collect();
        self.symmetry.begin(blocks, self.threads.len(), self.depth);
        self.compare_locations(0);
        self.add_corresponding_histories();
    }

    /// The candidates that are started at the end of a history.
    fn candidates_of(&self, history: HistoryId) -> Vec<Block> {
        let mut blocks: Vec<(u64, Block)> = vec![];
        let mut first = 0;
        for op in self.histories.effects(history) {
            match op.kind {
                OpKind::Spawn { thread } => self.add_candidate(thread, &mut blocks, first),
                OpKind::Init { .. } => {}
                _ => first = blocks.len(),
            }
        }
        let several = blocks.into_iter().map(|(_, block)| block).filter(|block| block.len() > 1);
        let sorted = |mut block: Block| {
            block.sort_unstable();
            block
        };
        several.map(sorted).collect()
    }

    /// Adds a thread to the block of its kind among the blocks from `first` on.
    fn add_candidate(&self, thread: ThreadId, blocks: &mut Vec<(u64, Block)>, first: usize) {
        let program = &self.exploration.program;
        let Some(kind) = program.thread_kind(thread) else { return };
        if self.exploration.facts.is_asymmetric(&program.thread_name(thread)) {
            return;
        }
        match blocks[first..].iter_mut().find(|(other, _)| *other == kind) {
            Some((_, block)) => block.push(thread),
            None => blocks.push((kind, vec![thread])),
        }
    }

    /// Adds the histories that correspond to those that are new.
    #[cold]
    pub(super) fn add_corresponding_histories(&mut self) {
        while self.twins.images[0].len() < self.histories.len() && self.stop.is_none() {
            let history = HistoryId(self.twins.images[0].len() as u32);
            let corresponds = self.note_asked(history).and_then(|()| self.add_images(history));
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
                let answer = exchanged_answer(&*self.exploration.program, threads, answer);
                let program = &mut *self.exploration.program;
                self.histories.after(program, &self.past, parent_image, answer)
            }
        }
    }

    /// Returns `true` if the last segments of two histories correspond.
    fn is_equivalent(
        &self,
        threads: ThreadExchange,
        (history, image): (HistoryId, HistoryId),
        at: usize,
    ) -> bool {
        let (effects, others) = (self.histories.effects(history), self.histories.effects(image));
        let is_creator = self.histories.thread(history) == self.twins.creator;
        let is_same_op = |op: &Op, other: &Op| {
            let exchanged = exchanged_op(&*self.exploration.program, threads, op.kind);
            exchanged == Some(other.kind)
                || is_creator
                    && op.kind == other.kind
                    && self.is_about(op.kind, self.block_of(threads.first)).is_some()
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
                    Some(update.apply(read))
                }
                End::Question(Op { kind: OpKind::Sync { update, guard, .. }, .. }) => {
                    guard.admits(read).then(|| update.apply(read))
                }
                _ => None,
            }
        };
        let exchanged = |value| self.exploration.program.exchanged_value(threads, value);
        written(history).map(exchanged) == written(image)
    }

    /// The thread of a block that an op of the creator is about.
    fn is_about(&self, op: OpKind, block: usize) -> Option<ThreadId> {
        let block = &self.symmetry.blocks[block];
        let about = match op {
            OpKind::Spawn { thread } | OpKind::Join { thread } => Some(thread),
            op => op.location().and_then(|location| {
                let is_quiet = (location.index() < self.cache.locations()
                    && self.is_quiet(location))
                    || self.exploration.assumes_quiet(location);
                self.exploration.program.location_owner(location).filter(|_| is_quiet)
            }),
        };
        about.filter(|about| block.contains(about))
    }

    /// Records what a creator has asked about its threads up to the end of a history. Fails if it does something visible, or ends,
    /// after it has asked more about one thread of a block than about another, or got other answers.
    fn note_asked(&mut self, history: HistoryId) -> Result<(), Asymmetry> {
        if self.histories.thread(history) != self.twins.creator {
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
            End::Repeats(_) => {}
            _ => self.expect_same(&asked)?,
        }
        self.twins.asked.insert(history, asked);
        Ok(())
    }

    /// Adds an effect of the creator.
    fn add_effect(&self, op: OpKind, asked: &mut Asked) -> Result<(), Asymmetry> {
        if matches!(op, OpKind::Init { .. } | OpKind::Spawn { .. }) {
            return Ok(());
        }
        if self.asks_about(op) {
            self.add_asked(op, None, asked);
            return Ok(());
        }
        self.expect_same(asked)
    }

    fn asks_about(&self, op: OpKind) -> bool {
        (0..self.symmetry.blocks.len()).any(|block| self.is_about(op, block).is_some())
    }

    /// Adds an op of the creator, as if it were about the first thread of its block. The answer counts as it is: in a renamed
    /// execution, the creator gets the answer for another thread.
    fn add_asked(&self, op: OpKind, answer: Option<Answer>, asked: &mut Asked) {
        for (number, block) in self.symmetry.blocks.iter().enumerate() {
            let Some(about) = self.is_about(op, number) else { continue };
            let threads = ThreadExchange { first: block[0], second: about };
            let program = &*self.exploration.program;
            // An op that corresponds to nothing is never the same.
            let unknown = OpKind::Spawn { thread: about };
            let exchanged = || exchanged_op(program, threads, op).unwrap_or(unknown);
            let op = if about == block[0] { op } else { exchanged() };
            let at = block.iter().position(|&it| it == about).unwrap_or(0);
            Rc::make_mut(asked)[number][at].push((op, answer));
        }
    }

    /// Fails if the creator has not asked the same about all threads of a block.
    fn expect_same(&self, asked: &Asked) -> Result<(), Asymmetry> {
        let differs = |of_block: &Vec<Vec<_>>| of_block.windows(2).any(|pair| pair[0] != pair[1]);
        match asked.iter().position(differs) {
            Some(block) => Err(Asymmetry { block }),
            None => Ok(()),
        }
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
fn exchanged_answer(program: &dyn Program, threads: ThreadExchange, answer: Answer) -> Answer {
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
            OpKind::Sync { location: at(location)?, guard, update: changed(update) }
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
