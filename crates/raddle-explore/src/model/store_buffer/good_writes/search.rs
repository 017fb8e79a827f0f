//! Searching for a witness in which every read observes one of its good-writes.
//!
//! Events are placed one after the other. An event can be placed if everything before it (in rows that
//! are given) has been placed; a read also needs one of its good-writes in memory, or the newest write in
//! the buffer of its own thread must be one; a write must not *hold up* a read, which is one that is not
//! placed while all its good-writes are.
//!
//! *Greedily:* the events in the order of the old witness, in rounds until nothing can be placed; the new read
//! as soon as it can.
//!
//! *Search:* where that is not enough. Two kinds of events are placed as soon as possible, and nothing else is tried instead: reads that do not
//! write, and writes of a location such that nobody who is not placed yet may observe the write, or what
//! it overwrites. Otherwise all writes that can be placed are tried, in the order of the old witness. Sets
//! of placed events that lead nowhere are remembered, with the memory after them.
//!
//! *Paper.* VerifySC of Agarwal et al., CAV 2021, section 4. Where we differ: the rule for reads excludes
//! updates, and the rule for writes demands that everything before the write has been placed; without
//! that, both lose witnesses. Under TSO and PSO a read may observe the buffer of its own thread.

use rustc_hash::FxHashMap;

use super::Good;
use crate::event_list::EventList;
use crate::event_set::EventSet;
use crate::model::Sources;
use crate::model::store_buffer::witness::Rows;
use crate::model::store_buffer::{INIT, SC};

/// What is used again from one search to the next.
pub(super) struct Search<R: EventSet> {
    /// Taken while they are used.
    rows: Option<Rows<R>>,
    /// The events in the order in which they are tried.
    guide: EventList<R>,
    order: EventList<R>,
    placed: R,
    /// By location, the write that is in memory, or [`INIT`].
    current: Vec<u32>,
    /// What the placed events overwrote, in their order.
    overwritten: Vec<u32>,
    dead: Dead<R>,
    /// Locations, with the writes one of which must be the last one.
    last: Vec<(usize, Sources<R>)>,
}

impl<R: EventSet> Search<R> {
    pub(super) fn new(locations: usize) -> Self {
        Search {
            rows: Some(Rows::new()),
            guide: EventList::new(),
            order: EventList::new(),
            placed: R::default(),
            current: vec![INIT; locations],
            overwritten: Vec::with_capacity(R::BITS),
            dead: Dead::default(),
            last: vec![],
        }
    }

    fn restart(&mut self) {
        self.order.set_len(0);
        self.placed = R::default();
        self.current.fill(INIT);
        self.overwritten.clear();
        self.dead.clear();
    }
}

impl<R: EventSet, const BUFFERS: u8> Good<R, BUFFERS> {
    /// Finds a witness that includes the read, which is in the tables but not in the witness, and makes it
    /// a new level.
    #[inline(never)]
    pub(super) fn reorder(&mut self, read: usize) -> bool {
        let mut search = self.search.take().expect("nobody else makes a witness");
        let mut rows = search.rows.take().expect("nobody else uses the rows");
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

    /// Whether some witness has one of these writes last in each of these locations.
    pub(super) fn ends_with(&mut self, last: &[(usize, Sources<R>)]) -> bool {
        let len = self.base.witness.len();
        self.base.witness.settle(len);
        let mut search = self.search.take().expect("nobody else makes a witness");
        let mut rows = search.rows.take().expect("nobody else uses the rows");
        self.closed_rows(&mut rows);
        search.last.extend_from_slice(last);
        let found = self.find(&mut search, &rows);
        search.last.clear();
        search.rows = Some(rows);
        self.search = Some(search);
        found
    }

    /// Tries to place all events without taking anything back.
    fn find_greedily(&self, search: &mut Search<R>, rows: &Rows<R>, read: usize) -> bool {
        if !self.options.guidance {
            return false;
        }
        search.restart();
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
    fn can_be_placed(&self, search: &Search<R>, rows: &Rows<R>, event: usize) -> bool {
        rows[event].minus(search.placed).is_empty()
            && if self.base.all_writes.has(event) {
                self.can_write(search, event)
            } else {
                !self.all_reads.has(event) || self.can_read(search, event)
            }
    }

    /// Looks for an order of all events that have rows.
    fn find(&self, search: &mut Search<R>, rows: &Rows<R>) -> bool {
        search.restart();
        self.base.witness.list_into(&mut search.guide);
        for event in search.guide.len()..rows.len() {
            search.guide.push(event);
        }
        if !self.options.guidance {
            (0..rows.len()).for_each(|event| search.guide.set(event, event));
        }
        self.extend(search, rows)
    }

    fn extend(&self, search: &mut Search<R>, rows: &Rows<R>) -> bool {
        while self.place_eagerly(search, rows) {}
        if search.order.len() == rows.len() {
            return self.has_last(search);
        }
        if search.dead.contains(search.placed, &search.current) {
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
                self.take_back(search, len);
            }
        }
        search.dead.insert(search.placed, &search.current);
        false
    }

    /// Places what can be placed without trying anything else instead. Whether there was something.
    fn place_eagerly(&self, search: &mut Search<R>, rows: &Rows<R>) -> bool {
        let before = search.order.len();
        for at in 0..rows.len() {
            let event = search.guide.at(at);
            if !search.placed.has(event)
                && rows[event].minus(search.placed).is_empty()
                && self.is_harmless(search, event)
            {
                self.place(search, event);
            }
        }
        search.order.len() > before
    }

    /// Whether an event that is next in its thread can be placed, and nothing gets worse by that.
    fn is_harmless(&self, search: &Search<R>, event: usize) -> bool {
        let reads = self.all_reads.has(event);
        if !self.base.all_writes.has(event) {
            return !reads || self.can_read(search, event);
        }
        let location = self.base.events[event].location as usize;
        !reads
            && !self.is_awaited(search, location, event as u32)
            && !self.is_awaited(search, location, search.current[location])
    }

    /// Whether somebody who is not placed yet may observe the write.
    fn is_awaited(&self, search: &Search<R>, location: usize, write: u32) -> bool {
        let write = (write != INIT).then_some(write as usize);
        let wants = |last: &Sources<R>| write.map_or(last.initial, |write| last.writes.has(write));
        self.reads[location].minus(search.placed).iter().any(|read| self.is_good(read, write))
            || search.last.iter().any(|(at, last)| *at == location && wants(last))
    }

    /// Whether the read, which is next in its thread, would observe one of its good-writes now.
    #[inline]
    fn can_read(&self, search: &Search<R>, read: usize) -> bool {
        if BUFFERS != SC
            && let Some(newest) = self.base.own_before(read).last()
            && !search.placed.has(newest)
        {
            return self.good[read].has(newest);
        }
        let current = search.current[self.base.events[read].location as usize];
        self.is_good(read, (current != INIT).then_some(current as usize))
    }

    /// Whether the write, which is next in its thread, can be placed without holding up a read.
    fn can_write(&self, search: &Search<R>, write: usize) -> bool {
        let location = self.base.events[write].location as usize;
        if self.all_reads.has(write) && !self.can_read(search, write) {
            return false;
        }
        let others = self.reads[location].minus(search.placed).minus(R::one(write));
        let is_over = |good: R| good.minus(search.placed).is_empty();
        !others.iter().any(|read| is_over(self.good[read]))
            && !search.last.iter().any(|(at, last)| *at == location && is_over(last.writes))
    }

    #[inline]
    fn place(&self, search: &mut Search<R>, event: usize) {
        search.placed.insert(event);
        search.order.push(event);
        if self.base.all_writes.has(event) {
            let current = &mut search.current[self.base.events[event].location as usize];
            search.overwritten.push(*current);
            *current = event as u32;
        }
    }

    /// Takes back all placed events except the first `len`.
    fn take_back(&self, search: &mut Search<R>, len: usize) {
        while search.order.len() > len {
            let event = search.order.at(search.order.len() - 1);
            search.order.set_len(search.order.len() - 1);
            search.placed.remove(event);
            if self.base.all_writes.has(event) {
                let location = self.base.events[event].location as usize;
                search.current[location] =
                    search.overwritten.pop().expect("it overwrote something");
            }
        }
    }

    fn has_last(&self, search: &Search<R>) -> bool {
        search.last.iter().all(|(location, last)| match search.current[*location] {
            INIT => last.initial,
            write => last.writes.has(write as usize),
        })
    }
}

/// States of a search that lead nowhere: what is placed, and what is in memory.
struct Dead<R> {
    placed: Vec<R>,
    /// For each of them the writes in memory, and the one before with the same key.
    memory: Vec<u32>,
    earlier: Vec<u32>,
    /// By key, the last state that has it.
    by_key: FxHashMap<u64, u32>,
}

impl<R> Default for Dead<R> {
    fn default() -> Self {
        Dead { placed: vec![], memory: vec![], earlier: vec![], by_key: FxHashMap::default() }
    }
}

impl<R: EventSet> Dead<R> {
    fn clear(&mut self) {
        if !self.placed.is_empty() {
            self.placed.clear();
            self.memory.clear();
            self.earlier.clear();
            self.by_key.clear();
        }
    }

    fn key(placed: R, memory: &[u32]) -> u64 {
        let mix =
            |key: u64, part: u64| (key ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        let key = placed.iter().fold(0, |key, event| mix(key, event as u64));
        memory.iter().fold(key, |key, &write| mix(key, u64::from(write)))
    }

    fn contains(&self, placed: R, memory: &[u32]) -> bool {
        if self.placed.is_empty() {
            return false;
        }
        let mut at = self.by_key.get(&Self::key(placed, memory)).copied();
        while let Some(state) = at {
            let state = state as usize;
            let known = &self.memory[state * memory.len()..][..memory.len()];
            if self.placed[state] == placed && known == memory {
                return true;
            }
            at = Some(self.earlier[state]).filter(|&earlier| earlier != u32::MAX);
        }
        false
    }

    fn insert(&mut self, placed: R, memory: &[u32]) {
        let state = self.placed.len() as u32;
        let earlier = self.by_key.insert(Self::key(placed, memory), state);
        self.placed.push(placed);
        self.memory.extend_from_slice(memory);
        self.earlier.push(earlier.unwrap_or(u32::MAX));
    }
}
