//! Sequential consistency: every write reaches memory at once.

use super::{Builder, Memory, Step, Turn};
use crate::program::{CellId, Program};
use crate::term::{TRUE, Term};

/// Memory without buffers.
pub(crate) struct Direct {
    cells: Vec<Term>,
}

impl Direct {
    pub(crate) fn new(program: &Program) -> Self {
        Direct { cells: program.cells.iter().map(|cell| cell.initial).collect() }
    }
}

impl Memory for Direct {
    fn begin(&mut self, _: &mut Builder<'_>, _: Turn) {}

    fn end(&mut self, _: &mut Builder<'_>, _: Turn) {}

    fn read(&mut self, _: &mut Builder<'_>, _: Step, cell: CellId) -> Term {
        self.cells[cell]
    }

    fn write(
        &mut self,
        build: &mut Builder<'_>,
        step: Step,
        cell: CellId,
        when: Term,
        value: Term,
    ) {
        self.put(build, step, cell, when, value);
    }

    fn fence(&mut self, _: &mut Builder<'_>, _: Step) {}

    fn store_fence(&mut self, _: &mut Builder<'_>, _: Step) {}

    fn fetch(&mut self, _: &mut Builder<'_>, _: Step, cell: CellId) -> Term {
        self.cells[cell]
    }

    fn put(&mut self, build: &mut Builder<'_>, step: Step, cell: CellId, when: Term, value: Term) {
        let now = build.terms.and(step.active, when);
        self.cells[cell] = build.terms.ite(now, value, self.cells[cell]);
    }

    fn drained(&mut self, _: &mut Builder<'_>, _: Turn) -> Term {
        TRUE
    }

    fn is_exhaustive(&self) -> bool {
        true
    }
}
