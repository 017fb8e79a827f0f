//! All classes under SC, TSO and PSO: every run of the machine.
//!
//! A state is a state of the machine and what the threads have done and observed. All states are
//! visited, each once. Only spawns and choices are not interleaved: nobody else can tell when they
//! happen.

use std::collections::HashSet;

use crate::script::Script;
use raddle_consistency::reference::machine::{
    MachineInstruction, MachineObservation, ReferenceMachine, ThreadPlan,
};
use raddle_core::execution::{EventId, ThreadId};
use raddle_core::model::Model;
use raddle_core::program::OpKind;

use super::run::{Next, Run, Seen, World};
use super::{Classes, TooLarge, add};

/// A state of the machine and what the threads have done.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub(super) machine: ReferenceMachine,
    pub(super) run: Run,
}

/// All classes of a program under a model with store buffers.
///
/// # Errors
/// If there are more states than the budget says.
///
/// # Panics
/// If the model has no machine, or the script mentions what it does not have.
pub fn by_machine(script: &Script, model: Model, budget: usize) -> Result<Classes, TooLarge> {
    assert!(model.has_store_buffers(), "{model} has no machine");
    let mut world = World::new(script);
    let mut open = vec![world.initial_state(model)];
    let mut visited: HashSet<State> = open.iter().cloned().collect();
    let mut classes = Classes::new();
    while let Some(state) = open.pop() {
        let next = world.successors(&state);
        if next.is_empty() {
            add(&mut classes, world.class(&state.run));
        }
        for state in next {
            if visited.len() >= budget {
                return Err(TooLarge);
            }
            if visited.insert(state.clone()) {
                open.push(state);
            }
        }
    }
    Ok(classes)
}

impl World {
    /// Nothing has happened yet.
    pub(super) fn initial_state(&mut self, model: Model) -> State {
        let plan = |thread| ThreadPlan { spawned: thread != 0, instructions: usize::MAX };
        let plans: Vec<ThreadPlan> = (0..self.program.thread_count()).map(plan).collect();
        let machine = ReferenceMachine::new(model, self.program.initial_values(), &plans);
        State { machine, run: self.start() }
    }

    /// Everything that can happen next.
    pub(super) fn successors(&mut self, state: &State) -> Vec<State> {
        let threads: Vec<ThreadId> = state.run.threads.keys().copied().collect();
        for &thread in &threads {
            let next = self.next(&state.run, thread);
            let silent = matches!(
                next,
                Next::Effect(OpKind::Spawn { .. }) | Next::Question(OpKind::Choose { .. })
            );
            let steps = if silent { self.steps(state, thread, next) } else { vec![] };
            if !steps.is_empty() {
                return steps;
            }
        }
        let mut all = vec![];
        for &thread in &threads {
            all.extend(self.steps(state, thread, self.next(&state.run, thread)));
            for (location, _) in state.machine.all_flushable(thread) {
                let mut machine = state.machine.clone();
                machine.flush(thread, location);
                all.push(State { machine, run: state.run.clone() });
            }
        }
        all
    }

    /// What a thread can do next, except flushing.
    fn steps(&mut self, state: &State, thread: ThreadId, next: Next) -> Vec<State> {
        match next {
            Next::Effect(kind) => {
                let Some(machine) = self.execute(state, thread, &effect(kind)) else {
                    return vec![];
                };
                vec![State { machine: machine.0, run: self.effect(&state.run, thread) }]
            }
            Next::Question(OpKind::Choose { options }) => {
                (0..options).map(|choice| self.go_on(state, thread, Seen::Choice(choice))).collect()
            }
            Next::Question(OpKind::Join { thread: other }) => self.join(state, thread, other),
            Next::Question(kind) => {
                let instructions = instructions(kind, &state.machine);
                let steps = instructions.iter().filter_map(|instruction| {
                    let (machine, observation) = self.execute(state, thread, instruction)?;
                    let seen = self.seen(&observation);
                    let spurious = is_spurious(instruction);
                    Some(State { machine, run: self.answer(&state.run, thread, seen, spurious) })
                });
                steps.collect()
            }
            Next::Nothing(_) => vec![],
        }
    }

    /// Runs an instruction, if the machine can.
    fn execute(
        &self,
        state: &State,
        thread: ThreadId,
        instruction: &MachineInstruction,
    ) -> Option<(ReferenceMachine, MachineObservation)> {
        if !state.machine.can_run(thread, instruction) {
            return None;
        }
        let mut machine = state.machine.clone();
        let event = self.event(thread, state.run.position(thread));
        let observation = machine.run(thread, event, instruction);
        Some((machine, observation))
    }

    /// The machine has nothing to do for this.
    fn go_on(&mut self, state: &State, thread: ThreadId, seen: Seen) -> State {
        State { machine: state.machine.clone(), run: self.answer(&state.run, thread, seen, false) }
    }

    /// Waits for the end of a thread; both buffers must be empty.
    fn join(&mut self, state: &State, thread: ThreadId, other: ThreadId) -> Vec<State> {
        let empty = |thread| state.machine.buffered(thread) == 0;
        if !self.is_finished(&state.run, other) || !empty(other) || !empty(thread) {
            return vec![];
        }
        let seen = match state.run.position(other) {
            0 => Seen::Initial,
            events => Seen::Event(other, events - 1),
        };
        vec![self.go_on(state, thread, seen)]
    }

    /// The name of an event for the machine: initial writes come first.
    fn event(&self, thread: ThreadId, position: usize) -> EventId {
        let threads = self.program.thread_count();
        EventId::new(self.program.initial_values().len() + position * threads + thread.index())
    }

    fn seen(&self, observation: &MachineObservation) -> Seen {
        match *observation {
            MachineObservation::Value { source, .. } | MachineObservation::Acquired { source } => {
                self.named(source)
            }
            MachineObservation::Nothing => unreachable!("a question observes something"),
        }
    }

    /// What the machine calls so.
    pub(super) fn named(&self, source: EventId) -> Seen {
        let threads = self.program.thread_count();
        match source.index().checked_sub(self.program.initial_values().len()) {
            None => Seen::Initial,
            Some(event) => Seen::Event(ThreadId::new(event % threads), event / threads),
        }
    }
}

fn effect(kind: OpKind) -> MachineInstruction {
    match kind {
        OpKind::Store { location, value, order, .. } => {
            MachineInstruction::Store { location, value, order }
        }
        OpKind::Fence { order } => MachineInstruction::Fence { order },
        OpKind::StoreFence => MachineInstruction::StoreFence,
        OpKind::Unlock { lock } => MachineInstruction::Unlock { lock },
        OpKind::Spawn { thread } => MachineInstruction::Spawn { thread },
        _ => unreachable!("scripts have no effect {kind:?}"),
    }
}

/// The instructions that a question can be in this state; none if it waits.
fn instructions(kind: OpKind, machine: &ReferenceMachine) -> Vec<MachineInstruction> {
    match kind {
        OpKind::Load { location, .. } => vec![MachineInstruction::Load { location }],
        OpKind::Rmw { location, update, .. } => {
            vec![MachineInstruction::Exchange {
                location,
                value: update.apply(machine.value(location)),
            }]
        }
        OpKind::CompareExchange { location, expected, desired, weak, .. } => {
            let both = weak && machine.value(location) == expected;
            let instruction = |spurious| MachineInstruction::CompareExchange {
                location,
                expected,
                desired,
                spurious,
            };
            [false, true]
                .into_iter()
                .filter(|&spurious| both || !spurious)
                .map(instruction)
                .collect()
        }
        OpKind::Lock { lock } => vec![MachineInstruction::Lock { lock }],
        OpKind::Sync { location, guard, update } => {
            let value = machine.value(location);
            let exchange = MachineInstruction::Exchange { location, value: update.apply(value) };
            if guard.admits(value) { vec![exchange] } else { vec![] }
        }
        _ => unreachable!("the machine does not answer {kind:?}"),
    }
}

fn is_spurious(instruction: &MachineInstruction) -> bool {
    matches!(instruction, MachineInstruction::CompareExchange { spurious: true, .. })
}
