//! Final states by brute force over the axioms of the C11-style models.
//!
//! The threads of a test run in every order, and every read observes every earlier write; then all modification orders
//! and all orders of fences are enumerated. Final values are the last writes in modification order; thread 0 does not
//! run. So the computation shares only the threads with that of the explorers.

use std::collections::{BTreeSet, HashSet};

use raddle_core::execution::Coherence;
use raddle_core::execution::{
    Action, EventId, Execution, ExecutionBuilder, Flaw, LocationId, MemoryOrder, SourceClaim,
    ThreadId, Value,
};
use raddle_core::model::reference::fences_update_hidden_location;
use raddle_core::model::relations::{Relations, is_sc_fence};
use raddle_core::model::{Model, broken, race};
use raddle_core::program::{Answer, End, HistoryId, LocalHistories, Naming, OpKind};
use raddle_litmus::{FinalState, LitmusProgram, LitmusTest};

/// Final states and races that the axioms admit.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Admitted {
    pub(crate) states: BTreeSet<FinalState>,
    pub(crate) race: bool,
}

/// Source of a read: the initial value, or an event by its thread and position.
type Source = Option<(usize, usize)>;

/// Event: its action, the value it writes, and its source.
#[derive(Clone)]
struct Event {
    action: Action,
    order: MemoryOrder,
    source: Source,
}

/// Thread: its history, the number of effects of the last segment that are done, and its events.
#[derive(Clone)]
struct Thread {
    node: HistoryId,
    done: usize,
    events: Vec<Event>,
}

struct World<'a> {
    test: &'a LitmusTest,
    program: LitmusProgram<'a>,
    histories: LocalHistories,
}

/// Returns what the axioms admit, by model.
pub(crate) fn admitted(test: &LitmusTest, models: &[Model]) -> Vec<Admitted> {
    let (program, histories) = (LitmusProgram::new(test, 8), LocalHistories::new());
    let mut world = World { test, program, histories };
    let mut open = vec![world.start()];
    let mut visited = HashSet::new();
    let mut all: Vec<Admitted> = models.iter().map(|_| Admitted::default()).collect();
    while let Some(threads) = open.pop() {
        let sources = |thread: &Thread| thread.events.iter().map(|it| it.source).collect();
        let key: Vec<(HistoryId, usize, Vec<Source>)> =
            threads.iter().map(|it| (it.node, it.done, sources(it))).collect();
        if !visited.insert(key) {
            continue;
        }
        let before = open.len();
        for at in 0..threads.len() {
            open.extend(world.steps(&threads, at));
        }
        if open.len() == before {
            world.try_orders(&threads, models, &mut all);
        }
    }
    all
}

impl World<'_> {
    fn start(&mut self) -> Vec<Thread> {
        // Thread 0 of the program, which starts the others, does not run here.
        let ids = (1..=self.test.thread_count()).map(ThreadId::new);
        let start = |thread| self.histories.start(&mut self.program, &[], thread, None);
        ids.map(start).map(|node| Thread { node, done: 0, events: vec![] }).collect()
    }

    /// Returns the next steps of a thread.
    fn steps(&mut self, threads: &[Thread], at: usize) -> Vec<Vec<Thread>> {
        let Thread { node, done, .. } = threads[at];
        let with = |node, done, event| {
            let mut next = threads.to_vec();
            (next[at].node, next[at].done) = (node, done);
            next[at].events.push(event);
            next
        };
        if let Some(op) = self.histories.effects(node).get(done) {
            return vec![with(node, done + 1, effect(op.kind))];
        }
        let End::Question(op) = *self.histories.end(node) else { return vec![] };
        let location = op.kind.location().expect("it is a read");
        let mut all = vec![];
        for (value, source) in self.readable(threads, location) {
            for spurious in [false, true] {
                let Some(event) = read(op.kind, value, source, spurious) else { continue };
                let answer = if spurious { Answer::Spurious(value) } else { Answer::Value(value) };
                let node = self.histories.after(&mut self.program, &[], node, answer);
                all.push(with(node, 0, event));
            }
        }
        all
    }

    /// Returns the values of a location so far, with their sources.
    fn readable(&self, threads: &[Thread], location: LocationId) -> Vec<(Value, Source)> {
        let mut all = vec![(self.program.initial_value(location), None)];
        for (thread, Thread { events, .. }) in threads.iter().enumerate() {
            for (position, event) in events.iter().enumerate() {
                let is_there = event.action.location() == Some(location);
                if let Some(value) = written(&event.action).filter(|_| is_there) {
                    all.push((value, Some((thread, position))));
                }
            }
        }
        all
    }

    fn try_orders(&self, threads: &[Thread], models: &[Model], all: &mut [Admitted]) {
        let finished = |thread: &Thread| *self.histories.end(thread.node) == End::Finished;
        assert!(threads.iter().all(finished), "all threads end");
        let Some(execution) = self.execution(threads) else { return };
        let registers: Vec<_> = threads.iter().map(|it| self.program.registers(it.node)).collect();
        for (&model, admitted) in models.iter().zip(all) {
            for coherence in orders(&execution, model) {
                if broken(model, &Relations::new(&execution, model, &coherence)).is_some() {
                    continue;
                }
                let last =
                    |location: usize| *coherence.mo[location].last().expect("the initial one");
                let memory = |location| written(execution.action(last(location))).expect("a write");
                admitted.states.extend(self.test.final_state(&registers, &memory));
                admitted.race |= race(&execution, model, &coherence).is_some();
            }
        }
    }

    /// Returns the execution; `None` if two read-modify-writes observe the same write, which violates atomicity.
    fn execution(&self, threads: &[Thread]) -> Option<Execution> {
        let mut builder = ExecutionBuilder::new();
        for location in (0..self.test.location_count()).map(LocationId::new) {
            let id = builder.location(&self.program.location_name(location));
            builder.init(id, self.program.initial_value(location)).expect("the first value");
        }
        for (at, thread) in threads.iter().enumerate() {
            let id = builder.thread(&format!("P{at}"));
            builder.declare(id);
            for &Event { action, order, source } in &thread.events {
                let claim = match source {
                    _ if !action.has_source() => SourceClaim::Unnamed,
                    None => SourceClaim::Init,
                    Some((thread, position)) => {
                        SourceClaim::Event { thread: ThreadId::new(thread), position }
                    }
                };
                builder.push_ordered(id, action, order, claim);
            }
        }
        match builder.build() {
            Ok(execution) => Some(execution),
            Err(error) => {
                assert!(matches!(error.flaw, Flaw::SharedWrite { .. }), "{error:?}");
                None
            }
        }
    }
}

fn effect(kind: OpKind) -> Event {
    let (action, order) = match kind {
        OpKind::Store { location, value, order, .. } => (Action::Write { location, value }, order),
        OpKind::Fence { order } => (Action::Fence, order),
        _ => panic!("tests in C have no effect {kind:?}"),
    };
    Event { action, order, source: None }
}

/// Returns the event of a read that observes the value; `None` if the op cannot fail spuriously but should.
fn read(kind: OpKind, read: Value, source: Source, spurious: bool) -> Option<Event> {
    let (action, order) = match kind {
        OpKind::Load { location, order } if !spurious => {
            (Action::Read { location, value: read }, order)
        }
        OpKind::Rmw { location, update, order, .. } if !spurious => {
            (Action::Rmw { location, read, written: update.apply(read) }, order)
        }
        OpKind::CompareExchange { location, expected, desired, success, failure, weak, .. }
            if !spurious || weak && read == expected =>
        {
            let succeeded = read == expected && !spurious;
            let order = if succeeded { success } else { failure };
            (Action::Cas { location, expected, desired, read, succeeded }, order)
        }
        _ => return None,
    };
    Some(Event { action, order, source })
}

/// Returns all modification orders and orders of fences.
fn orders(execution: &Execution, model: Model) -> Vec<Coherence> {
    let rf = execution.events().map(|event| execution.sources(event).first().copied()).collect();
    let mut all = vec![Coherence { rf, mo: vec![], fences: vec![] }];
    for location in execution.locations() {
        let is_write = |&event: &EventId| {
            let action = execution.action(event);
            action.location() == Some(location) && written(action).is_some()
        };
        let init = execution.init_of(location);
        let writes = execution.events().filter(is_write).filter(|&event| event != init);
        let choices = permutations(vec![init], writes);
        all = extended(&all, &choices, |coherence, order| coherence.mo.push(order));
    }
    let is_fence =
        |&event: &EventId| fences_update_hidden_location(model) && is_sc_fence(execution, event);
    let choices = permutations(vec![], execution.events().filter(is_fence));
    extended(&all, &choices, |coherence, order| coherence.fences = order)
}

/// Combines every element with every choice.
fn extended(
    all: &[Coherence],
    choices: &[Vec<EventId>],
    put: impl Fn(&mut Coherence, Vec<EventId>),
) -> Vec<Coherence> {
    let with = |coherence: &Coherence, choice: &[EventId]| {
        let mut coherence = coherence.clone();
        put(&mut coherence, choice.to_vec());
        coherence
    };
    all.iter().flat_map(|it| choices.iter().map(move |choice| with(it, choice))).collect()
}

/// Returns all orders of the events, each after `first`.
fn permutations(first: Vec<EventId>, events: impl Iterator<Item = EventId>) -> Vec<Vec<EventId>> {
    let start = first.len();
    let mut orders = vec![first];
    for event in events {
        let inserted = |order: &Vec<EventId>, at| {
            let mut order = order.clone();
            order.insert(at, event);
            order
        };
        orders = (orders.iter())
            .flat_map(|order| (start..=order.len()).map(move |at| inserted(order, at)))
            .collect();
    }
    orders
}

fn written(action: &Action) -> Option<Value> {
    match *action {
        Action::Init { value, .. } | Action::Write { value, .. } => Some(value),
        Action::Rmw { written, .. } => Some(written),
        Action::Cas { desired, succeeded, .. } => succeeded.then_some(desired),
        _ => None,
    }
}
