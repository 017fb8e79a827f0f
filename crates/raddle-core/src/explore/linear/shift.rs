//! Ordering by shifting: what comes before the read goes before everything else that is in the way.
//!
//! *Problem.* Most reads that cannot be inserted into the witness need little: somebody's writes, which are
//! in the way, have to come later. `greedy.rs` finds that out by placing event after event.
//!
//! *Idea.* The *window* is the part of the old order from where the conflict starts to the last event
//! before the read. Its events that come before the read, the *early* ones, go first, then the read, then
//! the *late* ones; each group in its old order, and the old order before and after the window as it is. No
//! early event depends on a late one, so only what memory holds can be wrong, and that only where an early
//! write of a location was behind a late access of it:
//!
//! - a late read must have its source among the late writes, which go with it;
//! - behind a late write the early one is hidden. If that was the last of the window, nobody who comes after
//!   the read may observe it.
//!
//! Reads of an own buffer ask for more: an early read that observes another thread needs its own earlier
//! writes to be early as well.
//!
//! *Cost.* Some ten instructions for each event of the window, instead of 60 for each event of the
//! execution. Two thirds of the new orders of `lastzero` and half of those of random programs are found so.

use super::super::row::Row;
use super::place::Placing;
use super::{Event, INIT, Linear, NONE, SC};

/// What part of the old order is to be changed.
pub(super) struct Window<R> {
    pub(super) read: usize,
    /// All that comes before the read.
    pub(super) before_read: R,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl<R: Row, const BUFFERS: u8> Linear<R, BUFFERS> {
    /// Orders all events so, if the result is a witness.
    pub(super) fn shift(&self, placing: &mut Placing<R>, window: &Window<R>) -> bool {
        if !self.can_follow_early(window) || !self.late_can_wait(placing, window) {
            return false;
        }
        let Window { read, before_read, start, end } = *window;
        let Placing { old, order, .. } = placing;
        order.set_len(0);
        order.extend(&old.as_slice()[..start]);
        for early in [true, false] {
            for at in start..end {
                let event = old.at(at);
                if before_read.has(event) == early {
                    order.push(event);
                }
            }
            if early {
                order.push(read);
            }
        }
        order.extend(&old.as_slice()[end..]);
        debug_assert!(self.is_witness(order.as_slice()), "a shifted order is a witness");
        true
    }

    /// Whether the event comes before the read in the new order.
    #[inline]
    fn precedes_read(&self, window: &Window<R>, event: usize) -> bool {
        let position = self.witness.position(event);
        position < window.start || position < window.end && window.before_read.has(event)
    }

    /// Whether the read observes its source if it comes right behind the early events.
    fn can_follow_early(&self, window: &Window<R>) -> bool {
        let read = window.read;
        let Event { location, source, .. } = self.events[read];
        let precedes = |&event: &usize| self.precedes_read(window, event);
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
        let last = others.iter().filter(precedes).max_by_key(|&write| self.witness.position(write));
        let is_current = last.map_or(INIT, |write| write as u32) == source;
        is_current && (!writes || self.is_observed_early(window, source, location))
    }

    /// Whether all who observe a write, other than the read, come before the read.
    fn is_observed_early(&self, window: &Window<R>, write: u32, location: u32) -> bool {
        let readers = match write {
            INIT => self.readers_of_init[location as usize],
            write => self.readers[write as usize],
        };
        readers.minus(R::one(window.read)).iter().all(|reader| self.precedes_read(window, reader))
    }

    /// Whether the late events may come behind the early ones.
    fn late_can_wait(&self, placing: &Placing<R>, window: &Window<R>) -> bool {
        // The early writes that are behind the event; the last writes of their locations, if early; and all
        // writes of locations that are written behind the event.
        let (mut behind, mut last, mut written) = (R::default(), R::default(), R::default());
        for at in (window.start..window.end).rev() {
            let event = placing.old.at(at);
            let writes = self.all_writes.has(event);
            if window.before_read.has(event) {
                if writes {
                    behind.insert(event);
                    if !written.has(event) {
                        last.insert(event);
                    }
                } else if BUFFERS != SC && !self.own_are_early(window, event) {
                    return false;
                }
            } else if !behind.is_empty() && !self.can_wait(window, event, behind, last) {
                return false;
            }
            if writes {
                written = written.or(self.writes[self.events[event].location as usize]);
            }
        }
        true
    }

    /// Whether a late event may come behind some early writes, of which some are the last ones.
    #[inline]
    fn can_wait(&self, window: &Window<R>, event: usize, behind: R, last: R) -> bool {
        let Event { location, source, .. } = self.events[event];
        let writes = self.all_writes.has(event);
        if !writes && source == NONE || !self.writes[location as usize].meets(&behind) {
            return true;
        }
        if source != NONE && !self.is_late(window, source) {
            return false;
        }
        let hidden = self.writes[location as usize].and(last).first();
        !writes
            || hidden.is_none_or(|hidden| self.is_observed_early(window, hidden as u32, location))
    }

    /// Whether a source is a late event.
    fn is_late(&self, window: &Window<R>, source: u32) -> bool {
        source != INIT
            && !window.before_read.has(source as usize)
            && (window.start..window.end).contains(&self.witness.position(source as usize))
    }

    /// Whether an early read that observes another thread leaves behind none of its own writes.
    fn own_are_early(&self, window: &Window<R>, read: usize) -> bool {
        let Event { source, .. } = self.events[read];
        if source == NONE {
            return true;
        }
        let own = self.own_before(read);
        source != INIT && own.has(source as usize)
            || own.iter().all(|write| self.precedes_read(window, write))
    }

    /// Whether an order is a witness.
    fn is_witness(&self, order: &[u16]) -> bool {
        let mut placing = Placing::new(self.writes.len());
        order.iter().all(|&event| {
            let can = self.can_be_placed(&placing, &self.before, usize::from(event));
            self.place(&mut placing, usize::from(event));
            can
        })
    }
}
