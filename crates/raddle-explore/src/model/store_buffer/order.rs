//! Making a new witness when a read cannot be inserted into the old one.
//!
//! Cheapest first: the saturated rows of the level, if it has some, may show that the source is hidden. Then
//! the old order is repaired greedily (`greedy.rs`); at first with rows that are there anyway, then with saturated
//! ones (`saturate.rs`), then with rows that are saturated with the new read. At last by search (`search.rs`).
//!
//! Whether rows without saturation will do depends on the program: it is tried as long as it mostly
//! succeeds.

use super::Linear;
use super::place::Placing;
use super::witness::Rows;
use crate::event_set::EventSet;

/// What is used again from one read to the next.
pub(super) struct Scratch<R: EventSet> {
    placing: Placing<R>,
    rows: Rows<R>,
    /// Positive if orders that know nothing of saturation have lately been successful.
    luck: i32,
    tick: u32,
}

impl<R: EventSet> Scratch<R> {
    pub(super) fn new(locations: usize) -> Self {
        Scratch { placing: Placing::new(locations), rows: Rows::new(), luck: 8, tick: 0 }
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

impl<R: EventSet, const BUFFERS: u8> Linear<R, BUFFERS> {
    /// Finds a witness that includes the read, which is in the tables but not in the witness, and
    /// makes it a new level.
    #[inline(never)]
    pub(super) fn reorder(&mut self, read: usize) -> bool {
        let mut scratch = self.scratch.take().expect("nobody else makes a witness");
        let found = self.reorder_with(&mut scratch, read);
        debug_assert!(!found || self.has_witness(), "the new order is a witness");
        self.scratch = Some(scratch);
        found
    }

    fn reorder_with(&mut self, scratch: &mut Scratch<R>, read: usize) -> bool {
        if let Some(rows) = self.witness.rows() {
            if self.is_hidden(rows, read) {
                return false;
            }
        } else if scratch.is_lucky() {
            let found = self.repair(&mut scratch.placing, None, read);
            scratch.learn(found);
            if found {
                return true;
            }
        }
        let Scratch { placing, rows, .. } = scratch;
        self.saturated_rows(rows);
        !self.is_hidden(rows, read) && self.reorder_by(placing, rows, read)
    }

    /// As [`Self::reorder`], with saturated rows of all events but the read.
    fn reorder_by(&mut self, placing: &mut Placing<R>, rows: &mut Rows<R>, read: usize) -> bool {
        rows.push(self.row_of_read(rows, read));
        if self.repair(placing, Some(rows), read) {
            return true;
        }
        rows.truncate(read);
        let changed = self.add_row(rows, read);
        if !self.saturate(rows, changed) {
            return false;
        }
        if self.redo(placing, &rows.table, read) || self.search_from_start(placing, rows) {
            self.witness.push_order(placing.order(), Some(rows));
            return true;
        }
        false
    }

    /// Whether some witness has these writes last in their locations.
    pub(super) fn orders_with_last(&mut self, last: &[(usize, Option<usize>)]) -> bool {
        let len = self.witness.len();
        self.witness.settle(len);
        let mut scratch = self.scratch.take().expect("nobody else makes a witness");
        let Scratch { placing, rows, .. } = &mut *scratch;
        self.saturated_rows(rows);
        let mut changed = R::default();
        let forced = last.iter().all(|&(location, write)| {
            let Some(write) = write else { return self.writes[location].is_empty() };
            let others = self.writes[location].minus(R::one(write));
            let before = others.iter().fold(others, |before, other| before.or(rows[other]));
            changed = changed.or(rows.put_before(write, before));
            !before.has(write)
        });
        let possible =
            forced && self.saturate(rows, changed) && self.search_from_start(placing, rows);
        self.scratch = Some(scratch);
        possible
    }
}
