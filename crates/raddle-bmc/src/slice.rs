//! Leaves out visible statements that nothing depends on.
//!
//! A read is needed if what it reads is used by what is needed, a write if what it writes is read by what is needed. What
//! waits is always needed. An atomic update that is not needed still empties the buffers.

use rustc_hash::FxHashSet;

use crate::options::Model;
use crate::program::{Action, CellId, Event, Program};
use crate::term::{FALSE, TRUE, Term, TermStore};

/// What is needed.
#[derive(Default)]
struct Needed {
    terms: FxHashSet<Term>,
    cells: FxHashSet<CellId>,
}

impl Needed {
    fn term(&mut self, terms: &TermStore, term: Term) {
        terms.reach([term], &mut self.terms);
    }

    fn wants(&self, event: &Event, model: Model) -> bool {
        let writes = || event.action.targets().iter().any(|(cell, _)| self.cells.contains(cell));
        match &event.action {
            Action::Read { out, .. } => self.terms.contains(out),
            Action::Write { .. } => writes(),
            Action::Update { out, ready, .. } => {
                *ready != TRUE || out.is_some_and(|out| self.terms.contains(&out)) || writes()
            }
            Action::Fence | Action::StoreFence => model != Model::Sc,
            Action::Join(_) => true,
        }
    }

    /// Everything that an event depends on.
    fn event(&mut self, terms: &TermStore, event: &Event) {
        self.term(terms, event.guard);
        event.action.terms().into_iter().for_each(|term| self.term(terms, term));
        let reads = match &event.action {
            Action::Read { .. } => true,
            Action::Update { out, ready, .. } => {
                *ready != TRUE || out.is_some_and(|out| self.terms.contains(&out))
            }
            _ => false,
        };
        if reads {
            self.cells.extend(event.action.targets().iter().map(|&(cell, _)| cell));
        }
    }
}

/// Leaves out what is not needed.
pub(crate) fn slice(program: &mut Program, model: Model) {
    let mut needed = Needed::default();
    let terms = &program.terms;
    program.checks.iter().chain(&program.cuts).for_each(|check| needed.term(terms, check.fails));
    for thread in &program.threads {
        needed.term(terms, thread.end);
        thread.stuck.iter().for_each(|&(_, stuck, _)| needed.term(terms, stuck));
        thread.created.iter().for_each(|&(_, _, guard)| needed.term(terms, guard));
    }
    loop {
        let before = (needed.terms.len(), needed.cells.len());
        for event in program.threads.iter().flat_map(|thread| &thread.events) {
            if needed.wants(event, model) {
                needed.event(terms, event);
            }
        }
        if before == (needed.terms.len(), needed.cells.len()) {
            break;
        }
    }
    for thread in 0..program.threads.len() {
        remove(program, thread, &needed, model);
    }
}

fn remove(program: &mut Program, thread: usize, needed: &Needed, model: Model) {
    let events = std::mem::take(&mut program.threads[thread].events);
    // How many are left before each.
    let mut left = vec![0];
    let mut kept = vec![];
    for mut event in events {
        if !needed.wants(&event, model)
            && matches!(event.action, Action::Update { .. })
            && model != Model::Sc
        {
            event.action = Action::Fence;
        }
        let is_first_fence =
            kept.is_empty() && matches!(event.action, Action::Fence | Action::StoreFence);
        if event.guard != FALSE && needed.wants(&event, model) && !is_first_fence {
            kept.push(event);
        }
        left.push(kept.len());
    }
    program.threads[thread].events = kept;
    for check in
        program.checks.iter_mut().chain(&mut program.cuts).filter(|check| check.thread == thread)
    {
        check.after = left[check.after];
    }
    for input in program.inputs.iter_mut().filter(|input| input.thread == thread) {
        input.after = left[input.after];
    }
    for other in &mut program.threads {
        if let Some((parent, after, _)) = &mut other.created
            && *parent == thread
        {
            *after = left[*after];
        }
    }
}
