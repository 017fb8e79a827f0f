//! Total modification orders, and the order of sequentially consistent events that follows from them: the witness that
//! the execution is consistent.
//!
//! Most questions are answered by the witness as it is. A new read comes after all that happens before it, so it only
//! adds edges to `psc` that leave it towards the writes after its source. If there are none, or if none of them leads
//! back to the read, the witness remains valid.
//!
//! *Cost.* A set operation for each write after the source, and for each sequentially consistent event if there are
//! such writes and some event leaves the read.

use raddle_core::execution::LocationId;

use crate::event_index::EventIndex;
use crate::event_map::EventMap;
use crate::event_set::EventSet;

use super::coherence::CoherentRead;
use super::forced_mo::ForcedMo;
use super::scb::Scb;

/// Which set was changed.
#[derive(Clone, Copy, Debug)]
enum WitnessSlot {
    Mo(EventIndex),
    Psc(EventIndex),
}

/// Modification orders, and the `psc` that they imply.
pub(super) struct MoWitness<R: EventSet> {
    /// By write: the writes of its location that precede it.
    mo: R::Map<R>,
    /// By sequentially consistent event: all events that precede it, transitively.
    psc: R::Map<R>,
    /// Earlier entries.
    log: Vec<(WitnessSlot, R)>,
}

/// Some sequentially consistent events, and all that precede them.
#[inline]
pub(super) fn close<R: EventSet>(psc: &R::Map<R>, events: R) -> R {
    let (mut all, mut left) = (events.clone(), events);
    while let Some(event) = left.last() {
        all = all.or(&psc[event]);
        left.remove(event);
        left = left.minus(&psc[event]);
    }
    all
}

impl<R: EventSet> MoWitness<R> {
    pub(super) fn new() -> Self {
        let sets = || R::Map::filled(R::default());
        MoWitness { mo: sets(), psc: sets(), log: vec![] }
    }

    /// By write: the writes of its location that precede it.
    #[inline]
    pub(super) fn mo(&self) -> &R::Map<R> {
        &self.mo
    }

    /// Adds a write after all others of its location.
    #[inline]
    pub(super) fn store(
        &mut self,
        event: EventIndex,
        location: LocationId,
        others: &R,
        scb: &Scb<R>,
    ) {
        self.mo[event] = others.clone();
        if scb.accesses.has(event) {
            let before = scb.leaving_any(location, others).or(&scb.given[event]);
            self.psc[event] = close(&self.psc, before);
        }
    }

    /// Adds a sequentially consistent fence of a thread that knows these writes.
    pub(super) fn fence(
        &mut self,
        event: EventIndex,
        seen: &R,
        forced: &ForcedMo<R>,
        scb: &Scb<R>,
    ) {
        let mut before = R::default();
        for location in forced.locations() {
            let seen = seen.and(&forced.writes(location));
            let Some(last) = self.last(&seen) else { continue };
            let leaving = scb.leaving_any(location, &self.mo[last]).or(&scb.leaves(last));
            before = before.or(&leaving.and(&scb.fences));
            if let Some(last) = self.last(&seen.and(&scb.happened(event))) {
                before = before.or(&scb.leaving_any(location, &self.mo[last]));
            }
        }
        before.remove(event);
        self.psc[event] = close(&self.psc, before);
    }

    /// The last of some writes of a location.
    #[inline]
    fn last(&self, writes: &R) -> Option<EventIndex> {
        let first = writes.last()?;
        let later = |last, write| if self.mo[write].has(last) { write } else { last };
        Some(writes.iter().fold(first, later))
    }

    /// The source of a read, and the writes that precede it.
    #[inline]
    fn up_to_source(&self, read: &CoherentRead) -> R {
        let source = read.source.event();
        source.map_or(R::default(), |source| self.mo[source].or(&R::one(source)))
    }

    /// Returns `true` if a read, whose thread knows these writes of the location, observes the last write. Then the
    /// witness remains valid.
    #[inline]
    pub(super) fn observes_last(
        &self,
        read: &CoherentRead,
        known: &R,
        forced: &ForcedMo<R>,
    ) -> bool {
        known.or(&forced.writes(read.location)).minus(&self.up_to_source(read)).is_empty()
    }

    /// Adds a read without reordering other writes and returns `true`, if possible. Its thread knew these writes of the
    /// location before.
    #[inline]
    pub(super) fn keep(
        &mut self,
        read: &CoherentRead,
        known: &R,
        forced: &ForcedMo<R>,
        scb: &Scb<R>,
    ) -> bool {
        let CoherentRead { event, location, .. } = *read;
        let before = self.up_to_source(read);
        if !known.minus(&before).is_empty() {
            return false;
        }
        let mut after = forced.writes(location).minus(&before);
        after.remove(event);
        if scb.accesses.has(event) {
            let mut earlier = scb.given[event].clone();
            if read.writes() {
                earlier = earlier.or(&scb.leaving_any(location, &before));
            }
            self.psc[event] = close(&self.psc, earlier.clone());
        }
        if !after.is_empty() && !self.order_before(scb.leaves(event), &after, scb) {
            return false;
        }
        if read.writes() {
            self.mo[event] = before;
            after.iter().for_each(|write| self.set_mo(write, self.mo[write].or(&R::one(event))));
        }
        true
    }

    /// Lets some events precede all that enter these writes and returns `true`, unless that closes a cycle.
    #[inline]
    fn order_before(&mut self, leaves: R, after: &R, scb: &Scb<R>) -> bool {
        if leaves.is_empty() {
            return true;
        }
        let fences = leaves.and(&scb.fences);
        let (mut to, mut to_fences) = (R::default(), R::default());
        for write in after.iter() {
            to = to.or(&scb.enters(write));
            if !fences.is_empty() {
                to_fences = to_fences.or(&scb.enters_by_readers(write));
            }
        }
        let (from, from_fences) = (close(&self.psc, leaves), close(&self.psc, fences));
        if to.meets(&from) || to_fences.meets(&from_fences) {
            return false;
        }
        if !to.or(&to_fences).is_empty() {
            let earlier = if to_fences.is_empty() { from.clone() } else { from_fences.clone() };
            self.connect((from, to), (from_fences, to_fences), &scb.events().minus(&earlier));
        }
        true
    }

    /// Adds two sets of edges, each from all events of a closed set to all events of another set.
    fn connect(&mut self, (from, to): (R, R), (from_fences, to_fences): (R, R), events: &R) {
        for event in events.iter() {
            let mut before = self.psc[event].clone();
            let reached = before.or(&R::one(event));
            if reached.meets(&to) {
                before = before.or(&from);
            }
            if reached.meets(&to_fences) {
                before = before.or(&from_fences);
            }
            self.set_psc(event, before.clone());
        }
    }

    #[inline]
    pub(super) fn set_mo(&mut self, write: EventIndex, before: R) {
        if self.mo[write] != before {
            self.log.push((WitnessSlot::Mo(write), self.mo[write].clone()));
            self.mo[write] = before;
        }
    }

    #[inline]
    pub(super) fn set_psc(&mut self, event: EventIndex, before: R) {
        if self.psc[event] != before {
            self.log.push((WitnessSlot::Psc(event), self.psc[event].clone()));
            self.psc[event] = before;
        }
    }

    #[inline]
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Undoes the changes of existing entries since the mark.
    #[inline]
    pub(super) fn undo_to(&mut self, mark: usize) {
        while self.log.len() > mark {
            match self.log.pop() {
                Some((WitnessSlot::Psc(event), old)) => self.psc[event] = old,
                Some((WitnessSlot::Mo(write), old)) => self.mo[write] = old,
                None => return,
            }
        }
    }
}
