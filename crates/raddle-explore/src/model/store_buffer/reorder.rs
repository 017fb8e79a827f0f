//! A new witness, if a read cannot be inserted into the old one.
//!
//! Cheapest first: the saturated rows of the level, if it has some, may show that the source is hidden. Then the old
//! order is repaired greedily (`greedy.rs`): first with the rows that are there anyway, then with saturated ones
//! (`saturate.rs`), then with rows that are saturated with the new read. Finally by search (`search.rs`).
//!
//! Whether rows without saturation suffice depends on the program: they are tried as long as that mostly succeeds.

use raddle_core::execution::LocationId;

use super::StoreBufferModel;
use super::linearization::Linearization;
use super::witness::PrecedenceRows;
use crate::event_index::{EventIndex, RfSource};
use crate::event_set::EventSet;

/// Tables that are reused from one read to the next.
pub(super) struct ReorderScratch<R: EventSet> {
    linearization: Linearization<R>,
    rows: PrecedenceRows<R>,
    /// Positive if repairs without saturation have lately been successful.
    luck: i32,
    tick: u32,
}

impl<R: EventSet> ReorderScratch<R> {
    pub(super) fn new(locations: usize) -> Self {
        let linearization = Linearization::new(locations);
        ReorderScratch { linearization, rows: PrecedenceRows::new(), luck: 8, tick: 0 }
    }

    /// Returns `true` if a repair without saturation is likely to succeed, and one time in 64 to find out.
    fn is_lucky(&mut self) -> bool {
        self.tick = self.tick.wrapping_add(1);
        self.luck >= 0 || self.tick.is_multiple_of(64)
    }

    fn record_luck(&mut self, success: bool) {
        let change = if success { 1 } else { -3 };
        self.luck = (self.luck + change).clamp(-32, 32);
    }
}

impl<R: EventSet, const BUFFERS: u8> StoreBufferModel<R, BUFFERS> {
    /// Finds a witness that includes the read, which is in the tables but not in the witness, and makes it a new level.
    #[inline(never)]
    pub(super) fn reorder(&mut self, read: EventIndex) -> bool {
        let mut scratch = self.scratch.take().expect("only one witness is made at a time");
        let found = self.reorder_with(&mut scratch, read);
        debug_assert!(!found || self.has_witness(), "the new order is a witness");
        self.scratch = Some(scratch);
        found
    }

    fn reorder_with(&mut self, scratch: &mut ReorderScratch<R>, read: EventIndex) -> bool {
        if let Some(rows) = self.witness.rows() {
            if self.is_hidden(rows, read) {
                return false;
            }
        } else if scratch.is_lucky() {
            let found = self.repair(&mut scratch.linearization, None, read);
            scratch.record_luck(found);
            if found {
                return true;
            }
        }
        let ReorderScratch { linearization, rows, .. } = scratch;
        self.saturated_rows(rows);
        !self.is_hidden(rows, read) && self.reorder_by(linearization, rows, read)
    }

    /// As [`Self::reorder`], with saturated rows of all events but the read.
    fn reorder_by(
        &mut self,
        linearization: &mut Linearization<R>,
        rows: &mut PrecedenceRows<R>,
        read: EventIndex,
    ) -> bool {
        rows.push(self.row_of_read(rows, read));
        if self.repair(linearization, Some(rows), read) {
            return true;
        }
        rows.truncate(read.index());
        let changed = self.add_row(rows, read);
        if !self.saturate(rows, changed) {
            return false;
        }
        if self.repair_from_start(linearization, &rows.table, read)
            || self.search_from_start(linearization, rows)
        {
            self.witness.push_order(linearization.order(), Some(rows));
            return true;
        }
        false
    }

    /// Returns `true` if some witness has these writes last in their locations.
    pub(super) fn has_order_with_last(&mut self, last: &[(LocationId, RfSource)]) -> bool {
        self.witness.materialize(EventIndex::new(self.witness.len()));
        let mut scratch = self.scratch.take().expect("only one witness is made at a time");
        let ReorderScratch { linearization, rows, .. } = &mut *scratch;
        self.saturated_rows(rows);
        let mut changed = R::default();
        let forced = last.iter().all(|&(location, write)| {
            let writes = &self.writes[location.index()];
            let Some(write) = write.event() else { return writes.is_empty() };
            let others = writes.minus(&R::one(write));
            let before = others.iter().fold(others, |before, other| before.or(&rows[other]));
            changed = changed.or(&rows.order_before(&before, write));
            !before.has(write)
        });
        let possible =
            forced && self.saturate(rows, changed) && self.search_from_start(linearization, rows);
        self.scratch = Some(scratch);
        possible
    }
}
