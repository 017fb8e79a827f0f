//! Tables with a place for every event of an execution.
//!
//! A hot loop looks something up by event every few instructions. Where events fit into one word the
//! table is an array of 64 places, and the compiler knows that a place exists: no length is loaded and
//! compared. That is a tenth of all instructions of an exploration. Wider tables are ordinary vectors.

use std::ops::{Index, IndexMut};

use super::row::Row;

/// A value for every event.
pub trait Table<T>: Index<usize, Output = T> + IndexMut<usize> {
    /// The table that has this value everywhere.
    fn filled(value: T) -> Self;
    /// The values of the first events.
    fn first(&self, events: usize) -> &[T];
    /// The values of the first events, to be changed.
    fn first_mut(&mut self, events: usize) -> &mut [T];
}

/// A table for 64 events.
#[derive(Clone, Debug)]
pub struct Narrow<T>(Box<[T; 64]>);

impl<T: Copy> Table<T> for Narrow<T> {
    fn filled(value: T) -> Self {
        Narrow(Box::new([value; 64]))
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

impl<T> Index<usize> for Narrow<T> {
    type Output = T;

    #[inline]
    fn index(&self, event: usize) -> &T {
        debug_assert!(event < 64, "event {event} has no place");
        &self.0[event % 64]
    }
}

impl<T> IndexMut<usize> for Narrow<T> {
    #[inline]
    fn index_mut(&mut self, event: usize) -> &mut T {
        debug_assert!(event < 64, "event {event} has no place");
        &mut self.0[event % 64]
    }
}

/// A table for `N` times 64 events.
#[derive(Clone, Debug)]
pub struct Long<T, const N: usize>(Vec<T>);

impl<T: Copy, const N: usize> Table<T> for Long<T, N> {
    fn filled(value: T) -> Self {
        Long(vec![value; 64 * N])
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

impl<T, const N: usize> Index<usize> for Long<T, N> {
    type Output = T;

    #[inline]
    fn index(&self, event: usize) -> &T {
        &self.0[event]
    }
}

impl<T, const N: usize> IndexMut<usize> for Long<T, N> {
    #[inline]
    fn index_mut(&mut self, event: usize) -> &mut T {
        &mut self.0[event]
    }
}

/// Some events, each at most once, in some order.
pub struct List<R: Row> {
    events: R::Table<u16>,
    len: usize,
}

impl<R: Row> List<R> {
    /// No events.
    #[must_use]
    pub fn new() -> Self {
        List { events: R::Table::filled(0), len: 0 }
    }

    /// The events.
    #[inline]
    pub fn as_slice(&self) -> &[u16] {
        self.events.first(self.len)
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The event at a position.
    #[inline]
    pub fn at(&self, position: usize) -> usize {
        usize::from(self.events[position])
    }

    /// Puts an event at a position.
    #[inline]
    pub fn set(&mut self, position: usize, event: usize) {
        self.events[position] = event as u16;
    }

    /// Adds an event at the end.
    #[inline]
    pub fn push(&mut self, event: usize) {
        self.events[self.len] = event as u16;
        self.len += 1;
    }

    /// Adds events at the end.
    #[inline]
    pub fn extend(&mut self, events: &[u16]) {
        let len = self.len + events.len();
        self.events.first_mut(len)[self.len..].copy_from_slice(events);
        self.len = len;
    }

    /// Keeps this many events, or makes room for them.
    #[inline]
    pub fn set_len(&mut self, len: usize) {
        self.len = len;
    }
}

impl<R: Row> Default for List<R> {
    fn default() -> Self {
        Self::new()
    }
}
