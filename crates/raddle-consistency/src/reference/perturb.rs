//! Changing what some reads of an execution observed.
//!
//! A changed read observes another write of its location and that write's value, so the result is well-formed, but the
//! model may forbid it. Linear in the execution.

use std::collections::HashSet;

use raddle_core::execution::{
    Action, BuildError, EventId, Execution, ExecutionBuilder, LocationId, SourceClaim, Value,
};

use raddle_core::random::Random;

/// Makes up to `changes` random reads and acquires observe another write or release. A changed acquire names its source
/// (it has no value); any other event names its source if it did so before.
#[must_use]
pub fn perturb(execution: &Execution, seed: u64, changes: usize) -> Execution {
    let mut random = Random::new(seed);
    let mut changed = PerturbedExecution::new(execution);
    let readers: Vec<EventId> =
        execution.events().filter(|&e| execution.action(e).has_source()).collect();
    for _ in 0..changes {
        if let Some(&reader) = random.pick(&readers) {
            changed.change(reader, &mut random);
        }
    }
    changed.build().expect("another source of the same location is well-formed")
}

/// An execution whose observations are being changed.
struct PerturbedExecution<'a> {
    execution: &'a Execution,
    actions: Vec<Action>,
    /// By event: the source that it names.
    named: Vec<Option<EventId>>,
    /// By location: the events that can be observed there.
    sources: Vec<Vec<EventId>>,
}

impl<'a> PerturbedExecution<'a> {
    fn new(execution: &'a Execution) -> Self {
        let mut sources = vec![vec![]; execution.location_count()];
        for event in execution.events() {
            let action = execution.action(event);
            if let Some(location) = action.location().filter(|_| action.is_source()) {
                sources[location.index()].push(event);
            }
        }
        let named = |event| execution.sources(event).first().copied();
        let named = |event| named(event).filter(|_| execution.names_source(event));
        PerturbedExecution {
            execution,
            actions: execution.events().map(|event| *execution.action(event)).collect(),
            named: execution.events().map(named).collect(),
            sources,
        }
    }

    fn change(&mut self, reader: EventId, random: &mut Random) {
        let Some(location) = self.actions[reader.index()].location() else { return };
        let Some(&source) = random.pick(&self.sources[location.index()]) else { return };
        if source == reader {
            return;
        }
        let action = &mut self.actions[reader.index()];
        if let Some(value) = self.execution.action(source).written_value() {
            *action = observing(*action, value);
        }
        let is_lock = matches!(action, Action::Lock { .. });
        if is_lock || self.execution.names_source(reader) {
            self.named[reader.index()] = Some(source);
        }
    }

    fn build(self) -> Result<Execution, BuildError> {
        let mut builder = self.declare();
        let mut taken = HashSet::new();
        let thread_major: Vec<EventId> =
            self.execution.events().filter(|&e| !self.execution.is_init(e)).collect();
        for &event in self.execution.recorded_order().unwrap_or(&thread_major) {
            let Some(thread) = self.execution.thread_of(event) else { continue };
            let action = self.actions[event.index()];
            let free = |source: &EventId| !action.is_atomic_update() || taken.insert(*source);
            let claim = match self.named[event.index()].filter(free) {
                None => SourceClaim::Unnamed,
                Some(source) => self.claim(source),
            };
            builder.push_ordered(thread, action, self.execution.order(event), claim);
        }
        builder.build()
    }

    fn declare(&self) -> ExecutionBuilder {
        let execution = self.execution;
        let mut builder = ExecutionBuilder::new();
        if execution.recorded_order().is_some() {
            builder.keep_order();
        }
        for thread in execution.threads() {
            let id = builder.thread(&execution.thread(thread).name);
            builder.declare(id);
        }
        for id in execution.locations() {
            let location = execution.location(id);
            let new: LocationId = builder.location(&location.name);
            if let Action::Init { value, .. } = *execution.action(execution.init_of(id))
                && location.declared
            {
                builder.init(new, value).expect("an execution states a value once");
            }
        }
        builder
    }

    fn claim(&self, source: EventId) -> SourceClaim {
        match self.execution.position(source) {
            None => SourceClaim::Init,
            Some((thread, position)) => SourceClaim::Event { thread, position },
        }
    }
}

/// The action with another observed value. A compare-exchange keeps its outcome.
fn observing(action: Action, value: Value) -> Action {
    match action {
        Action::Read { location, .. } => Action::Read { location, value },
        Action::Rmw { location, written, .. } => Action::Rmw { location, read: value, written },
        Action::Cas { location, expected, desired, succeeded, .. } => {
            let expected = match succeeded {
                true => value,
                false if expected == value => value + 1,
                false => expected,
            };
            Action::Cas { location, expected, desired, read: value, succeeded }
        }
        other => other,
    }
}
