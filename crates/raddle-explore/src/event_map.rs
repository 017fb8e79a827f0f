//! Tables with a place for every event of an execution.
//!
//! A hot loop looks something up by event every few instructions. Where events fit into one word the
//! table is an array of 64 places, and the compiler knows that a place exists: no length is loaded and
//! compared. That is a tenth of all instructions of an exploration. Wider tables are ordinary vectors.

use std::ops::{Index, IndexMut};

/// A value for every event.
pub trait EventMap<T>: Index<usize, Output = T> + IndexMut<usize> {
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

impl<T: Copy> EventMap<T> for Narrow<T> {
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

impl<T: Copy, const N: usize> EventMap<T> for Long<T, N> {
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
