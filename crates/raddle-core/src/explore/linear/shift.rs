//! Ordering by shifting: what must come before the read goes before everything else that is in the way.
//!
//! *Problem.* Most reads that cannot be inserted into the witness need little: somebody's writes, which are
//! in the way, have to come later. `greedy.rs` finds that out by placing event after event.
//!
//! *Idea.* The *window* is the part of the old order from where the conflict starts to the last event
//! that must come before the read. Some of its events are *early*: they go first, then the read, then the
//! *late* ones; each group in its old order, and the old order before and after the window as it is. What
//! comes before the read is early. No early event depends on a late one, so only what memory holds can be
//! wrong, and that only where an early write of a location was behind a late access of it:
//!
//! - a late read must have its source among the late writes, which go with it;
//! - behind a late write the early one is hidden. If that was the last of the window, nobody who comes after
//!   the read may observe it.
//!
//! Where this does not hold, the late access becomes early as well, with all before it. That is what stands
//! before it in the old order, so one scan from the end of the window to its start finds all of them.
//!
//! If the source itself stands before writes that must come before it, it is shifted behind these first, in the
//! same way.
//!
//! Reads of an own buffer ask for more: if an early read observes another thread, the earlier writes of
//! its own thread are early. An update asks that all who observe its source are.
//!
//! *Cost.* Some twenty instructions for each event of the window, instead of 80 for each event that is placed
//! greedily.

use super::super::row::Row;
use super::place::Placing;
use super::{Event, INIT, Linear, NONE, SC};

/// So often the window is scanned at most.
const SCANS: usize = 4;

/// What part of the old order is to be changed.
#[derive(Clone, Copy)]
pub(super) struct Window<R> {
    pub(super) read: usize,
    /// What goes before the read.
    pub(super) early: R,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl<R: Row, const BUFFERS: u8> Linear<R, BUFFERS> {
    /// The window that starts here, if these events are early.
    pub(super) fn window(
        &self,
        placing: &Placing<R>,
        read: usize,
        early: R,
        start: usize,
    ) -> Window<R> {
        let rest = &placing.old.as_slice()[start..];
        let last = rest.iter().rposition(|&event| early.has(usize::from(event)));
        let end = last.map_or(start, |last| start + last).min(read - 1) + 1;
        Window { read, early, start, end }
    }

    /// The window in which all events are ordered so, if the result is a witness.
    pub(super) fn shift(
        &self,
        placing: &Placing<R>,
        rows: &R::Table<R>,
        read: usize,
        start: usize,
    ) -> Option<Window<R>> {
        let early = self.surely_early(rows, read);
        let mut window = self.window(placing, read, early, start);
        let can =
            self.find_early(placing, rows, &mut window) && self.can_follow_early(placing, &window);
        can.then_some(window)
    }

    /// If the read's source stands before writes that must come before it, puts it behind them: these, and
    /// what must come with them, go first. Nothing changes if that is no witness.
    pub(super) fn delay_source(
        &self,
        placing: &mut Placing<R>,
        rows: &R::Table<R>,
        read: usize,
        before_source: R,
    ) {
        let source = self.events[read].source as usize;
        let is_behind = |write: usize| placing.position(write) > placing.position(source);
        if before_source.is_empty() || !before_source.iter().any(is_behind) {
            return;
        }
        let early = before_source.iter().fold(before_source, |row, write| row.or(rows[write]));
        let mut window = self.window(placing, read, early, placing.position(source));
        if self.find_early(placing, rows, &mut window) && !window.early.has(source) {
            placing.rearrange(&window);
        }
    }

    /// What must come before the read, whatever the order.
    fn surely_early(&self, rows: &R::Table<R>, read: usize) -> R {
        let early = rows[read];
        if !self.all_writes.has(read) {
            return early;
        }
        let Event { location, source, .. } = self.events[read];
        let others = self.readers_of(source, location).minus(R::one(read));
        others.iter().fold(early.or(others), |early, reader| early.or(rows[reader]))
    }

    #[inline]
    fn readers_of(&self, write: u32, location: u32) -> R {
        match write {
            INIT => self.readers_of_init[location as usize],
            write => self.readers[write as usize],
        }
    }

    /// Finds all early events. False: there is no end to it.
    fn find_early(&self, placing: &Placing<R>, rows: &R::Table<R>, window: &mut Window<R>) -> bool {
        (0..SCANS).any(|_| {
            let late = self.scan(placing, rows, window);
            !late.meets(&window.early)
        })
    }

    /// Scans the window for early events. Returns the events that were taken for late, so that others could
    /// be late.
    fn scan(&self, placing: &Placing<R>, rows: &R::Table<R>, window: &mut Window<R>) -> R {
        let mut late = R::default();
        // The early writes that are behind the event; those of them that are the last writes of their
        // locations; and all writes of locations that are written behind the event.
        let (mut behind, mut last, mut written) = (R::default(), R::default(), R::default());
        for at in (window.start..window.end).rev() {
            let event = placing.old.at(at);
            let writes = self.all_writes.has(event);
            if !window.early.has(event)
                && !self.can_be_late(placing, window, event, behind, last, &mut late)
            {
                window.early = window.early.or(rows[event]).or(R::one(event));
            }
            if writes {
                if window.early.has(event) {
                    behind.insert(event);
                    if !written.has(event) {
                        last.insert(event);
                    }
                }
                written = written.or(self.writes[self.events[event].location as usize]);
            } else if BUFFERS != SC && window.early.has(event) {
                let own = self.own_unless_observed(event);
                window.early = own.iter().fold(window.early.or(own), |row, o| row.or(rows[o]));
            }
        }
        late
    }

    /// Whether an event can come behind some early writes, of which some are the last ones. Its source is
    /// added to `late` if it must be late for that.
    #[inline]
    fn can_be_late(
        &self,
        placing: &Placing<R>,
        window: &Window<R>,
        event: usize,
        behind: R,
        last: R,
        late: &mut R,
    ) -> bool {
        let Event { location, source, .. } = self.events[event];
        let writes = self.all_writes.has(event);
        if behind.is_empty() || !writes && source == NONE {
            return true;
        }
        let all = self.writes[location as usize];
        if !all.meets(&behind) {
            return true;
        }
        if source != NONE {
            if !self.is_late(placing, window, source) {
                return false;
            }
            late.insert(source as usize);
        }
        let hidden = all.and(last).first();
        !writes || hidden.is_none_or(|hidden| self.is_observed_early(placing, window, hidden))
    }

    /// Whether a source is a late event.
    fn is_late(&self, placing: &Placing<R>, window: &Window<R>, source: u32) -> bool {
        source != INIT
            && !window.early.has(source as usize)
            && (window.start..window.end).contains(&placing.position(source as usize))
    }

    /// Whether the event comes before the read in the new order.
    #[inline]
    fn precedes_read(&self, placing: &Placing<R>, window: &Window<R>, event: usize) -> bool {
        let position = placing.position(event);
        position < window.start || position < window.end && window.early.has(event)
    }

    /// Whether all others who observe a write come before the read.
    fn is_observed_early(&self, placing: &Placing<R>, window: &Window<R>, write: usize) -> bool {
        self.readers[write]
            .minus(R::one(window.read))
            .iter()
            .all(|reader| self.precedes_read(placing, window, reader))
    }

    /// The writes of its own thread that must have left the buffer before a read, because it observes
    /// another thread.
    fn own_unless_observed(&self, read: usize) -> R {
        let Event { source, .. } = self.events[read];
        if source == NONE {
            return R::default();
        }
        let own = self.own_before(read);
        if source != INIT && own.has(source as usize) { R::default() } else { own }
    }

    /// Whether the read observes its source if it comes right behind the early events.
    fn can_follow_early(&self, placing: &Placing<R>, window: &Window<R>) -> bool {
        let read = window.read;
        let Event { location, source, .. } = self.events[read];
        let precedes = |&event: &usize| self.precedes_read(placing, window, event);
        let writes = self.all_writes.has(read);
        if BUFFERS != SC && !writes {
            let own = self.own_before(read);
            let is_own = source != INIT && own.has(source as usize);
            if is_own && !precedes(&(source as usize)) {
                return true;
            }
            if !is_own && !own.iter().all(|write| precedes(&write)) {
                return false;
            }
        }
        let others = self.writes[location as usize].minus(R::one(read));
        let last = others.iter().filter(precedes).max_by_key(|&write| placing.position(write));
        let observers = self.readers_of(source, location).minus(R::one(read));
        last.map_or(INIT, |write| write as u32) == source
            && (!writes || observers.iter().all(|observer| precedes(&observer)))
    }
}
