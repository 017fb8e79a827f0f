//! A total modification order of every location, and the order of sequentially consistent events that
//! comes from it: the witness that the execution is consistent.
//!
//! Most questions are answered by the witness as it is. A new read stands after all that happens before
//! it, so all that it adds to `psc` are edges that leave it towards the writes after its source. If there
//! are none, or if none of them leads back to the read, the witness remains one.
//!
//! Cost: a row operation for each write after the source, and for each sequentially consistent event if
//! there are such writes and somebody leaves the read.

use crate::event_map::EventMap;
use crate::event_set::EventSet;

use super::coherent::Read;
use super::forced::Forced;
use super::scb::Scb;

/// The witness.
pub(super) struct Witness<R: EventSet> {
    /// By write: the writes before it.
    mo: R::Map<R>,
    /// By sequentially consistent event: all events before it, transitively.
    psc: R::Map<R>,
    /// Rows of `mo` (and, after these, of `psc`) as they were.
    log: Vec<(u32, R)>,
}

/// A set of sequentially consistent events, and all before them.
#[inline]
pub(super) fn close<R: EventSet>(psc: &R::Map<R>, events: R) -> R {
    let (mut all, mut left) = (events, events);
    while let Some(event) = left.last() {
        all = all.or(psc[event]);
        left.remove(event);
        left = left.minus(psc[event]);
    }
    all
}

impl<R: EventSet> Witness<R> {
    pub(super) fn new() -> Self {
        let rows = || R::Map::filled(R::default());
        Witness { mo: rows(), psc: rows(), log: vec![] }
    }

    /// By write: the writes before it.
    #[inline]
    pub(super) fn mo(&self) -> &R::Map<R> {
        &self.mo
    }

    /// The events that leave some writes or the initial one.
    #[inline]
    fn leaving(location: usize, writes: R, scb: &Scb<R>) -> R {
        let initial = scb.leaving_initial[location];
        writes.iter().fold(initial, |row, write| row.or(scb.leaving[write]))
    }

    /// Adds a write after all the others.
    #[inline]
    pub(super) fn store(&mut self, event: usize, location: usize, others: R, scb: &Scb<R>) {
        self.mo[event] = others;
        if scb.accesses.has(event) {
            let before = Self::leaving(location, others, scb).or(scb.given[event]);
            self.psc[event] = close(&self.psc, before);
        }
    }

    /// Adds a sequentially consistent fence of a thread that knows some writes.
    pub(super) fn fence(&mut self, event: usize, seen: R, forced: &Forced<R>, scb: &Scb<R>) {
        let mut before = R::default();
        for location in 0..forced.locations() {
            let seen = seen.and(forced.writes(location));
            let Some(last) = self.last(seen) else { continue };
            let leaving = Self::leaving(location, self.mo[last], scb).or(scb.leaves(last));
            before = before.or(leaving.and(scb.fences));
            if let Some(last) = self.last(seen.and(scb.happened(event))) {
                before = before.or(Self::leaving(location, self.mo[last], scb));
            }
        }
        before.remove(event);
        self.psc[event] = close(&self.psc, before);
    }

    /// The last of some writes of a location.
    #[inline]
    fn last(&self, writes: R) -> Option<usize> {
        let first = writes.last()?;
        Some(
            writes
                .iter()
                .fold(first, |last, write| if self.mo[write].has(last) { write } else { last }),
        )
    }

    /// Whether a read, whose thread knows some writes of the location, observes the last write: then the
    /// witness remains one.
    #[inline]
    pub(super) fn observes_last(&self, read: &Read, known: R, forced: &Forced<R>) -> bool {
        let before = read.source.map_or(R::default(), |source| self.mo[source].or(R::one(source)));
        known.or(forced.writes(read.location)).minus(before).is_empty()
    }

    /// Adds a read without changing the order of other writes, if that can be. Its thread knew some
    /// writes of the location before.
    #[inline]
    pub(super) fn keep(&mut self, read: &Read, known: R, forced: &Forced<R>, scb: &Scb<R>) -> bool {
        let Read { event, location, source, .. } = *read;
        let before = source.map_or(R::default(), |source| self.mo[source].or(R::one(source)));
        if !known.minus(before).is_empty() {
            return false;
        }
        let mut after = forced.writes(location).minus(before);
        after.remove(event);
        if scb.accesses.has(event) {
            let mut earlier = scb.given[event];
            if read.writes() {
                earlier = earlier.or(Self::leaving(location, before, scb));
            }
            self.psc[event] = close(&self.psc, earlier);
        }
        if !after.is_empty() && !self.leave(scb.leaves(event), after, scb) {
            return false;
        }
        if read.writes() {
            self.mo[event] = before;
            after.iter().for_each(|write| self.set_mo(write, self.mo[write].or(R::one(event))));
        }
        true
    }

    /// Lets some events come before all that enter the writes after them, if that makes no cycle.
    #[inline]
    fn leave(&mut self, leaves: R, after: R, scb: &Scb<R>) -> bool {
        if leaves.is_empty() {
            return true;
        }
        let fences = leaves.and(scb.fences);
        let (mut to, mut to_fences) = (R::default(), R::default());
        for write in after.iter() {
            to = to.or(scb.enters(write));
            if !fences.is_empty() {
                to_fences = to_fences.or(scb.enters_by_readers(write));
            }
        }
        let (from, from_fences) = (close(&self.psc, leaves), close(&self.psc, fences));
        if to.meets(&from) || to_fences.meets(&from_fences) {
            return false;
        }
        if !to.or(to_fences).is_empty() {
            let earlier = if to_fences.is_empty() { from } else { from_fences };
            self.connect((from, to), (from_fences, to_fences), scb.events().minus(earlier));
        }
        true
    }

    /// Puts one closed set before another set, and one more before one more.
    fn connect(&mut self, (from, to): (R, R), (from_fences, to_fences): (R, R), events: R) {
        for event in events.iter() {
            let mut row = self.psc[event];
            let reached = row.or(R::one(event));
            if reached.meets(&to) {
                row = row.or(from);
            }
            if reached.meets(&to_fences) {
                row = row.or(from_fences);
            }
            self.set_psc(event, row);
        }
    }

    #[inline]
    pub(super) fn set_mo(&mut self, write: usize, row: R) {
        if self.mo[write] != row {
            self.log.push((write as u32, self.mo[write]));
            self.mo[write] = row;
        }
    }

    #[inline]
    pub(super) fn set_psc(&mut self, event: usize, row: R) {
        if self.psc[event] != row {
            self.log.push(((R::BITS + event) as u32, self.psc[event]));
            self.psc[event] = row;
        }
    }

    #[inline]
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    #[inline]
    pub(super) fn undo_to(&mut self, mark: usize) {
        while self.log.len() > mark {
            let Some((slot, row)) = self.log.pop() else { return };
            match (slot as usize).checked_sub(R::BITS) {
                Some(event) => self.psc[event] = row,
                None => self.mo[slot as usize] = row,
            }
        }
    }
}
