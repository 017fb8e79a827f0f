//! The witness of every level: where each event stands in a linear order.
//!
//! A level differs from the one below by one inserted read, or by a new order, and by events at its end.
//! Positions are taken over from below, and the insertion carried out, only when somebody asks for a
//! position: the last level of an execution never needs it.

use std::ops::Index;

use super::place::Placing;
use crate::event_list::EventList;
use crate::event_map::EventMap;
use crate::event_set::EventSet;

/// By event, for the first events, what comes before it.
pub(super) struct Rows<R: EventSet> {
    pub(super) table: R::Map<R>,
    len: usize,
}

impl<R: EventSet> Rows<R> {
    /// Those of no events.
    pub(super) fn new() -> Self {
        Rows { table: R::Map::filled(R::default()), len: 0 }
    }

    /// Of how many events there are rows.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Keeps those of the first events.
    pub(super) fn truncate(&mut self, len: usize) {
        self.len = len;
    }

    /// Adds that of the next event.
    #[inline]
    pub(super) fn push(&mut self, row: R) {
        self.table[self.len] = row;
        self.len += 1;
    }

    fn copy_from(&mut self, other: &Self) {
        self.table.first_mut(other.len).copy_from_slice(other.as_slice());
        self.len = other.len;
    }

    fn as_slice(&self) -> &[R] {
        self.table.first(self.len)
    }

    /// Puts a closed set of events before an event and all that come after it. Returns whose rows
    /// changed.
    pub(super) fn put_before(&mut self, event: usize, before: R) -> R {
        let mut changed = R::default();
        for (other, row) in self.table.first_mut(self.len).iter_mut().enumerate() {
            if (other == event || row.has(event)) && !before.minus(*row).is_empty() {
                *row = row.or(before);
                changed.insert(other);
            }
        }
        changed
    }
}

impl<R: EventSet> Index<usize> for Rows<R> {
    type Output = R;

    #[inline]
    fn index(&self, event: usize) -> &R {
        &self.table[event]
    }
}

struct Frame<R: EventSet> {
    /// By event, its position.
    positions: R::Map<u16>,
    /// The saturated rows: what comes before an event in every witness. Of no event: not computed.
    rows: Rows<R>,
}

/// The witnesses of all levels. An event that is pushed goes to the end, so its position is its id.
pub(super) struct Witness<R: EventSet> {
    frames: Vec<Frame<R>>,
    /// The current level.
    level: usize,
    /// How many events there are.
    len: usize,
    /// What still has to be done to the current level's positions.
    pending: Option<Pending>,
}

/// Takes positions over, and leaves a gap.
#[inline]
fn take_over(old: &[u16], new: &mut [u16], gap: u16) {
    for (new, &old) in new.iter_mut().zip(old) {
        *new = old + u16::from(old >= gap);
    }
}

/// The positions of the level below have to be taken over.
#[derive(Clone, Copy)]
struct Pending {
    /// How many events that level has.
    events: usize,
    /// Where the next event is inserted, if it is.
    place: Option<u16>,
}

impl<R: EventSet> Witness<R> {
    pub(super) fn new() -> Self {
        let mut witness = Witness { frames: vec![], level: 0, len: 0, pending: None };
        witness.reserve();
        witness
    }

    fn reserve(&mut self) {
        if self.frames.len() <= self.level {
            self.frames.push(Frame { positions: R::Map::filled(0), rows: Rows::new() });
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The position of an event. The current level must be settled.
    #[inline]
    pub(super) fn position(&self, event: usize) -> usize {
        usize::from(self.frames[self.level].positions[event])
    }

    /// The position of an event, whether or not the current level is settled.
    pub(super) fn position_now(&self, event: usize) -> usize {
        let old = |event: usize| usize::from(self.frames[self.level - 1].positions[event]);
        match self.pending {
            Some(Pending { events, place: Some(place) }) if event == events => usize::from(place),
            Some(Pending { events, place: Some(place) }) if event < events => {
                old(event) + usize::from(old(event) >= usize::from(place))
            }
            Some(Pending { events, place: None }) if event < events => old(event),
            _ => self.position(event),
        }
    }

    /// The event has the last position.
    #[inline]
    pub(super) fn append(&mut self, event: usize) {
        self.len = event + 1;
        self.frames[self.level].positions[event] = event as u16;
    }

    /// Carries out what was put off; `len` events are there.
    #[inline]
    pub(super) fn settle(&mut self, len: usize) {
        debug_assert_eq!(self.len, len);
        if let Some(Pending { events, place }) = self.pending.take() {
            let (below, here) = self.frames.split_at_mut(self.level);
            let old = below[self.level - 1].positions.first(events);
            take_over(old, here[0].positions.first_mut(events), place.unwrap_or(u16::MAX));
            if let Some(place) = place {
                self.frames[self.level].positions[events] = place;
            }
        }
    }

    /// A new level: the event is inserted at a position.
    #[inline]
    pub(super) fn push_insertion(&mut self, event: usize, place: usize) {
        self.push(event + 1);
        self.pending = Some(Pending { events: event, place: Some(place as u16) });
    }

    /// A new level: the events stand in this order.
    pub(super) fn push_order(&mut self, order: &[u16], rows: Option<&Rows<R>>) {
        self.push(order.len());
        let frame = &mut self.frames[self.level];
        for (position, &event) in order.iter().enumerate() {
            frame.positions[usize::from(event)] = position as u16;
        }
        if let Some(rows) = rows {
            frame.rows.copy_from(rows);
        }
    }

    /// A new level, like the one below.
    pub(super) fn push_same(&mut self) {
        let events = self.len;
        self.push(events);
        self.pending = Some(Pending { events, place: None });
    }

    #[inline]
    fn push(&mut self, len: usize) {
        self.level += 1;
        self.len = len;
        self.reserve();
        self.frames[self.level].rows.truncate(0);
    }

    /// Back to the level below, which has `len` events.
    #[inline]
    pub(super) fn pop(&mut self, len: usize) {
        self.pending = None;
        self.level -= 1;
        self.len = len;
    }

    /// The saturated rows of the current level, if they are there for all events.
    #[inline]
    pub(super) fn rows(&self) -> Option<&Rows<R>> {
        let rows = &self.frames[self.level].rows;
        (rows.len > 0 && rows.len == self.len).then_some(rows)
    }

    /// Copies the saturated rows of the closest level that has some: of its first events only. Whether
    /// it is the current level, and they are there for all events.
    pub(super) fn closest_rows(&self, rows: &mut Rows<R>) -> bool {
        let with_rows = self.frames[..=self.level].iter().rev().find(|frame| frame.rows.len > 0);
        match with_rows {
            Some(frame) => rows.copy_from(&frame.rows),
            None => rows.truncate(0),
        }
        self.rows().is_some()
    }

    /// Keeps saturated rows with the current level.
    pub(super) fn keep_rows(&mut self, rows: &Rows<R>) {
        self.frames[self.level].rows.copy_from(rows);
    }

    /// Lists the events in the order of the current level.
    pub(super) fn list_into(&self, order: &mut EventList<R>) {
        let positions = self.frames[self.level].positions.first(self.len);
        order.set_len(self.len);
        for (event, &position) in positions.iter().enumerate() {
            order.set(usize::from(position), event);
        }
    }

    /// Makes the order of the current level the old one.
    pub(super) fn order_into(&self, placing: &mut Placing<R>) {
        let positions = self.frames[self.level].positions.first(self.len);
        placing.positions.first_mut(self.len).copy_from_slice(positions);
        self.list_into(&mut placing.old);
    }
}
