//! What every witness must obey, if reads have several good-writes.
//!
//! Let `P` be an order that every witness obeys, and `Cl(r)` the good-writes of the read `r` that `P` does not hide
//! from it. Then every witness also obeys (Agarwal et al., CAV 2021, section 4.2):
//!
//! 1. `Cl(r)` is not empty;
//! 2. if `Cl(r)` has a least element, it precedes `r`;
//! 3. if `Cl(r)` has a greatest element `w`, the other writes that precede `r` and are not in `Cl(r)` precede `w`;
//! 4. a write that is not in `Cl(r)` and comes after all of `Cl(r)` comes after `r`.
//!
//! *Where we differ.* The paper prints 3 and 4 for writes that do not conflict with `r`, and for those outside of the
//! good-writes; ours is the stronger form. Under TSO and PSO the own writes of a thread that precede `r` in program
//! order precede a source of another thread, as `r` would have observed them in the buffer otherwise; and as long as
//! the newest of them is in `Cl(r)` and may be in the buffer, rule 2 says nothing. `tests/it/rvf_smc_examples.rs` has
//! programs that break without these.
//!
//! The rows of a level are closed, so a new event changes little; a worklist of reads drives the rest.

use super::GoodWritesModel;
use crate::event_index::EventIndex;
use crate::event_map::EventMap;
use crate::event_set::EventSet;
use crate::model::RfSources;
use crate::model::store_buffer::witness::PrecedenceRows;
use crate::model::store_buffer::{LinearizedEvent, SC};

impl<R: EventSet, const BUFFERS: u8> GoodWritesModel<R, BUFFERS> {
    /// Computes closed rows of all events and the new read. Returns `false` if there is no witness.
    pub(super) fn close_with(&mut self, rows: &mut PrecedenceRows<R>, read: EventIndex) -> bool {
        if !self.options.closure {
            rows.truncate(0);
            self.base.before.first(read.index() + 1).iter().for_each(|row| rows.push(row.clone()));
            return true;
        }
        self.closed_rows(rows);
        let row = before_in(rows, self.base.events[read].front.clone());
        let RfSources { writes, initial } = self.visible(rows, &row, read);
        if writes.is_empty() && !initial {
            return false;
        }
        let changed = self.add_row(rows, read);
        self.close(rows, changed)
    }

    /// Copies the closed rows of the current level, which are computed if it has none.
    pub(super) fn closed_rows(&mut self, rows: &mut PrecedenceRows<R>) {
        let len = self.base.witness.len();
        if self.options.open {
            // The reads had fewer good-writes when earlier rows were derived.
            rows.truncate(0);
        } else if self.base.witness.copy_closest_rows(rows) {
            return;
        }
        let mut changed = R::default();
        for event in rows.len()..len {
            changed = changed.or(&self.add_row(rows, EventIndex::new(event)));
        }
        let consistent = self.close(rows, changed);
        debug_assert!(consistent, "every level has a witness");
        if !self.options.open {
            self.base.witness.keep_rows(rows);
        }
    }

    /// Adds the row of the next event, before it is closed. Returns the worklist for [`Self::close`].
    fn add_row(&self, rows: &mut PrecedenceRows<R>, event: EventIndex) -> R {
        let &LinearizedEvent { location, ref front, .. } = &self.base.events[event];
        let mut changed = R::default();
        if self.all_reads.has(event) {
            changed.insert(event);
        }
        if self.base.all_writes.has(event) {
            changed = changed.or(&self.reads[location.index()].and(&R::below(event)));
        }
        let row = before_in(rows, front.clone());
        rows.push(row);
        changed
    }

    /// Closes the rows under the rules; `worklist` are reads. Returns `false` if there is no witness.
    pub(super) fn close(&self, rows: &mut PrecedenceRows<R>, mut worklist: R) -> bool {
        while let Some(read) = worklist.first() {
            worklist.remove(read);
            if !self.close_read(rows, read, &mut worklist) {
                return false;
            }
        }
        true
    }

    fn close_read(&self, rows: &mut PrecedenceRows<R>, read: EventIndex, worklist: &mut R) -> bool {
        let row = &rows[read];
        let RfSources { writes, initial } = self.visible(rows, row, read);
        if writes.is_empty() && !initial {
            return false;
        }
        let own = if BUFFERS == SC { R::default() } else { self.base.own_before(read) };
        let forwards = own.last().is_some_and(|newest| writes.has(newest) && !row.has(newest));
        if !initial && !forwards {
            let least = writes.iter().find(|&least| {
                writes.minus(&R::one(least)).iter().all(|other| rows[other].has(least))
            });
            if let Some(least) = least
                && !self.order_before(rows, &R::one(least), read, worklist)
            {
                return false;
            }
        }
        let hidden = if writes.meets(&own) { R::default() } else { own };
        self.older_before_greatest(rows, read, &writes, &hidden, worklist)
            && self.before_newer(rows, read, &writes, worklist)
    }

    /// The good-writes of a read with this row that are not hidden from it.
    fn visible(&self, rows: &PrecedenceRows<R>, row: &R, read: EventIndex) -> RfSources<R> {
        let LinearizedEvent { location, .. } = self.base.events[read];
        let all = self.base.writes[location.index()].minus(&R::one(read));
        let older = row.and(&all);
        let own = if BUFFERS == SC { R::default() } else { self.base.own_before(read) };
        let hide = |hidden: R, write: EventIndex| hidden.or(&rows[write]);
        let hidden = older.iter().fold(R::default(), hide);
        let hidden_for_others = own.minus(&older).iter().fold(hidden.clone(), hide);
        let good = &self.good[read];
        let mut writes = good.minus(&own).minus(&hidden_for_others);
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
        RfSources { writes, initial }
    }

    /// Rule 3. `hidden` are own writes that the read does not observe. Returns `false` if there is a cycle.
    fn older_before_greatest(
        &self,
        rows: &mut PrecedenceRows<R>,
        read: EventIndex,
        visible: &R,
        hidden: &R,
        worklist: &mut R,
    ) -> bool {
        let greatest =
            visible.iter().find(|&it| visible.minus(&R::one(it)).minus(&rows[it]).is_empty());
        let Some(greatest) = greatest else { return true };
        let location = self.base.events[read].location.index();
        let all = self.base.writes[location].minus(&R::one(read));
        let older = rows[read].and(&all).or(hidden).minus(visible).minus(&rows[greatest]);
        self.order_before(rows, &older, greatest, worklist)
    }

    /// Rule 4. Returns `false` if there is a cycle.
    fn before_newer(
        &self,
        rows: &mut PrecedenceRows<R>,
        read: EventIndex,
        visible: &R,
        worklist: &mut R,
    ) -> bool {
        let location = self.base.events[read].location.index();
        let all = self.base.writes[location].minus(&R::one(read)).minus(visible);
        let others = all.and(&R::below(EventIndex::new(rows.len())));
        others.iter().all(|other| {
            !visible.minus(&rows[other]).is_empty()
                || self.order_before(rows, &R::one(read), other, worklist)
        })
    }

    /// Lets events, and what precedes them, precede an event. Returns `false` if that closes a cycle.
    fn order_before(
        &self,
        rows: &mut PrecedenceRows<R>,
        earlier: &R,
        event: EventIndex,
        worklist: &mut R,
    ) -> bool {
        let earlier = earlier.minus(&rows[event]);
        if earlier.is_empty() {
            return true;
        }
        let before = before_in(rows, earlier);
        if before.has(event) {
            return false;
        }
        let changed = rows.order_before(&before, event);
        *worklist = worklist.or(&changed.and(&self.all_reads));
        for write in changed.and(&self.base.all_writes).iter() {
            let location = self.base.events[write].location.index();
            *worklist =
                worklist.or(&self.reads[location].and(&R::below(EventIndex::new(rows.len()))));
        }
        true
    }
}

/// These events, and everything that precedes them.
fn before_in<R: EventSet>(rows: &PrecedenceRows<R>, events: R) -> R {
    events.iter().fold(events, |before, event| before.or(&rows[event]))
}
