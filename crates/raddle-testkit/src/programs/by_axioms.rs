//! All classes under a C11-style model: every choice of sources.
//!
//! An execution grows event by event, and a read observes any earlier write, so `po ∪ rf` is acyclic, as all models
//! require. Every execution that can be built like this is visited once, and the maximal ones are checked by brute
//! force. Steps that do not observe a write (effects, joins, choices) are not interleaved: their time does not matter.
//!
//! An execution that the axioms forbid has no allowed extension, so it can be dropped at once; [`Pruning`] says
//! whether.

use std::collections::HashSet;

use crate::script::Script;
use raddle_consistency::reference::enumerate::{self, search};
use raddle_core::execution::{LocationId, ThreadId};
use raddle_core::model::Model;
use raddle_core::program::OpKind;
use raddle_core::trace::ThreadEnd;

use super::run::{OracleProgram, OracleRun, OracleSource, OracleStep};
use super::{Classes, TooLarge, add};

/// When executions are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pruning {
    /// Only when they are maximal.
    None,
    /// Whenever a read was added.
    Prefixes,
}

/// Returns all classes of a program under a C11-style model or SC.
///
/// # Errors
/// If there are more executions, maximal or not, than `budget`.
///
/// # Panics
/// If the model has no axioms, or the script uses variables or threads that it does not define.
pub fn by_axioms(
    script: &Script,
    model: Model,
    pruning: Pruning,
    budget: usize,
) -> Result<Classes, TooLarge> {
    let mut world = OracleProgram::new(script);
    let start = world.start();
    let mut open = vec![world.run_silent_steps(start)];
    let mut visited: HashSet<OracleRun> = open.iter().cloned().collect();
    let mut classes = Classes::new();
    while let Some(run) = open.pop() {
        if pruning == Pruning::Prefixes && !world.allows(&run, model, budget)? {
            continue;
        }
        let next = world.grow(&run);
        if next.is_empty() && world.allows(&run, model, budget)? {
            add(&mut classes, world.class(&run));
        }
        for run in next {
            if visited.len() >= budget {
                return Err(TooLarge);
            }
            if visited.insert(run.clone()) {
                open.push(run);
            }
        }
    }
    Ok(classes)
}

impl OracleProgram {
    fn allows(&self, run: &OracleRun, model: Model, budget: usize) -> Result<bool, TooLarge> {
        let trace = self.trace(run, ThreadEnd::Open);
        let execution = trace.to_execution(&self.program).expect("a run is an execution");
        match search(&execution, model, budget) {
            enumerate::EnumerationOutcome::Allowed(_) => Ok(true),
            enumerate::EnumerationOutcome::Forbidden => Ok(false),
            enumerate::EnumerationOutcome::TooLarge => Err(TooLarge),
        }
    }

    /// Executes all steps that do not observe a write: effects, and joins of finished threads.
    pub(super) fn run_silent_steps(&mut self, mut run: OracleRun) -> OracleRun {
        loop {
            let threads: Vec<ThreadId> = run.threads.keys().copied().collect();
            let mut steps = threads.into_iter().filter_map(|thread| self.silent_step(&run, thread));
            let Some(next) = steps.next() else { break };
            drop(steps);
            run = next;
        }
        run
    }

    fn silent_step(&mut self, run: &OracleRun, thread: ThreadId) -> Option<OracleRun> {
        match self.next(run, thread) {
            OracleStep::Effect(_) => Some(self.effect(run, thread)),
            OracleStep::Question(OpKind::Join { thread: other })
                if self.is_finished(run, other) =>
            {
                let last = run.position(other).checked_sub(1);
                let seen =
                    last.map_or(OracleSource::Initial, |last| OracleSource::Event(other, last));
                Some(self.answer(run, thread, seen, false))
            }
            _ => None,
        }
    }

    /// Returns all executions with one more read or choice.
    fn grow(&mut self, run: &OracleRun) -> Vec<OracleRun> {
        let threads: Vec<ThreadId> = run.threads.keys().copied().collect();
        let mut all = vec![];
        for thread in threads {
            let OracleStep::Question(kind) = self.next(run, thread) else { continue };
            if let OpKind::Choose { options } = kind {
                let choices = (0..options).map(|choice| (OracleSource::Choice(choice), false));
                return self.answers(run, thread, choices.collect());
            }
            let options = self.options(run, kind);
            all.extend(self.answers(run, thread, options));
        }
        all
    }

    pub(super) fn answers(
        &mut self,
        run: &OracleRun,
        thread: ThreadId,
        options: Vec<(OracleSource, bool)>,
    ) -> Vec<OracleRun> {
        let answer = |(seen, spurious)| {
            let grown = self.answer(run, thread, seen, spurious);
            self.run_silent_steps(grown)
        };
        options.into_iter().map(answer).collect()
    }

    /// Returns what a read may observe, and whether it then fails spuriously. Empty for a join that waits.
    pub(super) fn options(&self, run: &OracleRun, kind: OpKind) -> Vec<(OracleSource, bool)> {
        let Some(location) = kind.location() else { return vec![] };
        let mut options = vec![];
        for seen in self.writes(run, location) {
            let free = || !self.is_taken(run, location, seen);
            let value = || self.value(run, location, seen);
            match kind {
                OpKind::Load { .. } => options.push((seen, false)),
                OpKind::Rmw { .. } | OpKind::Lock { .. } if free() => options.push((seen, false)),
                OpKind::Sync { guard, .. } if free() && guard.admits(value()) => {
                    options.push((seen, false));
                }
                OpKind::CompareExchange { expected, weak, .. } => {
                    if value() != expected || free() {
                        options.push((seen, false));
                    }
                    if value() == expected && weak {
                        options.push((seen, true));
                    }
                }
                _ => {}
            }
        }
        options
    }

    /// Returns the events of a location that can be observed: its writes, or the releases of the lock.
    pub(super) fn writes(&self, run: &OracleRun, location: LocationId) -> Vec<OracleSource> {
        let is_write = |kind: OpKind, written: bool| {
            kind.location() == Some(location) && (written || matches!(kind, OpKind::Unlock { .. }))
        };
        let events = self.events(run);
        let writes = events.filter(|(.., event, op)| is_write(op.kind, event.written.is_some()));
        let writes = writes.map(|(thread, position, ..)| OracleSource::Event(thread, position));
        [OracleSource::Initial].into_iter().chain(writes).collect()
    }

    /// Returns `true` if a read-modify-write or an acquire has observed it.
    fn is_taken(&self, run: &OracleRun, location: LocationId, seen: OracleSource) -> bool {
        self.events(run).any(|(.., event, op)| {
            op.kind.location() == Some(location)
                && event.seen == Some(seen)
                && (event.written.is_some() || matches!(op.kind, OpKind::Lock { .. }))
        })
    }
}
