//! Tables with an entry for every event of an execution.
//!
//! Hot loops look something up by event every few instructions. Where all events fit into one word, the table is an
//! array of 64 entries that is indexed modulo 64, so no length is loaded and compared. That saves a tenth of all
//! instructions of an exploration. Larger tables are ordinary vectors.

use std::ops::{Index, IndexMut};

use crate::event_index::EventIndex;

/// A value for every event that an [`EventSet`](crate::event_set::EventSet) can contain.
pub trait EventMap<T>: Index<EventIndex, Output = T> + IndexMut<EventIndex> {
    /// The table with this value everywhere.
    fn filled(value: T) -> Self;
    /// The values of the first `events` events.
    fn first(&self, events: usize) -> &[T];
    /// The values of the first `events` events, mutable.
    fn first_mut(&mut self, events: usize) -> &mut [T];
}

/// A table for 64 events.
#[derive(Clone, Debug)]
pub struct NarrowMap<T>(Box<[T; 64]>);

impl<T: Copy> EventMap<T> for NarrowMap<T> {
    fn filled(value: T) -> Self {
        NarrowMap(Box::new([value; 64]))
    }

    #[inline]
    fn first(&self, events: usize) -> &[T] {
        &self.0[..events]
    }

    #[inline]
    fn first_mut(&mut self, events: usize) -> &mut [T] {
        &mut self.0[..events]
    }
}

impl<T> Index<EventIndex> for NarrowMap<T> {
    type Output = T;

    #[inline]
    fn index(&self, event: EventIndex) -> &T {
        debug_assert!(event.index() < 64, "{event:?} does not fit into a table of 64 events");
        &self.0[event.index() % 64]
    }
}

impl<T> IndexMut<EventIndex> for NarrowMap<T> {
    #[inline]
    fn index_mut(&mut self, event: EventIndex) -> &mut T {
        debug_assert!(event.index() < 64, "{event:?} does not fit into a table of 64 events");
        &mut self.0[event.index() % 64]
    }
}

/// A table for `N` times 64 events.
#[derive(Clone, Debug)]
pub struct WideMap<T, const N: usize>(Vec<T>);

impl<T: Copy, const N: usize> EventMap<T> for WideMap<T, N> {
    fn filled(value: T) -> Self {
        WideMap(vec![value; 64 * N])
    }

    #[inline]
    fn first(&self, events: usize) -> &[T] {
        &self.0[..events]
    }

    #[inline]
    fn first_mut(&mut self, events: usize) -> &mut [T] {
        &mut self.0[..events]
    }
}

impl<T, const N: usize> Index<EventIndex> for WideMap<T, N> {
    type Output = T;

    #[inline]
    fn index(&self, event: EventIndex) -> &T {
        &self.0[event.index()]
    }
}

impl<T, const N: usize> IndexMut<EventIndex> for WideMap<T, N> {
    #[inline]
    fn index_mut(&mut self, event: EventIndex) -> &mut T {
        &mut self.0[event.index()]
    }
}
