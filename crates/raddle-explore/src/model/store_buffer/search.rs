//! Searching for a witness: where no order is greedy enough, all choices of the next write are tried,
//! after everything that cannot hurt: reads, and writes that nobody waits for. Sets of placed events that
//! lead nowhere are remembered.

use super::Linear;
use super::place::Placing;
use super::witness::Rows;
use crate::event_set::EventSet;

impl<R: EventSet, const BUFFERS: u8> Linear<R, BUFFERS> {
    /// Whether there is an order of all events that have rows.
    #[inline(never)]
    pub(super) fn search_from_start(&self, placing: &mut Placing<R>, rows: &Rows<R>) -> bool {
        placing.restart();
        placing.dead.clear();
        self.search(placing, rows)
    }

    fn search(&self, placing: &mut Placing<R>, rows: &Rows<R>) -> bool {
        let all = R::below(rows.len());
        self.place_harmless(placing, rows, all);
        if placing.placed == all {
            return true;
        }
        if placing.dead.contains(&placing.placed) {
            return false;
        }
        let (len, placed) = (placing.order.len(), placing.placed);
        for write in all.minus(placed).and(self.all_writes).iter() {
            if !self.can_be_placed(placing, &rows.table, write) {
                continue;
            }
            self.place(placing, write);
            if self.search(placing, rows) {
                return true;
            }
            self.unplace(placing, len);
        }
        placing.dead.push(placed);
        false
    }

    /// Places reads, and writes that nobody who is not placed yet observes.
    fn place_harmless(&self, placing: &mut Placing<R>, rows: &Rows<R>, all: R) {
        loop {
            let before = placing.order.len();
            for event in all.minus(placing.placed).iter() {
                let awaited = self.all_writes.has(event)
                    && !self.readers[event].minus(placing.placed).is_empty();
                if !awaited && self.can_be_placed(placing, &rows.table, event) {
                    self.place(placing, event);
                }
            }
            if placing.order.len() == before {
                return;
            }
        }
    }

    /// Takes back all placed events except the first `len`.
    fn unplace(&self, placing: &mut Placing<R>, len: usize) {
        placing.restart();
        for at in 0..len {
            // What is placed again is written where it stood.
            self.place(placing, placing.order.at(at));
        }
    }
}
