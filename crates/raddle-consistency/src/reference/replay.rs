//! Runs the events of an execution on the machine.
//!
//! An event consists of an instruction and an observation. [`MachineReplay`] runs the instruction and compares the
//! observation. Brute force and the recheck of witnesses are built on it.

use std::fmt;

use crate::witness::MachineStep;
use raddle_core::execution::{Action, EventId, Execution, MemoryOrder, ThreadId};
use raddle_core::model::Model;

use super::machine::{MachineInstruction, MachineObservation, ReferenceMachine, ThreadPlan};

/// Why a step is not possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The event is not the next one of its thread.
    NotNext,
    /// The machine cannot run the event now.
    Disabled,
    /// The event observes something that the execution rules out.
    OtherObservation {
        /// Where the observed value comes from.
        source: EventId,
    },
    /// The store is not in a buffer, or may not leave it now.
    NotFlushable,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::NotNext => "it is not the next event of its thread",
            Refusal::Disabled => "the machine cannot run it now",
            Refusal::OtherObservation { .. } => "it observes something else than recorded",
            Refusal::NotFlushable => "no buffer can flush it now",
        })
    }
}

/// A state of the machine that runs an execution.
#[derive(Clone)]
pub struct MachineReplay<'a> {
    execution: &'a Execution,
    machine: ReferenceMachine,
}

impl<'a> MachineReplay<'a> {
    /// The initial state.
    #[must_use]
    pub fn new(execution: &'a Execution, model: Model) -> Self {
        let initial: Vec<_> = execution
            .locations()
            .map(|l| execution.action(execution.init_of(l)).written_value().unwrap_or(0))
            .collect();
        let plans: Vec<_> = execution
            .threads()
            .map(|t| ThreadPlan {
                spawned: execution.spawned_by(t).is_some(),
                instructions: execution.thread_len(t),
            })
            .collect();
        MachineReplay { execution, machine: ReferenceMachine::new(model, &initial, &plans) }
    }

    /// The state of the machine, which with the execution determines the state of the replay.
    #[must_use]
    pub fn machine(&self) -> &ReferenceMachine {
        &self.machine
    }

    /// Returns `true` if every event has run and every store is in memory.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.machine.all_done()
    }

    /// The next event of a thread.
    #[must_use]
    pub fn next(&self, thread: ThreadId) -> Option<EventId> {
        let position = self.execution.thread_len(thread) - self.machine.remaining(thread);
        self.execution.event_at(thread, position)
    }

    /// A superset of the possible steps: the next event of every thread and all flushes.
    #[must_use]
    pub fn candidates(&self) -> Vec<MachineStep> {
        let threads = || self.execution.threads();
        let runs = threads().filter_map(|t| self.next(t)).map(MachineStep::Run);
        let flushes = threads().flat_map(|t| self.machine.all_flushable(t));
        runs.chain(flushes.map(|(_, event)| MachineStep::Flush(event))).collect()
    }

    /// Performs a step. After an error the state is unusable.
    pub fn step(&mut self, step: MachineStep) -> Result<(), Refusal> {
        match step {
            MachineStep::Run(event) => self.run(event),
            MachineStep::Flush(event) => self.flush(event),
        }
    }

    fn run(&mut self, event: EventId) -> Result<(), Refusal> {
        let thread = self.execution.thread_of(event).ok_or(Refusal::NotNext)?;
        if self.next(thread) != Some(event) {
            return Err(Refusal::NotNext);
        }
        let (action, order) = (self.execution.action(event), self.execution.order(event));
        let instruction = instruction(action, order).ok_or(Refusal::NotNext)?;
        if !self.machine.can_run(thread, &instruction) {
            return Err(Refusal::Disabled);
        }
        let observation = self.machine.run(thread, event, &instruction);
        agrees(self.execution, event, observation)
    }

    fn flush(&mut self, event: EventId) -> Result<(), Refusal> {
        let thread = self.execution.thread_of(event).ok_or(Refusal::NotFlushable)?;
        let location = self.execution.action(event).location().ok_or(Refusal::NotFlushable)?;
        if self.machine.flushable(thread, location) != Some(event) {
            return Err(Refusal::NotFlushable);
        }
        self.machine.flush(thread, location);
        Ok(())
    }
}

/// The instruction that an event ran; an initial write has none.
fn instruction(action: &Action, order: MemoryOrder) -> Option<MachineInstruction> {
    Some(match *action {
        Action::Init { .. } => return None,
        Action::Read { location, .. } => MachineInstruction::Load { location },
        Action::Write { location, value } => MachineInstruction::Store { location, value, order },
        Action::Rmw { location, written, .. } => {
            MachineInstruction::Exchange { location, value: written }
        }
        Action::Cas { location, expected, desired, read, succeeded } => {
            let spurious = !succeeded && read == expected;
            MachineInstruction::CompareExchange { location, expected, desired, spurious }
        }
        Action::Fence => MachineInstruction::Fence { order },
        Action::StoreFence => MachineInstruction::StoreFence,
        Action::Lock { lock } => MachineInstruction::Lock { lock },
        Action::Unlock { lock } => MachineInstruction::Unlock { lock },
        Action::Spawn { thread } => MachineInstruction::Spawn { thread },
        Action::Join { thread } => MachineInstruction::Join { thread },
    })
}

/// Tests that an event may have made this observation.
fn agrees(
    execution: &Execution,
    event: EventId,
    observation: MachineObservation,
) -> Result<(), Refusal> {
    let action = execution.action(event);
    let (source, same) = match observation {
        MachineObservation::Nothing => return Ok(()),
        MachineObservation::Acquired { source } => (source, true),
        MachineObservation::Value { source, value, replaced } => {
            let writes = action.written_value().is_some();
            (source, action.read_value() == Some(value) && writes == replaced)
        }
    };
    let is_source = execution.sources(event).binary_search(&source).is_ok();
    if same && is_source { Ok(()) } else { Err(Refusal::OtherObservation { source }) }
}
