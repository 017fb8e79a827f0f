//! Sets of events as bits.
//!
//! Most executions have at most 64 events, and then a set of events is one machine word. An explorer begins with
//! [`u64`] and [restarts](crate::driver::Restart::WiderSets) with [`WideSet`] if that is not enough.

use std::fmt::Debug;

use crate::event_index::EventIndex;
use crate::event_map::{EventMap, NarrowMap, WideMap};

/// A set of events whose indices are less than [`EventSet::BITS`]. Passing others is a bug; it may panic, or not.
pub trait EventSet: Copy + Debug + PartialEq + Eq + Default + 'static {
    /// How many different events there can be.
    const BITS: usize;
    /// A table with an entry for each of them.
    type Map<T: Copy>: EventMap<T>;
    /// The set of one event.
    fn one(event: EventIndex) -> Self;
    /// All events before one.
    fn below(event: EventIndex) -> Self;
    /// Returns `true` if the event is in the set.
    fn has(&self, event: EventIndex) -> bool;
    /// Returns `true` if the set has no event.
    fn is_empty(&self) -> bool;
    /// Returns `true` if the sets have an event in common.
    fn meets(&self, other: &Self) -> bool;
    /// Union.
    #[must_use]
    fn or(self, other: Self) -> Self;
    /// Intersection.
    #[must_use]
    fn and(self, other: Self) -> Self;
    /// Difference.
    #[must_use]
    fn minus(self, other: Self) -> Self;
    /// Adds an event.
    fn insert(&mut self, event: EventIndex);
    /// Removes an event.
    fn remove(&mut self, event: EventIndex);
    /// The first event.
    fn first(&self) -> Option<EventIndex>;
    /// The last event.
    fn last(&self) -> Option<EventIndex>;
    /// The number of events.
    fn count(&self) -> usize;

    /// The events, in ascending order.
    #[inline]
    fn iter(self) -> EventSetIter<Self> {
        EventSetIter(self)
    }
}

/// Iterator over the events of a set, in ascending order.
pub struct EventSetIter<R>(R);

impl<R: EventSet> Iterator for EventSetIter<R> {
    type Item = EventIndex;

    #[inline]
    fn next(&mut self) -> Option<EventIndex> {
        let event = self.0.first()?;
        self.0.remove(event);
        Some(event)
    }
}

impl EventSet for u64 {
    const BITS: usize = 64;
    type Map<T: Copy> = NarrowMap<T>;

    #[inline]
    fn one(event: EventIndex) -> Self {
        1 << event.index()
    }
    #[inline]
    fn below(event: EventIndex) -> Self {
        if event.index() >= 64 { !0 } else { (1 << event.index()) - 1 }
    }
    #[inline]
    fn has(&self, event: EventIndex) -> bool {
        self >> event.index() & 1 == 1
    }
    #[inline]
    fn is_empty(&self) -> bool {
        *self == 0
    }
    #[inline]
    fn meets(&self, other: &Self) -> bool {
        self & other != 0
    }
    #[inline]
    fn or(self, other: Self) -> Self {
        self | other
    }
    #[inline]
    fn and(self, other: Self) -> Self {
        self & other
    }
    #[inline]
    fn minus(self, other: Self) -> Self {
        self & !other
    }
    #[inline]
    fn insert(&mut self, event: EventIndex) {
        *self |= 1 << event.index();
    }
    #[inline]
    fn remove(&mut self, event: EventIndex) {
        *self &= !(1 << event.index());
    }
    #[inline]
    fn first(&self) -> Option<EventIndex> {
        (*self != 0).then(|| EventIndex::new(self.trailing_zeros() as usize))
    }
    #[inline]
    fn last(&self) -> Option<EventIndex> {
        (*self != 0).then(|| EventIndex::new(63 - self.leading_zeros() as usize))
    }
    #[inline]
    fn count(&self) -> usize {
        self.count_ones() as usize
    }
}

/// The set for executions with more than 64 events.
pub type WideSet = Words<8>;

/// A set of `N` words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words<const N: usize>([u64; N]);

impl<const N: usize> Default for Words<N> {
    #[inline]
    fn default() -> Self {
        Words([0; N])
    }
}

impl<const N: usize> Words<N> {
    #[inline]
    fn zip(mut self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word = f(*word, other);
        }
        self
    }
}

/// The word that an event is in, and the event as an element of that word.
#[inline]
fn word_of(event: EventIndex) -> (usize, EventIndex) {
    (event.index() / 64, EventIndex::new(event.index() % 64))
}

impl<const N: usize> EventSet for Words<N> {
    const BITS: usize = 64 * N;
    type Map<T: Copy> = WideMap<T, N>;

    #[inline]
    fn one(event: EventIndex) -> Self {
        let mut set = Self::default();
        set.insert(event);
        set
    }
    #[inline]
    fn below(event: EventIndex) -> Self {
        let mut set = Self::default();
        for (at, word) in set.0.iter_mut().enumerate() {
            *word = u64::below(EventIndex::new(event.index().saturating_sub(64 * at)));
        }
        set
    }
    #[inline]
    fn has(&self, event: EventIndex) -> bool {
        let (word, bit) = word_of(event);
        self.0[word].has(bit)
    }
    #[inline]
    fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }
    #[inline]
    fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }
    #[inline]
    fn or(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }
    #[inline]
    fn and(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }
    #[inline]
    fn minus(self, other: Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }
    #[inline]
    fn insert(&mut self, event: EventIndex) {
        let (word, bit) = word_of(event);
        self.0[word].insert(bit);
    }
    #[inline]
    fn remove(&mut self, event: EventIndex) {
        let (word, bit) = word_of(event);
        self.0[word].remove(bit);
    }
    #[inline]
    fn first(&self) -> Option<EventIndex> {
        let at = self.0.iter().position(|&word| word != 0)?;
        Some(EventIndex::new(64 * at + self.0[at].trailing_zeros() as usize))
    }
    #[inline]
    fn last(&self) -> Option<EventIndex> {
        let at = self.0.iter().rposition(|&word| word != 0)?;
        Some(EventIndex::new(64 * at + 63 - self.0[at].leading_zeros() as usize))
    }
    #[inline]
    fn count(&self) -> usize {
        self.0.iter().map(EventSet::count).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn agrees_with_a_sorted_set<R: EventSet>() {
        let mut state = 7u64;
        let mut random = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % bound
        };
        for _ in 0..200 {
            let events: BTreeSet<EventIndex> =
                (0..random(20)).map(|_| EventIndex::new(random(R::BITS - 1))).collect();
            let mut set = R::default();
            events.iter().for_each(|&event| set.insert(event));
            assert!(set.iter().eq(events.iter().copied()));
            assert_eq!(set.first(), events.first().copied());
            assert_eq!(set.last(), events.last().copied());
            assert_eq!(set.count(), events.len());
            let bound = EventIndex::new(random(R::BITS + 1));
            assert!(set.and(R::below(bound)).iter().eq(events.range(..bound).copied()));
            let Some(&event) = events.first() else { continue };
            set.remove(event);
            assert!(!set.has(event) && set.or(R::one(event)).has(event));
        }
    }

    #[test]
    fn one_word_agrees_with_a_sorted_set() {
        agrees_with_a_sorted_set::<u64>();
    }

    #[test]
    fn several_words_agree_with_a_sorted_set() {
        agrees_with_a_sorted_set::<Words<2>>();
        agrees_with_a_sorted_set::<Words<5>>();
    }
}
