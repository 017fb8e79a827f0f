//! TSO-SMA: an array for every thread, as its store buffer.
//!
//! Tomasco et al., FMCAD 2016: a write goes to the end of the thread's array, a read looks through it from the end, and
//! then some writes at its beginning reach memory. The formula grows with the length of the arrays: a read compares with
//! every element, and what leaves shifts the rest. It is there to compare with.
//!
//! We differ in when writes reach memory: at the end of a turn, not behind every access, as nobody can tell the
//! difference. An execution in which more writes wait than there is room for is left out. There is no more room than the
//! thread has writes.

use super::array::bits;
use super::cells::Cells;
use super::{Builder, Memory, Step, Turn};
use crate::program::{Action, CellId, Event, Program, Thread};
use crate::term::{BinaryOp, FALSE, TRUE, Term};

/// A write that waits.
#[derive(Clone, Copy)]
struct Slot {
    cell: Term,
    value: Term,
}

/// A store buffer: the oldest write first.
#[derive(Clone)]
struct Buffer {
    slots: Vec<Slot>,
    count: Term,
}

/// Memory with arrays.
pub(crate) struct Simple {
    cells: Cells,
    buffers: Vec<Buffer>,
    /// For every thread and round, whether its buffer is empty at the end of the turn.
    empty: Vec<Vec<Term>>,
    cell_bits: u8,
    is_exhaustive: bool,
}

/// Values in a buffer have as many bits as the longest cell.
const WIDTH: u8 = 64;

impl Simple {
    pub(crate) fn new(program: &Program, nodes: usize, build: &mut Builder<'_>) -> Self {
        let cells = Cells::new(program);
        let cell_bits = bits(cells.len());
        let slot = Slot {
            cell: build.terms.constant(0, cell_bits),
            value: build.terms.constant(0, WIDTH),
        };
        let is_write = |event: &&Event| matches!(event.action, Action::Write { .. });
        let writes = |thread: &Thread| thread.events.iter().filter(is_write).count();
        let writes: Vec<usize> = program.threads.iter().map(writes).collect();
        // No buffer is longer than what its thread writes.
        let mut buffer = |&writes: &usize| {
            let room = nodes.min(writes);
            Buffer { slots: vec![slot; room], count: build.terms.constant(0, bits(room)) }
        };
        Simple {
            cells,
            buffers: writes.iter().map(&mut buffer).collect(),
            empty: vec![vec![]; writes.len()],
            cell_bits,
            is_exhaustive: writes.iter().all(|&writes| writes <= nodes),
        }
    }

    /// The oldest write reaches memory, if this is true and there is one.
    fn leave(&mut self, build: &mut Builder<'_>, thread: usize, when: Term) {
        let Buffer { slots, count } = &mut self.buffers[thread];
        let terms = &mut *build.terms;
        let none = terms.is(*count, 0);
        let some = terms.not(none);
        let when = terms.and(when, some);
        for cell in 0..self.cells.len() {
            let here = terms.is(slots[0].cell, cell as u64);
            let here = terms.and(when, here);
            let value = terms.truncate(slots[0].value, terms.width(self.cells.get(cell)));
            self.cells.set(terms, cell, here, value);
        }
        for i in 1..slots.len() {
            let next = slots[i];
            slots[i - 1].cell = terms.ite(when, next.cell, slots[i - 1].cell);
            slots[i - 1].value = terms.ite(when, next.value, slots[i - 1].value);
        }
        let minus_one = terms.constant(u64::MAX, terms.width(*count));
        let fewer = terms.binary(BinaryOp::Add, *count, minus_one);
        *count = terms.ite(when, fewer, *count);
    }
}

impl Memory for Simple {
    fn begin(&mut self, _: &mut Builder<'_>, _: Turn) {}

    fn end(&mut self, build: &mut Builder<'_>, turn: Turn) {
        let mut before = TRUE;
        for _ in 0..self.buffers[turn.thread].slots.len() {
            let leaves = build.terms.var(1);
            build.imply(leaves, before);
            build.happens(turn.round, FALSE, leaves);
            self.leave(build, turn.thread, leaves);
            before = leaves;
        }
        let empty = build.terms.is(self.buffers[turn.thread].count, 0);
        self.empty[turn.thread].push(empty);
    }

    fn read(&mut self, build: &mut Builder<'_>, step: Step, cell: CellId) -> Term {
        let Buffer { slots, count } = &self.buffers[step.turn.thread];
        let mut value = self.cells.get(cell);
        for (i, slot) in slots.iter().enumerate() {
            let terms = &mut *build.terms;
            let index = terms.constant(i as u64, terms.width(*count));
            let waits = terms.binary(BinaryOp::Ult, index, *count);
            let same = terms.is(slot.cell, cell as u64);
            let here = terms.and(waits, same);
            let written = terms.truncate(slot.value, terms.width(value));
            value = terms.ite(here, written, value);
        }
        value
    }

    fn write(
        &mut self,
        build: &mut Builder<'_>,
        step: Step,
        cell: CellId,
        when: Term,
        value: Term,
    ) {
        let Buffer { slots, count } = &mut self.buffers[step.turn.thread];
        let terms = &mut *build.terms;
        let now = terms.and(step.active, when);
        let number = terms.constant(cell as u64, self.cell_bits);
        let value = terms.zext(value, WIDTH);
        for (i, slot) in slots.iter_mut().enumerate() {
            let here = terms.is(*count, i as u64);
            let here = terms.and(now, here);
            slot.cell = terms.ite(here, number, slot.cell);
            slot.value = terms.ite(here, value, slot.value);
        }
        let full = terms.is(*count, slots.len() as u64);
        let one = terms.constant(1, terms.width(*count));
        let more = terms.binary(BinaryOp::Add, *count, one);
        *count = terms.ite(now, more, *count);
        let room = terms.not(full);
        build.imply(now, room);
    }

    fn fence(&mut self, build: &mut Builder<'_>, step: Step) {
        for _ in 0..self.buffers[step.turn.thread].slots.len() {
            self.leave(build, step.turn.thread, step.active);
        }
    }

    fn store_fence(&mut self, _: &mut Builder<'_>, _: Step) {}

    fn fetch(&mut self, _: &mut Builder<'_>, _: Step, cell: CellId) -> Term {
        self.cells.get(cell)
    }

    fn put(&mut self, build: &mut Builder<'_>, step: Step, cell: CellId, when: Term, value: Term) {
        self.cells.put(build, step, cell, when, value);
    }

    fn drained(&mut self, _: &mut Builder<'_>, turn: Turn) -> Term {
        self.empty[turn.thread].get(turn.round).copied().unwrap_or(TRUE)
    }

    fn is_exhaustive(&self) -> bool {
        self.is_exhaustive
    }
}
