//! Spin loops.
//!
//! A spin loop is not repeated: if an iteration writes nothing, and the next iteration does not depend on the values
//! that it read, then only the last iteration matters, and the thread may as well have waited before it. Spin loops are
//! not recognised by their syntax: an iteration is executed once more with unknown values in all local cells that it
//! changed. If no later term depends on these values, the loop is a spin loop.
//!
//! A weak compare-exchange may fail spuriously any number of times. An iteration in which it does, and which changes
//! nothing else, has the same effect as no iteration. Such iterations are discarded, so a loop around a weak exchange
//! needs no more iterations than one around a strong exchange.

use std::ops::Range;
use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::loops::LoopParts;
use super::{CValue, PathState, Result, SymbolicExecutor};
use crate::address_space::CellKey;
use crate::bitblast::BitBlaster;
use crate::program::VisibleAction;
use crate::sat_solver::SatSolver;
use crate::term::{FALSE, TRUE, Term, TermNode};

/// A snapshot of the executor before an iteration: its state, and the lengths of its lists.
pub(super) struct IterationMark {
    statements: usize,
    blocked_forever: usize,
    checks: usize,
    cuts: usize,
    inputs: usize,
    threads: usize,
    mallocs: usize,
    breaks: usize,
    returns: usize,
    gotos: usize,
    spurious_failures: usize,
    state: PathState,
}

impl<'a> SymbolicExecutor<'a> {
    pub(super) fn mark(&mut self) -> IterationMark {
        IterationMark {
            statements: self.statement_count(),
            blocked_forever: self.threads[self.thread].blocked_forever.len(),
            checks: self.checks.len(),
            cuts: self.cuts.len(),
            inputs: self.inputs.len(),
            threads: self.threads.len(),
            mallocs: self.mallocs,
            breaks: self.target().breaks.len(),
            returns: self.frame().returns.len(),
            gotos: self.pending_gotos(),
            spurious_failures: self.spurious_failures.len(),
            state: self.state.clone(),
        }
    }

    /// The number of states that wait for a label.
    fn pending_gotos(&mut self) -> usize {
        self.frame().gotos.values().map(Vec::len).sum()
    }

    /// Returns `true` if the iteration since the mark has no effect, and the next one does not depend on it.
    pub(super) fn is_spin_iteration(
        &mut self,
        parts: &LoopParts<'a>,
        mark: &IterationMark,
    ) -> Result<bool> {
        let guard = self.state.guard;
        if mark.statements == self.statement_count()
            || !self.only_accesses_memory(mark)
            || !self.writes_no_shared_memory(mark.statements, guard)
        {
            return Ok(false);
        }
        let changed = self.changed_cells(&mark.state);
        if changed.is_empty() {
            return Ok(true);
        }
        self.is_independent(parts, &changed)
    }

    /// Discards executions in which a weak exchange failed spuriously in the iteration since the mark, if the iteration
    /// has no other effect.
    pub(super) fn discard_spurious_failures(&mut self, mark: &IterationMark) {
        if !self.only_accesses_memory(mark) {
            return;
        }
        for index in mark.spurious_failures..self.spurious_failures.len() {
            let spurious = self.spurious_failures[index];
            let guard = self.terms.and(self.state.guard, spurious);
            if self.writes_no_shared_memory(mark.statements, guard)
                && self.preserves_local_memory(&mark.state, guard)
            {
                let not = self.terms.not(spurious);
                self.assume(not);
            }
        }
    }

    /// Returns `true` if there were no inputs, new threads, new heap blocks, cuts and jumps since the mark.
    fn only_accesses_memory(&mut self, mark: &IterationMark) -> bool {
        let before = (mark.inputs, mark.threads, mark.mallocs, mark.cuts);
        before == (self.inputs.len(), self.threads.len(), self.mallocs, self.cuts.len())
            && mark.gotos == self.pending_gotos()
    }

    /// Returns `true` if local memory is the same as in `before` whenever `guard` is true.
    fn preserves_local_memory(&mut self, before: &PathState, guard: Term) -> bool {
        self.changed_cells(before).into_iter().all(|cell| {
            let both = (before.env.get(&cell).copied(), self.state.env.get(&cell).copied());
            let (Some(old), Some(new)) = both else { return false };
            let differs = self.terms.ne(old, new);
            let changes = self.terms.and(guard, differs);
            self.is_unsatisfiable(changes)
        })
    }

    /// Returns `true` if the visible statements with index `from` or greater do not change memory whenever `guard` is
    /// true.
    fn writes_no_shared_memory(&mut self, from: usize, guard: Term) -> bool {
        let actions: Vec<(Term, VisibleAction)> = self.threads[self.thread].statements[from..]
            .iter()
            .map(|statement| (statement.guard, statement.action.clone()))
            .collect();
        actions.into_iter().all(|(when, action)| match action {
            VisibleAction::Read { .. } => true,
            VisibleAction::Update { out, new, writes, ready, .. } => {
                let differs = out.map_or(TRUE, |out| self.terms.ne(out, new));
                let writes = self.terms.all([when, guard, writes, differs]);
                ready == TRUE && self.is_unsatisfiable(writes)
            }
            _ => false,
        })
    }

    /// Returns `true` if the formula has no solution. Used for small formulas only.
    fn is_unsatisfiable(&mut self, term: Term) -> bool {
        if term == FALSE {
            return true;
        }
        let mut blaster = BitBlaster::new(SatSolver::new(None));
        blaster.require(&mut self.terms, term);
        blaster.solver.solve(&[]) == Some(false)
    }

    /// The local cells whose content differs from that in `before`, sorted.
    fn changed_cells(&self, before: &PathState) -> Vec<CellKey> {
        let env = &self.state.env;
        let differs = |cell: &CellKey| env.get(cell) != before.env.get(cell);
        let mut cells: Vec<CellKey> =
            env.keys().chain(before.env.keys()).copied().filter(differs).collect();
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    /// Executes one more iteration with unknown values in these cells, and undoes it. Returns `true` if nothing depends
    /// on the unknown values.
    fn is_independent(&mut self, parts: &LoopParts<'a>, changed: &[CellKey]) -> Result<bool> {
        let before = self.state.clone();
        let mark = self.mark();
        let instance_counts = self.instance_counts.clone();
        let (stored, uses, shared) =
            (self.observed.stored.clone(), self.uses.clone(), self.observed.shared.clone());
        let gotos = self.frame().gotos.clone();
        let depth = (
            self.frames.len(),
            self.frame().scopes.len(),
            self.frame().targets.len(),
            self.frame().switches.len(),
        );
        let first = self.terms.variable_count();
        for cell in changed {
            let width = before.env.get(cell).map_or(32, |&term| self.terms.width(term));
            let unknown = self.terms.var(width);
            Rc::make_mut(&mut self.state.env).insert(*cell, unknown);
        }
        let unknown = first..self.terms.variable_count();
        let result = self.loop_iteration(parts, false);
        let is_independent = result.is_ok() && self.depends_on_none(&mark, &unknown);
        // An unsupported construct may have ended the iteration within inner functions and scopes.
        self.frames.truncate(depth.0);
        self.frame().scopes.truncate(depth.1);
        self.frame().targets.truncate(depth.2);
        self.frame().switches.truncate(depth.3);
        self.frame().gotos = gotos;
        self.threads.truncate(mark.threads);
        self.symbolic_threads.truncate(mark.threads);
        (self.observed.stored, self.uses, self.observed.shared) = (stored, uses, shared);
        self.instance_counts = instance_counts;
        self.state = before;
        self.threads[self.thread].statements.truncate(mark.statements);
        self.threads[self.thread].blocked_forever.truncate(mark.blocked_forever);
        self.checks.truncate(mark.checks);
        self.cuts.truncate(mark.cuts);
        self.spurious_failures.truncate(mark.spurious_failures);
        self.inputs.truncate(mark.inputs);
        self.target().breaks.truncate(mark.breaks);
        self.target().continues.clear();
        self.frame().returns.truncate(mark.returns);
        Ok(is_independent)
    }

    /// Returns `true` if nothing that was computed since the mark depends on these variables.
    fn depends_on_none(&mut self, mark: &IterationMark, unknown: &Range<usize>) -> bool {
        if mark.gotos != self.pending_gotos() {
            return false;
        }
        let mut roots: Vec<Term> = vec![self.state.guard];
        roots.extend(self.state.env.values());
        let add_state = |roots: &mut Vec<Term>, state: &PathState| {
            roots.push(state.guard);
            roots.extend(state.env.values());
        };
        let frame = self.frames.last().expect("a function is executed");
        for (state, value) in &frame.returns[mark.returns..] {
            add_state(&mut roots, state);
            match value {
                Some(CValue::Scalar(term)) => roots.push(*term),
                Some(CValue::Record(parts)) => roots.extend(parts),
                None => {}
            }
        }
        if let Some(target) = frame.targets.last() {
            target.breaks[mark.breaks..].iter().for_each(|state| add_state(&mut roots, state));
        }
        for statement in &self.threads[self.thread].statements[mark.statements..] {
            roots.push(statement.guard);
            roots.extend(statement.action.terms());
        }
        roots.extend(self.checks[mark.checks..].iter().map(|check| check.fails));
        !self.contains_variable(roots, unknown)
    }

    /// Returns `true` if one of the variables, given by index, occurs in the terms.
    fn contains_variable(&self, roots: Vec<Term>, variables: &Range<usize>) -> bool {
        let mut seen = FxHashSet::default();
        self.terms.reach(roots, &mut seen);
        seen.into_iter().any(|term| match self.terms.node(term) {
            TermNode::Var(index) => variables.contains(&(index as usize)),
            _ => false,
        })
    }
}
