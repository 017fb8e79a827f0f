//! Search for a witness in which every read observes one of its good-writes.
//!
//! Events are appended one after the other. An event can be appended if everything that precedes it (in rows that are
//! given) has been; a read also needs one of its good-writes in memory, or as the newest write in the buffer of its own
//! thread; a write must not *starve* a read, which is one that is not placed although all its good-writes are.
//!
//! *Greedily:* the events in the order of the old witness, in rounds until none can be appended; the new read as soon
//! as it can.
//!
//! *Search:* if that is not enough. Two kinds of events are appended as soon as possible, without trying anything else
//! instead: reads that do not write, and writes of a location such that no event that is not placed yet may observe the
//! write, or what it overwrites. Otherwise all writes that can be appended are tried, in the order of the old witness.
//! States that cannot be completed (sets of placed events, with the memory after them) are remembered.
//!
//! *Paper.* VerifySC of Agarwal et al., CAV 2021, section 4. Where we differ: the rule for reads excludes updates, and
//! the rule for writes demands that everything that precedes the write has been placed; without that, both lose
//! witnesses. Under TSO and PSO a read may observe the buffer of its own thread.

use raddle_core::execution::LocationId;
use rustc_hash::FxHashMap;

use super::GoodWritesModel;
use crate::event_index::{EventIndex, RfSource};
use crate::event_list::EventList;
use crate::event_set::EventSet;
use crate::model::RfSources;
use crate::model::store_buffer::SC;
use crate::model::store_buffer::witness::PrecedenceRows;

/// Tables that are reused from one search to the next.
pub(super) struct GoodWritesSearch<R: EventSet> {
    /// Taken while they are used.
    rows: Option<PrecedenceRows<R>>,
    /// The events in the order in which they are tried.
    guide: EventList<R>,
    /// The new order so far.
    order: EventList<R>,
    /// The events of `order`.
    placed: R,
    /// By location: the write that is in memory.
    current: Vec<RfSource>,
    /// What the placed writes overwrote, in their order.
    overwritten: Vec<RfSource>,
    dead: DeadStates<R>,
    /// For some locations: one of these writes must be the last one.
    last: Vec<(LocationId, RfSources<R>)>,
}

impl<R: EventSet> GoodWritesSearch<R> {
    pub(super) fn new(locations: usize) -> Self {
        GoodWritesSearch {
            rows: Some(PrecedenceRows::new()),
            guide: EventList::new(),
            order: EventList::new(),
            placed: R::default(),
            current: vec![RfSource::INITIAL; locations],
            overwritten: vec![],
            dead: DeadStates::default(),
            last: vec![],
        }
    }

    /// Empties the new order.
    fn clear(&mut self) {
        self.order.set_len(0);
        self.placed = R::default();
        self.current.fill(RfSource::INITIAL);
        self.overwritten.clear();
        self.dead.clear();
    }
}

impl<R: EventSet, const BUFFERS: u8> GoodWritesModel<R, BUFFERS> {
    /// Finds a witness that includes the read, which is in the tables but not in the witness, and makes it a new level.
    #[inline(never)]
    pub(super) fn reorder(&mut self, read: EventIndex) -> bool {
        let mut search = self.search.take().expect("only one witness is made at a time");
        let mut rows = search.rows.take().expect("only one witness is made at a time");
        let found = self.close_with(&mut rows, read)
            && (self.find_greedily(&mut search, &rows, read) || self.find(&mut search, &rows));
        if found {
            let rows = (self.options.closure && !self.options.open).then_some(&rows);
            self.base.witness.push_order(search.order.as_slice(), rows);
        }
        search.rows = Some(rows);
        self.search = Some(search);
        found
    }

    /// Returns `true` if some witness has one of these writes last in each of these locations.
    pub(super) fn has_order_with_last(&mut self, last: &[(LocationId, RfSources<R>)]) -> bool {
        self.base.witness.materialize(EventIndex::new(self.base.witness.len()));
        let mut search = self.search.take().expect("only one witness is made at a time");
        let mut rows = search.rows.take().expect("only one witness is made at a time");
        self.closed_rows(&mut rows);
        search.last.extend_from_slice(last);
        let found = self.find(&mut search, &rows);
        search.last.clear();
        search.rows = Some(rows);
        self.search = Some(search);
        found
    }

    /// Appends all events without backtracking, if that succeeds.
    fn find_greedily(
        &self,
        search: &mut GoodWritesSearch<R>,
        rows: &PrecedenceRows<R>,
        read: EventIndex,
    ) -> bool {
        if !self.options.guidance {
            return false;
        }
        search.clear();
        self.base.witness.list_into(&mut search.guide);
        search.guide.push(read);
        while !search.guide.is_empty() {
            let mut kept = 0;
            for at in 0..search.guide.len() {
                let event = search.guide.at(at);
                if search.placed.has(event) {
                    continue;
                }
                if !self.can_be_placed(search, rows, event) {
                    search.guide.set(kept, event);
                    kept += 1;
                    continue;
                }
                self.place(search, event);
                if !search.placed.has(read) && self.can_be_placed(search, rows, read) {
                    self.place(search, read);
                }
            }
            if kept == search.guide.len() {
                return false;
            }
            search.guide.set_len(kept);
        }
        true
    }

    #[inline]
    fn can_be_placed(
        &self,
        search: &GoodWritesSearch<R>,
        rows: &PrecedenceRows<R>,
        event: EventIndex,
    ) -> bool {
        rows[event].minus(&search.placed).is_empty()
            && if self.base.all_writes.has(event) {
                self.can_write(search, event)
            } else {
                !self.all_reads.has(event) || self.can_read(search, event)
            }
    }

    /// Searches for an order of all events that have rows.
    fn find(&self, search: &mut GoodWritesSearch<R>, rows: &PrecedenceRows<R>) -> bool {
        search.clear();
        self.base.witness.list_into(&mut search.guide);
        for event in search.guide.len()..rows.len() {
            search.guide.push(EventIndex::new(event));
        }
        if !self.options.guidance {
            (0..rows.len()).for_each(|event| search.guide.set(event, EventIndex::new(event)));
        }
        self.extend(search, rows)
    }

    fn extend(&self, search: &mut GoodWritesSearch<R>, rows: &PrecedenceRows<R>) -> bool {
        while self.place_eagerly(search, rows) {}
        if search.order.len() == rows.len() {
            return self.has_last(search);
        }
        if search.dead.contains(&search.placed, &search.current) {
            return false;
        }
        let len = search.order.len();
        for at in 0..rows.len() {
            let write = search.guide.at(at);
            if !search.placed.has(write)
                && self.base.all_writes.has(write)
                && self.can_be_placed(search, rows, write)
            {
                self.place(search, write);
                if self.extend(search, rows) {
                    return true;
                }
                self.truncate(search, len);
            }
        }
        search.dead.insert(search.placed.clone(), &search.current);
        false
    }

    /// Appends harmless events. Returns `true` if there was one.
    fn place_eagerly(&self, search: &mut GoodWritesSearch<R>, rows: &PrecedenceRows<R>) -> bool {
        let before = search.order.len();
        for at in 0..rows.len() {
            let event = search.guide.at(at);
            if !search.placed.has(event)
                && rows[event].minus(&search.placed).is_empty()
                && self.is_harmless(search, event)
            {
                self.place(search, event);
            }
        }
        search.order.len() > before
    }

    /// Returns `true` if an event, all of whose predecessors are placed, can be appended without losing a witness.
    fn is_harmless(&self, search: &GoodWritesSearch<R>, event: EventIndex) -> bool {
        let reads = self.all_reads.has(event);
        if !self.base.all_writes.has(event) {
            return !reads || self.can_read(search, event);
        }
        let location = self.base.events[event].location;
        !reads
            && !self.is_awaited(search, location, event.into())
            && !self.is_awaited(search, location, search.current[location.index()])
    }

    /// Returns `true` if a read that is not placed yet may observe the write.
    fn is_awaited(
        &self,
        search: &GoodWritesSearch<R>,
        location: LocationId,
        write: RfSource,
    ) -> bool {
        let mut waiting = self.reads[location.index()].minus(&search.placed).iter();
        waiting.any(|read| self.is_good(read, write))
            || search.last.iter().any(|(at, last)| *at == location && last.has(write))
    }

    /// Returns `true` if the read, all of whose predecessors are placed, would observe one of its good-writes now.
    #[inline]
    fn can_read(&self, search: &GoodWritesSearch<R>, read: EventIndex) -> bool {
        if BUFFERS != SC
            && let Some(newest) = self.base.own_before(read).last()
            && !search.placed.has(newest)
        {
            return self.good[read].has(newest);
        }
        self.is_good(read, search.current[self.base.events[read].location.index()])
    }

    /// Returns `true` if the write, all of whose predecessors are placed, can be appended without starving a read.
    fn can_write(&self, search: &GoodWritesSearch<R>, write: EventIndex) -> bool {
        let location = self.base.events[write].location;
        if self.all_reads.has(write) && !self.can_read(search, write) {
            return false;
        }
        let others = self.reads[location.index()].minus(&search.placed).minus(&R::one(write));
        let is_over = |good: R| good.minus(&search.placed).is_empty();
        !others.iter().any(|read| is_over(self.good[read].clone()))
            && !search.last.iter().any(|(at, last)| *at == location && is_over(last.writes.clone()))
    }

    #[inline]
    fn place(&self, search: &mut GoodWritesSearch<R>, event: EventIndex) {
        search.placed.insert(event);
        search.order.push(event);
        if self.base.all_writes.has(event) {
            let current = &mut search.current[self.base.events[event].location.index()];
            search.overwritten.push(*current);
            *current = event.into();
        }
    }

    /// Removes all placed events except the first `len`.
    fn truncate(&self, search: &mut GoodWritesSearch<R>, len: usize) {
        while search.order.len() > len {
            let event = search.order.at(search.order.len() - 1);
            search.order.set_len(search.order.len() - 1);
            search.placed.remove(event);
            if self.base.all_writes.has(event) {
                let location = self.base.events[event].location.index();
                search.current[location] =
                    search.overwritten.pop().expect("every placed write overwrote something");
            }
        }
    }

    fn has_last(&self, search: &GoodWritesSearch<R>) -> bool {
        search.last.iter().all(|(location, last)| last.has(search.current[location.index()]))
    }
}

/// States of a search that cannot be completed: which events are placed, and which writes are in memory.
struct DeadStates<R> {
    placed: Vec<R>,
    /// For each state one write per location.
    memory: Vec<RfSource>,
    /// For each state the one before with the same key, or `u32::MAX`.
    earlier: Vec<u32>,
    /// By key, the last state that has it.
    by_key: FxHashMap<u64, u32>,
}

impl<R> Default for DeadStates<R> {
    fn default() -> Self {
        let by_key = FxHashMap::default();
        DeadStates { placed: vec![], memory: vec![], earlier: vec![], by_key }
    }
}

impl<R: EventSet> DeadStates<R> {
    fn clear(&mut self) {
        if !self.placed.is_empty() {
            self.placed.clear();
            self.memory.clear();
            self.earlier.clear();
            self.by_key.clear();
        }
    }

    fn key(placed: &R, memory: &[RfSource]) -> u64 {
        let mix =
            |key: u64, part: u64| (key ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        let key = placed.iter().fold(0, |key, event| mix(key, event.index() as u64));
        let write = |write: &RfSource| write.event().map_or(u64::MAX, |it| it.index() as u64);
        memory.iter().map(write).fold(key, mix)
    }

    fn contains(&self, placed: &R, memory: &[RfSource]) -> bool {
        if self.placed.is_empty() {
            return false;
        }
        let mut at = self.by_key.get(&Self::key(placed, memory)).copied();
        while let Some(state) = at {
            let state = state as usize;
            let known = &self.memory[state * memory.len()..][..memory.len()];
            if self.placed[state] == *placed && known == memory {
                return true;
            }
            at = Some(self.earlier[state]).filter(|&earlier| earlier != u32::MAX);
        }
        false
    }

    fn insert(&mut self, placed: R, memory: &[RfSource]) {
        let state = self.placed.len() as u32;
        let earlier = self.by_key.insert(Self::key(&placed, memory), state);
        self.placed.push(placed);
        self.memory.extend_from_slice(memory);
        self.earlier.push(earlier.unwrap_or(u32::MAX));
    }
}
