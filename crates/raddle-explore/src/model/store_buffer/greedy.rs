//! Greedy repair: most of the old order is kept.
//!
//! The old order stays as it is up to where the conflict begins. From there to the last event that must precede the new
//! read (the *window*) come first the events that precede the read, in their old order, then the read, then the others;
//! what cannot be appended yet is tried again in rounds. Then comes the rest of the old order, event by event; but as
//! soon as nothing waits and memory is again as it was in the old order, all that remains is kept without looking at
//! it.
//!
//! *Rejected.* Finding in one scan of the window which events must precede the read, and shifting them there together.
//! That took a tenth to a quarter fewer instructions, but some orders were no witnesses
//! (`exponential_bug_of_the_tables` under TSO, C programs under SC).

use super::linearization::Linearization;
use super::witness::PrecedenceRows;
use super::{LinearizedEvent, SC, StoreBufferModel};
use crate::event_index::{EventIndex, RfSource};
use crate::event_set::{EventSet, Position};

/// The positions of the old order that are changed.
struct RepairWindow<R> {
    read: EventIndex,
    /// The events that precede the read.
    early: R,
    start: usize,
    end: usize,
}

/// A repair in progress.
struct Repair<'a, R: EventSet> {
    rows: &'a R::Map<R>,
    window: RepairWindow<R>,
    /// The read's source, and what must precede it.
    source: RfSource,
    before_source: R,
}

impl<R: EventSet, const BUFFERS: u8> StoreBufferModel<R, BUFFERS> {
    /// Orders all events by keeping most of the old order, and makes that a new level. Without rows, those of the
    /// preserved order and reads-from are used. Returns `false` if that fails; there may be a witness nevertheless.
    pub(super) fn repair(
        &mut self,
        linearization: &mut Linearization<R>,
        rows: Option<&PrecedenceRows<R>>,
        read: EventIndex,
    ) -> bool {
        self.witness.copy_order_to(linearization);
        let rows = rows.map_or(&self.before, |rows| &rows.table);
        let before_source = self.must_precede_source(read, rows[read].clone());
        let start = self.conflict_start(linearization, read, &before_source);
        let found = self.repair_from(linearization, rows, read, start, before_source);
        if found {
            self.witness.push_order(linearization.order(), None);
        }
        found
    }

    /// As [`Self::repair`], without a prefix of the old order that is known to stay, and without a new level.
    pub(super) fn repair_from_start(
        &self,
        linearization: &mut Linearization<R>,
        rows: &R::Map<R>,
        read: EventIndex,
    ) -> bool {
        self.witness.copy_order_to(linearization);
        let before_source = self.must_precede_source(read, rows[read].clone());
        self.repair_from(linearization, rows, read, 0, before_source)
    }

    /// The window that begins at `start`, if these events must precede the read.
    fn window(
        &self,
        linearization: &Linearization<R>,
        read: EventIndex,
        early: R,
        start: usize,
    ) -> RepairWindow<R> {
        let rest = &linearization.old.as_slice()[start..];
        let is_early = |event: &R::Position| early.has(EventIndex::new(event.index()));
        let last = rest.iter().rposition(is_early);
        let end = last.map_or(start, |last| start + last).min(read.index() - 1) + 1;
        RepairWindow { read, early, start, end }
    }

    /// Appends all events, the read as early as its source allows.
    fn repair_from(
        &self,
        linearization: &mut Linearization<R>,
        rows: &R::Map<R>,
        read: EventIndex,
        start: usize,
        before_source: R,
    ) -> bool {
        let window = self.window(linearization, read, rows[read].clone(), start);
        let source = self.events[read].source;
        let repair = Repair { rows, window, source, before_source };
        self.place_window(linearization, &repair);
        self.place_waiting(linearization, &repair);
        self.place_rest(linearization, &repair) || {
            self.place_waiting(linearization, &repair);
            linearization.waiting.is_empty()
        }
    }

    /// The writes that must precede the read's source, because they precede the read.
    fn must_precede_source(&self, read: EventIndex, before_read: R) -> R {
        let LinearizedEvent { thread, location, source, .. } = self.events[read];
        let Some(source) = source.event() else { return R::default() };
        let mut older = before_read;
        if BUFFERS != SC && self.events[source].thread != thread {
            older = older.or(&self.own_before(read));
        }
        older.and(&self.writes[location.index()]).minus(&R::one(source)).minus(&R::one(read))
    }

    /// The length of the prefix of the old order that need not change: up to the first write that hides the source, or
    /// up to the source itself if something else must precede it.
    fn conflict_start(
        &self,
        linearization: &Linearization<R>,
        read: EventIndex,
        before_source: &R,
    ) -> usize {
        let LinearizedEvent { location, source, .. } = self.events[read];
        let at = |write: EventIndex| linearization.position(write);
        let after_source = source.event().map_or(0, |source| at(source) + 1);
        if before_source.iter().any(|write| at(write) >= after_source) {
            return after_source - 1;
        }
        let writes = self.writes[location.index()].minus(&R::one(read));
        let hiding = writes.iter().map(at).filter(|&position| position >= after_source).min();
        hiding.unwrap_or(after_source)
    }

    /// Appends the old order up to the window, and lets the events of the window wait in their new order.
    fn place_window(&self, linearization: &mut Linearization<R>, repair: &Repair<'_, R>) {
        let &RepairWindow { read, ref early, start, end } = &repair.window;
        linearization.clear();
        for at in 0..start {
            self.place(linearization, linearization.old.at(at));
        }
        let Linearization { old, waiting, .. } = linearization;
        waiting.set_len(0);
        for is_early in [true, false] {
            let wanted = (start..end).map(|at| old.at(at));
            let wanted = wanted.filter(|&event| early.has(event) == is_early);
            wanted.for_each(|event| waiting.push(event));
            if is_early {
                waiting.push(read);
            }
        }
    }

    /// Appends an event, or lets it wait. Returns whether it was appended.
    #[inline(always)]
    fn place_or_wait(
        &self,
        linearization: &mut Linearization<R>,
        repair: &Repair<'_, R>,
        event: EventIndex,
    ) -> bool {
        let is_held_back = repair.source == event.into()
            && !repair.before_source.minus(&linearization.placed).is_empty();
        let can = !is_held_back && self.can_be_placed(linearization, repair.rows, event);
        if can {
            self.place(linearization, event);
        } else {
            linearization.waiting.push(event);
        }
        can
    }

    /// Tries the waiting events in rounds, until none of them can be appended.
    fn place_waiting(&self, linearization: &mut Linearization<R>, repair: &Repair<'_, R>) {
        loop {
            let waiting = linearization.waiting.len();
            linearization.waiting.set_len(0);
            for at in 0..waiting {
                // An event that waits again is written at or before the position at which it was read.
                self.place_or_wait(linearization, repair, linearization.waiting.at(at));
            }
            if linearization.waiting.is_empty() || linearization.waiting.len() == waiting {
                return;
            }
        }
    }

    /// Appends the old order from the end of the window on. Returns `true` if no event waits.
    fn place_rest(&self, linearization: &mut Linearization<R>, repair: &Repair<'_, R>) -> bool {
        let mut differing = self.differing(linearization, &repair.window);
        for at in repair.window.end..repair.window.read.index() {
            if differing.is_empty() && linearization.waiting.is_empty() {
                linearization.order.extend(&linearization.old.as_slice()[at..]);
                return true;
            }
            let event = linearization.old.at(at);
            if self.place_or_wait(linearization, repair, event) && differing.has(event) {
                differing = differing.minus(&self.writes[self.events[event].location.index()]);
            }
        }
        linearization.waiting.is_empty()
    }

    /// The writes of all locations that do not hold what they held in the old order after the window.
    fn differing(&self, linearization: &Linearization<R>, window: &RepairWindow<R>) -> R {
        let (mut seen, mut differing) = (R::default(), R::default());
        for at in (window.start..window.end).rev() {
            let event = linearization.old.at(at);
            if !self.all_writes.has(event) || seen.has(event) {
                continue;
            }
            let location = self.events[event].location.index();
            seen = seen.or(&self.writes[location]);
            if linearization.current[location] != event.into() {
                differing = differing.or(&self.writes[location]);
            }
        }
        if self.all_writes.has(window.read) {
            differing = differing.or(&self.writes[self.events[window.read].location.index()]);
        }
        differing
    }
}
