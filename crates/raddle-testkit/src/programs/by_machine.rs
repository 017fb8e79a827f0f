//! All classes under SC, TSO and PSO: every run of the reference machine.
//!
//! A state consists of the state of the machine and the run so far. Every state is visited once. Only spawns and
//! choices are not interleaved: no other thread can observe their time.

use std::collections::HashSet;

use crate::script::Script;
use raddle_consistency::reference::machine::{
    MachineInstruction, MachineObservation, ReferenceMachine, ThreadPlan,
};
use raddle_core::execution::{EventId, ThreadId};
use raddle_core::model::Model;
use raddle_core::program::OpKind;

use super::run::{OracleProgram, OracleRun, OracleSource, OracleStep};
use super::{Classes, TooLarge, add};

/// State of the machine, and run so far.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct MachineState {
    pub(super) machine: ReferenceMachine,
    pub(super) run: OracleRun,
}

/// Returns all classes of a program under SC, TSO or PSO.
///
/// # Errors
/// If there are more states than `budget`.
///
/// # Panics
/// If the model has no machine, or the script uses variables or threads that it does not define.
pub fn by_machine(script: &Script, model: Model, budget: usize) -> Result<Classes, TooLarge> {
    assert!(model.has_store_buffers(), "{model} has no machine");
    let mut world = OracleProgram::new(script);
    let mut open = vec![world.initial_state(model)];
    let mut visited: HashSet<MachineState> = open.iter().cloned().collect();
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

impl OracleProgram {
    /// Returns the initial state.
    pub(super) fn initial_state(&mut self, model: Model) -> MachineState {
        let plan = |thread| ThreadPlan { spawned: thread != 0, instructions: usize::MAX };
        let plans: Vec<ThreadPlan> = (0..self.program.thread_count()).map(plan).collect();
        let machine = ReferenceMachine::new(model, self.program.initial_values(), &plans);
        MachineState { machine, run: self.start() }
    }

    /// Returns all successors of a state.
    pub(super) fn successors(&mut self, state: &MachineState) -> Vec<MachineState> {
        let threads: Vec<ThreadId> = state.run.threads.keys().copied().collect();
        for &thread in &threads {
            let next = self.next(&state.run, thread);
            let is_silent = matches!(
                next,
                OracleStep::Effect(OpKind::Spawn { .. })
                    | OracleStep::Question(OpKind::Choose { .. })
            );
            let steps = if is_silent { self.steps(state, thread, next) } else { vec![] };
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
                all.push(MachineState { machine, run: state.run.clone() });
            }
        }
        all
    }

    /// Returns the successors by a step of the thread other than a flush.
    fn steps(
        &mut self,
        state: &MachineState,
        thread: ThreadId,
        next: OracleStep,
    ) -> Vec<MachineState> {
        match next {
            OracleStep::Effect(kind) => {
                let Some(machine) = self.execute(state, thread, &effect(kind)) else {
                    return vec![];
                };
                vec![MachineState { machine: machine.0, run: self.effect(&state.run, thread) }]
            }
            OracleStep::Question(OpKind::Choose { options }) => (0..options)
                .map(|choice| {
                    self.answer_without_machine(state, thread, OracleSource::Choice(choice))
                })
                .collect(),
            OracleStep::Question(OpKind::Join { thread: other }) => self.join(state, thread, other),
            OracleStep::Question(kind) => {
                let instructions = instructions(kind, &state.machine);
                let steps = instructions.iter().filter_map(|instruction| {
                    let (machine, observation) = self.execute(state, thread, instruction)?;
                    let seen = self.seen(&observation);
                    let spurious = is_spurious(instruction);
                    Some(MachineState {
                        machine,
                        run: self.answer(&state.run, thread, seen, spurious),
                    })
                });
                steps.collect()
            }
            OracleStep::Nothing(_) => vec![],
        }
    }

    /// Executes an instruction, if the machine can.
    fn execute(
        &self,
        state: &MachineState,
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

    /// Answers a question that the machine does not take part in.
    fn answer_without_machine(
        &mut self,
        state: &MachineState,
        thread: ThreadId,
        seen: OracleSource,
    ) -> MachineState {
        MachineState {
            machine: state.machine.clone(),
            run: self.answer(&state.run, thread, seen, false),
        }
    }

    /// Joins a thread, if it has finished and both store buffers are empty.
    fn join(
        &mut self,
        state: &MachineState,
        thread: ThreadId,
        other: ThreadId,
    ) -> Vec<MachineState> {
        let empty = |thread| state.machine.buffered(thread) == 0;
        if !self.is_finished(&state.run, other) || !empty(other) || !empty(thread) {
            return vec![];
        }
        let seen = match state.run.position(other) {
            0 => OracleSource::Initial,
            events => OracleSource::Event(other, events - 1),
        };
        vec![self.answer_without_machine(state, thread, seen)]
    }

    /// Returns the id of an event for the machine. Initial writes come first.
    fn event(&self, thread: ThreadId, position: usize) -> EventId {
        let threads = self.program.thread_count();
        EventId::new(self.program.initial_values().len() + position * threads + thread.index())
    }

    fn seen(&self, observation: &MachineObservation) -> OracleSource {
        match *observation {
            MachineObservation::Value { source, .. } | MachineObservation::Acquired { source } => {
                self.source_of(source)
            }
            MachineObservation::Nothing => unreachable!("a question observes something"),
        }
    }

    /// Returns the source with this id of the machine.
    pub(super) fn source_of(&self, source: EventId) -> OracleSource {
        let threads = self.program.thread_count();
        match source.index().checked_sub(self.program.initial_values().len()) {
            None => OracleSource::Initial,
            Some(event) => OracleSource::Event(ThreadId::new(event % threads), event / threads),
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
        _ => unreachable!("not an effect of scripts: {kind:?}"),
    }
}

/// Returns the instructions for a question. Empty if it waits.
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
        _ => unreachable!("not an instruction of the machine: {kind:?}"),
    }
}

fn is_spurious(instruction: &MachineInstruction) -> bool {
    matches!(instruction, MachineInstruction::CompareExchange { spurious: true, .. })
}
