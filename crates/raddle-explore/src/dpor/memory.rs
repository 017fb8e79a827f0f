//! Events: what they do to memory and store buffers, what happens before them, and how they are taken
//! back.

use super::footprint::{Access, Footprint, NONE};
use super::state::{Ask, Event, Location, Process, State, Store};
use crate::event_set::EventSet;
use raddle_core::execution::MemoryOrder;
use raddle_core::model::orders::StoreEffect;

impl<R: EventSet> State<'_, R> {
    /// Adds an event without an effect yet.
    pub(super) fn push_event(&mut self, foot: Footprint, base: R) -> usize {
        let at = self.events.len();
        let Process { thread, row, .. } = self.processes[foot.process as usize];
        let known = self.threads[thread as usize];
        let ask = if foot.store == NONE { known.ask } else { Ask::Write };
        self.undo.push((thread, known));
        let before = base.or(R::one(at));
        self.events.push(Event {
            foot,
            ask,
            options: 1,
            before,
            base,
            races: R::default(),
            log: NONE,
            previous: NONE,
            readers: R::default(),
            forwarded: false,
            row,
            log_len: self.log.len() as u32,
            past_len: self.past.len() as u32,
            undo_len: self.undo.len() as u32 - 1,
        });
        self.processes[foot.process as usize].events.insert(at);
        if foot.access != Access::Silent {
            let place = &mut self.locations[foot.location as usize];
            place.accesses.insert(at);
            if foot.access == Access::Write {
                place.writes.insert(at);
            }
        }
        at
    }

    /// The event reads its location: what it observes, as an op of the log.
    #[inline]
    pub(super) fn read(&mut self, at: usize) -> u32 {
        let Footprint { thread, location, own, .. } = self.events[at].foot;
        if own != NONE {
            let store = &mut self.stores[thread as usize][own as usize];
            if store.reached == NONE {
                store.readers.insert(at);
                self.events[at].forwarded = true;
                return store.log;
            }
        }
        let place = &mut self.locations[location as usize];
        place.readers.insert(at);
        let last = place.last;
        if last == NONE {
            return NONE;
        }
        let Event { before, foot, log, .. } = self.events[last as usize];
        if foot.thread != thread {
            let event = &mut self.events[at];
            if !event.base.has(last as usize) {
                event.races.insert(last as usize);
            }
            event.before = event.before.or(before);
        }
        log
    }

    /// The event writes its location, which is memory.
    #[inline]
    pub(super) fn write(&mut self, at: usize) {
        let Footprint { thread, location, store, .. } = self.events[at].foot;
        let Location { last, readers, .. } = self.locations[location as usize];
        let mut others = readers;
        if last != NONE {
            others.insert(last as usize);
        }
        let base = self.events[at].base;
        let (mut before, mut inner) = (R::one(at).or(base), base);
        for other in others.iter() {
            let row = self.events[other].before;
            before = before.or(row);
            inner = inner.or(row.minus(R::one(other)));
        }
        let event = &mut self.events[at];
        (event.before, event.races) = (before, others.minus(inner));
        self.set_last(at, location, thread, store);
    }

    /// The event is the last write of the location.
    fn set_last(&mut self, at: usize, location: u32, thread: u32, store: u32) {
        let place = &mut self.locations[location as usize];
        let event = &mut self.events[at];
        (event.previous, event.readers) = (place.last, place.readers);
        place.last = at as u32;
        place.readers = match store {
            NONE => R::default(),
            store => self.stores[thread as usize][store as usize].readers,
        };
    }

    /// The event acquires, releases or updates a synchronization object. What it races with depends on
    /// who could have had it instead.
    pub(super) fn synchronize(&mut self, at: usize) {
        let Footprint { thread, location, .. } = self.events[at].foot;
        let last = self.locations[location as usize].last;
        if last != NONE {
            let row = self.events[last as usize].before;
            self.events[at].before = self.events[at].before.or(row);
        }
        let Event { ask, base, .. } = self.events[at];
        if ask != Ask::Unlock {
            let node = self.threads[thread as usize].node;
            self.events[at].races = self.rivals(ask, node, base, last);
        }
        self.set_last(at, location, thread, NONE);
    }

    /// What happens before the update of a store, whatever others do meanwhile.
    #[inline]
    pub(super) fn before_update(&self, process: u32, thread: u32, store: u32) -> R {
        let all = &self.stores[thread as usize];
        let Store { row, rank, .. } = all[store as usize];
        let mut base = self.processes[process as usize].row.or(row);
        if self.buffers.reorders_stores() {
            let since = self.threads[thread as usize].drained;
            for earlier in &all[since as usize..store as usize] {
                if earlier.rank < rank {
                    base = base.or(self.events[earlier.reached as usize].before);
                }
            }
        }
        base
    }

    /// A store enters the buffer.
    pub(super) fn buffer(&mut self, thread: u32, location: u32, order: MemoryOrder, log: u32) {
        self.mover(thread, location);
        let effect = self.buffers.store(order);
        let known = &mut self.threads[thread as usize];
        if effect == StoreEffect::BufferedBehindFence {
            known.rank += 1;
        }
        let (rank, row) = (known.rank, known.row);
        known.stores += 1;
        let readers = R::default();
        let store = Store { location, rank, log, reached: NONE, row, readers };
        self.stores[thread as usize].push(store);
    }

    /// The event can be done in so many ways.
    pub(super) fn set_options(&mut self, at: usize, options: u32) {
        self.events[at].options = options;
        if options > 1 {
            self.choices.insert(at);
        }
    }

    /// The last event is done by its process.
    #[inline]
    pub(super) fn set_row(&mut self, at: usize) {
        let Event { foot, before, .. } = self.events[at];
        self.processes[foot.process as usize].row = before;
    }

    /// The store of an update has reached memory.
    pub(super) fn reach(&mut self, at: usize) {
        let Event { foot, before, .. } = self.events[at];
        let all = &mut self.stores[foot.thread as usize];
        all[foot.store as usize].reached = at as u32;
        let known = &mut self.threads[foot.thread as usize];
        known.updates = known.updates.or(before);
        while known.head < known.stores && all[known.head as usize].reached != NONE {
            known.head += 1;
        }
    }

    /// Takes the last event back.
    pub(super) fn pop(&mut self) {
        let Some(event) = self.events.pop() else { return };
        let at = self.events.len();
        self.choices.remove(at);
        let Footprint { process, thread, access, location, own, store, .. } = event.foot;
        let known = &mut self.processes[process as usize];
        known.events.remove(at);
        known.row = event.row;
        if store != NONE {
            self.stores[thread as usize][store as usize].reached = NONE;
        }
        while self.undo.len() > event.undo_len as usize {
            let (thread, old) = self.undo.pop().expect("there is more");
            self.threads[thread as usize] = old;
            self.stores[thread as usize].truncate(old.stores as usize);
        }
        self.log.truncate(event.log_len as usize);
        self.past.truncate(event.past_len as usize);
        self.cut = None;
        if access == Access::Silent {
            return;
        }
        let place = &mut self.locations[location as usize];
        place.accesses.remove(at);
        if access == Access::Write {
            place.writes.remove(at);
            (place.last, place.readers) = (event.previous, event.readers);
        } else if event.forwarded {
            self.stores[thread as usize][own as usize].readers.remove(at);
        } else {
            place.readers.remove(at);
        }
    }
}
