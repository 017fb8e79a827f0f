//! Random executions: random programs run on the machine.
//!
//! The model allows what its machine does. [`perturb`] then changes what some reads observe, which the model may or may not
//! allow. Both are deterministic in the seed. Generating costs O(n) for n events: blocked threads are set aside until they
//! can run, and buffers are short.

use raddle_core::execution::{
    Action, EventId, Execution, ExecutionBuilder, LocationId, MemoryOrder, SourceClaim, ThreadId,
    Value,
};

use super::machine::{MachineInstruction, MachineObservation, ReferenceMachine, ThreadPlan};
use super::random_program::{ThreadProgram, programs};
use super::shape::choose_order;
use raddle_core::random::Random;

pub use super::perturb::perturb;
pub use super::shape::{HistoryShape, ValueChoice};

/// A random execution that the model of the shape allows. Threads are named `P0`, `P1`, ...,
/// locations `x`, `y`, ... and locks `m`, `n`, ...
///
/// # Panics
/// If the shape has no threads, locations or values, or if stores can never leave their buffers.
#[must_use]
pub fn generate(shape: &HistoryShape, seed: u64) -> Execution {
    assert!(shape.threads > 0 && shape.locations > 0, "a shape has threads and locations");
    assert!(shape.buffer > 0 && shape.flushes > 0.0, "stores enter buffers and leave them");
    let mut run = GeneratorRun::new(shape, seed);
    while !run.active.is_empty() {
        let index = run.random.below(run.active.len());
        run.advance(index);
    }
    assert!(run.machine.all_done(), "random programs do not block");
    run.builder.build().expect("the machine runs well-formed executions")
}

/// A run of random programs.
struct GeneratorRun<'a> {
    shape: &'a HistoryShape,
    random: Random,
    programs: Vec<ThreadProgram>,
    machine: ReferenceMachine,
    builder: ExecutionBuilder,
    /// The threads that are started, not done, and not set aside.
    active: Vec<ThreadId>,
    /// For each location, the threads set aside until the lock is released.
    wait_for_lock: Vec<Vec<ThreadId>>,
    /// For each thread, the thread set aside until it is done.
    wait_for_end: Vec<Option<ThreadId>>,
}

impl<'a> GeneratorRun<'a> {
    fn new(shape: &'a HistoryShape, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let programs = programs(shape, &mut random);
        let initial = initial_values(shape, &mut random);
        let mut plans = vec![
            ThreadPlan { spawned: false, instructions: shape.events_per_thread };
            shape.threads
        ];
        for instruction in programs.iter().flatten() {
            if let MachineInstruction::Spawn { thread } = instruction {
                plans[thread.index()].spawned = true;
            }
        }
        let started = |t: &ThreadId| !plans[t.index()].spawned;
        GeneratorRun {
            shape,
            active: (0..shape.threads).map(ThreadId::new).filter(started).collect(),
            wait_for_lock: vec![vec![]; initial.len()],
            wait_for_end: vec![None; shape.threads],
            builder: declare(shape, &initial, &programs),
            machine: ReferenceMachine::new(shape.model, &initial, &plans),
            programs,
            random,
        }
    }

    /// Runs one step of a thread, or sets it aside. A finished thread flushes as slowly as others.
    fn advance(&mut self, index: usize) {
        let thread = self.active[index];
        let position = self.shape.events_per_thread - self.machine.remaining(thread);
        let instruction = self.programs[thread.index()].get(position).copied();
        let runnable = instruction.filter(|next| self.machine.can_run(thread, next));
        let buffered = self.machine.buffered(thread);
        let waits = instruction.is_some() && runnable.is_none();
        let must_flush = waits || buffered >= self.shape.buffer;
        if buffered > 0 && (must_flush || self.random.chance(self.shape.flushes)) {
            self.flush(thread);
        } else if let Some(instruction) = runnable {
            self.run(thread, position, instruction);
        } else if buffered == 0 {
            self.active.swap_remove(index);
            self.set_aside(thread, instruction);
        }
    }

    fn flush(&mut self, thread: ThreadId) {
        let choices: Vec<_> = self.machine.all_flushable(thread).collect();
        let (location, _) = choices[self.random.below(choices.len())];
        self.machine.flush(thread, location);
    }

    fn run(&mut self, thread: ThreadId, position: usize, instruction: MachineInstruction) {
        let instruction = self.aim(instruction);
        let event = self.event(thread, position);
        let observation = self.machine.run(thread, event, &instruction);
        let claim = self.claim(observation);
        let action = action(instruction, observation);
        let order = self.order(&action, &instruction);
        self.builder.push_ordered(thread, action, order, claim);
        match instruction {
            MachineInstruction::Spawn { thread } => self.active.push(thread),
            MachineInstruction::Unlock { lock } => {
                self.active.extend(self.wait_for_lock[lock.index()].pop());
            }
            _ => {}
        }
    }

    /// Sets a thread aside that is done or waits for a lock or for the end of a thread.
    fn set_aside(&mut self, thread: ThreadId, instruction: Option<MachineInstruction>) {
        match instruction {
            Some(MachineInstruction::Lock { lock }) => {
                self.wait_for_lock[lock.index()].push(thread);
            }
            Some(MachineInstruction::Join { thread: other }) => {
                self.wait_for_end[other.index()] = Some(thread);
            }
            Some(other) => unreachable!("{other:?} runs at once when the buffer is empty"),
            None => self.active.extend(self.wait_for_end[thread.index()]),
        }
    }

    /// Turns the difference in a compare-exchange into the value to expect.
    fn aim(&self, mut instruction: MachineInstruction) -> MachineInstruction {
        if let MachineInstruction::CompareExchange { location, expected, .. } = &mut instruction {
            *expected += self.machine.value(*location);
        }
        instruction
    }

    /// The memory order of an event. Orders of stores and fences matter to the machine and were chosen before; the possible
    /// orders of a compare-exchange depend on its outcome.
    fn order(&mut self, action: &Action, instruction: &MachineInstruction) -> MemoryOrder {
        match *instruction {
            MachineInstruction::Store { order, .. } | MachineInstruction::Fence { order } => order,
            _ => choose_order(action, self.shape, &mut self.random),
        }
    }

    /// Names the source of an observation, or leaves it to the value.
    fn claim(&mut self, observation: MachineObservation) -> SourceClaim {
        let (MachineObservation::Value { source, .. } | MachineObservation::Acquired { source }) =
            observation
        else {
            return SourceClaim::Unnamed;
        };
        if !self.random.chance(self.shape.name_sources) {
            return SourceClaim::Unnamed;
        }
        let locations = self.shape.locations + self.shape.locks;
        let Some(index) = source.index().checked_sub(locations) else { return SourceClaim::Init };
        let len = self.shape.events_per_thread;
        SourceClaim::Event { thread: ThreadId::new(index / len), position: index % len }
    }

    fn event(&self, thread: ThreadId, position: usize) -> EventId {
        let before = thread.index() * self.shape.events_per_thread + position;
        EventId::new(self.shape.locations + self.shape.locks + before)
    }
}

/// The initial values of the locations; locks, which follow them, have 0.
fn initial_values(shape: &HistoryShape, random: &mut Random) -> Vec<Value> {
    let mut initial = vec![0; shape.locations + shape.locks];
    if let ValueChoice::Few(count) = shape.values {
        initial[..shape.locations].fill_with(|| random.below(count) as Value);
    }
    initial
}

/// A builder with the threads, locations and initial values. An initial value of 0 is stated only for locations that are
/// never written.
fn declare(
    shape: &HistoryShape,
    initial: &[Value],
    programs: &[ThreadProgram],
) -> ExecutionBuilder {
    let mut builder = ExecutionBuilder::new();
    if shape.keep_order {
        builder.keep_order();
    }
    for t in 0..shape.threads {
        let thread = builder.thread(&format!("P{t}"));
        builder.declare(thread);
    }
    for l in 0..shape.locations {
        builder.location(&numbered(&["x", "y", "z", "w", "a", "b", "c", "d"], l));
    }
    for l in 0..shape.locks {
        builder.location(&numbered(&["m", "n"], l));
    }
    let mut written = vec![false; initial.len()];
    for instruction in programs.iter().flatten() {
        if let MachineInstruction::Store { location, .. }
        | MachineInstruction::Exchange { location, .. } = instruction
        {
            written[location.index()] = true;
        }
    }
    for l in 0..shape.locations {
        if initial[l] != 0 || !written[l] {
            builder.init(LocationId::new(l), initial[l]).expect("it is stated once");
        }
    }
    builder
}

/// The name with this index, or the first name with a number.
fn numbered(names: &[&str], index: usize) -> String {
    match names.get(index) {
        Some(&name) => name.to_owned(),
        None => format!("{}{}", names[0], index - names.len()),
    }
}

/// The event of an instruction with its observation.
pub(crate) fn action(instruction: MachineInstruction, observation: MachineObservation) -> Action {
    let (read, succeeded) = match observation {
        MachineObservation::Value { value, replaced, .. } => (value, replaced),
        MachineObservation::Nothing | MachineObservation::Acquired { .. } => (0, false),
    };
    match instruction {
        MachineInstruction::Load { location } => Action::Read { location, value: read },
        MachineInstruction::Store { location, value, .. } => Action::Write { location, value },
        MachineInstruction::Exchange { location, value } => {
            Action::Rmw { location, read, written: value }
        }
        MachineInstruction::CompareExchange { location, expected, desired, .. } => {
            Action::Cas { location, expected, desired, read, succeeded }
        }
        MachineInstruction::Fence { .. } => Action::Fence,
        MachineInstruction::StoreFence => Action::StoreFence,
        MachineInstruction::Lock { lock } => Action::Lock { lock },
        MachineInstruction::Unlock { lock } => Action::Unlock { lock },
        MachineInstruction::Spawn { thread } => Action::Spawn { thread },
        MachineInstruction::Join { thread } => Action::Join { thread },
    }
}
