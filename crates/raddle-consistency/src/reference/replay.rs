//! Running the events of an execution on the machine.
//!
//! An event says what the thread asked for and what it observed. [`Replay`] runs the first on the
//! machine and compares the second; both the brute force and the recheck of witnesses step it.

use std::fmt;

use crate::witness::Step;
use raddle_core::execution::{Action, EventId, Execution, MemoryOrder, ThreadId};
use raddle_core::model::Model;

use super::machine::{Instruction, Machine, Observation, ThreadPlan};

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
pub struct Replay<'a> {
    execution: &'a Execution,
    machine: Machine,
}

impl<'a> Replay<'a> {
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
        Replay { execution, machine: Machine::new(model, &initial, &plans) }
    }

    /// The state of the machine. With the execution, it determines this state.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Whether every event has run and every store is in memory.
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

    /// All steps that might be possible: the next event of every thread and all flushes.
    #[must_use]
    pub fn candidates(&self) -> Vec<Step> {
        let threads = || self.execution.threads();
        let runs = threads().filter_map(|t| self.next(t)).map(Step::Run);
        let flushes = threads().flat_map(|t| self.machine.all_flushable(t));
        runs.chain(flushes.map(|(_, event)| Step::Flush(event))).collect()
    }

    /// Makes a step. After a refusal the state is of no use.
    pub fn step(&mut self, step: Step) -> Result<(), Refusal> {
        match step {
            Step::Run(event) => self.run(event),
            Step::Flush(event) => self.flush(event),
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
fn instruction(action: &Action, order: MemoryOrder) -> Option<Instruction> {
    Some(match *action {
        Action::Init { .. } => return None,
        Action::Read { location, .. } => Instruction::Load { location },
        Action::Write { location, value } => Instruction::Store { location, value, order },
        Action::Rmw { location, written, .. } => Instruction::Exchange { location, value: written },
        Action::Cas { location, expected, desired, read, succeeded } => {
            let spurious = !succeeded && read == expected;
            Instruction::CompareExchange { location, expected, desired, spurious }
        }
        Action::Fence => Instruction::Fence { order },
        Action::StoreFence => Instruction::StoreFence,
        Action::Lock { lock } => Instruction::Lock { lock },
        Action::Unlock { lock } => Instruction::Unlock { lock },
        Action::Spawn { thread } => Instruction::Spawn { thread },
        Action::Join { thread } => Instruction::Join { thread },
    })
}

/// Whether an event may have made this observation.
fn agrees(execution: &Execution, event: EventId, observation: Observation) -> Result<(), Refusal> {
    let action = execution.action(event);
    let (source, same) = match observation {
        Observation::Nothing => return Ok(()),
        Observation::Acquired { source } => (source, true),
        Observation::Value { source, value, replaced } => {
            let writes = action.written_value().is_some();
            (source, action.read_value() == Some(value) && writes == replaced)
        }
    };
    let is_source = execution.sources(event).binary_search(&source).is_ok();
    if same && is_source { Ok(()) } else { Err(Refusal::OtherObservation { source }) }
}
