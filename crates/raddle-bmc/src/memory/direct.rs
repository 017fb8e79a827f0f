//! Sequential consistency: every write reaches memory at once.

use super::cells::Cells;
use super::{Builder, Memory, Step, Turn};
use crate::program::{CellId, Program};
use crate::term::{TRUE, Term};

/// Memory without buffers.
pub(crate) struct Direct {
    cells: Cells,
}

impl Direct {
    pub(crate) fn new(program: &Program) -> Self {
        Direct { cells: Cells::new(program) }
    }
}

impl Memory for Direct {
    fn begin(&mut self, _: &mut Builder<'_>, _: Turn) {}

    fn end(&mut self, _: &mut Builder<'_>, _: Turn) {}

    fn read(&mut self, _: &mut Builder<'_>, _: Step, cell: CellId) -> Term {
        self.cells.get(cell)
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
        self.cells.get(cell)
    }

    fn put(&mut self, build: &mut Builder<'_>, step: Step, cell: CellId, when: Term, value: Term) {
        self.cells.put(build, step, cell, when, value);
    }

    fn drained(&mut self, _: &mut Builder<'_>, _: Turn) -> Term {
        TRUE
    }

    fn is_exhaustive(&self) -> bool {
        true
    }
}
