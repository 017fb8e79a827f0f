//! Loops that only wait.
//!
//! A loop that only waits is not repeated at all: if an iteration writes nothing and the next one does not depend on
//! what it read, then of all iterations only the last one matters, and the thread may as well have waited. That a
//! loop is of this kind is not guessed from its text: an iteration is executed once more with unknown values in all
//! variables that it has changed, and if none of them shows up anywhere, it is.
//!
//! A weak exchange may fail for no reason, as often as it likes. An iteration in which it does, and that changes nothing
//! else, might as well not have been: so a loop around one needs no more iterations than one around a strong one.

use rustc_hash::FxHashSet;

use super::repeat::Loop;
use super::{Exec, Result, State, Value};
use crate::program::Action;
use crate::solve::Solver;
use crate::space::CellKey;
use crate::term::{FALSE, TRUE, Term, TermNode};

/// How much there was before an iteration.
pub(super) struct Mark {
    events: usize,
    checks: usize,
    cuts: usize,
    inputs: usize,
    threads: usize,
    mallocs: usize,
    breaks: usize,
    returns: usize,
    gotos: usize,
    spurious: usize,
    head: State,
}

impl<'a> Exec<'a> {
    pub(super) fn mark(&mut self) -> Mark {
        let gotos = self.frame().gotos.values().map(Vec::len).sum();
        Mark {
            events: self.after(),
            checks: self.checks.len(),
            cuts: self.cuts.len(),
            inputs: self.inputs.len(),
            threads: self.threads.len(),
            mallocs: self.mallocs,
            breaks: self.target().breaks.len(),
            returns: self.frame().returns.len(),
            gotos,
            spurious: self.spurious.len(),
            head: self.state.clone(),
        }
    }

    /// Whether the iteration since the mark has no effect, and the next one does not depend on it.
    pub(super) fn only_waits(&mut self, repeat: &Loop<'a>, mark: &Mark) -> Result<bool> {
        let guard = self.state.guard;
        if mark.events == self.after()
            || !self.is_quiet(mark)
            || !self.writes_nothing(mark.events, guard)
        {
            return Ok(false);
        }
        let changed = self.changed(&mark.head);
        if changed.is_empty() {
            return Ok(true);
        }
        self.is_independent(repeat, &changed)
    }

    /// Goes on only from iterations since the mark in which no weak exchange failed for no reason, or that have changed
    /// something all the same.
    pub(super) fn forget_spurious(&mut self, mark: &Mark) {
        if !self.is_quiet(mark) {
            return;
        }
        for at in mark.spurious..self.spurious.len() {
            let spurious = self.spurious[at];
            let guard = self.terms.and(self.state.guard, spurious);
            if self.writes_nothing(mark.events, guard) && self.leaves_all(&mark.head, guard) {
                let not = self.terms.not(spurious);
                self.assume(not);
            }
        }
    }

    /// Whether there were no inputs, threads, blocks, bounds and jumps since the mark.
    fn is_quiet(&mut self, mark: &Mark) -> bool {
        let before = (mark.inputs, mark.threads, mark.mallocs, mark.cuts);
        before == (self.inputs.len(), self.threads.len(), self.mallocs, self.cuts.len())
            && mark.gotos == self.frame().gotos.values().map(Vec::len).sum::<usize>()
    }

    /// Whether local memory is as it was, if this is true.
    fn leaves_all(&mut self, head: &State, guard: Term) -> bool {
        self.changed(head).into_iter().all(|cell| {
            let both = (head.env.get(&cell).copied(), self.state.env.get(&cell).copied());
            let (Some(old), Some(new)) = both else { return false };
            let differs = self.terms.ne(old, new);
            let changes = self.terms.and(guard, differs);
            self.is_never(changes)
        })
    }

    /// Whether the visible statements from this one on change nothing, if this is true.
    fn writes_nothing(&mut self, from: usize, guard: Term) -> bool {
        let actions: Vec<(Term, Action)> = self.threads[self.thread].events[from..]
            .iter()
            .map(|event| (event.guard, event.action.clone()))
            .collect();
        actions.into_iter().all(|(when, action)| match action {
            Action::Read { .. } => true,
            Action::Update { out, new, writes, ready, .. } => {
                let differs = out.map_or(TRUE, |out| self.terms.ne(out, new));
                let writes = self.terms.all([when, guard, writes, differs]);
                ready == TRUE && self.is_never(writes)
            }
            _ => false,
        })
    }

    /// Whether a small formula has no solution.
    fn is_never(&mut self, term: Term) -> bool {
        if term == FALSE {
            return true;
        }
        let mut blaster = crate::blast::Blaster::new(Solver::new(None));
        blaster.require(&mut self.terms, term);
        blaster.solver.solve(&[]) == Some(false)
    }

    /// Local memory that is not as it was.
    fn changed(&self, head: &State) -> Vec<CellKey> {
        let env = &self.state.env;
        let differs = |cell: &CellKey| env.get(cell) != head.env.get(cell);
        let mut cells: Vec<CellKey> =
            env.keys().chain(head.env.keys()).copied().filter(differs).collect();
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    /// Executes one more iteration with unknown values in these cells, and looks whether they show up.
    fn is_independent(&mut self, repeat: &Loop<'a>, changed: &[CellKey]) -> Result<bool> {
        let before = self.state.clone();
        let mark = self.mark();
        let made = self.made.clone();
        let (stored, uses, shared) =
            (self.stored.clone(), self.uses.clone(), self.new_shared.clone());
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
            std::rc::Rc::make_mut(&mut self.state.env).insert(*cell, unknown);
        }
        let unknown = first..self.terms.variable_count();
        let result = self.iteration(repeat, false);
        let free = result.is_ok() && self.is_free(&mark, &unknown);
        // Even if something was refused in the middle.
        self.frames.truncate(depth.0);
        self.frame().scopes.truncate(depth.1);
        self.frame().targets.truncate(depth.2);
        self.frame().switches.truncate(depth.3);
        self.frame().gotos = gotos;
        self.threads.truncate(mark.threads);
        self.bodies.truncate(mark.threads);
        (self.stored, self.uses, self.new_shared) = (stored, uses, shared);
        self.made = made;
        self.state = before;
        self.threads[self.thread].events.truncate(mark.events);
        self.checks.truncate(mark.checks);
        self.cuts.truncate(mark.cuts);
        self.spurious.truncate(mark.spurious);
        self.inputs.truncate(mark.inputs);
        self.target().breaks.truncate(mark.breaks);
        self.target().continues.clear();
        self.frame().returns.truncate(mark.returns);
        Ok(free)
    }

    /// Whether none of these variables is in anything since the mark.
    fn is_free(&mut self, mark: &Mark, unknown: &std::ops::Range<usize>) -> bool {
        if mark.gotos != self.frame().gotos.values().map(Vec::len).sum::<usize>() {
            return false;
        }
        let mut roots: Vec<Term> = vec![self.state.guard];
        roots.extend(self.state.env.values());
        let states = |roots: &mut Vec<Term>, state: &State| {
            roots.push(state.guard);
            roots.extend(state.env.values());
        };
        let frame = self.frames.last().expect("a function is executed");
        for (state, value) in &frame.returns[mark.returns..] {
            states(&mut roots, state);
            match value {
                Some(Value::Scalar(term)) => roots.push(*term),
                Some(Value::Record(parts)) => roots.extend(parts),
                None => {}
            }
        }
        if let Some(target) = frame.targets.last() {
            target.breaks[mark.breaks..].iter().for_each(|state| states(&mut roots, state));
        }
        for event in &self.threads[self.thread].events[mark.events..] {
            roots.push(event.guard);
            roots.extend(event.action.terms());
        }
        roots.extend(self.checks[mark.checks..].iter().map(|check| check.fails));
        !self.mentions(roots, unknown)
    }

    fn mentions(&self, roots: Vec<Term>, variables: &std::ops::Range<usize>) -> bool {
        let mut seen = FxHashSet::default();
        self.terms.reach(roots, &mut seen);
        seen.into_iter().any(|term| match self.terms.node(term) {
            TermNode::Var(number) => variables.contains(&(number as usize)),
            _ => false,
        })
    }
}
