//! Appending events to a new linear order, one after the other.
//!
//! An event can be appended if everything that precedes it (in rows that are given) has been; a read also needs its
//! source to be the current write of its location, or to be still in its own buffer; a write needs all readers of the
//! current write to be appended.

use super::{LinearizedEvent, SC, StoreBufferModel};
use crate::event_index::{EventIndex, RfSource};
use crate::event_list::EventList;
use crate::event_map::EventMap;
use crate::event_set::{EventSet, Position};

/// A linear order that is being made.
pub(super) struct Linearization<R: EventSet> {
    /// The old order.
    pub(super) old: EventList<R>,
    /// By event: its position in the old order.
    pub(super) positions: R::Map<R::Position>,
    /// The new order so far.
    pub(super) order: EventList<R>,
    /// Events that could not be appended yet, in the order in which they are tried.
    pub(super) waiting: EventList<R>,
    /// The events of `order`.
    pub(super) placed: R,
    /// By location: the write that is in memory.
    pub(super) current: Vec<RfSource>,
    /// Sets of placed events that cannot be completed.
    pub(super) dead: Vec<R>,
}

impl<R: EventSet> Linearization<R> {
    pub(super) fn new(locations: usize) -> Self {
        Linearization {
            old: EventList::new(),
            positions: R::Map::filled(R::Position::default()),
            order: EventList::new(),
            waiting: EventList::new(),
            placed: R::default(),
            current: vec![RfSource::INITIAL; locations],
            dead: vec![],
        }
    }

    /// Empties the new order.
    pub(super) fn clear(&mut self) {
        self.order.set_len(0);
        self.placed = R::default();
        self.current.fill(RfSource::INITIAL);
    }

    /// The position of an event in the old order.
    #[inline]
    pub(super) fn position(&self, event: EventIndex) -> usize {
        self.positions[event].index()
    }

    /// The new order.
    pub(super) fn order(&self) -> &[R::Position] {
        self.order.as_slice()
    }
}

impl<R: EventSet, const BUFFERS: u8> StoreBufferModel<R, BUFFERS> {
    /// Appends an event.
    #[inline]
    pub(super) fn place(&self, linearization: &mut Linearization<R>, event: EventIndex) {
        linearization.placed.insert(event);
        linearization.order.push(event);
        if self.all_writes.has(event) {
            linearization.current[self.events[event].location.index()] = event.into();
        }
    }

    /// Returns `true` if an event can be appended next.
    #[inline(always)]
    pub(super) fn can_be_placed(
        &self,
        linearization: &Linearization<R>,
        rows: &R::Map<R>,
        event: EventIndex,
    ) -> bool {
        let placed = &linearization.placed;
        if !rows[event].minus(placed).is_empty() {
            return false;
        }
        let LinearizedEvent { location, source, .. } = self.events[event];
        let writes = self.all_writes.has(event);
        if !writes && source == RfSource::NONE {
            return true;
        }
        let current = linearization.current[location.index()];
        if !writes {
            return self.can_read(placed, event, current);
        }
        let readers = match current.event() {
            None => &self.readers_of_init[location.index()],
            Some(write) => &self.readers[write],
        };
        (source == RfSource::NONE || source == current)
            && readers.minus(placed).minus(&R::one(event)).is_empty()
    }

    /// Returns `true` if the order of the current level is a witness.
    pub(super) fn has_witness(&self) -> bool {
        let mut linearization = Linearization::new(self.writes.len());
        self.witness.copy_order_to(&mut linearization);
        (0..linearization.old.len()).all(|at| {
            let event = linearization.old.at(at);
            let can = self.can_be_placed(&linearization, &self.before, event);
            self.place(&mut linearization, event);
            can
        })
    }

    #[inline]
    fn can_read(&self, placed: &R, event: EventIndex, current: RfSource) -> bool {
        let source = self.events[event].source;
        if BUFFERS != SC {
            let own = self.own_before(event);
            match source.event().filter(|&source| own.has(source)) {
                Some(source) if !placed.has(source) => return true,
                None if !own.minus(placed).is_empty() => return false,
                _ => {}
            }
        }
        current == source
    }
}
