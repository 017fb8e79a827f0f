//! Tables with an entry for every event of an execution.
//!
//! Hot loops look something up by event every few instructions. Where all events fit into one word or two, the
//! table is an array of 64 or 128 entries that is indexed modulo that, so no length is loaded and compared. That saves a tenth of all
//! instructions of an exploration. Larger tables are ordinary vectors.

use std::ops::{Index, IndexMut};

use crate::event_index::EventIndex;

/// A value for every event that an [`EventSet`](crate::event_set::EventSet) can contain.
pub trait EventMap<T>: Index<EventIndex, Output = T> + IndexMut<EventIndex> {
    /// The table with this value everywhere.
    fn filled(value: T) -> Self;
    /// The values of the first `events` events. There may be fewer if the last ones were never written.
    fn first(&self, events: usize) -> &[T];
    /// The values of the first `events` events, mutable.
    fn first_mut(&mut self, events: usize) -> &mut [T];
    /// Copies the values of the first `events` events of another table.
    fn copy_first(&mut self, events: usize, other: &Self);
    /// As [`copy_first`](EventMap::copy_first), with a function of each value. The values of other events become
    /// meaningless: a table of fixed size is computed as a whole, without a loop.
    fn map_first(&mut self, events: usize, other: &Self, function: impl Fn(&T) -> T);
}

/// A table for `N` events.
#[derive(Clone, Debug)]
pub struct NarrowMap<T, const N: usize>(Box<[T; N]>);

impl<T: Clone, const N: usize> EventMap<T> for NarrowMap<T, N> {
    fn filled(value: T) -> Self {
        NarrowMap(Box::new(std::array::from_fn(|_| value.clone())))
    }

    #[inline]
    fn first(&self, events: usize) -> &[T] {
        &self.0[..events]
    }

    #[inline]
    fn first_mut(&mut self, events: usize) -> &mut [T] {
        &mut self.0[..events]
    }

    #[inline]
    fn copy_first(&mut self, events: usize, other: &Self) {
        self.0[..events].clone_from_slice(&other.0[..events]);
    }

    #[inline]
    fn map_first(&mut self, _events: usize, other: &Self, function: impl Fn(&T) -> T) {
        for (value, other) in self.0.iter_mut().zip(other.0.iter()) {
            *value = function(other);
        }
    }
}

impl<T, const N: usize> Index<EventIndex> for NarrowMap<T, N> {
    type Output = T;

    #[inline]
    fn index(&self, event: EventIndex) -> &T {
        debug_assert!(event.index() < N, "{event:?} does not fit into a table of {N} events");
        &self.0[event.index() % N]
    }
}

impl<T, const N: usize> IndexMut<EventIndex> for NarrowMap<T, N> {
    #[inline]
    fn index_mut(&mut self, event: EventIndex) -> &mut T {
        debug_assert!(event.index() < N, "{event:?} does not fit into a table of {N} events");
        &mut self.0[event.index() % N]
    }
}

/// A table without a bound on the number of events. It grows when an entry is written.
#[derive(Clone, Debug)]
pub struct LongMap<T> {
    values: Vec<T>,
    /// The value of all other events.
    value: T,
}

impl<T: Clone> LongMap<T> {
    #[inline]
    fn grow(&mut self, events: usize) {
        if self.values.len() < events {
            self.values.resize(events, self.value.clone());
        }
    }
}

impl<T: Clone> EventMap<T> for LongMap<T> {
    fn filled(value: T) -> Self {
        LongMap { values: vec![], value }
    }

    #[inline]
    fn first(&self, events: usize) -> &[T] {
        &self.values[..events.min(self.values.len())]
    }

    #[inline]
    fn first_mut(&mut self, events: usize) -> &mut [T] {
        self.grow(events);
        &mut self.values[..events]
    }

    fn copy_first(&mut self, events: usize, other: &Self) {
        let known = other.first(events);
        self.first_mut(events)[..known.len()].clone_from_slice(known);
        self.values[known.len()..events].fill(other.value.clone());
    }

    fn map_first(&mut self, events: usize, other: &Self, function: impl Fn(&T) -> T) {
        let known = other.first(events);
        for (value, other) in self.first_mut(events).iter_mut().zip(known) {
            *value = function(other);
        }
        self.values[known.len()..events].fill(function(&other.value));
    }
}

impl<T> Index<EventIndex> for LongMap<T> {
    type Output = T;

    #[inline]
    fn index(&self, event: EventIndex) -> &T {
        self.values.get(event.index()).unwrap_or(&self.value)
    }
}

impl<T: Clone> IndexMut<EventIndex> for LongMap<T> {
    #[inline]
    fn index_mut(&mut self, event: EventIndex) -> &mut T {
        self.grow(event.index() + 1);
        &mut self.values[event.index()]
    }
}
