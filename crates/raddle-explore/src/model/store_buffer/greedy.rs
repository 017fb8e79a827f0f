//! Ordering greedily: most of the old order is kept.
//!
//! The old order stays as it is up to where the conflict starts. From there on to the last event that comes
//! before the new read (the window) first come the events before the read, in their old
//! order, then the read, then the others; what cannot be placed yet is tried again in rounds. Then comes the
//! rest of the old order: an event after the other, but as soon as nothing waits and memory is again as it
//! was in the old order, all that remains is kept without looking at it.
//!
//! Tried and rejected: to find out in one scan of the window which events have to go before the read, and to
//! shift them there together. That took a tenth to a quarter fewer instructions, but some orders were no witnesses
//! (`exponential_bug_of_the_tables` under TSO, C programs under SC).

use super::place::Placing;
use super::witness::Rows;
use super::{Event, INIT, Linear, SC};
use crate::event_set::EventSet;

/// What part of the old order is to be changed.
struct Window<R> {
    read: usize,
    /// What goes before the read.
    early: R,
    start: usize,
    end: usize,
}

/// What is to be ordered.
struct Greedy<'a, R: EventSet> {
    rows: &'a R::Map<R>,
    window: Window<R>,
    /// The read's source, or [`INIT`], and what must come before it.
    source: usize,
    before_source: R,
}

impl<R: EventSet, const BUFFERS: u8> Linear<R, BUFFERS> {
    /// Tries to order all events by keeping most of the old order, and makes that a new level. Without
    /// rows, those of the preserved order and reads-from are used.
    pub(super) fn repair(
        &mut self,
        placing: &mut Placing<R>,
        rows: Option<&Rows<R>>,
        read: usize,
    ) -> bool {
        self.witness.order_into(placing);
        let rows = rows.map_or(&self.before, |rows| &rows.table);
        let before_source = self.must_precede_source(read, rows[read]);
        let start = self.conflict_start(placing, read, before_source);
        let found = self.greedy(placing, rows, read, start, before_source);
        if found {
            self.witness.push_order(placing.order(), None);
        }
        found
    }

    /// The window that starts here, if these events go before the read.
    fn window(&self, placing: &Placing<R>, read: usize, early: R, start: usize) -> Window<R> {
        let rest = &placing.old.as_slice()[start..];
        let last = rest.iter().rposition(|&event| early.has(usize::from(event)));
        let end = last.map_or(start, |last| start + last).min(read - 1) + 1;
        Window { read, early, start, end }
    }

    /// Tries to order all events, where nothing of the old order is known to stay.
    pub(super) fn redo(&self, placing: &mut Placing<R>, rows: &R::Map<R>, read: usize) -> bool {
        self.witness.order_into(placing);
        let before_source = self.must_precede_source(read, rows[read]);
        self.greedy(placing, rows, read, 0, before_source)
    }

    /// Tries to place all events, the read as early as its source allows.
    fn greedy(
        &self,
        placing: &mut Placing<R>,
        rows: &R::Map<R>,
        read: usize,
        start: usize,
        before_source: R,
    ) -> bool {
        let window = self.window(placing, read, rows[read], start);
        let source = self.events[read].source as usize;
        let greedy = Greedy { rows, window, source, before_source };
        self.place_window(placing, &greedy);
        self.place_waiting(placing, &greedy);
        self.place_rest(placing, &greedy) || {
            self.place_waiting(placing, &greedy);
            placing.waiting.is_empty()
        }
    }

    /// The writes that must come before the read's source, because they come before the read.
    fn must_precede_source(&self, read: usize, before_read: R) -> R {
        let Event { thread, location, source, .. } = self.events[read];
        if source == INIT {
            return R::default();
        }
        let source = source as usize;
        let mut older = before_read;
        if BUFFERS != SC && self.events[source].thread != thread {
            older = older.or(self.own_before(read));
        }
        older.and(self.writes[location as usize]).minus(R::one(source)).minus(R::one(read))
    }

    /// Up to where the old order need not change: the first write that hides the source, or the source
    /// itself if something has to come before it.
    fn conflict_start(&self, placing: &Placing<R>, read: usize, before_source: R) -> usize {
        let Event { location, source, .. } = self.events[read];
        let at = |write: usize| placing.position(write);
        let after_source = if source == INIT { 0 } else { at(source as usize) + 1 };
        if before_source.iter().any(|write| at(write) >= after_source) {
            return after_source - 1;
        }
        let writes = self.writes[location as usize].minus(R::one(read));
        let hiding = writes.iter().map(at).filter(|&position| position >= after_source).min();
        hiding.unwrap_or(after_source)
    }

    /// Places the old order up to the window, and what can be placed of that.
    fn place_window(&self, placing: &mut Placing<R>, greedy: &Greedy<'_, R>) {
        let Window { read, early, start, end } = greedy.window;
        placing.restart();
        for at in 0..start {
            self.place(placing, placing.old.at(at));
        }
        let Placing { old, waiting, .. } = placing;
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

    /// Places an event, or lets it wait.
    #[inline(always)]
    fn place_or_wait(
        &self,
        placing: &mut Placing<R>,
        greedy: &Greedy<'_, R>,
        event: usize,
    ) -> bool {
        let held_back =
            event == greedy.source && !greedy.before_source.minus(placing.placed).is_empty();
        let can = !held_back && self.can_be_placed(placing, greedy.rows, event);
        if can {
            self.place(placing, event);
        } else {
            placing.waiting.push(event);
        }
        can
    }

    /// Tries what waits in rounds, until nothing can be placed.
    fn place_waiting(&self, placing: &mut Placing<R>, greedy: &Greedy<'_, R>) {
        loop {
            let waiting = placing.waiting.len();
            placing.waiting.set_len(0);
            for at in 0..waiting {
                // What waits again is written before where it stood.
                self.place_or_wait(placing, greedy, placing.waiting.at(at));
            }
            if placing.waiting.is_empty() || placing.waiting.len() == waiting {
                return;
            }
        }
    }

    /// Places the old order from the end of the window on. Whether all events have been placed.
    fn place_rest(&self, placing: &mut Placing<R>, greedy: &Greedy<'_, R>) -> bool {
        let mut differing = self.differing(placing, &greedy.window);
        for at in greedy.window.end..greedy.window.read {
            if differing.is_empty() && placing.waiting.is_empty() {
                placing.order.extend(&placing.old.as_slice()[at..]);
                return true;
            }
            let event = placing.old.at(at);
            if self.place_or_wait(placing, greedy, event) && differing.has(event) {
                differing = differing.minus(self.writes[self.events[event].location as usize]);
            }
        }
        placing.waiting.is_empty()
    }

    /// The writes of all locations that do not hold what they held in the old order after the window.
    fn differing(&self, placing: &Placing<R>, window: &Window<R>) -> R {
        let (mut seen, mut differing) = (R::default(), R::default());
        for at in (window.start..window.end).rev() {
            let event = placing.old.at(at);
            if !self.all_writes.has(event) || seen.has(event) {
                continue;
            }
            let location = self.events[event].location as usize;
            seen = seen.or(self.writes[location]);
            if placing.current[location] != event as u32 {
                differing = differing.or(self.writes[location]);
            }
        }
        if self.all_writes.has(window.read) {
            differing = differing.or(self.writes[self.events[window.read].location as usize]);
        }
        differing
    }
}
