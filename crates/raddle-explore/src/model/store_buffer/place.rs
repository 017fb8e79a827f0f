//! Placing events one after the other in a new order.
//!
//! An event can be placed if everything before it (in rows that are given) has been placed; a read also
//! needs its source to be the current write of its location, or to be still in its own buffer; a write
//! needs all readers of the current write to be placed.

use super::{Event, INIT, Linear, NONE, SC};
use crate::event_list::EventList;
use crate::event_map::EventMap;
use crate::event_set::EventSet;

/// An order that is being made.
pub(super) struct Placing<R: EventSet> {
    /// The old order, by event its position there, and the new order as far as it goes.
    pub(super) old: EventList<R>,
    pub(super) positions: R::Map<u16>,
    pub(super) order: EventList<R>,
    /// Events that could not be placed yet, in the order in which they are tried.
    pub(super) waiting: EventList<R>,
    pub(super) placed: R,
    /// By location, the write that is in memory, or [`INIT`].
    pub(super) current: Vec<u32>,
    /// Sets of placed events that lead nowhere.
    pub(super) dead: Vec<R>,
}

impl<R: EventSet> Placing<R> {
    pub(super) fn new(locations: usize) -> Self {
        Placing {
            old: EventList::new(),
            positions: R::Map::filled(0),
            order: EventList::new(),
            waiting: EventList::new(),
            placed: R::default(),
            current: vec![INIT; locations],
            dead: vec![],
        }
    }

    /// Nothing is placed.
    pub(super) fn restart(&mut self) {
        self.order.set_len(0);
        self.placed = R::default();
        self.current.fill(INIT);
    }

    /// The position of an event in the old order.
    #[inline]
    pub(super) fn position(&self, event: usize) -> usize {
        usize::from(self.positions[event])
    }

    /// The new order.
    pub(super) fn order(&self) -> &[u16] {
        self.order.as_slice()
    }
}

impl<R: EventSet, const BUFFERS: u8> Linear<R, BUFFERS> {
    /// Places an event.
    #[inline]
    pub(super) fn place(&self, placing: &mut Placing<R>, event: usize) {
        placing.placed.insert(event);
        placing.order.push(event);
        if self.all_writes.has(event) {
            placing.current[self.events[event].location as usize] = event as u32;
        }
    }

    /// Whether an event can be placed next.
    #[inline(always)]
    pub(super) fn can_be_placed(
        &self,
        placing: &Placing<R>,
        rows: &R::Map<R>,
        event: usize,
    ) -> bool {
        let placed = placing.placed;
        if !rows[event].minus(placed).is_empty() {
            return false;
        }
        let Event { location, source, .. } = self.events[event];
        let writes = self.all_writes.has(event);
        if !writes && source == NONE {
            return true;
        }
        let current = placing.current[location as usize];
        if !writes {
            return self.can_read(placed, event, current);
        }
        let readers = match current {
            INIT => self.readers_of_init[location as usize],
            write => self.readers[write as usize],
        };
        (source == NONE || source == current)
            && readers.minus(placed).minus(R::one(event)).is_empty()
    }

    /// Whether the order of the current level is a witness.
    pub(super) fn has_witness(&self) -> bool {
        let mut placing = Placing::new(self.writes.len());
        self.witness.order_into(&mut placing);
        (0..placing.old.len()).all(|at| {
            let event = placing.old.at(at);
            let can = self.can_be_placed(&placing, &self.before, event);
            self.place(&mut placing, event);
            can
        })
    }

    #[inline]
    fn can_read(&self, placed: R, event: usize, current: u32) -> bool {
        let source = self.events[event].source;
        if BUFFERS != SC {
            let own = self.own_before(event);
            let is_own = source != INIT && own.has(source as usize);
            if is_own && !placed.has(source as usize) {
                return true;
            }
            if !is_own && !own.minus(placed).is_empty() {
                return false;
            }
        }
        current == source
    }
}
