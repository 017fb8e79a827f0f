//! Sequential consistency: every write reaches memory immediately.

use super::cells::CellContents;
use super::interface::{CellWrite, FormulaBuilder, MemoryEncoding, ScheduleTurn, TurnStep};
use crate::program::{CellId, UnrolledProgram};
use crate::term::{TRUE, Term};

/// Memory without store buffers.
pub(super) struct DirectMemory {
    cells: CellContents,
}

impl DirectMemory {
    pub(super) fn new(program: &UnrolledProgram) -> Self {
        DirectMemory { cells: CellContents::new(program) }
    }
}

impl MemoryEncoding for DirectMemory {
    fn begin_turn(&mut self, _: &mut FormulaBuilder<'_>, _: ScheduleTurn) {}

    fn end_turn(&mut self, _: &mut FormulaBuilder<'_>, _: ScheduleTurn) {}

    fn read(&mut self, _: &mut FormulaBuilder<'_>, _: TurnStep, cell: CellId) -> Term {
        self.cells.get(cell)
    }

    fn write(&mut self, build: &mut FormulaBuilder<'_>, step: TurnStep, write: CellWrite) {
        self.cells.set_in_step(build, step, write);
    }

    fn fence(&mut self, _: &mut FormulaBuilder<'_>, _: TurnStep) {}

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

    fn is_drained(&mut self, _: &mut FormulaBuilder<'_>, _: ScheduleTurn) -> Term {
        TRUE
    }

    fn is_exhaustive(&self) -> bool {
        true
    }
}
