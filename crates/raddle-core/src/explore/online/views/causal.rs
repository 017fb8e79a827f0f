//! What a read may observe under WRA, where there is no modification order: every write that no other write
//! overwrites which happened after it and before the read.
//!
//! It suffices to look at the last write of each thread that happened before the read: what happened before an earlier
//! one happened before that, too. Writes are kept in the order in which they ran; the newest may always be observed,
//! and no update has observed it, as that would be newer.

use super::super::clock::Clock;
use super::super::decide::Kind;
use super::super::machine::Turn;
use super::Views;
use super::place::{Place, Write};

/// Which writes are overwritten for somebody.
#[derive(Default)]
pub(super) struct Floors {
    /// Of each thread, how many ops it had done with its first write that is not overwritten.
    ops: Vec<u32>,
    /// Whether any write is known: then the initial one is overwritten.
    any: bool,
}

impl Floors {
    /// Those for somebody who knows this.
    fn look(&mut self, place: &Place, clock: &Clock) {
        self.ops.clear();
        self.ops.resize(place.threads(), 0);
        self.any = false;
        for last in (0..place.threads()).filter_map(|thread| place.last_of(thread, clock)) {
            self.any = true;
            for (thread, floor) in self.ops.iter_mut().enumerate() {
                // A write does not overwrite itself.
                let others = u32::from(thread as u32 != last.thread);
                *floor = (*floor).max(last.before.get(thread) + others);
            }
        }
    }

    fn is_overwritten(&self, write: &Write) -> bool {
        match write.op {
            0 => self.any,
            op => self.ops.get(write.thread as usize).is_some_and(|&floor| op < floor),
        }
    }
}

impl Views {
    /// Which write a read observes, of those that suit it: the index.
    pub(super) fn choose_causal(
        &mut self,
        turn: &mut Turn<'_>,
        location: usize,
        suits: impl Fn(&Write) -> bool,
    ) -> usize {
        let place = &self.places[location];
        self.floors.look(place, &self.threads[turn.thread()].knows.clock);
        let floors = &self.floors;
        let may = |write: &Write| !floors.is_overwritten(write) && suits(write);
        let candidates = place.writes.iter().enumerate().filter(|(_, write)| may(write));
        self.candidates.clear();
        self.candidates.extend(candidates.map(|(at, _)| at));
        let last = self.candidates.len() - 1;
        self.candidates[last - turn.pick(Kind::Read, last + 1)]
    }

    /// Drops the writes that are overwritten for every thread that reads.
    pub(super) fn drop_overwritten(&mut self, location: usize) {
        let place = &self.places[location];
        let reads = self.threads.iter().filter(|thread| thread.is_live && !thread.joins);
        let mut needed = [false; super::ROOM];
        needed[place.writes.len() - 1] = true;
        for thread in reads {
            self.floors.look(place, &thread.knows.clock);
            for (needed, write) in needed.iter_mut().zip(&place.writes) {
                *needed |= !self.floors.is_overwritten(write);
            }
        }
        let writes = &mut self.places[location].writes;
        for at in (0..writes.len()).rev().filter(|&at| !needed[at]) {
            self.spare.extend(writes.remove(at));
        }
    }
}
