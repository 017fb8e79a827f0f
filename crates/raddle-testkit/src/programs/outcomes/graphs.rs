//! All outcomes under a C11-style model: every execution graph with a bounded number of questions per thread.
//!
//! Graphs are visited in the order of their size, so that the budget covers the small ones. Each is checked with the
//! literal axioms by [`search_within`]; one that they forbid has no allowed extension.
//!
//! A thread goes on forever if a write of each location that it reads can be the last one. That is asked with an
//! *observer*: the main thread joins all others and reads these writes. It happens after everything else, so it reads the
//! last write of a location, and constrains the graph in no other way. Under WRA, which has no modification orders, it
//! reads a write that no other write of the location follows in happens-before.

use std::cell::Cell;
use std::collections::{BTreeMap, HashSet, VecDeque};

use raddle_consistency::reference::enumerate::{EnumerationOutcome, search_within};
use raddle_core::execution::{
    Coherence, EventId, Execution, LocationId, MemoryOrder, ThreadId, Value,
};
use raddle_core::model::relations::Relations;
use raddle_core::model::{Model, is_race};
use raddle_core::program::{End, Op, OpKind, PlaceId};
use raddle_core::trace::{Class, Observed, ThreadEnd, Trace, TraceEvent};

use super::cycle::cycle;
use super::{Outcome, OutcomeBudget, Outcomes, ThreadOutcome, ended};
use crate::programs::TooLarge;
use crate::programs::run::{OracleProgram, OracleRun, OracleSource, OracleStep};
use crate::script::{Script, ScriptProgram, Statement, ThreadState};

/// How often the axioms may be tested for one graph.
const TESTS: usize = 20_000;

pub(super) fn outcomes(
    script: &Script,
    model: Model,
    budget: OutcomeBudget,
) -> Result<Outcomes, TooLarge> {
    let mut oracle = GraphOracle::new(script, model, budget.tests);
    let mut found = Outcomes { is_complete: true, ..Outcomes::default() };
    let start = oracle.world.start();
    let start = oracle.world.run_silent_steps(start);
    let mut visited = HashSet::from([start.clone()]);
    let mut open = VecDeque::from([start]);
    while let Some(run) = open.pop_front() {
        if oracle.tests_left.get() < TESTS {
            found.is_complete = false;
            break;
        }
        let Some(coherence) = oracle.coherence(&oracle.trace(&run))? else { continue };
        let races = oracle.races(&run, &coherence);
        if !races.is_empty() {
            found.races.extend(races);
            continue;
        }
        oracle.note(&run, &mut found)?;
        for next in oracle.successors(&run, budget.questions, &mut found.is_complete) {
            if visited.len() >= budget.states {
                found.is_complete = false;
            } else if visited.insert(next.clone()) {
                open.push_back(next);
            }
        }
    }
    Ok(found)
}

/// Returns `true` if the class is consistent, and this is an outcome of it.
///
/// # Errors
/// If the axioms have to be tested too often.
///
/// # Panics
/// If the model has no axioms, or the script uses variables or threads that it does not define.
pub fn confirms(
    script: &Script,
    model: Model,
    class: &Class,
    outcome: &Outcome,
) -> Result<bool, TooLarge> {
    let mut oracle = GraphOracle::new(script, model, TESTS);
    let run = oracle.world.replay(class);
    let is_consistent = oracle.coherence(&oracle.trace(&run))?.is_some();
    Ok(is_consistent && oracle.outcomes(&run)?.contains(outcome))
}

/// Returns `true` if the class is consistent.
///
/// # Errors
/// If the axioms have to be tested too often.
///
/// # Panics
/// If the model has no axioms, or the script uses variables or threads that it does not define.
pub fn is_consistent(script: &Script, model: Model, class: &Class) -> Result<bool, TooLarge> {
    let mut oracle = GraphOracle::new(script, model, TESTS);
    let run = oracle.world.replay(class);
    Ok(oracle.coherence(&oracle.trace(&run))?.is_some())
}

/// By location, a write that is the last one, and its value.
type LastWrites = BTreeMap<LocationId, (OracleSource, Value)>;

struct GraphOracle {
    world: OracleProgram,
    model: Model,
    /// Whether accesses may race.
    has_plain: bool,
    /// How often the axioms may still be tested.
    tests_left: Cell<usize>,
}

impl GraphOracle {
    fn new(script: &Script, model: Model, tests: usize) -> Self {
        let mut world = OracleProgram::new(script);
        world.program.set_recognizes_rounds(false);
        let (has_plain, tests_left) = (has_plain_accesses(script), Cell::new(tests));
        GraphOracle { world, model, has_plain, tests_left }
    }

    fn trace(&self, run: &OracleRun) -> Trace {
        self.world.trace(run, ThreadEnd::Open)
    }

    /// Returns choices with which the axioms hold, if there are any.
    fn coherence(&self, trace: &Trace) -> Result<Option<Coherence>, TooLarge> {
        let (execution, _) = execution(trace, &self.world.program);
        let before = self.tests_left.get();
        let mut tests = before.min(TESTS);
        let found = search_within(&execution, self.model, &mut tests);
        self.tests_left.set(before - (before.min(TESTS) - tests));
        match found {
            EnumerationOutcome::Allowed(coherence) => Ok(Some(coherence)),
            EnumerationOutcome::Forbidden => Ok(None),
            EnumerationOutcome::TooLarge => Err(TooLarge),
        }
    }

    /// Returns the places of all pairs of accesses that race.
    fn races(&self, run: &OracleRun, coherence: &Coherence) -> Vec<(PlaceId, PlaceId)> {
        if !self.has_plain {
            return vec![];
        }
        let trace = self.trace(run);
        let (execution, events) = execution(&trace, &self.world.program);
        let given = Coherence { fences: vec![], ..coherence.clone() };
        let relations = Relations::new(&execution, self.model, &given);
        let placed: Vec<(EventId, PlaceId)> = (events.iter().zip(&trace.events))
            .filter_map(|(&event, of_trace)| Some((event?, of_trace.op.place)))
            .collect();
        let mut races = vec![];
        for (at, &(a, place)) in placed.iter().enumerate() {
            for &(b, other) in &placed[..at] {
                if is_race(&execution, self.model, &relations, a, b) {
                    races.push((place.min(other), place.max(other)));
                }
            }
        }
        races
    }

    /// Notes the states, failures and outcomes of a graph.
    fn note(&self, run: &OracleRun, found: &mut Outcomes) -> Result<(), TooLarge> {
        for &thread in run.threads.keys() {
            let (state, end) = self.world.state(run, thread);
            match end {
                End::Question(_) => drop(found.states.insert(state)),
                End::Failed(_) => {
                    found.failures.insert(self.world.program.place_of(&state));
                }
                End::Limit => return Err(TooLarge),
                _ => {}
            }
        }
        found.outcomes.extend(self.outcomes(run)?);
        Ok(())
    }

    /// Returns all graphs with one more question. Notes whether some were left out because of the limit.
    fn successors(
        &mut self,
        run: &OracleRun,
        questions: usize,
        is_complete: &mut bool,
    ) -> Vec<OracleRun> {
        let threads: Vec<ThreadId> = run.threads.keys().copied().collect();
        let mut all = vec![];
        for thread in threads {
            let OracleStep::Question(kind) = self.world.next(run, thread) else { continue };
            if self.world.answered(run, thread) >= questions {
                *is_complete = false;
                continue;
            }
            let options = match kind {
                OpKind::Choose { options } => {
                    (0..options).map(|choice| (OracleSource::Choice(choice), false)).collect()
                }
                _ => self.world.options(run, kind),
            };
            all.extend(self.world.answers(run, thread, options));
        }
        all
    }

    /// Returns the outcomes of a consistent graph: one for each choice of last writes with which no thread ever changes
    /// anything.
    fn outcomes(&self, run: &OracleRun) -> Result<Vec<Outcome>, TooLarge> {
        let mut outcome = Outcome::new();
        let mut reading = vec![];
        for &thread in run.threads.keys() {
            let (state, end) = self.world.state(run, thread);
            let end = match end {
                End::Question(op) if self.waits(run, op.kind) => {
                    Some(ThreadOutcome::Waiting(op.place))
                }
                End::Question(op) => {
                    reading.push((state, op.kind));
                    continue;
                }
                end => ended(&self.world.program, &state, &end),
            };
            let Some(end) = end else { return Ok(vec![]) };
            outcome.insert(thread, end);
        }
        let mut all = vec![];
        self.choose_last(run, &reading, &mut LastWrites::new(), &outcome, &mut all)?;
        Ok(all)
    }

    /// Returns `true` if a question waits for other threads.
    fn waits(&self, run: &OracleRun, question: OpKind) -> bool {
        match question {
            OpKind::Lock { .. } | OpKind::Sync { .. } => {
                self.world.options(run, question).is_empty()
            }
            OpKind::Join { .. } => true,
            _ => false,
        }
    }

    /// Chooses the last writes of all locations that these threads read, in all ways.
    fn choose_last(
        &self,
        run: &OracleRun,
        reading: &[(ThreadState, OpKind)],
        last: &mut LastWrites,
        others: &Outcome,
        all: &mut Vec<Outcome>,
    ) -> Result<(), TooLarge> {
        let memory = last.iter().map(|(&location, &(_, value))| (location, value)).collect();
        let mut outcome = others.clone();
        let is_free = |lock| !self.waits(run, OpKind::Lock { lock });
        for (state, question) in reading {
            match cycle(&self.world.program, state, *question, &memory, &is_free) {
                Ok(Some(cycle)) => {
                    outcome.insert(state.thread, ThreadOutcome::Spinning(cycle));
                }
                Ok(None) => return Ok(()),
                Err(location) => {
                    for write in self.world.writes(run, location) {
                        let value = self.world.value(run, location, write);
                        last.insert(location, (write, value));
                        self.choose_last(run, reading, last, others, all)?;
                    }
                    last.remove(&location);
                    return Ok(());
                }
            }
        }
        if reading.is_empty() || self.coherence(&self.with_observer(run, last))?.is_some() {
            all.push(outcome);
        }
        Ok(())
    }

    /// Returns the graph with the observer.
    fn with_observer(&self, run: &OracleRun, last: &LastWrites) -> Trace {
        let mut trace = self.trace(run);
        let main = ThreadId::new(0);
        let others: Vec<ThreadId> = run.threads.keys().copied().filter(|&it| it != main).collect();
        let mut position = run.position(main);
        let mut push = |trace: &mut Trace, kind, observed, read| {
            let (op, observed) = (Op { kind, place: PlaceId::default() }, Some(observed));
            let event = TraceEvent { thread: main, position, op, observed, read, written: None };
            trace.events.push(event);
            position += 1;
        };
        for thread in others {
            push(&mut trace, OpKind::Join { thread }, Observed::Initial, None);
        }
        for (&location, &(write, value)) in last {
            let observed = match write {
                OracleSource::Event(thread, position) => {
                    let is_write =
                        |event: &TraceEvent| event.thread == thread && event.position == position;
                    let at = trace.events.iter().position(is_write);
                    Observed::Event(at.expect("the write is in the graph"))
                }
                _ => Observed::Initial,
            };
            let order = MemoryOrder::Relaxed;
            push(&mut trace, OpKind::Load { location, order }, observed, Some(value));
        }
        trace
    }
}

fn execution(trace: &Trace, program: &ScriptProgram) -> (Execution, Vec<Option<EventId>>) {
    trace.to_placed_execution(program).expect("a run is an execution")
}

fn has_plain_accesses(script: &Script) -> bool {
    script.threads.iter().any(|thread| has_plain_access(&thread.body))
}

fn has_plain_access(block: &[Statement]) -> bool {
    block.iter().any(|statement| match statement {
        Statement::Load { order, .. } | Statement::Store { order, .. } => !order.is_atomic(),
        _ => statement.blocks().into_iter().any(|inner| has_plain_access(inner)),
    })
}
