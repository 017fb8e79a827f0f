//! The parts of the operations of [`Incremental`].

use raddle_core::execution::{LocationId, ThreadId};
use raddle_core::model::orders::Strength;

use super::chains::WriteRecord;
use super::history::{LocationHistory, ThreadAccesses};
use super::ids::{INIT, Index, Message, NO_MESSAGE};
use super::undo::UndoStep;
use super::{AccessKind, Incremental, Refused, WriteId};

impl Incremental {
    /// Makes room for a thread and a location.
    pub(super) fn begin(&mut self, thread: ThreadId, location: LocationId) -> (usize, usize) {
        while self.locations.len() <= location.index() {
            self.locations.push(LocationHistory::new());
        }
        (self.grow_threads(thread), location.index())
    }

    /// Makes room for a thread.
    pub(super) fn grow_threads(&mut self, thread: ThreadId) -> usize {
        while self.views.threads() <= thread.index() {
            if self.views.threads() == self.width {
                self.widen();
            }
            self.views.add_thread();
        }
        thread.index()
    }

    fn widen(&mut self) {
        self.width *= 2;
        self.views.widen(self.width);
        self.writes.before.widen(self.width);
        self.clock.resize(self.width, 0);
    }

    /// Starts an operation that changes the state.
    pub(super) fn start(&mut self) {
        self.question = None;
        self.log.push(UndoStep::Start);
    }

    /// Computes the frontier of a thread at a location.
    pub(super) fn find_frontier(&mut self, thread: usize, location: usize) {
        if self.question == Some((thread, location)) {
            return;
        }
        self.question = Some((thread, location));
        let clock = self.views.clock(thread);
        self.locations[location].frontier(clock, thread, &mut self.frontier);
    }

    /// Computes the writes of a location that precede a known one.
    pub(super) fn find_overwritten(&mut self, location: usize) {
        self.clock.fill(0);
        let mut outside = false;
        for &known in &self.frontier {
            self.writes.add_before(known, &mut self.clock);
            outside |= self.writes.get(known).top != INIT;
        }
        let init_last = self.locations[location].init_last;
        if outside && init_last != INIT && self.orders.has_modification_order() {
            self.writes.add_up_to(init_last, &mut self.clock);
        }
    }

    /// Computes the writes that must precede the chain of `source` once the thread observes it: the known ones with their
    /// chains and everything before these. Returns `false` if all of them precede it already.
    pub(super) fn find_news(&mut self, source: Index) -> bool {
        self.clock.fill(0);
        let mut any = false;
        if self.orders.has_modification_order() {
            for &known in &self.frontier {
                if known != source && !self.writes.precedes(known, source) {
                    self.writes.add_chain(known, &mut self.clock);
                    any = true;
                }
            }
        }
        any
    }

    /// Returns `true` if an update has read this write.
    pub(super) fn is_taken(&self, location: usize, write: Index) -> bool {
        if write == INIT {
            return self.locations[location].init_last != INIT;
        }
        let last = match self.writes.get(write).top {
            INIT => self.locations[location].init_last,
            top => self.writes.get(top).last,
        };
        last != write
    }

    /// Tests whether an event may observe a write. Computes the frontier of its thread.
    pub(super) fn admit(
        &mut self,
        thread: usize,
        location: usize,
        source: Index,
        access: AccessKind,
    ) -> Result<(), Refused> {
        self.find_frontier(thread, location);
        let overwritten = if source == INIT {
            !self.frontier.is_empty()
        } else {
            let write = self.writes.records.get(source as usize).ok_or(Refused::NoSuchWrite)?;
            if write.location as usize != location {
                return Err(Refused::NoSuchWrite);
            }
            self.frontier.iter().any(|&known| self.writes.precedes(source, known))
        };
        if overwritten {
            return Err(Refused::Overwritten);
        }
        if access == AccessKind::Update && self.is_taken(location, source) {
            return Err(Refused::Taken);
        }
        Ok(())
    }

    /// Delivers a message to a thread.
    pub(super) fn receive(&mut self, thread: usize, message: Message, strength: Strength) {
        if strength.atomic {
            self.views.receive(thread, message, strength.acquires, &mut self.log);
        }
    }

    /// Records that a thread knows a write that it has read.
    pub(super) fn see(&mut self, thread: usize, location: usize, write: Index) {
        let position = self.views.position(thread);
        let accesses = accesses(&mut self.locations[location], thread);
        if accesses.last() == Some(write) {
            return;
        }
        accesses.push_seen(position, write);
        self.views.advance(thread);
        self.log.push(UndoStep::Seen { location: location as u32, thread: thread as u32 });
    }

    /// The first write of a chain, and the message of one of its writes.
    pub(super) fn chain_and_message(&self, write: Index) -> (Index, Message) {
        match write {
            INIT => (INIT, NO_MESSAGE),
            write => (self.writes.get(write).top, self.writes.get(write).message),
        }
    }

    /// Appends an update to a chain. The update precedes everything after the chain.
    pub(super) fn extend_chain(
        &mut self,
        thread: usize,
        location: usize,
        source: Index,
        update: Index,
    ) {
        let (top, _) = self.chain_and_message(source);
        let (here, log) = (location as u32, &mut self.log);
        if top == INIT {
            let old = std::mem::replace(&mut self.locations[location].init_last, update);
            log.push(UndoStep::InitLast { location: here, old });
            return;
        }
        let old = std::mem::replace(&mut self.writes.records[top as usize].last, update);
        log.push(UndoStep::Last { top, old });
        if !self.orders.has_modification_order() {
            return;
        }
        if self.find_news(source) {
            self.writes.raise(top, &self.clock, &mut self.log);
        }
        self.clock[thread] = self.clock[thread].max(self.views.position(thread) + 1);
        self.writes.raise_after(&self.locations[location], top, &self.clock, &mut self.log);
    }

    /// Adds a write to a chain, its own or another one. `self.clock` is what precedes it.
    pub(super) fn add_write(
        &mut self,
        thread: usize,
        location: usize,
        top: Index,
        strength: Strength,
        inherited: Message,
    ) -> WriteId {
        let (own, position) = (self.writes.next(), self.views.position(thread));
        self.views.advance(thread);
        let message = if strength.atomic {
            self.views.send(thread, strength.releases, inherited, &mut self.log)
        } else {
            inherited
        };
        let (at, here) = (thread as u32, location as u32);
        let write = WriteRecord { thread: at, location: here, position, top, last: own, message };
        self.writes.push(write, &self.clock, &mut self.log);
        let accesses = accesses(&mut self.locations[location], thread);
        accesses.writes.push(own);
        accesses.push_seen(position, own);
        WriteId(own)
    }
}

/// The accesses of a thread to a location.
fn accesses(location: &mut LocationHistory, thread: usize) -> &mut ThreadAccesses {
    if location.threads.len() <= thread {
        location.threads.resize_with(thread + 1, ThreadAccesses::default);
    }
    &mut location.threads[thread]
}
