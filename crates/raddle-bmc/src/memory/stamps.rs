//! TSO and PSO: per write, the round in which it reaches memory.
//!
//! The writes of a thread are known statements, so its buffer needs no data structure: one truth value per write and
//! round tells whether the write has reached memory ("is flushed") by the end of the round. Under TSO flushes follow
//! the order of the writes of the thread, under PSO the order of its writes to the same cell. This is the time stamp of
//! eTSO-SMA (Tomasco et al., FMCAD 2016) with rounds as the clock. There are no lists, and the number of buffered
//! writes is not bounded.
//!
//! Writes reach memory at the end of a turn, or at a fence. Other threads cannot distinguish that from any other time
//! in the turn, and the thread itself reads its buffered writes. A write costs one multiplexer per round, a read two.

use raddle_core::model::orders::StoreBuffers;

use super::cells::CellContents;
use super::interface::{
    CellWrite, FormulaBuilder, MemoryEncoding, PendingWrite, ScheduleTurn, TurnStep,
};
use crate::program::{CellId, CellTargets, UnrolledProgram, VisibleAction};
use crate::term::{FALSE, TRUE, Term};

/// A write statement, and when it reaches memory.
struct StampedWrite {
    /// Index of the statement within the thread.
    statement: usize,
    guard: Term,
    at: CellTargets,
    value: Term,
    /// For every round, whether the write has reached memory by the end of the thread's turn.
    flushed: Vec<Term>,
    /// Whether a fence in the current turn has already flushed the write.
    flushed_by_fence: Term,
}

/// A full fence or a store-store fence.
#[derive(Clone, Copy)]
struct FenceStatement {
    /// Index of the statement within the thread.
    statement: usize,
    guard: Term,
    is_full: bool,
}

/// Memory with a flush round per write.
pub(super) struct StampsMemory {
    cells: CellContents,
    /// The writes of every thread, in program order.
    writes: Vec<Vec<StampedWrite>>,
    /// The fences of every thread, in program order.
    fences: Vec<Vec<FenceStatement>>,
    /// For every cell, the last value that the current thread wrote to it in this turn, and whether it is buffered.
    own: Vec<Option<(Term, Term)>>,
}

impl StampsMemory {
    pub(super) fn new(
        program: &UnrolledProgram,
        buffers: StoreBuffers,
        build: &mut FormulaBuilder<'_>,
    ) -> Self {
        let cells = CellContents::new(program);
        let mut memory =
            StampsMemory { own: vec![None; cells.len()], cells, writes: vec![], fences: vec![] };
        for (thread, body) in program.threads.iter().enumerate() {
            let (mut writes, mut fences) = (vec![], vec![]);
            for (statement, code) in body.statements.iter().enumerate() {
                let guard = code.guard;
                match &code.action {
                    VisibleAction::Write { at, value, releases } => {
                        if *releases {
                            fences.push(FenceStatement { statement, guard, is_full: false });
                        }
                        let passed = build.passed[thread][statement].clone();
                        let flushed = passed
                            .into_iter()
                            .map(|passed| if passed == FALSE { FALSE } else { build.terms.var(1) })
                            .collect();
                        writes.push(StampedWrite {
                            statement,
                            guard,
                            at: at.clone(),
                            value: *value,
                            flushed,
                            flushed_by_fence: FALSE,
                        });
                    }
                    VisibleAction::StoreFence => {
                        fences.push(FenceStatement { statement, guard, is_full: false });
                    }
                    VisibleAction::Update { .. } | VisibleAction::Fence => {
                        fences.push(FenceStatement { statement, guard, is_full: true });
                    }
                    VisibleAction::Read { .. } | VisibleAction::Join(_) => {}
                }
            }
            constrain_flush_order(build, thread, &writes, &fences, buffers);
            memory.writes.push(writes);
            memory.fences.push(fences);
        }
        memory
    }

    /// Updates memory with a write if `when` is true.
    fn flush(&mut self, build: &mut FormulaBuilder<'_>, thread: usize, write: usize, when: Term) {
        let StampedWrite { guard, at, value, .. } = &self.writes[thread][write];
        let when = build.terms.and(when, *guard);
        for &(cell, condition) in at {
            let when = build.terms.and(when, condition);
            self.cells.set(build.terms, CellWrite { cell, when, value: *value });
        }
    }

    /// Whether a write reaches memory in the rest of this turn.
    fn flushes_in_turn(
        &self,
        build: &mut FormulaBuilder<'_>,
        turn: ScheduleTurn,
        write: usize,
    ) -> Term {
        let StampedWrite { flushed, flushed_by_fence, .. } = &self.writes[turn.thread][write];
        let before = flushed_before(flushed, turn.round);
        let already = build.terms.or(before, *flushed_by_fence);
        let not_already = build.terms.not(already);
        build.terms.and(flushed[turn.round], not_already)
    }

    /// The index of the first write that an earlier full fence has not certainly flushed, if a statement with this
    /// guard is executed.
    fn first_unflushed(
        &self,
        build: &mut FormulaBuilder<'_>,
        thread: usize,
        statement: usize,
        guard: Term,
    ) -> usize {
        let is_earlier = |fence: &&FenceStatement| fence.is_full && fence.statement < statement;
        let mut earlier = self.fences[thread].iter().rev().filter(is_earlier);
        let is_implied = |fence: &&FenceStatement| {
            let not = build.terms.not(fence.guard);
            build.terms.and(guard, not) == FALSE
        };
        let last = earlier.find(is_implied).map_or(0, |fence| fence.statement);
        self.writes[thread].partition_point(|write| write.statement < last)
    }
}

/// Whether a write was flushed before the round.
fn flushed_before(flushed: &[Term], round: usize) -> Term {
    round.checked_sub(1).map_or(FALSE, |round| flushed[round])
}

/// Constrains the order in which the writes of a thread reach memory.
fn constrain_flush_order(
    build: &mut FormulaBuilder<'_>,
    thread: usize,
    writes: &[StampedWrite],
    fences: &[FenceStatement],
    buffers: StoreBuffers,
) {
    for (j, write) in writes.iter().enumerate() {
        for round in 0..write.flushed.len() {
            let (before, after) = (flushed_before(&write.flushed, round), write.flushed[round]);
            let passed = build.passed[thread][write.statement][round];
            build.imply(after, passed);
            build.imply(before, after);
            build.require_active(round, before, after);
        }
        if buffers == StoreBuffers::PerThread {
            if let Some(earlier) = j.checked_sub(1).map(|i| &writes[i]) {
                require_order(build, earlier, write, TRUE);
            }
            continue;
        }
        for earlier in &writes[..j] {
            let when = are_ordered_under_pso(build, earlier, write, fences);
            require_order(build, earlier, write, when);
        }
    }
}

/// Requires that the second write does not reach memory before the first, if `when` is true.
fn require_order(
    build: &mut FormulaBuilder<'_>,
    first: &StampedWrite,
    second: &StampedWrite,
    when: Term,
) {
    if when == FALSE {
        return;
    }
    for round in 0..second.flushed.len() {
        let both = build.terms.and(when, second.flushed[round]);
        build.imply(both, first.flushed[round]);
    }
}

/// The condition under which two writes of a thread are ordered under PSO: they write the same cell, or a store-store
/// fence is between them. Full fences flush all earlier writes and need no order.
fn are_ordered_under_pso(
    build: &mut FormulaBuilder<'_>,
    first: &StampedWrite,
    second: &StampedWrite,
    fences: &[FenceStatement],
) -> Term {
    let mut any = FALSE;
    for &(cell, a) in &first.at {
        for &(_, b) in second.at.iter().filter(|other| other.0 == cell) {
            let same = build.terms.and(a, b);
            any = build.terms.or(any, same);
        }
    }
    let is_between = |fence: &&FenceStatement| {
        first.statement < fence.statement && fence.statement <= second.statement
    };
    for fence in fences.iter().filter(is_between).filter(|fence| !fence.is_full) {
        any = build.terms.or(any, fence.guard);
    }
    any
}

impl MemoryEncoding for StampsMemory {
    fn begin_turn(&mut self, _: &mut FormulaBuilder<'_>, turn: ScheduleTurn) {
        self.own.fill(None);
        for write in &mut self.writes[turn.thread] {
            write.flushed_by_fence = FALSE;
        }
    }

    fn end_turn(&mut self, build: &mut FormulaBuilder<'_>, turn: ScheduleTurn) {
        for write in 0..self.writes[turn.thread].len() {
            let flushes = self.flushes_in_turn(build, turn, write);
            self.flush(build, turn.thread, write, flushes);
        }
    }

    fn read(&mut self, build: &mut FormulaBuilder<'_>, _: TurnStep, cell: CellId) -> Term {
        match self.own[cell] {
            Some((value, is_buffered)) => build.terms.ite(is_buffered, value, self.cells.get(cell)),
            None => self.cells.get(cell),
        }
    }

    fn write(&mut self, build: &mut FormulaBuilder<'_>, step: TurnStep, write: CellWrite) {
        let CellWrite { cell, when, value } = write;
        let ScheduleTurn { round, thread } = step.turn;
        let writes = &self.writes[thread];
        let write = &writes[writes.partition_point(|write| write.statement < step.statement)];
        let when = build.terms.and(write.guard, when);
        let flushed = flushed_before(&write.flushed, round);
        let is_buffered = build.terms.not(flushed);
        self.own[cell] = Some(match self.own[cell] {
            Some((old, was_buffered)) => (
                build.terms.ite(when, value, old),
                build.terms.ite(when, is_buffered, was_buffered),
            ),
            None => (value, build.terms.and(when, is_buffered)),
        });
    }

    fn fence(&mut self, build: &mut FormulaBuilder<'_>, step: TurnStep) {
        let ScheduleTurn { round, thread } = step.turn;
        let fence = self.fences[thread].iter().find(|fence| fence.statement == step.statement);
        let guard = fence.map_or(TRUE, |fence| fence.guard);
        let first = self.first_unflushed(build, thread, step.statement, guard);
        let last = self.writes[thread].partition_point(|write| write.statement < step.statement);
        for write in first..last {
            let flushes = self.flushes_in_turn(build, step.turn, write);
            build.imply(step.active, self.writes[thread][write].flushed[round]);
            let now = build.terms.and(step.active, flushes);
            self.flush(build, thread, write, now);
            let by_fence = self.writes[thread][write].flushed_by_fence;
            self.writes[thread][write].flushed_by_fence = build.terms.or(by_fence, step.active);
        }
        let not = build.terms.not(step.active);
        for (_, is_buffered) in self.own.iter_mut().flatten() {
            *is_buffered = build.terms.and(*is_buffered, not);
        }
    }

    /// [`constrain_flush_order`] has ordered the writes already.
    fn store_fence(&mut self, _: &mut FormulaBuilder<'_>, _: TurnStep) {}

    fn read_memory(&mut self, _: &mut FormulaBuilder<'_>, _: TurnStep, cell: CellId) -> Term {
        self.cells.get(cell)
    }

    fn write_memory(&mut self, build: &mut FormulaBuilder<'_>, step: TurnStep, write: CellWrite) {
        self.cells.set_in_step(build, step, write);
    }

    fn final_content(&self, _: &mut FormulaBuilder<'_>, cell: CellId) -> Term {
        self.cells.get(cell)
    }

    fn is_drained(&mut self, build: &mut FormulaBuilder<'_>, turn: ScheduleTurn) -> Term {
        let ScheduleTurn { round, thread } = turn;
        let mut all = TRUE;
        for write in &self.writes[thread] {
            let not_passed = build.terms.not(build.passed[thread][write.statement][round]);
            let is_not_buffered = build.terms.or(write.flushed[round], not_passed);
            all = build.terms.and(all, is_not_buffered);
        }
        all
    }

    fn pending_writes(&self) -> Vec<PendingWrite> {
        let mut pending = vec![];
        for (thread, writes) in self.writes.iter().enumerate() {
            pending.extend(writes.iter().map(|write| PendingWrite {
                thread,
                statement: write.statement,
                flushed: write.flushed.clone(),
            }));
        }
        pending
    }

    fn is_exhaustive(&self) -> bool {
        true
    }
}
