//! Sets of events as rows of bits.
//!
//! Most executions have at most 64 events, and then a set of events is a machine word. An explorer
//! starts with [`u64`] and starts again with more words where that is too few.

use std::fmt::Debug;

use super::event_map::{EventMap, Long, Narrow};

/// A set of small numbers.
pub trait EventSet: Copy + Debug + PartialEq + Eq + Default + 'static {
    /// How many events there can be.
    const BITS: usize;
    /// A table with a place for each of them.
    type Map<T: Copy>: EventMap<T>;
    /// The set of one number.
    fn one(bit: usize) -> Self;
    /// All numbers below the bound.
    fn below(bound: usize) -> Self;
    /// Whether the number is in the set.
    fn has(&self, bit: usize) -> bool;
    /// Whether the set has no number.
    fn is_empty(&self) -> bool;
    /// Whether the sets have a number in common.
    fn meets(&self, other: &Self) -> bool;
    /// The union.
    #[must_use]
    fn or(self, other: Self) -> Self;
    /// The intersection.
    #[must_use]
    fn and(self, other: Self) -> Self;
    /// The numbers that are not in the other set.
    #[must_use]
    fn minus(self, other: Self) -> Self;
    /// All numbers from `at` on, moved up by one.
    #[must_use]
    fn open_gap(self, at: usize) -> Self;
    /// Adds a number.
    fn insert(&mut self, bit: usize);
    /// Takes a number out.
    fn remove(&mut self, bit: usize);
    /// The smallest number.
    fn first(&self) -> Option<usize>;
    /// The largest number.
    fn last(&self) -> Option<usize>;
    /// How many numbers there are.
    fn count(&self) -> usize;

    /// The numbers, ascending.
    #[inline]
    fn iter(self) -> Bits<Self> {
        Bits(self)
    }
}

/// The numbers of a row, ascending.
pub struct Bits<R>(R);

impl<R: EventSet> Iterator for Bits<R> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let bit = self.0.first()?;
        self.0.remove(bit);
        Some(bit)
    }
}

impl EventSet for u64 {
    const BITS: usize = 64;
    type Map<T: Copy> = Narrow<T>;

    #[inline]
    fn one(bit: usize) -> Self {
        1 << bit
    }
    #[inline]
    fn below(bound: usize) -> Self {
        if bound >= 64 { !0 } else { (1 << bound) - 1 }
    }
    #[inline]
    fn has(&self, bit: usize) -> bool {
        self >> bit & 1 == 1
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
    fn open_gap(self, at: usize) -> Self {
        let low = Self::below(at);
        self & low | (self & !low) << 1
    }
    #[inline]
    fn insert(&mut self, bit: usize) {
        *self |= 1 << bit;
    }
    #[inline]
    fn remove(&mut self, bit: usize) {
        *self &= !(1 << bit);
    }
    #[inline]
    fn first(&self) -> Option<usize> {
        (*self != 0).then(|| self.trailing_zeros() as usize)
    }
    #[inline]
    fn last(&self) -> Option<usize> {
        (*self != 0).then(|| 63 - self.leading_zeros() as usize)
    }
    #[inline]
    fn count(&self) -> usize {
        self.count_ones() as usize
    }
}

/// The set for executions with more than 64 events.
pub type WideSet = Words<8>;

/// A row of several words.
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

impl<const N: usize> EventSet for Words<N> {
    const BITS: usize = 64 * N;
    type Map<T: Copy> = Long<T, N>;

    #[inline]
    fn one(bit: usize) -> Self {
        let mut row = Self::default();
        row.insert(bit);
        row
    }
    #[inline]
    fn below(bound: usize) -> Self {
        let mut row = Self::default();
        for (at, word) in row.0.iter_mut().enumerate() {
            *word = u64::below(bound.saturating_sub(64 * at));
        }
        row
    }
    #[inline]
    fn has(&self, bit: usize) -> bool {
        self.0[bit / 64].has(bit % 64)
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
    fn open_gap(self, at: usize) -> Self {
        let low = self.and(Self::below(at));
        let high = self.minus(low);
        let mut carry = 0;
        let mut moved = Self::default();
        for (to, from) in moved.0.iter_mut().zip(high.0) {
            *to = from << 1 | carry;
            carry = from >> 63;
        }
        low.or(moved)
    }
    #[inline]
    fn insert(&mut self, bit: usize) {
        self.0[bit / 64].insert(bit % 64);
    }
    #[inline]
    fn remove(&mut self, bit: usize) {
        self.0[bit / 64].remove(bit % 64);
    }
    #[inline]
    fn first(&self) -> Option<usize> {
        let at = self.0.iter().position(|&word| word != 0)?;
        Some(64 * at + self.0[at].trailing_zeros() as usize)
    }
    #[inline]
    fn last(&self) -> Option<usize> {
        let at = self.0.iter().rposition(|&word| word != 0)?;
        Some(64 * at + 63 - self.0[at].leading_zeros() as usize)
    }
    #[inline]
    fn count(&self) -> usize {
        self.0.iter().map(EventSet::count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agrees_with_a_sorted_list<R: EventSet>() {
        let mut state = 7u64;
        let mut next = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % bound
        };
        for _ in 0..200 {
            let numbers: std::collections::BTreeSet<usize> =
                (0..next(20)).map(|_| next(R::BITS - 1)).collect();
            let mut row = R::default();
            numbers.iter().for_each(|&n| row.insert(n));
            assert!(row.iter().eq(numbers.iter().copied()));
            assert_eq!(row.first(), numbers.first().copied());
            assert_eq!(row.last(), numbers.last().copied());
            assert_eq!(row.count(), numbers.len());
            let at = next(R::BITS + 1);
            assert!(row.and(R::below(at)).iter().eq(numbers.range(..at).copied()));
            let moved = numbers.iter().map(|&n| if n < at { n } else { n + 1 });
            assert!(row.open_gap(at).iter().eq(moved));
        }
    }

    #[test]
    fn one_word() {
        agrees_with_a_sorted_list::<u64>();
    }

    #[test]
    fn several_words() {
        agrees_with_a_sorted_list::<Words<2>>();
        agrees_with_a_sorted_list::<Words<5>>();
    }
}
