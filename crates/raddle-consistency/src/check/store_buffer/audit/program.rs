//! Programs that are mutated, and their runs.
//!
//! Besides two locations and a lock, programs have *gates*: locations with one store, which loads
//! wait for. A gate puts events of two threads in order without a fence, as the examples do that the
//! papers' algorithms trip over; random loads and stores seldom do.

use crate::reference::generate::action;
use crate::reference::machine::{
    MachineInstruction, MachineObservation, ReferenceMachine, ThreadPlan,
};
use raddle_core::execution::{
    EventId, Execution, ExecutionBuilder, LocationId, MemoryOrder, SourceClaim, ThreadId, Value,
};
use raddle_core::model::Model;
use raddle_core::random::Random;

const NAMES: [&str; 7] = ["x", "y", "a", "b", "c", "d", "m"];
const PLAIN: usize = 2;
const GATES: std::ops::Range<usize> = PLAIN..6;
const LOCK: usize = 6;

/// By thread: its instructions.
#[derive(Clone)]
pub(super) struct AuditProgram {
    threads: Vec<Vec<MachineInstruction>>,
    store_fences: bool,
}

impl AuditProgram {
    /// A random program with a few gates. It may block.
    pub(super) fn new(store_fences: bool, random: &mut Random) -> AuditProgram {
        let threads = vec![vec![]; 3 + random.below(2)];
        let mut program = AuditProgram { threads, store_fences };
        for thread in 0..program.threads.len() {
            for _ in 0..=random.below(4) {
                program.insert_any(thread, random);
            }
        }
        for _ in 0..random.below(4) {
            program.insert_gate(random);
        }
        program
    }

    /// The number of instructions.
    pub(super) fn len(&self) -> usize {
        self.threads.iter().map(Vec::len).sum()
    }

    /// Makes one to four small changes.
    pub(super) fn mutate(&mut self, random: &mut Random) {
        for _ in 0..=random.below(4) {
            let thread = random.below(self.threads.len());
            let len = self.threads[thread].len();
            match random.below(9) {
                0 | 1 => self.insert_any(thread, random),
                2 | 3 if len > 0 => drop(self.threads[thread].remove(random.below(len))),
                4 if len > 0 => {
                    self.threads[thread].remove(random.below(len));
                    self.insert_any(thread, random);
                }
                5 if len > 1 => {
                    let at = random.below(len - 1);
                    self.threads[thread].swap(at, at + 1);
                }
                6 | 7 => self.insert_gate(random),
                _ => self.insert_rare(thread, random),
            }
        }
    }

    /// Inserts a random instruction. Updates are frequent: chains of them are what is hard.
    fn insert_any(&mut self, thread: usize, random: &mut Random) {
        let location = LocationId::new(random.below(PLAIN));
        let value = random.below(3) as Value;
        let instruction = match random.below(if self.store_fences { 19 } else { 16 }) {
            0..4 => MachineInstruction::Store { location, value, order: self.store_order(random) },
            4..7 => MachineInstruction::Load { location },
            7..13 => MachineInstruction::Exchange { location, value },
            13 => MachineInstruction::CompareExchange {
                location,
                expected: 9,
                desired: 9,
                spurious: false,
            },
            14 => MachineInstruction::Fence { order: MemoryOrder::SeqCst },
            15 => MachineInstruction::Fence { order: self.fence_order(random) },
            _ => MachineInstruction::StoreFence,
        };
        self.insert(thread, instruction, random);
    }

    /// Release stores are store-store fences, too.
    fn store_order(&self, random: &mut Random) -> MemoryOrder {
        match random.below(8) {
            0 | 1 => MemoryOrder::SeqCst,
            2 | 3 if self.store_fences => MemoryOrder::Release,
            _ => MemoryOrder::NonAtomic,
        }
    }

    /// Release fences are store-store fences, too.
    fn fence_order(&self, random: &mut Random) -> MemoryOrder {
        match random.below(4) {
            0 => MemoryOrder::Acquire,
            1 if self.store_fences => MemoryOrder::Release,
            2 if self.store_fences => MemoryOrder::AcqRel,
            _ => MemoryOrder::SeqCst,
        }
    }

    /// Makes a thread wait for another one at a gate, and removes all other uses of the gate.
    fn insert_gate(&mut self, random: &mut Random) {
        let location = LocationId::new(GATES.start + random.below(GATES.len()));
        let other = |i: &MachineInstruction| !matches!(i, MachineInstruction::Load { location: l } | MachineInstruction::Store { location: l, .. } if *l == location);
        self.threads.iter_mut().for_each(|thread| thread.retain(other));
        let writer = random.below(self.threads.len());
        let order = self.store_order(random);
        self.insert(writer, MachineInstruction::Store { location, value: 1, order }, random);
        let reader = random.below(self.threads.len());
        self.insert(reader, MachineInstruction::Load { location }, random);
    }

    /// Inserts a critical section, a spawn or a join, or another load at a gate.
    fn insert_rare(&mut self, thread: usize, random: &mut Random) {
        let other = ThreadId::new(random.below(self.threads.len()));
        match random.below(9) {
            0 => {
                let lock = LocationId::new(LOCK);
                let from = self.insert(thread, MachineInstruction::Lock { lock }, random);
                let to = from + 1 + random.below(self.threads[thread].len() - from);
                self.threads[thread].insert(to, MachineInstruction::Unlock { lock });
            }
            1 => drop(self.insert(thread, MachineInstruction::Spawn { thread: other }, random)),
            2 => drop(self.insert(thread, MachineInstruction::Join { thread: other }, random)),
            _ => {
                let location = LocationId::new(GATES.start + random.below(GATES.len()));
                self.insert(thread, MachineInstruction::Load { location }, random);
            }
        }
    }

    fn insert(&mut self, thread: usize, new: MachineInstruction, random: &mut Random) -> usize {
        let at = random.below(self.threads[thread].len() + 1);
        self.threads[thread].insert(at, new);
        at
    }

    /// By thread: what the machine must know of it.
    fn plans(&self) -> Vec<ThreadPlan> {
        let is_spawned = |t: usize| {
            let spawn = MachineInstruction::Spawn { thread: ThreadId::new(t) };
            self.threads.iter().flatten().any(|&instruction| instruction == spawn)
        };
        let plan = |(t, thread): (usize, &Vec<MachineInstruction>)| ThreadPlan {
            spawned: is_spawned(t),
            instructions: thread.len(),
        };
        self.threads.iter().enumerate().map(plan).collect()
    }

    /// Where an instruction is: its thread and its position there.
    fn place(&self, mut index: usize) -> (ThreadId, usize) {
        for (t, thread) in self.threads.iter().enumerate() {
            if index < thread.len() {
                return (ThreadId::new(t), index);
            }
            index -= thread.len();
        }
        unreachable!("the machine observes what the program wrote")
    }
}

/// How to run a program.
pub(super) struct Habits {
    pub(super) model: Model,
    /// How likely a store is flushed, rather than an instruction run.
    pub(super) flushes: f64,
    /// The share of reads that name their source.
    pub(super) named: f64,
}

/// Runs a program. None if it blocks or makes no sense.
pub(super) fn run(
    program: &AuditProgram,
    habits: &Habits,
    random: &mut Random,
) -> Option<Execution> {
    let mut machine = ReferenceMachine::new(habits.model, &[0; NAMES.len()], &program.plans());
    let mut builder = declare(program);
    let threads = || (0..program.threads.len()).map(ThreadId::new);
    while !machine.all_done() {
        let flushes: Vec<(ThreadId, LocationId)> =
            threads().flat_map(|t| machine.all_flushable(t).map(move |(l, _)| (t, l))).collect();
        let ready: Vec<(ThreadId, MachineInstruction)> =
            threads().filter_map(|t| Some((t, next(program, &machine, t)?))).collect();
        if !flushes.is_empty() && (ready.is_empty() || random.chance(habits.flushes)) {
            let (thread, location) = flushes[random.below(flushes.len())];
            machine.flush(thread, location);
            continue;
        }
        let &(thread, instruction) = random.pick(&ready)?;
        let before: usize = program.threads[..thread.index()].iter().map(Vec::len).sum();
        let end = before + program.threads[thread.index()].len();
        let event = EventId::new(NAMES.len() + end - machine.remaining(thread));
        let observation = machine.run(thread, event, &instruction);
        let is_named = random.chance(habits.named);
        let claim = if is_named { claim(program, observation) } else { SourceClaim::Unnamed };
        let action = action(instruction, observation);
        let order = match instruction {
            MachineInstruction::Store { order, .. } | MachineInstruction::Fence { order } => order,
            _ => action.default_order(),
        };
        builder.push_ordered(thread, action, order, claim);
    }
    builder.build().ok()
}

/// The next instruction of a thread, if it can run. A load at a gate waits for the store.
fn next(
    program: &AuditProgram,
    machine: &ReferenceMachine,
    thread: ThreadId,
) -> Option<MachineInstruction> {
    let instructions = &program.threads[thread.index()];
    let next = *instructions.get(instructions.len() - machine.remaining(thread))?;
    let is_shut = |l: LocationId| GATES.contains(&l.index()) && machine.value(l) == 0;
    let waits = matches!(next, MachineInstruction::Load { location } if is_shut(location));
    (!waits && machine.can_run(thread, &next)).then_some(next)
}

fn declare(program: &AuditProgram) -> ExecutionBuilder {
    let mut builder = ExecutionBuilder::new();
    for t in 0..program.threads.len() {
        let thread = builder.thread(&format!("P{t}"));
        builder.declare(thread);
    }
    for name in NAMES {
        let location = builder.location(name);
        if location.index() != LOCK {
            builder.init(location, 0).expect("it is stated once");
        }
    }
    builder
}

/// Names the source of an observation.
fn claim(program: &AuditProgram, observation: MachineObservation) -> SourceClaim {
    let (MachineObservation::Value { source, .. } | MachineObservation::Acquired { source }) =
        observation
    else {
        return SourceClaim::Unnamed;
    };
    let Some(index) = source.index().checked_sub(NAMES.len()) else { return SourceClaim::Init };
    let (thread, position) = program.place(index);
    SourceClaim::Event { thread, position }
}
