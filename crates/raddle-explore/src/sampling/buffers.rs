//! The machines of SC, TSO and PSO: memory, and stores that are on their way to it.
//!
//! As [`reference::machine`](raddle_consistency::reference::machine) defines them, with less to remember: a location has the last
//! write that reached it, a thread the stores that have not. When stores reach memory is a decision like any other.
//!
//! *Cells* race by what threads observed of each other. That takes clocks, which cost more than all the rest; so they
//! are kept only once a cell was met, and then the run starts again.
//!
//! *Cost.* A step takes as long as the thread's buffer is, which holds at most [`ROOM`] stores: a longer one makes its
//! thread wait for one of them to leave. (Executions with more stores on their way are not produced.)

use std::collections::VecDeque;

use raddle_core::execution::{MemoryOrder, Value};
use raddle_core::model::Model;
use raddle_core::model::orders::{FenceEffect, StoreBuffers, StoreEffect};
use raddle_core::program::OpKind;

use super::accesses::Accesses;
use super::clock::Clock;
use super::decide::{Decide, Kind};
use super::machine::{Access, Change, Changed, Machine, Racing, Source, StartAgain, Stored, Turn};
use super::threads::NONE;

/// How many stores of a thread may be on their way.
const ROOM: usize = 256;

/// A write, in memory or on its way.
#[derive(Clone, Debug, Default)]
struct Write {
    value: Value,
    carries: bool,
    event: u32,
    /// What happened before it, if that is kept.
    clock: Clock,
}

struct Buffered {
    location: u32,
    /// Only stores of the lowest rank may leave the buffer.
    rank: u32,
    write: Write,
}

#[derive(Default)]
struct Thread {
    buffer: VecDeque<Buffered>,
    rank: u32,
    clock: Clock,
}

#[derive(Default)]
struct Place {
    memory: Write,
    accesses: Accesses,
}

/// Memory and store buffers.
pub(super) struct Buffers {
    kind: StoreBuffers,
    threads: Vec<Thread>,
    places: Vec<Place>,
    /// Whether clocks are kept.
    has_clocks: bool,
    /// Clocks that can be used again.
    spare: Vec<Clock>,
}

impl Buffers {
    fn clock(&mut self, thread: usize) -> Clock {
        if !self.has_clocks {
            return Clock::default();
        }
        let mut clock = self.spare.pop().unwrap_or_default();
        clock.copy(&self.threads[thread].clock);
        clock
    }

    /// The write is the last one that reached the location.
    fn reach(&mut self, location: usize, write: Write) {
        let old = std::mem::replace(&mut self.places[location].memory, write);
        if self.has_clocks {
            self.spare.push(old.clock);
        }
    }

    fn source(&self, location: usize) -> Source {
        let Write { value, carries, event, .. } = self.places[location].memory;
        Source { value, carries, event, newest: true }
    }

    /// The thread observes what is in memory.
    fn observe(&mut self, thread: usize, location: usize) {
        if self.has_clocks {
            self.threads[thread].clock.join(&self.places[location].memory.clock);
        }
    }

    /// Which store leaves the buffer of a thread next.
    fn leaving<D: Decide + ?Sized>(&self, turn: &mut Turn<'_, D>) -> usize {
        let buffer = &self.threads[turn.thread()].buffer;
        if !self.kind.reorders_stores() || buffer.len() == 1 {
            return 0;
        }
        let rank = buffer[0].rank;
        let can = |at: usize| {
            buffer[at].rank == rank
                && buffer.iter().take(at).all(|it| it.location != buffer[at].location)
        };
        let options = (0..buffer.len()).filter(|&at| can(at)).count();
        let which = turn.pick(Kind::Leave, options);
        (0..buffer.len()).filter(|&at| can(at)).nth(which).unwrap_or(0)
    }
}

impl Machine for Buffers {
    fn new(model: Model) -> Self {
        let (threads, places, spare) = (vec![], vec![], vec![]);
        let kind = model.store_buffers().expect("the model has store buffers");
        Buffers { kind, threads, places, has_clocks: false, spare }
    }

    fn restart(&mut self) {
        self.threads.clear();
        self.places.clear();
    }

    fn add_location(&mut self, location: usize, initial: Value) {
        self.places.resize_with(self.places.len().max(location + 1), Place::default);
        let write = Write { value: initial, carries: false, event: NONE, clock: Clock::default() };
        self.places[location].memory = write;
    }

    fn start(&mut self, thread: usize, parent: Option<usize>) {
        self.threads.resize_with(self.threads.len().max(thread + 1), Thread::default);
        if let Some(parent) = parent {
            self.threads[thread].clock = self.threads[parent].clock.clone();
        }
    }

    #[inline]
    fn begin(&mut self, thread: usize) {
        if self.has_clocks {
            self.threads[thread].clock.tick(thread);
        }
    }

    #[inline]
    fn store<D: Decide + ?Sized>(&mut self, turn: &mut Turn<'_, D>, stored: &Stored) {
        let &Stored { location, value, carries, order } = stored;
        let thread = turn.thread();
        let clock = self.clock(thread);
        let write = Write { value, carries, event: turn.event, clock };
        let effect = self.kind.store(order);
        if effect == StoreEffect::AtOnce {
            return self.reach(location, write);
        }
        let own = &mut self.threads[thread];
        own.rank += u32::from(effect == StoreEffect::BufferedBehindFence);
        own.buffer.push_back(Buffered { location: location as u32, rank: own.rank, write });
    }

    #[inline]
    fn load<D: Decide + ?Sized>(
        &mut self,
        turn: &mut Turn<'_, D>,
        location: usize,
        _: MemoryOrder,
    ) -> Source {
        let thread = turn.thread();
        let own = self.threads[thread].buffer.iter().rev();
        if let Some(newest) = own.into_iter().find(|it| it.location as usize == location) {
            let Write { value, carries, event, .. } = newest.write;
            return Source { value, carries, event, newest: false };
        }
        self.observe(thread, location);
        self.source(location)
    }

    fn change<D: Decide + ?Sized>(
        &mut self,
        turn: &mut Turn<'_, D>,
        location: usize,
        change: &Change,
        _: (MemoryOrder, MemoryOrder),
    ) -> Changed {
        let thread = turn.thread();
        let source = self.source(location);
        self.observe(thread, location);
        let mut written = change.apply(&source);
        let spurious = written.is_some() && change.is_weak() && turn.pick(Kind::Fail, 2) == 1;
        written = written.filter(|_| !spurious);
        if let Some((value, carries)) = written {
            let clock = self.clock(thread);
            self.reach(location, Write { value, carries, event: turn.event, clock });
        }
        Changed { source, written, spurious }
    }

    fn fence(&mut self, thread: usize, order: MemoryOrder) {
        if self.kind.fence(order) == FenceEffect::StoreStore {
            self.store_fence(thread);
        }
    }

    fn store_fence(&mut self, thread: usize) {
        self.threads[thread].rank += 1;
    }

    fn synchronize(&mut self, thread: usize, location: usize) {
        if self.has_clocks {
            let clock = &mut self.threads[thread].clock;
            clock.join(&self.places[location].memory.clock);
            self.places[location].memory.clock.copy(clock);
        }
    }

    fn join(&mut self, thread: usize, child: usize) {
        let of_child = std::mem::take(&mut self.threads[child].clock);
        self.threads[thread].clock.join(&of_child);
        self.threads[child].clock = of_child;
    }

    fn race(&mut self, thread: usize, access: Access) -> Result<Option<Racing>, StartAgain> {
        if !self.has_clocks {
            self.has_clocks = true;
            return Err(StartAgain);
        }
        let clock = &self.threads[thread].clock;
        let accesses = &mut self.places[access.location].accesses;
        let racing = accesses.race(thread, access, clock);
        accesses.note(thread, access, clock.get(thread));
        Ok(racing)
    }

    fn has_races(&self) -> bool {
        false
    }

    #[inline]
    fn is_drained(&self, thread: usize) -> bool {
        self.threads[thread].buffer.is_empty()
    }

    fn drains(&self, op: &OpKind) -> bool {
        match *op {
            OpKind::Load { .. }
            | OpKind::Choose { .. }
            | OpKind::StoreFence
            | OpKind::Init { .. }
            | OpKind::WriteCell { .. }
            | OpKind::ReadCell { .. } => false,
            OpKind::Store { order, .. } => self.kind.store(order) == StoreEffect::AtOnce,
            OpKind::Fence { order } => self.kind.fence(order) == FenceEffect::Drain,
            OpKind::Rmw { .. }
            | OpKind::CompareExchange { .. }
            | OpKind::Lock { .. }
            | OpKind::Unlock { .. }
            | OpKind::Sync { .. }
            | OpKind::Spawn { .. }
            | OpKind::Join { .. } => true,
        }
    }

    fn flush<D: Decide + ?Sized>(&mut self, turn: &mut Turn<'_, D>) {
        let at = self.leaving(turn);
        if let Some(Buffered { location, write, .. }) =
            self.threads[turn.thread()].buffer.remove(at)
        {
            self.reach(location as usize, write);
        }
    }

    fn is_full(&self, thread: usize) -> bool {
        self.threads[thread].buffer.len() >= ROOM
    }
}
