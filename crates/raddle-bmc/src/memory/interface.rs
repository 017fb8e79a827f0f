//! The interface between the sequentialization and the memory encodings.

use crate::program::CellId;
use crate::term::{TRUE, Term, TermStore};

/// A turn of a thread in the round-robin schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScheduleTurn {
    pub(crate) round: usize,
    pub(crate) thread: usize,
}

/// A visible statement in a turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TurnStep {
    pub(crate) turn: ScheduleTurn,
    /// Index of the statement within the thread.
    pub(crate) statement: usize,
    /// The condition under which the statement is executed in this turn.
    pub(crate) active: Term,
}

/// A write of `value` to `cell` if `when` is true.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellWrite {
    pub(crate) cell: CellId,
    pub(crate) when: Term,
    pub(crate) value: Term,
}

/// A buffered write, for traces.
pub(crate) struct PendingWrite {
    pub(crate) thread: usize,
    /// Index of the statement within the thread.
    pub(crate) statement: usize,
    /// For every round, whether the write has reached memory by the end of the thread's turn.
    pub(crate) flushed: Vec<Term>,
}

/// The formula under construction.
pub(crate) struct FormulaBuilder<'a> {
    pub(crate) terms: &'a mut TermStore,
    /// Terms that must be true.
    pub(crate) constraints: Vec<Term>,
    /// `passed[thread][statement][round]`: whether the thread has passed the statement by the end of its turn.
    pub(crate) passed: Vec<Vec<Vec<Term>>>,
    /// For every round, a variable that is true if anything happens in it. The solver can assume that rounds are idle.
    pub(crate) active: Vec<Term>,
}

impl FormulaBuilder<'_> {
    /// Adds a constraint.
    pub(crate) fn require(&mut self, term: Term) {
        if term != TRUE {
            self.constraints.push(term);
        }
    }

    /// Adds the constraint that `a` implies `b`.
    pub(crate) fn imply(&mut self, a: Term, b: Term) {
        let term = self.terms.implies(a, b);
        self.require(term);
    }

    /// Adds the constraint that a round is active if a condition changes from false (`before`) to true (`after`) in it.
    pub(crate) fn require_active(&mut self, round: usize, before: Term, after: Term) {
        if let Some(&active) = self.active.get(round) {
            let not_before = self.terms.not(before);
            let changes = self.terms.and(after, not_before);
            self.imply(changes, active);
        }
    }
}

/// Shared memory under a memory model. The methods are called in the order of the schedule.
pub(crate) trait MemoryEncoding {
    /// Begins a turn.
    fn begin_turn(&mut self, build: &mut FormulaBuilder<'_>, turn: ScheduleTurn);

    /// Ends a turn: buffered writes may reach memory.
    fn end_turn(&mut self, build: &mut FormulaBuilder<'_>, turn: ScheduleTurn);

    /// The value that the thread reads from a cell, possibly from its own store buffer.
    fn read(&mut self, build: &mut FormulaBuilder<'_>, step: TurnStep, cell: CellId) -> Term;

    /// A write that may be buffered.
    fn write(&mut self, build: &mut FormulaBuilder<'_>, step: TurnStep, write: CellWrite);

    /// A full fence: all earlier writes of the thread reach memory.
    fn fence(&mut self, build: &mut FormulaBuilder<'_>, step: TurnStep);

    /// A store-store fence: no later write of the thread reaches memory before an earlier one.
    fn store_fence(&mut self, build: &mut FormulaBuilder<'_>, step: TurnStep);

    /// The read of an atomic update, directly from memory. A fence of the same step precedes it.
    fn read_memory(&mut self, build: &mut FormulaBuilder<'_>, step: TurnStep, cell: CellId)
    -> Term;

    /// The write of an atomic update, directly to memory. A fence of the same step precedes it.
    fn write_memory(&mut self, build: &mut FormulaBuilder<'_>, step: TurnStep, write: CellWrite);

    /// The content of a cell after the last turn, in executions in which all buffered writes reach memory.
    fn final_content(&self, build: &mut FormulaBuilder<'_>, cell: CellId) -> Term;

    /// Whether the thread has no buffered writes at the end of the turn.
    fn is_drained(&mut self, build: &mut FormulaBuilder<'_>, turn: ScheduleTurn) -> Term;

    /// All buffered writes, if the encoding tells when they reach memory.
    fn pending_writes(&self) -> Vec<PendingWrite> {
        vec![]
    }

    /// Returns `true` if the bounds of the encoding exclude no execution.
    fn is_exhaustive(&self) -> bool;
}
