//! What every witness must obey: the preserved order and reads-from, closed under two rules.
//!
//! Let `w` be the source of the read `r`, and `v` another write of the location. If `v` precedes `r`, it precedes `w`;
//! if `w` precedes `v`, then `r` precedes `v`. And if `w` is of another thread, the writes of `r`'s own thread to the
//! location that precede `r` in program order precede `w`: they were in the buffer, and `r` would have observed them
//! there. A cycle means that there is no witness.
//!
//! The rows of a level are closed, so a new event changes little; a worklist of events drives the rest.

use super::witness::PrecedenceRows;
use super::{LinearizedEvent, StoreBufferModel};
use crate::event_index::{EventIndex, RfSource};
use crate::event_set::EventSet;

impl<R: EventSet, const BUFFERS: u8> StoreBufferModel<R, BUFFERS> {
    /// Copies the saturated rows of the current level, which are computed if it has none.
    pub(super) fn saturated_rows(&mut self, rows: &mut PrecedenceRows<R>) {
        let len = self.witness.len();
        if self.witness.copy_closest_rows(rows) {
            return;
        }
        let mut changed = R::default();
        for event in rows.len()..len {
            changed = changed.or(&self.add_row(rows, EventIndex::new(event)));
        }
        let consistent = self.saturate(rows, changed);
        debug_assert!(consistent, "every level has a witness");
        self.witness.keep_rows(rows);
    }

    /// Returns `true` if saturated rows of all earlier events show that the read cannot observe its source.
    pub(super) fn is_hidden(&self, rows: &PrecedenceRows<R>, read: EventIndex) -> bool {
        let &LinearizedEvent { thread, location, source, ref front, .. } = &self.events[read];
        let all = self.writes[location.index()].minus(&R::one(read));
        let mut older = self.before_in(rows, front.clone()).and(&all);
        let own = self.own_writes(thread, location);
        let Some(source) = source.event() else { return !older.or(&own).is_empty() };
        if !own.has(source) {
            older = older.or(&own);
        }
        older.remove(source);
        older.iter().any(|write| rows[write].has(source))
    }

    /// The row of a read, as far as it follows from its front and its source.
    pub(super) fn row_of_read(&self, rows: &PrecedenceRows<R>, read: EventIndex) -> R {
        let &LinearizedEvent { source, ref front, .. } = &self.events[read];
        let row = self.before_in(rows, front.clone());
        match source.event() {
            Some(source) if !self.is_forwarded(read) => row.or(&rows[source]).or(&R::one(source)),
            _ => row,
        }
    }

    /// Everything that precedes an event with this front.
    #[inline]
    fn before_in(&self, rows: &PrecedenceRows<R>, front: R) -> R {
        front.iter().fold(front, |before, event| before.or(&rows[event]))
    }

    /// Adds the row of the next event, before saturation. Returns the worklist for [`Self::saturate`].
    pub(super) fn add_row(&self, rows: &mut PrecedenceRows<R>, event: EventIndex) -> R {
        let &LinearizedEvent { thread, location, source, ref front, .. } = &self.events[event];
        let mut changed = R::one(event);
        if source == RfSource::NONE {
            rows.push(self.before_in(rows, front.clone()));
            return changed;
        }
        let mut row = self.row_of_read(rows, event);
        if let Some(source) = source.event()
            && self.events[source].thread != thread
        {
            let own = self.own_before(event).minus(&rows[source]);
            if !own.is_empty() {
                let before = self.before_in(rows, own);
                changed = changed.or(&rows.order_before(&before, source));
                row = row.or(&rows[source]);
            }
        }
        for write in self.writes[location.index()].and(&R::below(event)).iter() {
            if source.event().is_none_or(|source| rows[write].has(source)) {
                changed.insert(write);
            }
        }
        rows.push(row);
        changed
    }

    /// Closes the rows under the rules; `changed` is the worklist. Returns `false` if there is a cycle.
    pub(super) fn saturate(&self, rows: &mut PrecedenceRows<R>, mut changed: R) -> bool {
        while let Some(event) = changed.first() {
            changed.remove(event);
            if rows[event].has(event) {
                return false;
            }
            let reads = self.events[event].source != RfSource::NONE;
            if reads && !self.older_before_source(rows, event, &mut changed) {
                return false;
            }
            if self.all_writes.has(event) && !self.readers_before_newer(rows, event, &mut changed) {
                return false;
            }
        }
        true
    }

    /// Lets the writes that precede a read precede its source. Returns `false` if there is a cycle.
    fn older_before_source(
        &self,
        rows: &mut PrecedenceRows<R>,
        read: EventIndex,
        changed: &mut R,
    ) -> bool {
        let LinearizedEvent { location, source, .. } = self.events[read];
        let older = rows[read].and(&self.writes[location.index()]);
        let Some(source) = source.event() else { return older.is_empty() };
        let older = older.minus(&R::one(source)).minus(&rows[source]);
        if older.is_empty() {
            return true;
        }
        let before = self.before_in(rows, older);
        if before.has(source) {
            return false;
        }
        *changed = changed.or(&rows.order_before(&before, source));
        true
    }

    /// Lets the readers of the writes that precede a write precede it. Returns `false` if there is a cycle.
    fn readers_before_newer(
        &self,
        rows: &mut PrecedenceRows<R>,
        write: EventIndex,
        changed: &mut R,
    ) -> bool {
        let location = self.events[write].location.index();
        let row = &rows[write];
        let older = row.and(&self.writes[location]);
        let add = |readers: R, write: EventIndex| readers.or(&self.readers[write]);
        let readers = older.iter().fold(self.readers_of_init[location].clone(), add);
        let known = R::below(EventIndex::new(rows.len()));
        let readers = readers.minus(&R::one(write)).minus(row).and(&known);
        if readers.is_empty() {
            return true;
        }
        let before = self.before_in(rows, readers);
        if before.has(write) {
            return false;
        }
        *changed = changed.or(&rows.order_before(&before, write));
        true
    }
}
