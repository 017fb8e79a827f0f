//! Exhaustive search for a witness.
//!
//! All choices of the next write are tried, after everything that is harmless: reads, and writes that no event waits
//! for. Sets of placed events that cannot be completed are remembered.

use super::StoreBufferModel;
use super::linearization::Linearization;
use super::witness::PrecedenceRows;
use crate::event_index::EventIndex;
use crate::event_set::EventSet;

impl<R: EventSet, const BUFFERS: u8> StoreBufferModel<R, BUFFERS> {
    /// Searches for an order of all events that have rows.
    #[inline(never)]
    pub(super) fn search_from_start(
        &self,
        linearization: &mut Linearization<R>,
        rows: &PrecedenceRows<R>,
    ) -> bool {
        linearization.clear();
        linearization.dead.clear();
        self.search(linearization, rows)
    }

    fn search(&self, linearization: &mut Linearization<R>, rows: &PrecedenceRows<R>) -> bool {
        let all = R::below(EventIndex::new(rows.len()));
        self.place_harmless(linearization, rows, &all);
        if linearization.placed == all {
            return true;
        }
        if linearization.dead.contains(&linearization.placed) {
            return false;
        }
        let (len, placed) = (linearization.order.len(), linearization.placed.clone());
        for write in all.minus(&placed).and(&self.all_writes).iter() {
            if !self.can_be_placed(linearization, &rows.table, write) {
                continue;
            }
            self.place(linearization, write);
            if self.search(linearization, rows) {
                return true;
            }
            self.truncate(linearization, len);
        }
        linearization.dead.push(placed);
        false
    }

    /// Appends reads, and writes that no event observes which is not placed yet.
    fn place_harmless(
        &self,
        linearization: &mut Linearization<R>,
        rows: &PrecedenceRows<R>,
        all: &R,
    ) {
        loop {
            let before = linearization.order.len();
            for event in all.minus(&linearization.placed).iter() {
                let is_awaited = self.all_writes.has(event)
                    && !self.readers[event].minus(&linearization.placed).is_empty();
                if !is_awaited && self.can_be_placed(linearization, &rows.table, event) {
                    self.place(linearization, event);
                }
            }
            if linearization.order.len() == before {
                return;
            }
        }
    }

    /// Removes all placed events except the first `len`.
    fn truncate(&self, linearization: &mut Linearization<R>, len: usize) {
        linearization.clear();
        for at in 0..len {
            // Each event is written to the position at which it was read.
            self.place(linearization, linearization.order.at(at));
        }
    }
}
