//! The witness of every level: the position of each event in a linear order.
//!
//! A level differs from the one below by one inserted read, or by a new order, and by events at its end. Positions are
//! copied from below, and the insertion carried out, only when a position is asked for
//! ([`LinearWitness::materialize`]): the last level of an execution never needs that.

use std::ops::Index;

use super::linearization::Linearization;
use crate::event_index::EventIndex;
use crate::event_list::EventList;
use crate::event_map::EventMap;
use crate::event_set::{EventSet, Position};

/// By event, for the first `len` events: the events that precede it.
pub(super) struct PrecedenceRows<R: EventSet> {
    pub(super) table: R::Map<R>,
    len: usize,
}

impl<R: EventSet> PrecedenceRows<R> {
    pub(super) fn new() -> Self {
        PrecedenceRows { table: R::Map::filled(R::default()), len: 0 }
    }

    /// The number of events that have rows.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Keeps the rows of the first `len` events.
    pub(super) fn truncate(&mut self, len: usize) {
        self.len = len;
    }

    /// Adds the row of the next event.
    #[inline]
    pub(super) fn push(&mut self, row: R) {
        self.table[EventIndex::new(self.len)] = row;
        self.len += 1;
    }

    fn copy_from(&mut self, other: &Self) {
        self.table.copy_first(other.len, &other.table);
        self.len = other.len;
    }

    /// Lets a transitively closed set of events precede an event and all that it precedes. Returns the events whose
    /// rows changed.
    pub(super) fn order_before(&mut self, before: &R, event: EventIndex) -> R {
        let mut changed = R::default();
        for (other, row) in self.table.first_mut(self.len).iter_mut().enumerate() {
            let other = EventIndex::new(other);
            if (other == event || row.has(event)) && !before.minus(row).is_empty() {
                *row = row.or(before);
                changed.insert(other);
            }
        }
        changed
    }
}

impl<R: EventSet> Index<EventIndex> for PrecedenceRows<R> {
    type Output = R;

    #[inline]
    fn index(&self, event: EventIndex) -> &R {
        &self.table[event]
    }
}

/// The witness of one level.
struct WitnessFrame<R: EventSet> {
    /// By event: its position.
    positions: R::Map<R::Position>,
    /// The saturated rows: what precedes an event in every witness. Empty if not computed.
    rows: PrecedenceRows<R>,
}

/// The witnesses of all levels. An event that is appended has the last position, which is its index.
pub(super) struct LinearWitness<R: EventSet> {
    frames: Vec<WitnessFrame<R>>,
    /// The current level.
    level: usize,
    /// The number of events.
    len: usize,
    /// What still has to be done to the positions of the current level.
    pending: Option<PendingPositions>,
}

/// The positions of the level below have to be copied.
#[derive(Clone, Copy)]
struct PendingPositions {
    /// The first event that the level below does not have.
    first: EventIndex,
    /// The position at which that event is inserted, if it is.
    place: Option<u32>,
}

impl<R: EventSet> LinearWitness<R> {
    pub(super) fn new() -> Self {
        let mut witness = LinearWitness { frames: vec![], level: 0, len: 0, pending: None };
        witness.reserve();
        witness
    }

    fn reserve(&mut self) {
        if self.frames.len() <= self.level {
            let (positions, rows) = (R::Map::filled(R::Position::default()), PrecedenceRows::new());
            self.frames.push(WitnessFrame { positions, rows });
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The position of an event. The current level must be [materialized](LinearWitness::materialize).
    #[inline]
    pub(super) fn position(&self, event: EventIndex) -> usize {
        self.frames[self.level].positions[event].index()
    }

    /// The position of an event, whether or not the current level is materialized.
    pub(super) fn position_now(&self, event: EventIndex) -> usize {
        let old = |event: EventIndex| self.frames[self.level - 1].positions[event].index();
        match self.pending {
            Some(PendingPositions { first, place: Some(place) }) if event == first => {
                place as usize
            }
            Some(PendingPositions { first, place: Some(place) }) if event < first => {
                old(event) + usize::from(old(event) >= place as usize)
            }
            Some(PendingPositions { first, place: None }) if event < first => old(event),
            _ => self.position(event),
        }
    }

    /// Appends an event.
    #[inline]
    pub(super) fn append(&mut self, event: EventIndex) {
        self.len = event.index() + 1;
        self.frames[self.level].positions[event] = R::Position::new(event.index());
    }

    /// Makes all positions of the current level available; `next` is the next event.
    #[inline]
    pub(super) fn materialize(&mut self, next: EventIndex) {
        debug_assert_eq!(self.len, next.index());
        if let Some(PendingPositions { first, place }) = self.pending.take() {
            let (below, here) = self.frames.split_at_mut(self.level);
            let (old, new) = (&below[self.level - 1].positions, &mut here[0].positions);
            let gap = place.map_or(R::Position::LAST, |place| R::Position::new(place as usize));
            new.map_first(first.index(), old, |old| old.after_insertion(gap));
            for appended in first.index()..next.index() {
                new[EventIndex::new(appended)] = R::Position::new(appended);
            }
            if place.is_some() {
                new[first] = gap;
            }
        }
    }

    /// Begins a level by inserting the event at a position.
    #[inline]
    pub(super) fn push_insertion(&mut self, event: EventIndex, place: usize) {
        self.push(event.index() + 1);
        self.pending = Some(PendingPositions { first: event, place: Some(place as u32) });
    }

    /// Begins a level with a new order of all events.
    pub(super) fn push_order(&mut self, order: &[R::Position], rows: Option<&PrecedenceRows<R>>) {
        self.push(order.len());
        let frame = &mut self.frames[self.level];
        for (position, &event) in order.iter().enumerate() {
            frame.positions[EventIndex::new(event.index())] = R::Position::new(position);
        }
        if let Some(rows) = rows {
            frame.rows.copy_from(rows);
        }
    }

    /// Begins a level without changing the order.
    pub(super) fn push_same(&mut self) {
        let first = EventIndex::new(self.len);
        self.push(self.len);
        self.pending = Some(PendingPositions { first, place: None });
    }

    #[inline]
    fn push(&mut self, len: usize) {
        self.level += 1;
        self.len = len;
        self.reserve();
        self.frames[self.level].rows.truncate(0);
    }

    /// Returns to the level below; `next` is the next event then.
    #[inline]
    pub(super) fn pop(&mut self, next: EventIndex) {
        self.pending = None;
        self.level -= 1;
        self.len = next.index();
    }

    /// The saturated rows of the current level, if all events have one.
    #[inline]
    pub(super) fn rows(&self) -> Option<&PrecedenceRows<R>> {
        let rows = &self.frames[self.level].rows;
        (rows.len > 0 && rows.len == self.len).then_some(rows)
    }

    /// Copies the saturated rows of the closest level that has some; later events have none. Returns `true` if all
    /// events of the current level have one.
    pub(super) fn copy_closest_rows(&self, rows: &mut PrecedenceRows<R>) -> bool {
        let with_rows = self.frames[..=self.level].iter().rev().find(|frame| frame.rows.len > 0);
        match with_rows {
            Some(frame) => rows.copy_from(&frame.rows),
            None => rows.truncate(0),
        }
        self.rows().is_some()
    }

    /// Keeps saturated rows with the current level.
    pub(super) fn keep_rows(&mut self, rows: &PrecedenceRows<R>) {
        self.frames[self.level].rows.copy_from(rows);
    }

    /// Lists the events in the order of the current level, which must be materialized.
    pub(super) fn list_into(&self, order: &mut EventList<R>) {
        let positions = self.frames[self.level].positions.first(self.len);
        order.set_len(self.len);
        for (event, &position) in positions.iter().enumerate() {
            order.set(position.index(), EventIndex::new(event));
        }
    }

    /// Makes the order of the current level, which must be materialized, the old order of a linearization.
    pub(super) fn copy_order_to(&self, linearization: &mut Linearization<R>) {
        linearization.positions.copy_first(self.len, &self.frames[self.level].positions);
        self.list_into(&mut linearization.old);
    }
}
