//! eTSO-SMA and PSO-SMA: per variable, a list of its writes with time stamps.
//!
//! Tomasco et al., FMCAD 2016. A global clock may advance at any access. A write guesses the time at which it reaches
//! memory and is inserted at the corresponding position in the list of its variable; until that time only its own
//! thread reads it. Memory is implicit: it holds the value of the latest write whose time stamp is not in the future.
//! The lists are circular and doubly linked (T-CDLL): nodes with past time stamps are reused, the oldest first, and a
//! sentinel with the greatest time stamp separates the newest node from the oldest. Under TSO the time stamps of a
//! thread never decrease, under PSO those of a thread and variable.
//!
//! Corrections to the published slides: the node that is written is `node` (the slides have the number of the thread),
//! and the successor must have a future time stamp under PSO, too.
//!
//! *Cost.* The paper calls `read` and `write` constant because they have no loops. TSO-SMA searches the whole buffer of
//! the thread, so its formula is proportional to the length of the buffers. Here the number of buffered writes of a
//! thread is not bounded: an access looks at the list of its variable only (`corpus/bmc/spread.c` has the same formula
//! for every bound). The two bounds that remain cost the following (`cargo bench -p raddle-bmc -- sizes`).
//!
//! - `K`, the greatest time stamp, bounds how many writes can reach memory one after the other. Doubling it adds a bit
//!   to every stamp, which is a constant per access. A `K` beyond the number of writes costs nothing.
//! - `N`, the number of nodes of a list, is one more than the number of buffered writes to *one* variable. In C an
//!   element of an array is one expression; in clauses it is a selection among all nodes, since only the solver knows
//!   the index, and no circuit selects from `N` values with fewer than `N` gates. So each node adds a constant to every
//!   access to the variable, up to one more node than the variable has writes. This holds for the back end of the
//!   paper, too; its experiments use `N` of 2 or 3.
//!
//! Rejected alternatives: arrays as chains of updates (the cost is the number of earlier writes, which is more than
//! `N`), and lemmas on demand (Brummayer, Biere, 2009), whose first formula does not depend on `N`, but which in the
//! end need a lemma for each read and update. The encoding `stamps` avoids `N` and `K`: it guesses for each write the
//! round in which it reaches memory.
//!
//! Executions that need more nodes or time stamps are excluded.

use raddle_core::model::orders::StoreBuffers;

use super::array::{TermArray, at_most, bits_for};
use super::interface::{CellWrite, FormulaBuilder, MemoryEncoding, ScheduleTurn, TurnStep};
use crate::program::{CellId, UnrolledProgram, VisibleAction, VisibleStatement};
use crate::term::{BinaryOp, Term};

/// The writes to a variable, in circular order. The arrays are indexed by node; the last node is the sentinel.
struct StampedList {
    /// The number of nodes without the sentinel.
    nodes: usize,
    value: TermArray,
    stamp: TermArray,
    previous: TermArray,
    next: TermArray,
    /// For every thread, the value and time stamp of its last write.
    last: Vec<(Term, Term)>,
}

/// Memory with a list of stamped writes per variable.
pub(super) struct EtsoMemory {
    buffers: StoreBuffers,
    max_time: usize,
    stamp_bits: u8,
    clock: Term,
    /// Indexed by cell.
    lists: Vec<StampedList>,
    /// For every thread, its greatest time stamp.
    greatest: Vec<Term>,
    /// For every thread, a lower bound of its later time stamps, set by store-store fences.
    floor: Vec<Term>,
    is_exhaustive: bool,
}

impl EtsoMemory {
    pub(super) fn new(
        program: &UnrolledProgram,
        buffers: StoreBuffers,
        (nodes, max_time): (usize, usize),
        build: &mut FormulaBuilder<'_>,
    ) -> Self {
        // More time stamps than writes are useless, and so are more nodes than writes to the variable plus the initial
        // one.
        let max_time = max_time.min(count_writes(program, None)).max(1);
        let stamp_bits = bits_for(max_time + 1);
        let threads = program.threads.len();
        let zero = build.terms.constant(0, stamp_bits);
        let mut memory = EtsoMemory {
            buffers,
            max_time,
            stamp_bits,
            clock: zero,
            lists: vec![],
            greatest: vec![zero; threads],
            floor: vec![zero; threads],
            is_exhaustive: max_time >= count_writes(program, None),
        };
        for (id, cell) in program.cells.iter().enumerate() {
            let sufficient = count_writes(program, Some(id)) + 1;
            memory.is_exhaustive &= nodes >= sufficient;
            // One node holds the content of memory, and one must be free for the next write.
            let list = memory.new_list(build, nodes.min(sufficient).max(2), cell.initial, threads);
            memory.lists.push(list);
        }
        memory
    }

    /// A list whose newest node holds the initial value.
    fn new_list(
        &self,
        build: &mut FormulaBuilder<'_>,
        nodes: usize,
        initial: Term,
        threads: usize,
    ) -> StampedList {
        let node_bits = bits_for(nodes);
        let mut node = |i: usize| build.terms.constant(i as u64, node_bits);
        let next = (0..=nodes).map(|i| node((i + 1) % (nodes + 1))).collect();
        let previous = (0..=nodes).map(|i| node((i + nodes) % (nodes + 1))).collect();
        let zero = build.terms.constant(0, self.stamp_bits);
        let end = build.terms.constant(self.max_time as u64 + 1, self.stamp_bits);
        let stamp = (0..=nodes).map(|i| if i < nodes { zero } else { end }).collect();
        StampedList {
            nodes,
            value: TermArray(vec![initial; nodes + 1]),
            stamp: TermArray(stamp),
            previous: TermArray(previous),
            next: TermArray(next),
            last: vec![(initial, zero); threads],
        }
    }

    /// Advances the clock by a guessed amount, possibly 0.
    fn advance_clock(&mut self, build: &mut FormulaBuilder<'_>) {
        let later = build.terms.var(self.stamp_bits);
        let max_time = build.terms.constant(self.max_time as u64, self.stamp_bits);
        let forward = at_most(build.terms, self.clock, later);
        let within = at_most(build.terms, later, max_time);
        build.require(forward);
        build.require(within);
        self.clock = later;
    }

    /// The content of memory: the value of the guessed node whose time stamp is past and whose successor's is not.
    /// Arbitrary unless `active` is true.
    fn memory_content(&self, build: &mut FormulaBuilder<'_>, active: Term, cell: CellId) -> Term {
        let list = &self.lists[cell];
        let node = build.terms.var(bits_for(list.nodes));
        let stamp = list.stamp.get(build.terms, node);
        let next = list.next.get(build.terms, node);
        let next_stamp = list.stamp.get(build.terms, next);
        let is_past = at_most(build.terms, stamp, self.clock);
        let next_is_future = build.terms.binary(BinaryOp::Ult, self.clock, next_stamp);
        let sentinel = build.terms.constant(list.nodes as u64, bits_for(list.nodes));
        let is_node = build.terms.binary(BinaryOp::Ult, node, sentinel);
        let is_latest = build.terms.all([is_past, next_is_future, is_node]);
        build.imply(active, is_latest);
        list.value.get(build.terms, node)
    }

    /// Inserts a write into the list of its variable. Its time stamp is the current time if `is_immediate`, otherwise
    /// it is guessed.
    fn insert(
        &mut self,
        build: &mut FormulaBuilder<'_>,
        step: TurnStep,
        write: CellWrite,
        is_immediate: bool,
    ) {
        let (thread, value) = (step.turn.thread, write.value);
        let now = build.terms.and(step.active, write.when);
        let (clock, floor) = (self.clock, self.floor[thread]);
        let StampedList { nodes, value: values, stamp: stamps, previous, next, last } =
            &mut self.lists[write.cell];
        let node_bits = bits_for(*nodes);
        let sentinel = build.terms.constant(*nodes as u64, node_bits);
        // Reuse the oldest node. It must not hold the content of memory: its successor's stamp must be past, too.
        let node = next.get(build.terms, sentinel);
        let second = next.get(build.terms, node);
        let second_stamp = stamps.get(build.terms, second);
        let is_free = at_most(build.terms, second_stamp, clock);
        build.imply(now, is_free);
        next.set(build.terms, sentinel, now, second);
        previous.set(build.terms, second, now, sentinel);
        // Guess the position: before a node with a future time stamp.
        let after = build.terms.var(node_bits);
        let after_stamp = stamps.get(build.terms, after);
        let before = previous.get(build.terms, after);
        let before_stamp = stamps.get(build.terms, before);
        let stamp = if is_immediate { clock } else { build.terms.var(self.stamp_bits) };
        let least = match self.buffers {
            StoreBuffers::PerLocation => last[thread].1,
            StoreBuffers::None | StoreBuffers::PerThread => self.greatest[thread],
        };
        let conditions = [
            at_most(build.terms, after, sentinel),
            build.terms.binary(BinaryOp::Ult, clock, after_stamp),
            at_most(build.terms, clock, stamp),
            at_most(build.terms, least, stamp),
            at_most(build.terms, floor, stamp),
            at_most(build.terms, before_stamp, stamp),
            build.terms.binary(BinaryOp::Ult, stamp, after_stamp),
        ];
        let is_valid = build.terms.all(conditions);
        build.imply(now, is_valid);
        values.set(build.terms, node, now, value);
        stamps.set(build.terms, node, now, stamp);
        next.set(build.terms, before, now, node);
        previous.set(build.terms, node, now, before);
        next.set(build.terms, node, now, after);
        previous.set(build.terms, after, now, node);
        let (last_value, last_stamp) = last[thread];
        last[thread] =
            (build.terms.ite(now, value, last_value), build.terms.ite(now, stamp, last_stamp));
        let greatest = self.greatest[thread];
        let grows = build.terms.binary(BinaryOp::Ult, greatest, stamp);
        let grows = build.terms.and(now, grows);
        self.greatest[thread] = build.terms.ite(grows, stamp, greatest);
    }
}

/// The number of statements that may write the given cell, or any cell.
fn count_writes(program: &UnrolledProgram, cell: Option<CellId>) -> usize {
    let is_write = |statement: &&VisibleStatement| {
        let mut targets = statement.action.targets().iter();
        targets.any(|&(at, _)| cell.is_none_or(|cell| at == cell))
            && matches!(
                statement.action,
                VisibleAction::Write { .. } | VisibleAction::Update { .. }
            )
    };
    program.threads.iter().flat_map(|thread| &thread.statements).filter(is_write).count()
}

impl MemoryEncoding for EtsoMemory {
    fn begin_turn(&mut self, _: &mut FormulaBuilder<'_>, _: ScheduleTurn) {}

    fn end_turn(&mut self, _: &mut FormulaBuilder<'_>, _: ScheduleTurn) {}

    fn read(&mut self, build: &mut FormulaBuilder<'_>, step: TurnStep, cell: CellId) -> Term {
        self.advance_clock(build);
        let memory = self.memory_content(build, step.active, cell);
        let (value, stamp) = self.lists[cell].last[step.turn.thread];
        let is_buffered = build.terms.binary(BinaryOp::Ult, self.clock, stamp);
        build.terms.ite(is_buffered, value, memory)
    }

    fn write(&mut self, build: &mut FormulaBuilder<'_>, step: TurnStep, write: CellWrite) {
        self.advance_clock(build);
        self.insert(build, step, write, false);
    }

    fn fence(&mut self, build: &mut FormulaBuilder<'_>, step: TurnStep) {
        self.advance_clock(build);
        let is_past = at_most(build.terms, self.greatest[step.turn.thread], self.clock);
        build.imply(step.active, is_past);
    }

    fn store_fence(&mut self, build: &mut FormulaBuilder<'_>, step: TurnStep) {
        let thread = step.turn.thread;
        self.floor[thread] =
            build.terms.ite(step.active, self.greatest[thread], self.floor[thread]);
    }

    fn read_memory(
        &mut self,
        build: &mut FormulaBuilder<'_>,
        step: TurnStep,
        cell: CellId,
    ) -> Term {
        self.memory_content(build, step.active, cell)
    }

    fn write_memory(&mut self, build: &mut FormulaBuilder<'_>, step: TurnStep, write: CellWrite) {
        self.insert(build, step, write, true);
    }

    /// The newest node is the one before the sentinel, whatever its time stamp.
    fn final_content(&self, build: &mut FormulaBuilder<'_>, cell: CellId) -> Term {
        let list = &self.lists[cell];
        let sentinel = build.terms.constant(list.nodes as u64, bits_for(list.nodes));
        let newest = list.previous.get(build.terms, sentinel);
        list.value.get(build.terms, newest)
    }

    fn is_drained(&mut self, build: &mut FormulaBuilder<'_>, turn: ScheduleTurn) -> Term {
        self.advance_clock(build);
        at_most(build.terms, self.greatest[turn.thread], self.clock)
    }

    fn is_exhaustive(&self) -> bool {
        self.is_exhaustive
    }
}
