//! Effects of events on memory and store buffers, happens-before, and undo.

use super::footprint::{Footprint, FootprintAccess, NONE};
use super::state::{DporEvent, DporLocation, DporState, DporStore, NextAction, Process};
use crate::event_index::EventIndex;
use crate::event_set::EventSet;
use raddle_core::execution::MemoryOrder;
use raddle_core::model::orders::StoreEffect;

impl<R: EventSet> DporState<'_, R> {
    /// Adds an event before which `base` happens, and returns its index. Its effect has to follow.
    pub(super) fn push_event(&mut self, footprint: Footprint, base: R) -> EventIndex {
        let at = EventIndex::new(self.events.len());
        let &Process { thread, ref hb, .. } = &self.processes[footprint.process as usize];
        let known = &self.threads[thread as usize];
        let action = if footprint.flushed == NONE { known.action } else { NextAction::Write };
        self.undo.push((thread, known.clone()));
        let before = base.or(&R::one(at));
        self.events.push(DporEvent {
            footprint,
            action,
            options: 1,
            before,
            base,
            races: R::default(),
            log_index: NONE,
            previous: NONE,
            readers: R::default(),
            is_forwarded: false,
            process_hb: hb.clone(),
            log_len: self.log.len() as u32,
            past_len: self.past.len() as u32,
            undo_len: self.undo.len() as u32 - 1,
        });
        self.processes[footprint.process as usize].events.insert(at);
        if footprint.access != FootprintAccess::Silent {
            let place = &mut self.locations[footprint.location as usize];
            place.accesses.insert(at);
            if footprint.access == FootprintAccess::Write {
                place.writes.insert(at);
            }
        }
        at
    }

    /// Lets the event read its location. Returns the log index of the op that it observes, or [`NONE`].
    #[inline]
    pub(super) fn read(&mut self, at: EventIndex) -> u32 {
        let Footprint { thread, location, own_store, .. } = self.events[at.index()].footprint;
        if own_store != NONE {
            let store = &mut self.stores[thread as usize][own_store as usize];
            if store.flushed_by == NONE {
                store.readers.insert(at);
                self.events[at.index()].is_forwarded = true;
                return store.log_index;
            }
        }
        let place = &mut self.locations[location as usize];
        place.readers.insert(at);
        let last = place.last;
        if last == NONE {
            return NONE;
        }
        let DporEvent { before, footprint, log_index, .. } = self.events[last as usize].clone();
        if footprint.thread != thread {
            let event = &mut self.events[at.index()];
            if !event.base.has(EventIndex::new(last as usize)) {
                event.races.insert(EventIndex::new(last as usize));
            }
            event.before = event.before.or(&before);
        }
        log_index
    }

    /// Lets the event write its location in memory. It races with the previous write and the readers of that, except
    /// those that happen before another one of them.
    #[inline]
    pub(super) fn write(&mut self, at: EventIndex) {
        let Footprint { thread, location, flushed, .. } = self.events[at.index()].footprint;
        let DporLocation { last, readers, .. } = &self.locations[location as usize];
        let (last, mut others) = (*last, readers.clone());
        if last != NONE {
            others.insert(EventIndex::new(last as usize));
        }
        let base = &self.events[at.index()].base;
        let (mut before, mut inner) = (R::one(at).or(base), base.clone());
        for other in others.iter() {
            let hb = &self.events[other.index()].before;
            before = before.or(hb);
            inner = inner.or(&hb.minus(&R::one(other)));
        }
        let event = &mut self.events[at.index()];
        (event.before, event.races) = (before, others.minus(&inner));
        self.set_last(at, location, thread, flushed);
    }

    /// Makes the event the last write of the location. `flushed` is the store of the thread that it flushes, or
    /// [`NONE`].
    fn set_last(&mut self, at: EventIndex, location: u32, thread: u32, flushed: u32) {
        let place = &mut self.locations[location as usize];
        let event = &mut self.events[at.index()];
        (event.previous, event.readers) = (place.last, place.readers.clone());
        place.last = at.index() as u32;
        place.readers = match flushed {
            NONE => R::default(),
            store => self.stores[thread as usize][store as usize].readers.clone(),
        };
    }

    /// Lets the event acquire, release or update a synchronization object. Its races are those of
    /// [`sync_races`](Self::sync_races).
    pub(super) fn synchronize(&mut self, at: EventIndex) {
        let Footprint { thread, location, .. } = self.events[at.index()].footprint;
        let last = self.locations[location as usize].last;
        if last != NONE {
            let hb = &self.events[last as usize].before;
            self.events[at.index()].before = self.events[at.index()].before.or(hb);
        }
        let &DporEvent { action, ref base, .. } = &self.events[at.index()];
        if action != NextAction::Unlock {
            let node = self.threads[thread as usize].node;
            self.events[at.index()].races = self.sync_races(action, node, base, last);
        }
        self.set_last(at, location, thread, NONE);
    }

    /// Returns the events that happen before the flush of a store whatever other processes do in the meantime.
    #[inline]
    pub(super) fn hb_of_flush(&self, process: u32, thread: u32, store: u32) -> R {
        let all = &self.stores[thread as usize];
        let &DporStore { ref hb, epoch, .. } = &all[store as usize];
        let mut base = self.processes[process as usize].hb.or(hb);
        if self.buffers.reorders_stores() {
            let since = self.threads[thread as usize].drained;
            for earlier in &all[since as usize..store as usize] {
                if earlier.epoch < epoch {
                    base = base.or(&self.events[earlier.flushed_by as usize].before);
                }
            }
        }
        base
    }

    /// Adds a store, which is the next op of the log, to the buffer of the thread.
    pub(super) fn buffer(&mut self, thread: u32, location: u32, order: MemoryOrder) {
        self.flusher(thread, location);
        let effect = self.buffers.store(order);
        let known = &mut self.threads[thread as usize];
        if effect == StoreEffect::BufferedBehindFence {
            known.epoch += 1;
        }
        let (epoch, hb) = (known.epoch, known.hb.clone());
        known.stores += 1;
        let readers = R::default();
        let (log_index, flushed_by) = (self.log.len() as u32, NONE);
        let store = DporStore { location, epoch, log_index, flushed_by, hb, readers };
        self.stores[thread as usize].push(store);
    }

    /// Sets the number of alternatives of the event.
    pub(super) fn set_options(&mut self, at: EventIndex, options: u32) {
        self.events[at.index()].options = options;
        if options > 1 {
            self.choices.insert(at);
        }
    }

    /// Orders the next event of the process after this one.
    #[inline]
    pub(super) fn set_process_hb(&mut self, at: EventIndex) {
        let &DporEvent { footprint, ref before, .. } = &self.events[at.index()];
        self.processes[footprint.process as usize].hb = before.clone();
    }

    /// Marks the store of a flush as flushed.
    pub(super) fn mark_flushed(&mut self, at: EventIndex) {
        let &DporEvent { footprint, ref before, .. } = &self.events[at.index()];
        let all = &mut self.stores[footprint.thread as usize];
        all[footprint.flushed as usize].flushed_by = at.index() as u32;
        let known = &mut self.threads[footprint.thread as usize];
        known.flushes_hb = known.flushes_hb.or(before);
        while known.head < known.stores && all[known.head as usize].flushed_by != NONE {
            known.head += 1;
        }
    }

    /// Undoes the last event.
    pub(super) fn pop(&mut self) {
        let Some(event) = self.events.pop() else { return };
        let at = EventIndex::new(self.events.len());
        self.choices.remove(at);
        let Footprint { process, thread, access, location, own_store, flushed, .. } =
            event.footprint;
        let known = &mut self.processes[process as usize];
        known.events.remove(at);
        known.hb = event.process_hb;
        if flushed != NONE {
            self.stores[thread as usize][flushed as usize].flushed_by = NONE;
        }
        while self.undo.len() > event.undo_len as usize {
            let (thread, old) = self.undo.pop().expect("the stack is longer than `undo_len`");
            self.threads[thread as usize] = old.clone();
            self.stores[thread as usize].truncate(old.stores as usize);
        }
        self.log.truncate(event.log_len as usize);
        self.past.truncate(event.past_len as usize);
        self.early_end = None;
        if access == FootprintAccess::Silent {
            return;
        }
        let place = &mut self.locations[location as usize];
        place.accesses.remove(at);
        if access == FootprintAccess::Write {
            place.writes.remove(at);
            (place.last, place.readers) = (event.previous, event.readers);
        } else if event.is_forwarded {
            self.stores[thread as usize][own_store as usize].readers.remove(at);
        } else {
            place.readers.remove(at);
        }
    }
}
