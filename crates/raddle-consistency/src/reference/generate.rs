//! Random executions, made by running random programs on the machine.
//!
//! What the machine of a model did is allowed under the model; [`perturb`] then changes what some
//! reads observed, which may or may not leave it so. Both are deterministic in the seed. Generating
//! costs O(n) for n events: threads that cannot move are set aside until they can, and buffers are
//! short.

use raddle_core::execution::{
    Action, EventId, Execution, ExecutionBuilder, LocationId, MemoryOrder, SourceClaim, ThreadId,
    Value,
};
use raddle_core::model::Model;

use super::machine::{MachineInstruction, MachineObservation, ReferenceMachine, ThreadPlan};
use super::program::{ThreadProgram, programs};
use raddle_core::random::Random;

pub use super::perturb::perturb;

/// Which values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueChoice {
    /// Every write of a location has its own value, from 1; so values determine sources.
    Distinct,
    /// The values below this number, initial values included.
    Few(usize),
}

/// What random executions look like. Shares are from 0 to 1; what `rmw`, `cas`, `fences`,
/// `store_fences` and `lock_events` leave are loads and stores.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryShape {
    /// The model whose machine runs the program.
    pub model: Model,
    /// The number of threads, at least 1.
    pub threads: usize,
    /// The number of memory locations, at least 1.
    pub locations: usize,
    /// The number of locks.
    pub locks: usize,
    /// The number of events of each thread.
    pub events_per_thread: usize,
    /// Which values are written.
    pub values: ValueChoice,
    /// Of loads and stores, the share of stores.
    pub writes: f64,
    /// The share of read-modify-writes.
    pub rmw: f64,
    /// The share of compare-exchanges; about half of them fail.
    pub cas: f64,
    /// The share of full fences.
    pub fences: f64,
    /// The share of store-store fences.
    pub store_fences: f64,
    /// The share of acquires and releases, if there are locks.
    pub lock_events: f64,
    /// Whether threads spawn and join threads; otherwise all run from the start.
    pub spawn_join: bool,
    /// Of accesses and fences, the share that get a memory order at random. The others have the one
    /// that such an event has by default.
    pub orders: f64,
    /// The share of reads and acquires that name their source.
    pub name_sources: f64,
    /// How likely a thread flushes a store when it need not, above 0.
    pub flushes: f64,
    /// How many stores of a thread wait in its buffer at most, at least 1.
    pub buffer: usize,
    /// Whether the execution keeps the order in which the events ran.
    pub keep_order: bool,
}

impl Default for HistoryShape {
    fn default() -> Self {
        HistoryShape {
            model: Model::Sc,
            threads: 3,
            locations: 2,
            locks: 1,
            events_per_thread: 4,
            values: ValueChoice::Few(3),
            writes: 0.5,
            rmw: 0.05,
            cas: 0.04,
            fences: 0.03,
            store_fences: 0.05,
            lock_events: 0.08,
            spawn_join: false,
            orders: 0.0,
            name_sources: 0.5,
            flushes: 0.1,
            buffer: 4,
            keep_order: false,
        }
    }
}

/// A random execution that the model of the shape allows. Threads are named `P0`, `P1`, ...,
/// locations `x`, `y`, ... and locks `m`, `n`, ...
///
/// # Panics
/// If the shape has no threads, no locations, no values, or buffers of no use.
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

    /// Lets a thread make a step, or sets it aside. A thread at its end takes its time to flush.
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

    /// A thread that cannot move is done, or waits for a lock or for the end of a thread.
    fn set_aside(&mut self, thread: ThreadId, instruction: Option<MachineInstruction>) {
        match instruction {
            Some(MachineInstruction::Lock { lock }) => {
                self.wait_for_lock[lock.index()].push(thread)
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

    /// The memory order of an event. What the machine has to know is chosen in advance; which orders
    /// a compare-exchange can have is known when it has run.
    fn order(&mut self, action: &Action, instruction: &MachineInstruction) -> MemoryOrder {
        match *instruction {
            MachineInstruction::Store { order, .. } | MachineInstruction::Fence { order } => order,
            _ => choose_order(action, self.shape, &mut self.random),
        }
    }

    /// Says where an observation comes from, or leaves it to the value.
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

/// A random memory order that such an event can have, or the default. Without a share of random
/// orders, nothing is drawn.
pub(super) fn choose_order(
    action: &Action,
    shape: &HistoryShape,
    random: &mut Random,
) -> MemoryOrder {
    let possible = action.possible_orders();
    match shape.orders > 0.0 && random.chance(shape.orders) {
        true => possible[random.below(possible.len())],
        false => action.default_order(),
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

/// A builder with the threads, locations and initial values. A value of 0 is stated only where
/// nobody writes.
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

/// The event that an instruction with its observation is.
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
