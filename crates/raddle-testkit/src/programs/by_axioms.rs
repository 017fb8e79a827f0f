//! All classes under a model with axioms: every choice of sources.
//!
//! An execution grows event by event, and a read observes any write that is there already, so `po ∪ rf`
//! has no cycle, as all models demand. All executions that can grow so are visited, each once, and the
//! maximal ones are tested by brute force. Only what does not observe a write (effects, joins, choices)
//! is not tried in all orders: it does not matter when it happens.
//!
//! What the axioms forbid stays forbidden when an execution grows, so the others can be given up at
//! once; [`Pruning`] says whether.

use std::collections::HashSet;

use crate::script::Script;
use raddle_consistency::reference::enumerate::{self, search};
use raddle_core::execution::{LocationId, ThreadId};
use raddle_core::model::Model;
use raddle_core::program::OpKind;
use raddle_core::trace::ThreadEnd;

use super::run::{Next, Run, Seen, World};
use super::{Classes, TooLarge, add};

/// When executions are tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pruning {
    /// When they are maximal.
    None,
    /// Whenever a read was added.
    Prefixes,
}

/// All classes of a program under a model with axioms.
///
/// # Errors
/// If there are more executions, maximal or not, than the budget says.
///
/// # Panics
/// If the model has no axioms, or the script mentions what it does not have.
pub fn by_axioms(
    script: &Script,
    model: Model,
    pruning: Pruning,
    budget: usize,
) -> Result<Classes, TooLarge> {
    let mut world = World::new(script);
    let start = world.start();
    let mut open = vec![world.settle(start)];
    let mut visited: HashSet<Run> = open.iter().cloned().collect();
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

impl World {
    fn allows(&self, run: &Run, model: Model, budget: usize) -> Result<bool, TooLarge> {
        let trace = self.trace(run, ThreadEnd::Open);
        let execution = trace.to_execution(&self.program).expect("runs make sense");
        match search(&execution, model, budget) {
            enumerate::EnumerationOutcome::Allowed(_) => Ok(true),
            enumerate::EnumerationOutcome::Forbidden => Ok(false),
            enumerate::EnumerationOutcome::TooLarge => Err(TooLarge),
        }
    }

    /// Does all that does not observe a write: effects, and joins of threads that are finished.
    fn settle(&mut self, mut run: Run) -> Run {
        loop {
            let threads: Vec<ThreadId> = run.threads.keys().copied().collect();
            let mut steps = threads.into_iter().filter_map(|thread| self.silent(&run, thread));
            let Some(next) = steps.next() else { break };
            drop(steps);
            run = next;
        }
        run
    }

    fn silent(&mut self, run: &Run, thread: ThreadId) -> Option<Run> {
        match self.next(run, thread) {
            Next::Effect(_) => Some(self.effect(run, thread)),
            Next::Question(OpKind::Join { thread: other }) if self.is_finished(run, other) => {
                let last = run.position(other).checked_sub(1);
                let seen = last.map_or(Seen::Initial, |last| Seen::Event(other, last));
                Some(self.answer(run, thread, seen, false))
            }
            _ => None,
        }
    }

    /// All executions with one more read or choice.
    fn grow(&mut self, run: &Run) -> Vec<Run> {
        let threads: Vec<ThreadId> = run.threads.keys().copied().collect();
        let mut all = vec![];
        for thread in threads {
            let Next::Question(kind) = self.next(run, thread) else { continue };
            if let OpKind::Choose { options } = kind {
                let choices = (0..options).map(|choice| (Seen::Choice(choice), false));
                return self.answers(run, thread, choices.collect());
            }
            let options = self.options(run, kind);
            all.extend(self.answers(run, thread, options));
        }
        all
    }

    fn answers(&mut self, run: &Run, thread: ThreadId, options: Vec<(Seen, bool)>) -> Vec<Run> {
        let answer = |(seen, spurious)| {
            let grown = self.answer(run, thread, seen, spurious);
            self.settle(grown)
        };
        options.into_iter().map(answer).collect()
    }

    /// What a read may observe, and whether it then fails spuriously. Nothing for a join that waits.
    fn options(&self, run: &Run, kind: OpKind) -> Vec<(Seen, bool)> {
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

    /// All that can be observed of a location: its writes, or the releases of the lock.
    fn writes(&self, run: &Run, location: LocationId) -> Vec<Seen> {
        let is_write = |kind: OpKind, written: bool| {
            kind.location() == Some(location) && (written || matches!(kind, OpKind::Unlock { .. }))
        };
        let events = self.events(run);
        let writes = events.filter(|(.., event, op)| is_write(op.kind, event.written.is_some()));
        let writes = writes.map(|(thread, position, ..)| Seen::Event(thread, position));
        [Seen::Initial].into_iter().chain(writes).collect()
    }

    /// Whether an update, or an acquire, has observed it.
    fn is_taken(&self, run: &Run, location: LocationId, seen: Seen) -> bool {
        self.events(run).any(|(.., event, op)| {
            op.kind.location() == Some(location)
                && event.seen == Some(seen)
                && (event.written.is_some() || matches!(op.kind, OpKind::Lock { .. }))
        })
    }
}
