//! The witness of every level: where each event stands in a linear order.
//!
//! A level differs from the one below by one inserted read, or by a new order, and by events at its end.
//! An insertion is carried out only when somebody asks for a position: the last level of an execution
//! never needs it.

use super::super::row::Row;
use super::super::table::{List, Table};

/// Saturated rows of a level: by event, what comes before it in every witness. Empty: not computed.
pub(super) type Rows<R> = Vec<R>;

struct Frame<R: Row> {
    /// By event, its position.
    positions: R::Table<u16>,
    rows: Rows<R>,
}

/// The witnesses of all levels. An event that is pushed goes to the end, so its position is its id.
pub(super) struct Witness<R: Row> {
    frames: Vec<Frame<R>>,
    /// The current level.
    level: usize,
    /// How many events there are.
    len: usize,
    /// What still has to be done to the current level's positions: insert this event at this position.
    pending: Option<(usize, usize)>,
}

impl<R: Row> Witness<R> {
    pub(super) fn new() -> Self {
        let mut witness = Witness { frames: vec![], level: 0, len: 0, pending: None };
        witness.reserve();
        witness
    }

    fn reserve(&mut self) {
        if self.frames.len() <= self.level {
            self.frames
                .push(Frame { positions: R::Table::filled(0), rows: Vec::with_capacity(R::BITS) });
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
        if let Some((event, place)) = self.pending.take() {
            let (below, here) = self.frames.split_at_mut(self.level);
            let old = below[self.level - 1].positions.first(event);
            let new = here[0].positions.first_mut(event);
            let place = place as u16;
            for (new, &old) in new.iter_mut().zip(old) {
                *new = old + u16::from(old >= place);
            }
            here[0].positions[event] = place;
        }
    }

    /// A new level: the event is inserted at a position.
    #[inline]
    pub(super) fn push_insertion(&mut self, event: usize, place: usize) {
        self.push(event + 1);
        self.pending = Some((event, place));
    }

    /// A new level: the events stand in this order.
    pub(super) fn push_order(&mut self, order: &[u16], rows: Option<&Rows<R>>) {
        self.push(order.len());
        let frame = &mut self.frames[self.level];
        for (position, &event) in order.iter().enumerate() {
            frame.positions[usize::from(event)] = position as u16;
        }
        if let Some(rows) = rows {
            frame.rows.extend_from_slice(rows);
        }
    }

    /// A new level, like the one below.
    pub(super) fn push_same(&mut self) {
        let len = self.len;
        self.push(len);
        let (below, here) = self.frames.split_at_mut(self.level);
        let old = below[self.level - 1].positions.first(len);
        here[0].positions.first_mut(len).copy_from_slice(old);
    }

    #[inline]
    fn push(&mut self, len: usize) {
        self.level += 1;
        self.len = len;
        self.reserve();
        self.frames[self.level].rows.clear();
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
        (!rows.is_empty() && rows.len() == self.len).then_some(rows)
    }

    /// The saturated rows of the closest level that has some: of its first events only.
    pub(super) fn closest_rows(&self) -> &[R] {
        let with_rows =
            self.frames[..=self.level].iter().rev().find(|frame| !frame.rows.is_empty());
        with_rows.map_or(&[], |frame| &frame.rows)
    }

    /// Keeps saturated rows with the current level.
    pub(super) fn keep_rows(&mut self, rows: &[R]) {
        let kept = &mut self.frames[self.level].rows;
        kept.clear();
        kept.extend_from_slice(rows);
    }

    /// The events in the order of the current level.
    pub(super) fn order_into(&self, order: &mut List<R>) {
        order.set_len(self.len);
        for (event, &position) in
            self.frames[self.level].positions.first(self.len).iter().enumerate()
        {
            order.set(usize::from(position), event);
        }
    }
}
