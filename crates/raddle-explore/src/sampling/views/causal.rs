//! What a read may observe under WRA, where there is no modification order: every write that no other write
//! overwrites which happened after it and before the read.
//!
//! It suffices to look at the last write of each thread that happened before the read: what happened before an earlier
//! one happened before that, too. Writes are kept in the order in which they ran; the newest may always be observed,
//! and no update has observed it, as that would be newer.

use super::super::clock::Clock;
use super::super::decide::{Decide, Kind};
use super::super::machine::Turn;
use super::Views;
use super::place::{Place, Write};
use super::release_view::ReleaseViews;

/// Which writes are overwritten for somebody.
#[derive(Default)]
pub(super) struct Floors {
    /// Of each thread, how many ops it had done with its last write that is overwritten, or could be.
    ops: Clock,
    /// Whether any write is known: then the initial one is overwritten.
    any: bool,
}

impl Floors {
    /// Those for somebody who knows this.
    #[inline]
    fn look(&mut self, place: &Place, tales: &ReleaseViews, clock: &Clock) {
        self.ops.clear();
        self.any = false;
        for last in (0..place.threads()).filter_map(|thread| place.last_of(thread, clock)) {
            self.any = true;
            self.ops.join(&tales.get(last.tale).before);
        }
    }

    #[inline]
    fn is_overwritten(&self, write: &Write) -> bool {
        match write.op {
            0 => self.any,
            op => op <= self.ops.get(write.thread as usize),
        }
    }
}

impl Views {
    /// Which write a read observes, of those that suit it: the index.
    #[inline]
    pub(super) fn choose_causal<D: Decide + ?Sized>(
        &mut self,
        turn: &mut Turn<'_, D>,
        location: usize,
        suits: impl Fn(&Write) -> bool,
    ) -> usize {
        let place = &self.places[location];
        self.floors.look(place, &self.tales, &self.threads[turn.thread()].knows.clock);
        // One bit for each write, of which there are at most as many.
        let mut may: u64 = 0;
        for (at, write) in place.writes.iter().enumerate() {
            may |= u64::from(!self.floors.is_overwritten(write) && suits(write)) << at;
        }
        for _ in 0..turn.pick(Kind::Read, may.count_ones() as usize) {
            may ^= 1 << may.ilog2();
        }
        may.ilog2() as usize
    }

    /// Drops the writes that are overwritten for every thread that reads.
    pub(super) fn drop_overwritten(&mut self, location: usize) {
        let place = &mut self.places[location];
        let reads = self.threads.iter().filter(|thread| thread.is_live && !thread.joins);
        let mut needed: u64 = 1 << (place.writes.len() - 1);
        for thread in reads {
            self.floors.look(place, &self.tales, &thread.knows.clock);
            for (at, write) in place.writes.iter().enumerate() {
                needed |= u64::from(!self.floors.is_overwritten(write)) << at;
            }
        }
        place.writes.retain(|write| {
            let is_needed = needed & 1 == 1;
            needed >>= 1;
            if !is_needed {
                self.tales.give_back(write.tale);
            }
            is_needed
        });
    }
}
