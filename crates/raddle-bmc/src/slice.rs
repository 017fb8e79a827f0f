//! Slicing: removes visible statements that no check depends on.
//!
//! A read is relevant if a relevant term uses its value, a write if a relevant read may read its cell. Statements that
//! may block are always relevant. An irrelevant atomic update still flushes the store buffers and becomes a fence.

use raddle_core::model::orders::StoreBuffers;
use rustc_hash::FxHashSet;

use crate::program::{CellId, UnrolledProgram, VisibleAction, VisibleStatement};
use crate::term::{FALSE, TRUE, Term, TermStore};

/// The terms and cells that checks depend on.
#[derive(Default)]
struct RelevantSet {
    terms: FxHashSet<Term>,
    cells: FxHashSet<CellId>,
}

impl RelevantSet {
    fn add_term(&mut self, terms: &TermStore, term: Term) {
        terms.reach([term], &mut self.terms);
    }

    /// Adds everything that a relevant statement depends on.
    fn add_statement(&mut self, terms: &TermStore, statement: &VisibleStatement) {
        self.add_term(terms, statement.guard);
        statement.action.terms().into_iter().for_each(|term| self.add_term(terms, term));
        let needs_value = match &statement.action {
            VisibleAction::Read { .. } => true,
            VisibleAction::Update { out, ready, .. } => self.needs_value(*out, *ready),
            _ => false,
        };
        if needs_value {
            self.cells.extend(statement.action.targets().iter().map(|&(cell, _)| cell));
        }
    }

    /// Returns `true` if an update may block on the value that it reads, or if a relevant term uses that value.
    fn needs_value(&self, out: Option<Term>, ready: Term) -> bool {
        ready != TRUE || out.is_some_and(|out| self.terms.contains(&out))
    }

    /// Returns `true` if a check may depend on the statement.
    fn contains(&self, statement: &VisibleStatement, buffers: StoreBuffers) -> bool {
        let targets = statement.action.targets();
        let writes_relevant_cell = || targets.iter().any(|(cell, _)| self.cells.contains(cell));
        match &statement.action {
            VisibleAction::Read { out, .. } => self.terms.contains(out),
            VisibleAction::Write { .. } => writes_relevant_cell(),
            VisibleAction::Update { out, ready, .. } => {
                self.needs_value(*out, *ready) || writes_relevant_cell()
            }
            VisibleAction::Fence | VisibleAction::StoreFence => buffers != StoreBuffers::None,
            VisibleAction::Join(_) => true,
        }
    }
}

/// Removes irrelevant statements from all threads.
pub(crate) fn slice(program: &mut UnrolledProgram, buffers: StoreBuffers) {
    let relevant = relevant_set(program, buffers);
    for thread in 0..program.threads.len() {
        remove_irrelevant(program, thread, &relevant, buffers);
    }
}

/// The fixpoint of the dependencies, from checks and control flow on.
fn relevant_set(program: &UnrolledProgram, buffers: StoreBuffers) -> RelevantSet {
    let mut relevant = RelevantSet::default();
    let terms = &program.terms;
    let checks = program.checks.iter().chain(&program.cuts);
    checks.for_each(|check| relevant.add_term(terms, check.fails));
    for thread in &program.threads {
        relevant.add_term(terms, thread.end);
        relevant.add_term(terms, thread.left);
        thread.blocked_forever.iter().for_each(|blocked| relevant.add_term(terms, blocked.guard));
        thread.creation.iter().for_each(|creation| relevant.add_term(terms, creation.guard));
    }
    loop {
        let before = (relevant.terms.len(), relevant.cells.len());
        for statement in program.threads.iter().flat_map(|thread| &thread.statements) {
            if relevant.contains(statement, buffers) {
                relevant.add_statement(terms, statement);
            }
        }
        if before == (relevant.terms.len(), relevant.cells.len()) {
            return relevant;
        }
    }
}

/// Removes the irrelevant statements of a thread, and fences before its first other statement.
fn remove_irrelevant(
    program: &mut UnrolledProgram,
    thread: usize,
    relevant: &RelevantSet,
    buffers: StoreBuffers,
) {
    let statements = std::mem::take(&mut program.threads[thread].statements);
    // `kept_before[n]`: how many of the first `n` statements are kept.
    let mut kept_before = vec![0];
    let mut kept = vec![];
    for mut statement in statements {
        if !relevant.contains(&statement, buffers)
            && matches!(statement.action, VisibleAction::Update { .. })
            && buffers != StoreBuffers::None
        {
            statement.action = VisibleAction::Fence;
        }
        let is_fence = matches!(statement.action, VisibleAction::Fence | VisibleAction::StoreFence);
        let is_first_fence = kept.is_empty() && is_fence;
        if statement.guard != FALSE && relevant.contains(&statement, buffers) && !is_first_fence {
            kept.push(statement);
        }
        kept_before.push(kept.len());
    }
    program.threads[thread].statements = kept;
    renumber(program, thread, &kept_before);
}

/// Adapts all references to positions in a thread: `kept_before[n]` is the new position for `n`.
fn renumber(program: &mut UnrolledProgram, thread: usize, kept_before: &[usize]) {
    let checks = program.checks.iter_mut().chain(&mut program.cuts);
    for check in checks.filter(|check| check.thread == thread) {
        check.after = kept_before[check.after];
    }
    for input in program.inputs.iter_mut().filter(|input| input.thread == thread) {
        input.after = kept_before[input.after];
    }
    for blocked in &mut program.threads[thread].blocked_forever {
        blocked.after = kept_before[blocked.after];
    }
    for other in &mut program.threads {
        if let Some(creation) = &mut other.creation
            && creation.parent == thread
        {
            creation.after = kept_before[creation.after];
        }
    }
}
