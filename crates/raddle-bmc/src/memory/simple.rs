//! TSO-SMA: per thread, an array as its store buffer.
//!
//! Tomasco et al., FMCAD 2016: a write is appended to the array of its thread, a read searches the array from the end,
//! and then some writes at the beginning of the array reach memory. The formula grows with the length of the arrays: a
//! read compares with every slot, and flushing a write shifts the others. This encoding exists for comparison with
//! `etso` and `stamps`.
//!
//! Difference to the paper: writes reach memory at the end of a turn, not after every access, since no other thread can
//! observe the difference. A buffer has no more slots than its thread has writes. Executions in which a buffer
//! overflows are excluded.

use super::array::bits_for;
use super::cells::CellContents;
use super::interface::{CellWrite, FormulaBuilder, MemoryEncoding, ScheduleTurn, TurnStep};
use crate::program::{CellId, UnrolledProgram, UnrolledThread, VisibleAction, VisibleStatement};
use crate::term::{BinaryOp, FALSE, TRUE, Term};

/// A buffered write. `cell` is the number of the cell, as a term.
#[derive(Clone, Copy)]
struct BufferSlot {
    cell: Term,
    value: Term,
}

/// The store buffer of a thread: the first `count` slots hold writes, the oldest first.
#[derive(Clone)]
struct BufferArray {
    slots: Vec<BufferSlot>,
    count: Term,
}

/// Memory with an array per store buffer.
pub(super) struct SimpleMemory {
    cells: CellContents,
    /// Indexed by thread.
    buffers: Vec<BufferArray>,
    /// `empty[thread][round]`: whether the buffer is empty at the end of the turn.
    empty: Vec<Vec<Term>>,
    /// The width of cell numbers.
    cell_bits: u8,
    is_exhaustive: bool,
}

/// The width of values in a buffer, which is that of the widest cells.
const VALUE_BITS: u8 = 64;

impl SimpleMemory {
    /// Creates buffers with at most `nodes` slots.
    pub(super) fn new(
        program: &UnrolledProgram,
        nodes: usize,
        build: &mut FormulaBuilder<'_>,
    ) -> Self {
        let cells = CellContents::new(program);
        let cell_bits = bits_for(cells.len());
        let slot = BufferSlot {
            cell: build.terms.constant(0, cell_bits),
            value: build.terms.constant(0, VALUE_BITS),
        };
        let is_write =
            |statement: &&VisibleStatement| matches!(statement.action, VisibleAction::Write { .. });
        let writes = |thread: &UnrolledThread| thread.statements.iter().filter(is_write).count();
        let writes: Vec<usize> = program.threads.iter().map(writes).collect();
        let mut buffer = |&writes: &usize| {
            let capacity = nodes.min(writes);
            let count = build.terms.constant(0, bits_for(capacity));
            BufferArray { slots: vec![slot; capacity], count }
        };
        SimpleMemory {
            cells,
            buffers: writes.iter().map(&mut buffer).collect(),
            empty: vec![vec![]; writes.len()],
            cell_bits,
            is_exhaustive: writes.iter().all(|&writes| writes <= nodes),
        }
    }

    /// Flushes the oldest write, if there is one and `when` is true.
    fn flush_oldest(&mut self, build: &mut FormulaBuilder<'_>, thread: usize, when: Term) {
        let BufferArray { slots, count } = &mut self.buffers[thread];
        let terms = &mut *build.terms;
        let is_empty = terms.is(*count, 0);
        let has_write = terms.not(is_empty);
        let when = terms.and(when, has_write);
        for cell in 0..self.cells.len() {
            let here = terms.is(slots[0].cell, cell as u64);
            let here = terms.and(when, here);
            let value = terms.truncate(slots[0].value, terms.width(self.cells.get(cell)));
            self.cells.set(terms, CellWrite { cell, when: here, value });
        }
        for i in 1..slots.len() {
            let next = slots[i];
            slots[i - 1].cell = terms.ite(when, next.cell, slots[i - 1].cell);
            slots[i - 1].value = terms.ite(when, next.value, slots[i - 1].value);
        }
        let minus_one = terms.constant(u64::MAX, terms.width(*count));
        let decremented = terms.binary(BinaryOp::Add, *count, minus_one);
        *count = terms.ite(when, decremented, *count);
    }
}

impl MemoryEncoding for SimpleMemory {
    fn begin_turn(&mut self, _: &mut FormulaBuilder<'_>, _: ScheduleTurn) {}

    fn end_turn(&mut self, build: &mut FormulaBuilder<'_>, turn: ScheduleTurn) {
        let mut previous = TRUE;
        for _ in 0..self.buffers[turn.thread].slots.len() {
            let flushes = build.terms.var(1);
            build.imply(flushes, previous);
            build.require_active(turn.round, FALSE, flushes);
            self.flush_oldest(build, turn.thread, flushes);
            previous = flushes;
        }
        let is_empty = build.terms.is(self.buffers[turn.thread].count, 0);
        self.empty[turn.thread].push(is_empty);
    }

    fn read(&mut self, build: &mut FormulaBuilder<'_>, step: TurnStep, cell: CellId) -> Term {
        let BufferArray { slots, count } = &self.buffers[step.turn.thread];
        let mut value = self.cells.get(cell);
        for (i, slot) in slots.iter().enumerate() {
            let terms = &mut *build.terms;
            let index = terms.constant(i as u64, terms.width(*count));
            let is_used = terms.binary(BinaryOp::Ult, index, *count);
            let is_same_cell = terms.is(slot.cell, cell as u64);
            let here = terms.and(is_used, is_same_cell);
            let buffered = terms.truncate(slot.value, terms.width(value));
            value = terms.ite(here, buffered, value);
        }
        value
    }

    fn write(&mut self, build: &mut FormulaBuilder<'_>, step: TurnStep, write: CellWrite) {
        let BufferArray { slots, count } = &mut self.buffers[step.turn.thread];
        let terms = &mut *build.terms;
        let now = terms.and(step.active, write.when);
        let cell = terms.constant(write.cell as u64, self.cell_bits);
        let value = terms.zext(write.value, VALUE_BITS);
        for (i, slot) in slots.iter_mut().enumerate() {
            let here = terms.is(*count, i as u64);
            let here = terms.and(now, here);
            slot.cell = terms.ite(here, cell, slot.cell);
            slot.value = terms.ite(here, value, slot.value);
        }
        let is_full = terms.is(*count, slots.len() as u64);
        let one = terms.constant(1, terms.width(*count));
        let incremented = terms.binary(BinaryOp::Add, *count, one);
        *count = terms.ite(now, incremented, *count);
        let has_room = terms.not(is_full);
        build.imply(now, has_room);
    }

    fn fence(&mut self, build: &mut FormulaBuilder<'_>, step: TurnStep) {
        for _ in 0..self.buffers[step.turn.thread].slots.len() {
            self.flush_oldest(build, step.turn.thread, step.active);
        }
    }

    /// Buffers are FIFO: nothing to do.
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

    fn is_drained(&mut self, _: &mut FormulaBuilder<'_>, turn: ScheduleTurn) -> Term {
        self.empty[turn.thread].get(turn.round).copied().unwrap_or(TRUE)
    }

    fn is_exhaustive(&self) -> bool {
        self.is_exhaustive
    }
}
