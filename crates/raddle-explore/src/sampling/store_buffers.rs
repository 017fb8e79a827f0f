//! Machine of SC, TSO and PSO: memory and store buffers.
//!
//! The semantics is that of [`reference::machine`](raddle_consistency::reference::machine), with less state: a location
//! keeps the last write that reached memory, a thread its buffered stores. When a store reaches memory is a choice like
//! any other.
//!
//! *Cells* race by the happens-before order of the threads. That takes vector clocks, which cost more than everything
//! else. So clocks are kept only after the first access of a cell, at which the run starts again.
//!
//! *Cost.* A step is linear in the length of the thread's buffer, which holds at most [`CAPACITY`] stores: if it is
//! full, its thread waits until a store leaves. (Executions with more buffered stores are not sampled.)

use std::collections::VecDeque;

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId, Value};
use raddle_core::model::Model;
use raddle_core::model::orders::{FenceEffect, StoreBuffers, StoreEffect};
use raddle_core::program::OpKind;

use super::accesses::AccessHistory;
use super::clock::Clock;
use super::decider::{ChoiceKind, Decider};
use super::event::RunEvent;
use super::machine::{
    LoadRequest, MemoryMachine, RaceAccess, RacingEvent, ReadSource, RmwRequest, RmwResult,
    StepContext, StoreRequest, StoredValue,
};
use crate::driver::Restart;

/// Maximal number of buffered stores of a thread.
const CAPACITY: usize = 256;

/// Write in memory or in a buffer.
#[derive(Clone, Debug)]
struct MemoryWrite {
    value: StoredValue,
    event: RunEvent,
    /// Events that happen before it, if clocks are kept.
    clock: Clock,
}

impl MemoryWrite {
    fn initial(value: Value) -> Self {
        let value = StoredValue { value, carries: false };
        MemoryWrite { value, event: RunEvent::INITIAL, clock: Clock::default() }
    }

    fn source(&self, is_newest: bool) -> ReadSource {
        let StoredValue { value, carries } = self.value;
        ReadSource { value, carries, event: self.event, is_newest }
    }
}

struct PendingStore {
    location: LocationId,
    /// Number of store fences of the thread before it. Only stores of the lowest epoch may leave the buffer.
    epoch: u32,
    write: MemoryWrite,
}

#[derive(Default)]
struct BufferedThread {
    buffer: VecDeque<PendingStore>,
    epoch: u32,
    clock: Clock,
}

struct MemoryLocation {
    /// Last write that reached memory.
    memory: MemoryWrite,
    accesses: AccessHistory,
}

/// Memory and store buffers.
pub(super) struct StoreBufferMachine {
    buffers: StoreBuffers,
    threads: Vec<BufferedThread>,
    locations: Vec<MemoryLocation>,
    /// Whether clocks are kept.
    has_clocks: bool,
    /// Clocks whose allocations can be reused.
    spare_clocks: Vec<Clock>,
}

impl StoreBufferMachine {
    /// Returns a copy of the thread's clock, or an empty clock if none are kept.
    fn copy_clock(&mut self, thread: ThreadId) -> Clock {
        if !self.has_clocks {
            return Clock::default();
        }
        let mut clock = self.spare_clocks.pop().unwrap_or_default();
        clock.copy(&self.threads[thread.index()].clock);
        clock
    }

    /// Writes to memory.
    fn write_memory(&mut self, location: LocationId, write: MemoryWrite) {
        let old = std::mem::replace(&mut self.locations[location.index()].memory, write);
        if self.has_clocks {
            self.spare_clocks.push(old.clock);
        }
    }

    fn memory_source(&self, location: LocationId) -> ReadSource {
        self.locations[location.index()].memory.source(true)
    }

    /// Joins the clock of the write in memory into the clock of the thread, which observes it.
    fn observe_memory(&mut self, thread: ThreadId, location: LocationId) {
        if self.has_clocks {
            let clock = &self.locations[location.index()].memory.clock;
            self.threads[thread.index()].clock.join(clock);
        }
    }

    /// Returns the index of the store that leaves the buffer next. Under PSO any store of the lowest epoch may, if it
    /// is the oldest one to its location.
    fn next_to_flush<D: Decider + ?Sized>(&self, context: &mut StepContext<'_, D>) -> usize {
        let buffer = &self.threads[context.thread().index()].buffer;
        if !self.buffers.reorders_stores() || buffer.len() == 1 {
            return 0;
        }
        let epoch = buffer[0].epoch;
        let may_leave = |at: usize| {
            buffer[at].epoch == epoch
                && buffer.iter().take(at).all(|it| it.location != buffer[at].location)
        };
        let options = (0..buffer.len()).filter(|&at| may_leave(at)).count();
        let option = context.choose(ChoiceKind::FlushOrder, options);
        (0..buffer.len()).filter(|&at| may_leave(at)).nth(option).unwrap_or(0)
    }
}

impl MemoryMachine for StoreBufferMachine {
    fn new(model: Model) -> Self {
        let (threads, locations, spare_clocks) = (vec![], vec![], vec![]);
        let buffers = model.store_buffers().expect("the model has store buffers");
        StoreBufferMachine { buffers, threads, locations, has_clocks: false, spare_clocks }
    }

    fn restart(&mut self) {
        self.threads.clear();
        self.locations.clear();
    }

    fn add_location(&mut self, location: LocationId, initial: Value) {
        let empty = || {
            let accesses = AccessHistory::default();
            MemoryLocation { memory: MemoryWrite::initial(0), accesses }
        };
        self.locations.resize_with(self.locations.len().max(location.index() + 1), empty);
        self.locations[location.index()].memory = MemoryWrite::initial(initial);
    }

    fn start(&mut self, thread: ThreadId, parent: Option<ThreadId>) {
        let len = self.threads.len().max(thread.index() + 1);
        self.threads.resize_with(len, BufferedThread::default);
        if let Some(parent) = parent {
            self.threads[thread.index()].clock = self.threads[parent.index()].clock.clone();
        }
    }

    #[inline]
    fn begin(&mut self, thread: ThreadId) {
        if self.has_clocks {
            self.threads[thread.index()].clock.tick(thread);
        }
    }

    #[inline]
    fn store<D: Decider + ?Sized>(
        &mut self,
        context: &mut StepContext<'_, D>,
        request: &StoreRequest,
    ) {
        let &StoreRequest { location, value, order } = request;
        let thread = context.thread();
        let clock = self.copy_clock(thread);
        let write = MemoryWrite { value, event: context.event, clock };
        let effect = self.buffers.store(order);
        if effect == StoreEffect::AtOnce {
            return self.write_memory(location, write);
        }
        let own = &mut self.threads[thread.index()];
        own.epoch += u32::from(effect == StoreEffect::BufferedBehindFence);
        own.buffer.push_back(PendingStore { location, epoch: own.epoch, write });
    }

    #[inline]
    fn load<D: Decider + ?Sized>(
        &mut self,
        context: &mut StepContext<'_, D>,
        request: LoadRequest,
    ) -> ReadSource {
        let (thread, location) = (context.thread(), request.location);
        let mut newest_first = self.threads[thread.index()].buffer.iter().rev();
        if let Some(newest) = newest_first.find(|store| store.location == location) {
            return newest.write.source(false);
        }
        self.observe_memory(thread, location);
        self.memory_source(location)
    }

    fn rmw<D: Decider + ?Sized>(
        &mut self,
        context: &mut StepContext<'_, D>,
        request: &RmwRequest,
    ) -> RmwResult {
        let (thread, location) = (context.thread(), request.location);
        let source = self.memory_source(location);
        self.observe_memory(thread, location);
        let mut written = request.op.apply(&source);
        let is_spurious = written.is_some()
            && request.op.is_weak()
            && context.choose(ChoiceKind::SpuriousFailure, 2) == 1;
        written = written.filter(|_| !is_spurious);
        if let Some(value) = written {
            let clock = self.copy_clock(thread);
            self.write_memory(location, MemoryWrite { value, event: context.event, clock });
        }
        RmwResult { source, written, is_spurious }
    }

    fn fence(&mut self, thread: ThreadId, order: MemoryOrder) {
        if self.buffers.fence(order) == FenceEffect::StoreStore {
            self.store_fence(thread);
        }
    }

    fn store_fence(&mut self, thread: ThreadId) {
        self.threads[thread.index()].epoch += 1;
    }

    fn synchronize(&mut self, thread: ThreadId, object: LocationId) {
        if self.has_clocks {
            let own = &mut self.threads[thread.index()].clock;
            let released = &mut self.locations[object.index()].memory.clock;
            own.join(released);
            released.copy(own);
        }
    }

    fn join(&mut self, thread: ThreadId, child: ThreadId) {
        let of_child = std::mem::take(&mut self.threads[child.index()].clock);
        self.threads[thread.index()].clock.join(&of_child);
        self.threads[child.index()].clock = of_child;
    }

    fn check_race(
        &mut self,
        thread: ThreadId,
        access: RaceAccess,
    ) -> Result<Option<RacingEvent>, Restart> {
        if !self.has_clocks {
            self.has_clocks = true;
            return Err(Restart::StrongerModel);
        }
        let clock = &self.threads[thread.index()].clock;
        let accesses = &mut self.locations[access.location.index()].accesses;
        let race = accesses.find_race(thread, access, clock);
        accesses.record(thread, access, clock.get(thread));
        Ok(race)
    }

    fn has_races(&self) -> bool {
        false
    }

    #[inline]
    fn is_drained(&self, thread: ThreadId) -> bool {
        self.threads[thread.index()].buffer.is_empty()
    }

    fn needs_drained_buffer(&self, op: &OpKind) -> bool {
        match *op {
            OpKind::Load { .. }
            | OpKind::Choose { .. }
            | OpKind::StoreFence
            | OpKind::Init { .. }
            | OpKind::WriteCell { .. }
            | OpKind::ReadCell { .. }
            | OpKind::Joint(_) => false,
            OpKind::Store { order, .. } => self.buffers.store(order) == StoreEffect::AtOnce,
            OpKind::Fence { order } => self.buffers.fence(order) == FenceEffect::Drain,
            OpKind::Rmw { .. }
            | OpKind::CompareExchange { .. }
            | OpKind::Lock { .. }
            | OpKind::Unlock { .. }
            | OpKind::Sync { .. }
            | OpKind::Spawn { .. }
            | OpKind::Join { .. } => true,
        }
    }

    fn flush<D: Decider + ?Sized>(&mut self, context: &mut StepContext<'_, D>) {
        let at = self.next_to_flush(context);
        let buffer = &mut self.threads[context.thread().index()].buffer;
        if let Some(PendingStore { location, write, .. }) = buffer.remove(at) {
            self.write_memory(location, write);
        }
    }

    fn is_full(&self, thread: ThreadId) -> bool {
        self.threads[thread.index()].buffer.len() >= CAPACITY
    }
}
