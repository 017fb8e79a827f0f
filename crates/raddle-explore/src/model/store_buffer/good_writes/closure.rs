//! What every witness must obey, where reads have several good-writes.
//!
//! Let `P` be an order that every witness obeys, and `Cl(r)` the good-writes of the read `r` that `P` does
//! not hide from it. Then every witness also obeys (Agarwal et al., CAV 2021, section 4.2):
//!
//! 1. `Cl(r)` is not empty;
//! 2. if `Cl(r)` has a least element, it is before `r`;
//! 3. if `Cl(r)` has a greatest element `w`, the other writes before `r` that are not in `Cl(r)` are before `w`;
//! 4. a write that is not in `Cl(r)` and comes after all of `Cl(r)` comes after `r`.
//!
//! *Where we differ.* The paper prints 3 and 4 for writes that do not conflict with `r`, and for
//! those outside of the good-writes; ours is the stronger form. Under TSO and PSO the own writes of a thread
//! that are before `r` in program order are before a source of another thread, as `r` would have observed
//! them in the buffer otherwise; and as long as the newest of them is in `Cl(r)` and may be in the buffer,
//! rule 2 says nothing. `tests/reads_value_from_examples.rs` has programs that break without these.
//!
//! The rows of a level are closed, so a new event changes little; a set of reads that have to be looked at
//! again drives the rest.

use super::Good;
use crate::event_map::EventMap;
use crate::event_set::EventSet;
use crate::model::Sources;
use crate::model::store_buffer::witness::Rows;
use crate::model::store_buffer::{Event, SC};

impl<R: EventSet, const BUFFERS: u8> Good<R, BUFFERS> {
    /// The order of all events before the new read, then with it. False: there is no witness.
    pub(super) fn close_with(&mut self, rows: &mut Rows<R>, read: usize) -> bool {
        if !self.options.closure {
            rows.truncate(0);
            self.base.before.first(read + 1).iter().for_each(|&row| rows.push(row));
            return true;
        }
        self.closed_rows(rows);
        let row = before_in(rows, self.base.events[read].front);
        let Sources { writes, initial } = self.visible(rows, row, read);
        if writes.is_empty() && !initial {
            return false;
        }
        let changed = self.add_row(rows, read);
        self.close(rows, changed)
    }

    /// Makes sure that the current level has closed rows, and copies them.
    pub(super) fn closed_rows(&mut self, rows: &mut Rows<R>) {
        let len = self.base.witness.len();
        if self.options.open {
            // What was derived when the reads had fewer good-writes does not hold any more.
            rows.truncate(0);
        } else if self.base.witness.closest_rows(rows) {
            return;
        }
        let mut changed = R::default();
        for event in rows.len()..len {
            changed = changed.or(self.add_row(rows, event));
        }
        let consistent = self.close(rows, changed);
        debug_assert!(consistent, "a level has a witness");
        if !self.options.open {
            self.base.witness.keep_rows(rows);
        }
    }

    /// The row of the next event, before it is closed. Returns the reads to look at.
    fn add_row(&self, rows: &mut Rows<R>, event: usize) -> R {
        let Event { location, front, .. } = self.base.events[event];
        let mut changed = R::default();
        if self.all_reads.has(event) {
            changed.insert(event);
        }
        if self.base.all_writes.has(event) {
            changed = changed.or(self.reads[location as usize].and(R::below(event)));
        }
        let row = before_in(rows, front);
        rows.push(row);
        changed
    }

    /// Closes the rows under the rules; `open` are the reads to look at. False: there is no witness.
    pub(super) fn close(&self, rows: &mut Rows<R>, mut open: R) -> bool {
        while let Some(read) = open.first() {
            open.remove(read);
            if !self.close_read(rows, read, &mut open) {
                return false;
            }
        }
        true
    }

    fn close_read(&self, rows: &mut Rows<R>, read: usize, open: &mut R) -> bool {
        let row = rows[read];
        let Sources { writes, initial } = self.visible(rows, row, read);
        if writes.is_empty() && !initial {
            return false;
        }
        let own = if BUFFERS == SC { R::default() } else { self.base.own_before(read) };
        let forwards = own.last().is_some_and(|newest| writes.has(newest) && !row.has(newest));
        if !initial && !forwards {
            let least = writes.iter().find(|&least| {
                writes.minus(R::one(least)).iter().all(|other| rows[other].has(least))
            });
            if let Some(least) = least
                && !self.put_before(rows, read, R::one(least), open)
            {
                return false;
            }
        }
        let hidden = if writes.meets(&own) { R::default() } else { own };
        self.older_before_greatest(rows, read, writes, hidden, open)
            && self.before_newer(rows, read, writes, open)
    }

    /// The good-writes of a read with this row that are not hidden from it.
    fn visible(&self, rows: &Rows<R>, row: R, read: usize) -> Sources<R> {
        let Event { location, .. } = self.base.events[read];
        let all = self.base.writes[location as usize].minus(R::one(read));
        let older = row.and(all);
        let own = if BUFFERS == SC { R::default() } else { self.base.own_before(read) };
        let hide = |hidden: R, write: usize| hidden.or(rows[write]);
        let hidden = older.iter().fold(R::default(), hide);
        let hidden_for_others = own.minus(older).iter().fold(hidden, hide);
        let good = self.good[read];
        let mut writes = good.minus(own).minus(hidden_for_others);
        for write in writes.iter() {
            if rows[write].has(read) {
                writes.remove(write);
            }
        }
        if let Some(newest) = own.last()
            && good.has(newest)
            && !hidden.has(newest)
        {
            writes.insert(newest);
        }
        let initial = self.from_initial.has(read) && older.is_empty() && own.is_empty();
        Sources { writes, initial }
    }

    /// Rule 3. `hidden` are own writes that the read does not observe.
    fn older_before_greatest(
        &self,
        rows: &mut Rows<R>,
        read: usize,
        visible: R,
        hidden: R,
        open: &mut R,
    ) -> bool {
        let greatest =
            visible.iter().find(|&it| visible.minus(R::one(it)).minus(rows[it]).is_empty());
        let Some(greatest) = greatest else { return true };
        let location = self.base.events[read].location as usize;
        let all = self.base.writes[location].minus(R::one(read));
        let older = rows[read].and(all).or(hidden).minus(visible).minus(rows[greatest]);
        self.put_before(rows, greatest, older, open)
    }

    /// Rule 4.
    fn before_newer(&self, rows: &mut Rows<R>, read: usize, visible: R, open: &mut R) -> bool {
        let location = self.base.events[read].location as usize;
        let all = self.base.writes[location].minus(R::one(read)).minus(visible);
        let others = all.and(R::below(rows.len()));
        others.iter().all(|other| {
            !visible.minus(rows[other]).is_empty()
                || self.put_before(rows, other, R::one(read), open)
        })
    }

    /// Puts events, and what is before them, before an event. False: that makes a cycle.
    fn put_before(&self, rows: &mut Rows<R>, event: usize, earlier: R, open: &mut R) -> bool {
        let earlier = earlier.minus(rows[event]);
        if earlier.is_empty() {
            return true;
        }
        let before = before_in(rows, earlier);
        if before.has(event) {
            return false;
        }
        let changed = rows.put_before(event, before);
        *open = open.or(changed.and(self.all_reads));
        for write in changed.and(self.base.all_writes).iter() {
            let location = self.base.events[write].location as usize;
            *open = open.or(self.reads[location].and(R::below(rows.len())));
        }
        true
    }
}

/// These events, and everything before them.
fn before_in<R: EventSet>(rows: &Rows<R>, events: R) -> R {
    events.iter().fold(events, |before, event| before.or(rows[event]))
}
