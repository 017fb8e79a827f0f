//! Memory itself: what is in every cell.

use super::{Builder, Step};
use crate::program::{CellId, Program};
use crate::term::{Term, TermStore};

/// What is in every cell.
pub(super) struct Cells(Vec<Term>);

impl Cells {
    /// What they start with.
    pub(super) fn new(program: &Program) -> Self {
        Cells(program.cells.iter().map(|cell| cell.initial).collect())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn get(&self, cell: CellId) -> Term {
        self.0[cell]
    }

    /// Writes a cell, if this is true.
    pub(super) fn set(&mut self, terms: &mut TermStore, cell: CellId, when: Term, value: Term) {
        self.0[cell] = terms.ite(when, value, self.0[cell]);
    }

    /// Writes a cell, if this is true and the step is executed.
    pub(super) fn put(
        &mut self,
        build: &mut Builder<'_>,
        step: Step,
        cell: CellId,
        when: Term,
        value: Term,
    ) {
        let now = build.terms.and(step.active, when);
        self.set(build.terms, cell, now, value);
    }
}
