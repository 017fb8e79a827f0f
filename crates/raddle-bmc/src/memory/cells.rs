//! The contents of memory, without buffers.

use super::interface::{CellWrite, FormulaBuilder, TurnStep};
use crate::program::{CellId, UnrolledProgram};
use crate::term::{Term, TermStore};

/// The current content of every shared cell.
pub(super) struct CellContents(Vec<Term>);

impl CellContents {
    /// The initial contents.
    pub(super) fn new(program: &UnrolledProgram) -> Self {
        CellContents(program.cells.iter().map(|cell| cell.initial).collect())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn get(&self, cell: CellId) -> Term {
        self.0[cell]
    }

    /// Writes a cell if `write.when` is true.
    pub(super) fn set(&mut self, terms: &mut TermStore, write: CellWrite) {
        let CellWrite { cell, when, value } = write;
        self.0[cell] = terms.ite(when, value, self.0[cell]);
    }

    /// Writes a cell if `write.when` is true and the step is executed.
    pub(super) fn set_in_step(
        &mut self,
        build: &mut FormulaBuilder<'_>,
        step: TurnStep,
        write: CellWrite,
    ) {
        let when = build.terms.and(step.active, write.when);
        self.set(build.terms, CellWrite { when, ..write });
    }
}
