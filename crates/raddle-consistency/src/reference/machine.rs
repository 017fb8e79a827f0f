//! The machine that defines SC, TSO and PSO.
//!
//! It takes instructions and gives observations; it knows nothing of histories. Memory holds for
//! every location a value and the event that wrote it. Under SC a store reaches memory at once.
//! Otherwise it enters its thread's store buffer and is *flushed* to memory later, at any time: under
//! TSO the stores of a thread leave its buffer in their order, under PSO only those to the same
//! location do, and those on two sides of a store-store fence. A load observes the newest store to
//! its location in its own buffer, else memory. Everything else (read-modify-writes, full fences,
//! lock, unlock, spawn, join) waits until the buffer of its thread is empty and acts on memory.
//!
//! Memory orders matter to stores and fences only. A sequentially consistent store waits for an
//! empty buffer, too, and writes memory at once, like the exchange that compilers emit for it. A
//! release store has a store-store fence before it. A release fence is a store-store fence, an
//! acquire fence does nothing, and only a sequentially consistent one is a full fence.
//!
//! Both kinds of buffers are modelled with *ranks*: every store has a rank, and only stores of the lowest rank in the
//! buffer may leave it. Under TSO every store starts a new rank; under PSO a store-store fence does.
//!
//! Cost: O(log b) for a step, where b is the number of stores in the buffer.

use std::collections::{BTreeMap, VecDeque};

use raddle_core::execution::{EventId, LocationId, MemoryOrder, ThreadId, Value};
use raddle_core::model::Model;
use raddle_core::model::reference::{Buffering, buffering};

/// An instruction of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the fields are those of `Action`")]
pub enum MachineInstruction {
    /// Loads a value.
    Load { location: LocationId },
    /// Stores a value.
    Store { location: LocationId, value: Value, order: MemoryOrder },
    /// Replaces a value atomically.
    Exchange { location: LocationId, value: Value },
    /// Replaces the expected value atomically. A `spurious` one fails even if it finds that value.
    CompareExchange { location: LocationId, expected: Value, desired: Value, spurious: bool },
    /// A fence: a full one, if it is sequentially consistent.
    Fence { order: MemoryOrder },
    /// A store-store fence.
    StoreFence,
    /// Acquires a free lock.
    Lock { lock: LocationId },
    /// Releases a lock that the thread holds.
    Unlock { lock: LocationId },
    /// Starts a thread.
    Spawn { thread: ThreadId },
    /// Waits for the end of a thread.
    Join { thread: ThreadId },
}

impl MachineInstruction {
    /// Returns `true` if the instruction waits until the store buffer of its thread is empty.
    fn drains(&self) -> bool {
        match *self {
            MachineInstruction::Load { .. } | MachineInstruction::StoreFence => false,
            MachineInstruction::Store { order, .. } | MachineInstruction::Fence { order } => {
                order == MemoryOrder::SeqCst
            }
            _ => true,
        }
    }
}

/// The result of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MachineObservation {
    /// Nothing.
    Nothing,
    /// The value of a location.
    Value {
        /// The event that wrote it.
        source: EventId,
        /// The value.
        value: Value,
        /// Whether the instruction replaced it.
        replaced: bool,
    },
    /// A lock.
    Acquired {
        /// The event that released it, or its initial write.
        source: EventId,
    },
}

/// What the machine knows of a thread in advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadPlan {
    /// Whether the thread waits for a spawn; otherwise it runs from the start.
    pub spawned: bool,
    /// How many instructions it runs; then it is finished.
    pub instructions: usize,
}

/// A location in memory: its value, or who holds the lock, and the event that wrote it.
#[derive(Clone, PartialEq, Eq, Hash)]
struct MemoryCell {
    writer: EventId,
    value: Value,
    holder: Option<ThreadId>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct BufferedStore {
    event: EventId,
    value: Value,
    rank: usize,
}

/// The stores of a thread that are not yet in memory.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct StoreBuffer {
    /// For each location that has any, its stores, oldest first.
    stores: BTreeMap<LocationId, VecDeque<BufferedStore>>,
    /// For each rank that has any, the number of its stores.
    ranks: BTreeMap<usize, usize>,
    /// The rank of the next store. It depends only on the instructions run so far.
    next_rank: usize,
}

impl StoreBuffer {
    fn push(&mut self, location: LocationId, event: EventId, value: Value) {
        let rank = self.next_rank;
        self.stores.entry(location).or_default().push_back(BufferedStore { event, value, rank });
        *self.ranks.entry(rank).or_default() += 1;
    }

    fn newest(&self, location: LocationId) -> Option<&BufferedStore> {
        self.stores.get(&location)?.back()
    }

    /// The store to the location that may leave the buffer now.
    fn first(&self, location: LocationId) -> Option<&BufferedStore> {
        let oldest = self.stores.get(&location)?.front()?;
        let (lowest, _) = self.ranks.first_key_value()?;
        (oldest.rank == *lowest).then_some(oldest)
    }

    fn pop(&mut self, location: LocationId) -> Option<BufferedStore> {
        self.first(location)?;
        let queue = self.stores.get_mut(&location)?;
        let store = queue.pop_front()?;
        if queue.is_empty() {
            self.stores.remove(&location);
        }
        let left = self.ranks.get_mut(&store.rank)?;
        *left -= 1;
        if *left == 0 {
            self.ranks.remove(&store.rank);
        }
        Some(store)
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct ThreadState {
    started: bool,
    remaining: usize,
    buffer: StoreBuffer,
}

/// A state of the machine.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ReferenceMachine {
    buffering: Buffering,
    memory: Vec<MemoryCell>,
    threads: Vec<ThreadState>,
}

impl ReferenceMachine {
    /// The initial state. Location `l` holds `initial[l]`, written by event `l`; locks are free.
    ///
    /// # Panics
    /// If no machine defines the model.
    #[must_use]
    pub fn new(model: Model, initial: &[Value], threads: &[ThreadPlan]) -> Self {
        let cell = |(l, &value)| MemoryCell { writer: EventId::new(l), value, holder: None };
        let thread = |plan: &ThreadPlan| ThreadState {
            started: !plan.spawned,
            remaining: plan.instructions,
            buffer: StoreBuffer::default(),
        };
        ReferenceMachine {
            buffering: buffering(model).expect("a machine defines the model"),
            memory: initial.iter().enumerate().map(cell).collect(),
            threads: threads.iter().map(thread).collect(),
        }
    }

    /// The number of instructions that a thread has still to run.
    #[must_use]
    pub fn remaining(&self, thread: ThreadId) -> usize {
        self.threads[thread.index()].remaining
    }

    /// The number of stores of a thread that are not yet in memory. Costs O(b).
    #[must_use]
    pub fn buffered(&self, thread: ThreadId) -> usize {
        self.threads[thread.index()].buffer.ranks.values().sum()
    }

    /// The value of a location in memory.
    #[must_use]
    pub fn value(&self, location: LocationId) -> Value {
        self.memory[location.index()].value
    }

    /// The event that wrote the value of a location in memory, or released the lock.
    #[must_use]
    pub fn writer(&self, location: LocationId) -> EventId {
        self.memory[location.index()].writer
    }

    /// Returns `true` if a thread has run all its instructions and all its stores are in memory.
    #[must_use]
    pub fn is_done(&self, thread: ThreadId) -> bool {
        let ThreadState { started, remaining, ref buffer } = self.threads[thread.index()];
        started && remaining == 0 && buffer.stores.is_empty()
    }

    /// Returns `true` if all threads are done.
    #[must_use]
    pub fn all_done(&self) -> bool {
        (0..self.threads.len()).all(|t| self.is_done(ThreadId::new(t)))
    }

    /// Returns `true` if a thread can run an instruction now.
    #[must_use]
    pub fn can_run(&self, thread: ThreadId, instruction: &MachineInstruction) -> bool {
        let own = &self.threads[thread.index()];
        let drained = own.buffer.stores.is_empty() || !instruction.drains();
        let enabled = match *instruction {
            MachineInstruction::Lock { lock } => self.memory[lock.index()].holder.is_none(),
            MachineInstruction::Unlock { lock } => self.memory[lock.index()].holder == Some(thread),
            MachineInstruction::Spawn { thread } => !self.threads[thread.index()].started,
            MachineInstruction::Join { thread } => self.is_done(thread),
            _ => true,
        };
        own.started && own.remaining > 0 && drained && enabled
    }

    /// Runs an instruction of a thread; `event` identifies its store.
    ///
    /// # Panics
    /// If the thread cannot run it ([`ReferenceMachine::can_run`]).
    pub fn run(
        &mut self,
        thread: ThreadId,
        event: EventId,
        instruction: &MachineInstruction,
    ) -> MachineObservation {
        assert!(self.can_run(thread, instruction), "{instruction:?} cannot run");
        self.threads[thread.index()].remaining -= 1;
        match *instruction {
            MachineInstruction::Load { location } => return self.load(thread, location),
            MachineInstruction::Store { location, value, order: MemoryOrder::SeqCst } => {
                self.write(event, location, value);
            }
            MachineInstruction::Store { location, value, order } => {
                if order.is_release() {
                    self.store_fence(thread);
                }
                self.store(thread, event, location, value);
            }
            MachineInstruction::Exchange { location, value } => {
                return self.update(event, location, |_| Some(value));
            }
            MachineInstruction::CompareExchange { location, expected, desired, spurious } => {
                let succeeds = |value| !spurious && value == expected;
                return self.update(event, location, |old| succeeds(old).then_some(desired));
            }
            MachineInstruction::Fence { order: MemoryOrder::Release | MemoryOrder::AcqRel }
            | MachineInstruction::StoreFence => self.store_fence(thread),
            MachineInstruction::Fence { .. } | MachineInstruction::Join { .. } => {}
            MachineInstruction::Lock { lock } => {
                let cell = &mut self.memory[lock.index()];
                cell.holder = Some(thread);
                return MachineObservation::Acquired { source: cell.writer };
            }
            MachineInstruction::Unlock { lock } => {
                let cell = &mut self.memory[lock.index()];
                cell.holder = None;
                cell.writer = event;
            }
            MachineInstruction::Spawn { thread } => self.threads[thread.index()].started = true,
        }
        MachineObservation::Nothing
    }

    /// The store to a location that may move from a thread's buffer to memory now, if any.
    #[must_use]
    pub fn flushable(&self, thread: ThreadId, location: LocationId) -> Option<EventId> {
        Some(self.threads[thread.index()].buffer.first(location)?.event)
    }

    /// All stores that may move from a thread's buffer to memory now, with their locations.
    pub fn all_flushable(
        &self,
        thread: ThreadId,
    ) -> impl Iterator<Item = (LocationId, EventId)> + '_ {
        let buffer = &self.threads[thread.index()].buffer;
        let event = |&location| Some((location, buffer.first(location)?.event));
        buffer.stores.keys().filter_map(event)
    }

    /// Moves the oldest store to a location from a thread's buffer to memory.
    ///
    /// # Panics
    /// If it may not leave the buffer ([`ReferenceMachine::flushable`]).
    pub fn flush(&mut self, thread: ThreadId, location: LocationId) {
        let store = self.threads[thread.index()].buffer.pop(location);
        let BufferedStore { event, value, .. } = store.expect("a store may leave the buffer");
        self.write(event, location, value);
    }

    fn load(&self, thread: ThreadId, location: LocationId) -> MachineObservation {
        let cell = &self.memory[location.index()];
        let (source, value) = match self.threads[thread.index()].buffer.newest(location) {
            Some(own) => (own.event, own.value),
            None => (cell.writer, cell.value),
        };
        MachineObservation::Value { source, value, replaced: false }
    }

    fn store(&mut self, thread: ThreadId, event: EventId, location: LocationId, value: Value) {
        let buffer = &mut self.threads[thread.index()].buffer;
        match self.buffering {
            Buffering::None => self.write(event, location, value),
            Buffering::Fifo => {
                buffer.push(location, event, value);
                buffer.next_rank += 1;
            }
            Buffering::FifoPerLocation => buffer.push(location, event, value),
        }
    }

    fn store_fence(&mut self, thread: ThreadId) {
        self.threads[thread.index()].buffer.next_rank += 1;
    }

    fn write(&mut self, event: EventId, location: LocationId, value: Value) {
        let cell = &mut self.memory[location.index()];
        cell.writer = event;
        cell.value = value;
    }

    /// Reads memory and replaces the value if `new` returns one.
    fn update(
        &mut self,
        event: EventId,
        location: LocationId,
        new: impl Fn(Value) -> Option<Value>,
    ) -> MachineObservation {
        let MemoryCell { writer: source, value, .. } = self.memory[location.index()];
        let written = new(value);
        if let Some(written) = written {
            self.write(event, location, written);
        }
        MachineObservation::Value { source, value, replaced: written.is_some() }
    }
}
