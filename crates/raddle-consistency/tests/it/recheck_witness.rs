//! Rechecking witnesses: those of the brute force pass, and a corrupted one passes only if a second,
//! declarative definition of the models calls it a run as well.

use std::collections::HashMap;

use proptest::prelude::*;
use raddle_consistency::recheck::{RecheckError, recheck_run};
use raddle_consistency::reference::brute_force::witness;
use raddle_consistency::reference::generate::{HistoryShape, ValueChoice, generate};
use raddle_consistency::reference::replay::Refusal;
use raddle_consistency::witness::{MachineRun, MachineStep};
use raddle_core::execution::{
    Action, EventId, Execution, ExecutionBuilder, MemoryOrder, SourceClaim, ThreadId,
};
use raddle_core::model::Model;
use raddle_core::random::Random;

/// The models told by moments: when each event runs and when it arrives in memory.
struct Moments<'a> {
    execution: &'a Execution,
    model: Model,
    run: HashMap<EventId, usize>,
    flush: HashMap<EventId, usize>,
}

impl<'a> Moments<'a> {
    /// The moments of some steps, if no step occurs twice.
    fn new(execution: &'a Execution, model: Model, steps: &[MachineStep]) -> Option<Self> {
        let mut moments = Moments { execution, model, run: HashMap::new(), flush: HashMap::new() };
        for (index, &step) in steps.iter().enumerate() {
            let twice = match step {
                MachineStep::Run(event) => moments.run.insert(event, index),
                MachineStep::Flush(event) => moments.flush.insert(event, index),
            };
            if twice.is_some() {
                return None;
            }
        }
        Some(moments)
    }

    fn is_run(&self) -> bool {
        let events = || self.execution.events().filter(|&e| !self.execution.is_init(e));
        self.is_complete()
            && events().all(|e| self.in_program_order(e))
            && events().all(|e| self.waits_for_stores(e))
            && events().all(|e| self.waits_for_threads(e))
            && events().all(|e| self.lock_is_right(e))
            && events().all(|e| self.observation_is_right(e))
    }

    fn action(&self, event: EventId) -> &Action {
        self.execution.action(event)
    }

    fn is_buffered(&self, event: EventId) -> bool {
        self.model != Model::Sc
            && matches!(self.action(event), Action::Write { .. })
            && self.execution.order(event) != MemoryOrder::SeqCst
    }

    /// Whether the event is a store-store fence, or begins with one.
    fn is_store_fence(&self, event: EventId) -> bool {
        let releases =
            matches!(self.action(event), Action::StoreFence | Action::Fence | Action::Write { .. });
        releases && self.execution.order(event).is_release()
    }

    fn drains(&self, event: EventId) -> bool {
        let is_sc = self.execution.order(event) == MemoryOrder::SeqCst;
        match self.action(event) {
            Action::Init { .. } | Action::Read { .. } | Action::StoreFence => false,
            Action::Write { .. } | Action::Fence => is_sc,
            _ => true,
        }
    }

    fn arrival(&self, event: EventId) -> usize {
        if self.is_buffered(event) { self.flush[&event] } else { self.run[&event] }
    }

    /// The earlier events of the thread.
    fn earlier(&self, event: EventId) -> impl Iterator<Item = EventId> {
        let thread = self.execution.thread_of(event).expect("not an initial write");
        self.execution.thread_events(thread).take_while(move |&e| e < event)
    }

    /// Every event runs, and exactly the buffered stores are flushed, later.
    fn is_complete(&self) -> bool {
        let inits = self.execution.location_count();
        self.run.len() == self.execution.event_count() - inits
            && self.run.keys().all(|&e| !self.execution.is_init(e))
            && self.flush.keys().all(|&e| self.is_buffered(e) && !self.execution.is_init(e))
            && self.run.iter().all(|(e, run)| {
                !self.is_buffered(*e) || self.flush.get(e).is_some_and(|flush| run < flush)
            })
    }

    fn in_program_order(&self, event: EventId) -> bool {
        let spawn = self.execution.thread_of(event).and_then(|t| self.execution.spawned_by(t));
        self.earlier(event).chain(spawn).all(|e| self.run[&e] < self.run[&event])
    }

    /// Stores arrive in the order that the model keeps; draining events wait for all.
    fn waits_for_stores(&self, event: EventId) -> bool {
        let action = self.action(event);
        let fenced = |store: EventId| {
            let mut between = self.earlier(event).chain([event]).filter(move |&e| e > store);
            between.any(|e| self.is_store_fence(e))
        };
        let ordered = |store: EventId| {
            self.model == Model::Tso
                || self.action(store).location() == action.location()
                || fenced(store)
        };
        self.earlier(event).filter(|&e| self.is_buffered(e)).all(|store| {
            if self.drains(event) {
                self.arrival(store) < self.run[&event]
            } else {
                !self.is_buffered(event)
                    || !ordered(store)
                    || self.arrival(store) < self.arrival(event)
            }
        })
    }

    fn waits_for_threads(&self, event: EventId) -> bool {
        let Action::Join { thread } = *self.action(event) else { return true };
        let mut before = self.execution.thread_events(thread).map(|e| self.arrival(e));
        let run = self.run[&event];
        before.all(|arrival| arrival < run)
            && self.execution.spawned_by(thread).is_none_or(|spawn| self.run[&spawn] < run)
    }

    /// The last event to arrive at the location of an event before it runs.
    fn last_arrival(&self, event: EventId) -> Option<EventId> {
        let location = self.action(event).location();
        let changes = |e: &EventId| {
            let action = self.action(*e);
            action.location() == location
                && (action.is_source() || matches!(action, Action::Lock { .. }))
                && !self.execution.is_init(*e)
                && self.arrival(*e) < self.run[&event]
        };
        self.execution.events().filter(changes).max_by_key(|&e| self.arrival(e))
    }

    fn lock_is_right(&self, event: EventId) -> bool {
        let last = self.last_arrival(event);
        let last_locks = last.is_some_and(|e| matches!(self.action(e), Action::Lock { .. }));
        match *self.action(event) {
            Action::Lock { lock } => {
                let source = last.unwrap_or(self.execution.init_of(lock));
                !last_locks && self.execution.sources(event).contains(&source)
            }
            Action::Unlock { .. } => {
                let own = |e| self.execution.thread_of(e) == self.execution.thread_of(event);
                last_locks && last.is_some_and(own)
            }
            _ => true,
        }
    }

    fn observation_is_right(&self, event: EventId) -> bool {
        let action = self.action(event);
        let (Some(value), Some(location)) = (action.read_value(), action.location()) else {
            return true;
        };
        let waiting = |e: &EventId| {
            self.is_buffered(*e)
                && self.action(*e).location() == Some(location)
                && self.arrival(*e) > self.run[&event]
        };
        let own = self.earlier(event).filter(waiting).last();
        let source = own.or(self.last_arrival(event)).unwrap_or(self.execution.init_of(location));
        let cas_is_right = match *action {
            Action::Cas { expected, read, succeeded: true, .. } => expected == read,
            _ => true,
        };
        self.execution.sources(event).contains(&source)
            && self.action(source).written_value() == Some(value)
            && cas_is_right
    }
}

fn is_run(execution: &Execution, model: Model, steps: &[MachineStep]) -> bool {
    Moments::new(execution, model, steps).is_some_and(|moments| moments.is_run())
}

/// Changes a witness a little.
fn corrupt(steps: &mut Vec<MachineStep>, random: &mut Random) {
    let (a, b) = (random.below(steps.len()), random.below(steps.len()));
    match random.below(6) {
        0 => steps.swap(a, b),
        1 => drop(steps.remove(a)),
        2 => steps.insert(a, steps[b]),
        3 if a + 1 < steps.len() => steps.swap(a, a + 1),
        4 => {
            let step = steps.remove(a);
            steps.insert(b.min(steps.len()), step);
        }
        _ => {
            let (MachineStep::Run(event) | MachineStep::Flush(event)) = steps[a];
            let flushed = steps[a] == MachineStep::Flush(event);
            steps[a] = if flushed { MachineStep::Run(event) } else { MachineStep::Flush(event) };
        }
    }
}

fn shape(model: Model, random: &mut Random) -> HistoryShape {
    let (threads, events_per_thread) = [(2, 5), (3, 3), (3, 4), (4, 2)][random.below(4)];
    let values = [ValueChoice::Few(2), ValueChoice::Few(3)][random.below(2)];
    let (spawn_join, name_sources) = (random.chance(0.3), random.unit());
    let locks = random.below(3);
    let orders = [0.0, 0.6][random.below(2)];
    HistoryShape {
        model,
        threads,
        events_per_thread,
        values,
        spawn_join,
        name_sources,
        locks,
        orders,
        ..HistoryShape::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn corrupted_witnesses_pass_only_if_they_are_runs(seed: u64) {
        let mut random = Random::new(seed);
        for model in Model::STORE_BUFFERS {
            let execution = generate(&shape(model, &mut random), seed);
            let good = witness(&execution, model).expect("generated executions are allowed");
            prop_assert_eq!(recheck_run(&execution, model, &good), Ok(()));
            prop_assert!(is_run(&execution, model, &good.steps));
            let mut bad = good;
            for _ in 0..20 {
                let before = bad.clone();
                corrupt(&mut bad.steps, &mut random);
                let passes = recheck_run(&execution, model, &bad).is_ok();
                prop_assert_eq!(passes, is_run(&execution, model, &bad.steps), "{:?}", bad);
                if !passes {
                    bad = before;
                }
            }
        }
    }
}

/// `x=1 x?1` in one thread.
fn store_and_load() -> (Execution, EventId, EventId) {
    let mut builder = ExecutionBuilder::new();
    let (thread, location) = (builder.thread("P0"), builder.location("x"));
    builder.push(thread, Action::Write { location, value: 1 }, SourceClaim::Unnamed);
    builder.push(thread, Action::Read { location, value: 1 }, SourceClaim::Unnamed);
    let execution = builder.build().expect("well-formed");
    let event = |at| execution.event_at(ThreadId::new(0), at).expect("two events");
    let (store, load) = (event(0), event(1));
    (execution, store, load)
}

#[test]
fn refused_steps_have_an_index_and_a_reason() {
    let (execution, store, load) = store_and_load();
    let check = |model, steps: &[MachineStep]| {
        recheck_run(&execution, model, &MachineRun { steps: steps.to_vec() })
    };
    let (run, see, flush) =
        (MachineStep::Run(store), MachineStep::Run(load), MachineStep::Flush(store));
    assert_eq!(check(Model::Sc, &[run, see]), Ok(()));
    assert_eq!(check(Model::Tso, &[run, see, flush]), Ok(()));
    assert_eq!(check(Model::Pso, &[run, flush, see]), Ok(()));
    assert_eq!(check(Model::Tso, &[run, see]), Err(RecheckError::Unfinished { steps: 2 }));
    let refused = check(Model::Sc, &[run, flush, see]).expect_err("no buffers under SC");
    let (event, refusal) = ("P0.0".to_owned(), Refusal::NotFlushable);
    assert_eq!(refused, RecheckError::Step { index: 1, event, refusal });
    assert_eq!(refused.to_string(), "step 1 (P0.0) is not possible: no buffer can flush it now");
    let refused = check(Model::Tso, &[see]).expect_err("not in program order");
    assert_eq!(
        refused.to_string(),
        "step 0 (P0.1) is not possible: it is not the next event of its thread"
    );
    assert!(check(Model::Sc, &[MachineStep::Run(EventId::new(0))]).is_err());
    assert!(check(Model::Sc, &[MachineStep::Run(EventId::new(99))]).is_err());
}

#[test]
fn long_witnesses_are_replayed() {
    let shape =
        HistoryShape { events_per_thread: 40_000, keep_order: true, ..HistoryShape::default() };
    let execution = generate(&shape, 3);
    let order = execution.recorded_order().expect("it was kept");
    let steps = order.iter().copied().map(MachineStep::Run).collect();
    assert_eq!(recheck_run(&execution, Model::Sc, &MachineRun { steps }), Ok(()));
}

#[test]
fn long_buffers_are_replayed() {
    let mut builder = ExecutionBuilder::new();
    let thread = builder.thread("P0");
    for value in 0..30_000 {
        let location = builder.location(["x", "y", "z"][value % 3]);
        let value = value as i128;
        builder.push(thread, Action::Write { location, value }, SourceClaim::Unnamed);
        builder.push(thread, Action::StoreFence, SourceClaim::Unnamed);
        builder.push(thread, Action::Read { location, value }, SourceClaim::Unnamed);
    }
    let execution = builder.build().expect("well-formed");
    let events = || execution.thread_events(thread);
    let stores = events().filter(|&e| matches!(execution.action(e), Action::Write { .. }));
    let steps: Vec<MachineStep> =
        events().map(MachineStep::Run).chain(stores.map(MachineStep::Flush)).collect();
    for model in [Model::Tso, Model::Pso] {
        let witness = MachineRun { steps: steps.clone() };
        assert_eq!(recheck_run(&execution, model, &witness), Ok(()));
    }
}
