//! What every witness must obey: the preserved order and reads-from, closed under two rules.
//!
//! Let `w` be the source of the read `r`, and `v` another write of the location. If `v` is before `r`, it
//! is before `w`; if `w` is before `v`, then `r` is before `v`. And if `w` is of another thread, the
//! writes of `r`'s own thread to the location, as far as they are before `r`, are before `w`: they were
//! in the buffer, and `r` would have observed them there. A cycle means that there is no witness.
//!
//! The rows of a level are closed, so a new event changes little; a set of events that have to be looked
//! at again drives the rest.

use super::witness::Rows;
use super::{Event, INIT, Linear, NONE};
use crate::event_set::EventSet;

impl<R: EventSet, const BUFFERS: u8> Linear<R, BUFFERS> {
    /// Makes sure that the current level has saturated rows, and copies them.
    pub(super) fn saturated_rows(&mut self, rows: &mut Rows<R>) {
        let len = self.witness.len();
        if self.witness.closest_rows(rows) {
            return;
        }
        let mut changed = R::default();
        for event in rows.len()..len {
            changed = changed.or(self.add_row(rows, event));
        }
        let consistent = self.saturate(rows, changed);
        debug_assert!(consistent, "a level has a witness");
        self.witness.keep_rows(rows);
    }

    /// Whether saturated rows of all events before it show that the read cannot observe its source.
    pub(super) fn is_hidden(&self, rows: &Rows<R>, read: usize) -> bool {
        let Event { thread, location, source, front, .. } = self.events[read];
        let all = self.writes[location as usize].minus(R::one(read));
        let mut older = self.before_in(rows, front).and(all);
        let own = self.own_writes(thread as usize, location as usize);
        if source == INIT {
            return !older.or(own).is_empty();
        }
        let source = source as usize;
        if !own.has(source) {
            older = older.or(own);
        }
        older.remove(source);
        older.iter().any(|write| rows[write].has(source))
    }

    /// The row of a read, as far as it follows from its front and its source.
    pub(super) fn row_of_read(&self, rows: &Rows<R>, read: usize) -> R {
        let Event { source, front, .. } = self.events[read];
        let row = self.before_in(rows, front);
        if source == INIT || self.is_forwarded(read) {
            return row;
        }
        row.or(rows[source as usize]).or(R::one(source as usize))
    }

    /// Everything before an event with this front.
    #[inline]
    fn before_in(&self, rows: &Rows<R>, front: R) -> R {
        front.iter().fold(front, |before, event| before.or(rows[event]))
    }

    /// The row of the next event, before saturation. Returns the events to look at.
    pub(super) fn add_row(&self, rows: &mut Rows<R>, event: usize) -> R {
        let Event { thread, location, source, front, .. } = self.events[event];
        let mut changed = R::one(event);
        if source == NONE {
            rows.push(self.before_in(rows, front));
            return changed;
        }
        let mut row = self.row_of_read(rows, event);
        if source != INIT {
            let source = source as usize;
            if self.events[source].thread != thread {
                let own = self.own_before(event).minus(rows[source]);
                if !own.is_empty() {
                    let before = self.before_in(rows, own);
                    changed = changed.or(rows.put_before(source, before));
                    row = row.or(rows[source]);
                }
            }
        }
        for write in self.writes[location as usize].and(R::below(event)).iter() {
            if source == INIT || rows[write].has(source as usize) {
                changed.insert(write);
            }
        }
        rows.push(row);
        changed
    }

    /// Closes the rows under the rules; `changed` are the events to look at. False: there is a cycle.
    pub(super) fn saturate(&self, rows: &mut Rows<R>, mut changed: R) -> bool {
        while let Some(event) = changed.first() {
            changed.remove(event);
            if rows[event].has(event) {
                return false;
            }
            let Event { source, .. } = self.events[event];
            if source != NONE && !self.older_before_source(rows, event, &mut changed) {
                return false;
            }
            if self.all_writes.has(event) && !self.readers_before_newer(rows, event, &mut changed) {
                return false;
            }
        }
        true
    }

    /// The writes before a read are before its source.
    fn older_before_source(&self, rows: &mut Rows<R>, read: usize, changed: &mut R) -> bool {
        let Event { location, source, .. } = self.events[read];
        let older = rows[read].and(self.writes[location as usize]);
        if source == INIT {
            return older.is_empty();
        }
        let source = source as usize;
        let older = older.minus(R::one(source)).minus(rows[source]);
        if older.is_empty() {
            return true;
        }
        let before = self.before_in(rows, older);
        if before.has(source) {
            return false;
        }
        *changed = changed.or(rows.put_before(source, before));
        true
    }

    /// The readers of the writes before a write are before it.
    fn readers_before_newer(&self, rows: &mut Rows<R>, write: usize, changed: &mut R) -> bool {
        let location = self.events[write].location as usize;
        let row = rows[write];
        let older = row.and(self.writes[location]);
        let add = |readers: R, write: usize| readers.or(self.readers[write]);
        let readers = older.iter().fold(self.readers_of_init[location], add);
        let readers = readers.minus(R::one(write)).minus(row).and(R::below(rows.len()));
        if readers.is_empty() {
            return true;
        }
        let before = self.before_in(rows, readers);
        if before.has(write) {
            return false;
        }
        *changed = changed.or(rows.put_before(write, before));
        true
    }
}
