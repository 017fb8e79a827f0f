//! Making a new witness when a read cannot be inserted into the old one.
//!
//! Events are placed one after the other. An event can be placed if everything before it (in rows that
//! are given) has been placed; a read also needs its source to be the current write of its location, or
//! to be still in its own buffer; a write needs all readers of the current write to be placed.
//!
//! *Greedily:* the old order is kept up to where the conflict starts. Then come the events before the new
//! read, in their old order, then the read, then the others, in rounds until nothing can be placed. As
//! soon as memory is again as it was in the old order, the rest of that is kept.
//!
//! *Search:* where no order is greedy enough, all choices of the next write are tried, after everything
//! that cannot hurt: reads, and writes that nobody waits for. Sets of placed events that lead nowhere are
//! remembered.

use super::super::row::Row;
use super::super::table::{List, Table};
use super::saturate::put_before;
use super::witness::Rows;
use super::{Event, INIT, Linear, NONE, SC};

/// What is used again from one read to the next.
pub(super) struct Scratch<R: Row> {
    rows: Rows<R>,
    /// The old order, and the new one as far as it goes.
    old: List<R>,
    order: List<R>,
    /// Events that could not be placed yet, in the order in which they are tried.
    waiting: List<R>,
    placed: R,
    /// By location, the write that is in memory, or [`INIT`].
    current: Vec<u32>,
    /// Sets of placed events that lead nowhere.
    dead: Vec<R>,
    /// Positive if orders that know nothing of saturation have lately been successful.
    luck: i32,
    tick: u32,
}

impl<R: Row> Scratch<R> {
    pub(super) fn new(locations: usize) -> Self {
        Scratch {
            rows: Vec::with_capacity(R::BITS),
            old: List::new(),
            order: List::new(),
            waiting: List::new(),
            placed: R::default(),
            current: vec![INIT; locations],
            dead: vec![],
            luck: 8,
            tick: 0,
        }
    }

    fn restart(&mut self) {
        self.order.set_len(0);
        self.placed = R::default();
        self.current.fill(INIT);
    }

    /// Whether it pays to try without saturation first: it did lately, or one time in 64 to see.
    fn is_lucky(&mut self) -> bool {
        self.tick = self.tick.wrapping_add(1);
        self.luck >= 0 || self.tick.is_multiple_of(64)
    }

    fn learn(&mut self, success: bool) {
        let change = if success { 1 } else { -3 };
        self.luck = (self.luck + change).clamp(-32, 32);
    }
}

impl<R: Row, const BUFFERS: u8> Linear<R, BUFFERS> {
    /// Finds a witness that includes the read, which is in the tables but not in the witness, and
    /// makes it a new level.
    #[inline(never)]
    pub(super) fn reorder(&mut self, read: usize) -> bool {
        let mut scratch = self.scratch.take().expect("nobody else makes a witness");
        let found = self.reorder_with(&mut scratch, read);
        self.scratch = Some(scratch);
        found
    }

    fn reorder_with(&mut self, scratch: &mut Scratch<R>, read: usize) -> bool {
        if let Some(rows) = self.witness.rows() {
            if self.is_hidden(rows, read) {
                return false;
            }
        } else if scratch.is_lucky() {
            let found = self.greedy(scratch, self.before.first(read + 1), read, false);
            scratch.learn(found);
            if found {
                self.witness.push_order(scratch.order.as_slice(), None);
                return true;
            }
        }
        self.reorder_saturated(scratch, read)
    }

    fn reorder_saturated(&mut self, scratch: &mut Scratch<R>, read: usize) -> bool {
        let mut rows = std::mem::take(&mut scratch.rows);
        self.saturated_rows(&mut rows);
        let hidden = self.is_hidden(&rows, read);
        let found = !hidden && self.reorder_by(scratch, &mut rows, read);
        scratch.rows = rows;
        found
    }

    /// As [`Self::reorder`], with saturated rows of all events but the read.
    fn reorder_by(&mut self, scratch: &mut Scratch<R>, rows: &mut Rows<R>, read: usize) -> bool {
        let changed = self.add_row(rows, read);
        if self.greedy(scratch, rows, read, false) {
            self.witness.push_order(scratch.order.as_slice(), None);
            return true;
        }
        if !self.saturate(rows, changed) {
            return false;
        }
        if self.greedy(scratch, rows, read, true) || self.search_from_start(scratch, rows) {
            self.witness.push_order(scratch.order.as_slice(), Some(rows));
            return true;
        }
        false
    }

    /// Whether some witness has these writes last in their locations.
    pub(super) fn orders_with_last(&mut self, last: &[(usize, Option<usize>)]) -> bool {
        let len = self.witness.len();
        self.witness.settle(len);
        let mut scratch = self.scratch.take().expect("nobody else makes a witness");
        let mut rows = std::mem::take(&mut scratch.rows);
        self.saturated_rows(&mut rows);
        let mut changed = R::default();
        let forced = last.iter().all(|&(location, write)| {
            let Some(write) = write else { return self.writes[location].is_empty() };
            let others = self.writes[location].minus(R::one(write));
            let before = others.iter().fold(others, |before, other| before.or(rows[other]));
            changed = changed.or(put_before(&mut rows, write, before));
            !before.has(write)
        });
        let possible = forced
            && self.saturate(&mut rows, changed)
            && self.search_from_start(&mut scratch, &rows);
        scratch.rows = rows;
        self.scratch = Some(scratch);
        possible
    }

    /// Tries to place all events, the read as early as its source allows. `whole`: nothing of the old
    /// order is known to stay.
    fn greedy(&self, scratch: &mut Scratch<R>, rows: &[R], read: usize, whole: bool) -> bool {
        let before_read = rows[read];
        let before_source = self.must_precede_source(read, before_read);
        self.witness.order_into(&mut scratch.old);
        let start = if whole { 0 } else { self.conflict_start(read, before_source) };
        scratch.restart();
        for at in 0..start {
            self.place(scratch, scratch.old.at(at));
        }
        let end = (start..read).rev().find(|&at| before_read.has(scratch.old.at(at)));
        let end = end.map_or(start, |at| at + 1).max(start + 1).min(read);
        let Scratch { old, waiting, .. } = scratch;
        waiting.set_len(0);
        for before in [true, false] {
            let wanted = (start..end).map(|at| old.at(at));
            let wanted = wanted.filter(|&event| before_read.has(event) == before);
            wanted.for_each(|event| waiting.push(event));
            if before {
                waiting.push(read);
            }
        }
        self.place_in_rounds(scratch, rows, read, before_source, end)
    }

    /// The writes that must come before the read's source, because they come before the read.
    fn must_precede_source(&self, read: usize, before_read: R) -> R {
        let Event { thread, location, source, .. } = self.events[read];
        if source == INIT {
            return R::default();
        }
        let source = source as usize;
        let mut older = before_read;
        if BUFFERS != SC && self.events[source].thread != thread {
            older = older.or(self.own_before(read));
        }
        older.and(self.writes[location as usize]).minus(R::one(source)).minus(R::one(read))
    }

    /// Up to where the old order need not change: the first write that hides the source, or the source
    /// itself if something has to come before it.
    fn conflict_start(&self, read: usize, before_source: R) -> usize {
        let Event { location, source, .. } = self.events[read];
        let at = |write: usize| self.witness.position(write);
        let after_source = if source == INIT { 0 } else { at(source as usize) + 1 };
        if before_source.iter().any(|write| at(write) >= after_source) {
            return after_source - 1;
        }
        let writes = self.writes[location as usize].minus(R::one(read));
        let hiding = writes.iter().map(at).filter(|&position| position >= after_source).min();
        hiding.unwrap_or(after_source)
    }

    /// Places what waits, then the old order from `end` on.
    fn place_in_rounds(
        &self,
        scratch: &mut Scratch<R>,
        rows: &[R],
        read: usize,
        before_source: R,
        end: usize,
    ) -> bool {
        let source = self.events[read].source as usize;
        let mut rest = end < read;
        loop {
            let progress = self.place_round(scratch, rows, source, before_source);
            if rest && scratch.waiting.is_empty() && self.memory_is_as_in_old(scratch, read, end) {
                scratch.order.extend(&scratch.old.as_slice()[end..]);
                return true;
            }
            if rest && (scratch.waiting.is_empty() || !progress) {
                rest = false;
                let Scratch { old, waiting, .. } = scratch;
                waiting.extend(&old.as_slice()[end..]);
            } else if scratch.waiting.is_empty() || !progress {
                return scratch.waiting.is_empty();
            }
        }
    }

    /// Tries each waiting event once. Whether one could be placed.
    fn place_round(
        &self,
        scratch: &mut Scratch<R>,
        rows: &[R],
        source: usize,
        before_source: R,
    ) -> bool {
        let mut kept = 0;
        for at in 0..scratch.waiting.len() {
            let event = scratch.waiting.at(at);
            let held_back = event == source && !before_source.minus(scratch.placed).is_empty();
            if !held_back && self.can_be_placed(scratch, rows, event) {
                self.place(scratch, event);
            } else {
                scratch.waiting.set(kept, event);
                kept += 1;
            }
        }
        let progress = kept < scratch.waiting.len();
        scratch.waiting.set_len(kept);
        progress
    }

    /// Whether memory holds what it held in the old order after `end` events.
    fn memory_is_as_in_old(&self, scratch: &Scratch<R>, read: usize, end: usize) -> bool {
        if self.all_writes.has(read) {
            return false;
        }
        let written = (0..end).map(|at| scratch.old.at(at));
        let mut open = written.filter(|&event| self.all_writes.has(event)).fold(
            R::default(),
            |mut last, event| {
                let others = self.writes[self.events[event].location as usize];
                last = last.minus(others);
                last.insert(event);
                last
            },
        );
        for write in open.iter() {
            if scratch.current[self.events[write].location as usize] == write as u32 {
                open.remove(write);
            }
        }
        open.is_empty()
    }

    #[inline]
    fn place(&self, scratch: &mut Scratch<R>, event: usize) {
        scratch.placed.insert(event);
        scratch.order.push(event);
        if self.all_writes.has(event) {
            scratch.current[self.events[event].location as usize] = event as u32;
        }
    }

    #[inline]
    fn can_be_placed(&self, scratch: &Scratch<R>, rows: &[R], event: usize) -> bool {
        let placed = scratch.placed;
        if !rows[event].minus(placed).is_empty() {
            return false;
        }
        let Event { location, source, .. } = self.events[event];
        let writes = self.all_writes.has(event);
        if !writes && source == NONE {
            return true;
        }
        let current = scratch.current[location as usize];
        if !writes {
            return self.can_read(placed, event, current);
        }
        let readers = match current {
            INIT => self.readers_of_init[location as usize],
            write => self.readers[write as usize],
        };
        (source == NONE || source == current)
            && readers.minus(placed).minus(R::one(event)).is_empty()
    }

    #[inline]
    fn can_read(&self, placed: R, event: usize, current: u32) -> bool {
        let source = self.events[event].source;
        if BUFFERS != SC {
            let own = self.own_before(event);
            let is_own = source != INIT && own.has(source as usize);
            if is_own && !placed.has(source as usize) {
                return true;
            }
            if !is_own && !own.minus(placed).is_empty() {
                return false;
            }
        }
        current == source
    }

    #[inline(never)]
    fn search_from_start(&self, scratch: &mut Scratch<R>, rows: &[R]) -> bool {
        scratch.restart();
        scratch.dead.clear();
        self.search(scratch, rows)
    }

    fn search(&self, scratch: &mut Scratch<R>, rows: &[R]) -> bool {
        let all = R::below(rows.len());
        self.place_harmless(scratch, rows, all);
        if scratch.placed == all {
            return true;
        }
        if scratch.dead.contains(&scratch.placed) {
            return false;
        }
        let (len, placed) = (scratch.order.len(), scratch.placed);
        for write in all.minus(placed).and(self.all_writes).iter() {
            if !self.can_be_placed(scratch, rows, write) {
                continue;
            }
            self.place(scratch, write);
            if self.search(scratch, rows) {
                return true;
            }
            self.unplace(scratch, len);
        }
        scratch.dead.push(placed);
        false
    }

    /// Places reads, and writes that nobody who is not placed yet observes.
    fn place_harmless(&self, scratch: &mut Scratch<R>, rows: &[R], all: R) {
        loop {
            let before = scratch.order.len();
            for event in all.minus(scratch.placed).iter() {
                let awaited = self.all_writes.has(event)
                    && !self.readers[event].minus(scratch.placed).is_empty();
                if !awaited && self.can_be_placed(scratch, rows, event) {
                    self.place(scratch, event);
                }
            }
            if scratch.order.len() == before {
                return;
            }
        }
    }

    /// Takes back all placed events except the first `len`.
    fn unplace(&self, scratch: &mut Scratch<R>, len: usize) {
        scratch.restart();
        for at in 0..len {
            // What is placed again is written where it stood.
            self.place(scratch, scratch.order.at(at));
        }
    }
}
