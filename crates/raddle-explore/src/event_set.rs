//! Sets of events as bits.
//!
//! Most executions have at most 64 events, and then a set of events is one machine word. An explorer begins with
//! [`u64`] and [restarts](crate::driver::Restart::WiderSets) with [`u128`] if that is not enough, and then with
//! [`LongSet`](crate::long_set::LongSet).

use std::fmt::Debug;

use crate::event_index::EventIndex;
use crate::event_map::{EventMap, NarrowMap};

/// A set of events whose indices are less than [`EventSet::BITS`]. Passing others is a bug; it may panic, or not.
pub trait EventSet: Clone + Debug + PartialEq + Eq + Default + 'static {
    /// How many different events there can be.
    const BITS: usize;
    /// A table with an entry for each of them.
    type Map<T: Clone>: EventMap<T>;
    /// The position of an event in an order of all events.
    type Position: Position;
    /// Iterator over the events of a set, in ascending order. It does not borrow the set.
    type Iter: Iterator<Item = EventIndex>;
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
    fn or(&self, other: &Self) -> Self;
    /// Intersection.
    #[must_use]
    fn and(&self, other: &Self) -> Self;
    /// Difference.
    #[must_use]
    fn minus(&self, other: &Self) -> Self;
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
    fn iter(&self) -> Self::Iter;
}

/// A position in an order of events, as small as the number of events permits.
pub trait Position: Copy + Debug + Default + Ord + 'static {
    /// The position after `index` others.
    fn new(index: usize) -> Self;
    /// How many others precede it.
    fn index(self) -> usize;
    /// The position after one more event was inserted at `gap`. Stays in its type, so that a loop over positions is
    /// vectorised. Wraps, as it is also applied to meaningless positions.
    fn after_insertion(self, gap: Self) -> Self;
    /// Larger than all positions of events.
    const LAST: Self;
}

impl Position for u8 {
    #[inline]
    fn new(index: usize) -> Self {
        index as u8
    }

    #[inline]
    fn index(self) -> usize {
        usize::from(self)
    }

    #[inline]
    fn after_insertion(self, gap: Self) -> Self {
        self.wrapping_add(Self::from(self >= gap))
    }

    const LAST: Self = Self::MAX;
}

impl Position for u32 {
    #[inline]
    fn new(index: usize) -> Self {
        index as u32
    }

    #[inline]
    fn index(self) -> usize {
        self as usize
    }

    #[inline]
    fn after_insertion(self, gap: Self) -> Self {
        self.wrapping_add(Self::from(self >= gap))
    }

    const LAST: Self = Self::MAX;
}

/// Iterator over the events of a word, in ascending order.
pub struct WordIter<W>(W);

impl<W: EventSet> Iterator for WordIter<W> {
    type Item = EventIndex;

    #[inline]
    fn next(&mut self) -> Option<EventIndex> {
        let event = self.0.first()?;
        self.0.remove(event);
        Some(event)
    }
}

macro_rules! word_set {
    ($word:ty) => {
        impl EventSet for $word {
            const BITS: usize = <$word>::BITS as usize;
            type Map<T: Clone> = NarrowMap<T, { <$word>::BITS as usize }>;
            type Position = u8;
            type Iter = WordIter<Self>;

            #[inline]
            fn one(event: EventIndex) -> Self {
                1 << event.index()
            }
            #[inline]
            fn below(event: EventIndex) -> Self {
                if event.index() >= <Self as EventSet>::BITS { !0 } else { Self::one(event) - 1 }
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
            fn or(&self, other: &Self) -> Self {
                self | other
            }
            #[inline]
            fn and(&self, other: &Self) -> Self {
                self & other
            }
            #[inline]
            fn minus(&self, other: &Self) -> Self {
                self & !other
            }
            #[inline]
            fn insert(&mut self, event: EventIndex) {
                *self |= Self::one(event);
            }
            #[inline]
            fn remove(&mut self, event: EventIndex) {
                *self &= !Self::one(event);
            }
            #[inline]
            fn first(&self) -> Option<EventIndex> {
                (*self != 0).then(|| EventIndex::new(self.trailing_zeros() as usize))
            }
            #[inline]
            fn last(&self) -> Option<EventIndex> {
                (*self != 0).then(|| EventIndex::new(self.ilog2() as usize))
            }
            #[inline]
            fn count(&self) -> usize {
                self.count_ones() as usize
            }
            #[inline]
            fn iter(&self) -> WordIter<Self> {
                WordIter(*self)
            }
        }
    };
}

word_set!(u64);
word_set!(u128);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::long_set::LongSet;

    /// Sets of events below `bound`, some of them dense.
    fn agrees_with_a_sorted_set<R: EventSet>(bound: usize) {
        let mut state = 7u64;
        let mut random = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % bound
        };
        for _ in 0..400 {
            let mut make = || {
                let (start, len) = (random(bound), random(bound));
                let dense = start..(start + len).min(bound);
                let dense = if random(2) == 0 { dense } else { 0..0 };
                let events = (0..random(20)).map(|_| random(bound)).chain(dense);
                let events: BTreeSet<EventIndex> = events.map(EventIndex::new).collect();
                let mut set = R::default();
                events.iter().for_each(|&event| set.insert(event));
                (events, set)
            };
            let ((events, mut set), (others, other)) = (make(), make());
            assert!(set.iter().eq(events.iter().copied()));
            assert_eq!(set.first(), events.first().copied());
            assert_eq!(set.last(), events.last().copied());
            assert_eq!(set.count(), events.len());
            assert_eq!(set.is_empty(), events.is_empty());
            assert!(set.or(&other).iter().eq(events.union(&others).copied()));
            assert!(set.and(&other).iter().eq(events.intersection(&others).copied()));
            assert!(set.minus(&other).iter().eq(events.difference(&others).copied()));
            assert_eq!(set.meets(&other), !events.is_disjoint(&others));
            assert_eq!(set == other, events == others);
            assert_eq!(set.or(&other).minus(&other), set.minus(&other));
            let end = EventIndex::new(random(bound + 1));
            assert!(set.and(&R::below(end)).iter().eq(events.range(..end).copied()));
            let (Some(&event), copy) = (events.first(), set.clone()) else { continue };
            set.remove(event);
            assert!(!set.has(event) && copy.has(event));
            assert_eq!(set.or(&R::one(event)), copy);
        }
    }

    #[test]
    fn words_agree_with_a_sorted_set() {
        agrees_with_a_sorted_set::<u64>(63);
        agrees_with_a_sorted_set::<u128>(127);
    }

    #[test]
    fn long_sets_agree_with_sorted_sets() {
        for bound in [3, 63, 255, 256, 600, 2_000] {
            agrees_with_a_sorted_set::<LongSet>(bound);
        }
    }
}
