//! Abstract domain of possible values: an explicit set if it is small, and the bits that are always zero.
//!
//! Pointers have small sets: a pointer that is read is one of the addresses that were stored to its location. In flags
//! all bits but one are zero, so the others cost nothing in a formula.

use super::node::BinaryOp;
use super::number::mask;

/// Larger sets are not listed.
const MAX_LISTED: usize = 40;

/// An over-approximation of the possible values of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ValueSet {
    /// All values, sorted, if there are at most [`MAX_LISTED`].
    few: Option<Vec<u64>>,
    /// The bits that are zero in all values.
    zeros: u64,
}

impl ValueSet {
    /// The empty set.
    pub(crate) fn none() -> Self {
        ValueSet { few: Some(vec![]), zeros: u64::MAX }
    }

    /// The set of one value.
    pub(crate) fn one(value: u64) -> Self {
        ValueSet { few: Some(vec![value]), zeros: !value }
    }

    /// All values of this width.
    pub(crate) fn any(width: u8) -> Self {
        let few = (width == 1).then(|| vec![0, 1]);
        ValueSet { few, zeros: !mask(width) }
    }

    /// The same set, for which the given bits are known to be zero in all values.
    pub(crate) fn with_zeros(mut self, zeros: u64) -> Self {
        self.zeros |= zeros;
        self
    }

    /// The bits that are zero in all values.
    pub(crate) fn zeros(&self) -> u64 {
        self.zeros
    }

    /// All values, sorted, if they are few.
    pub(crate) fn few(&self) -> Option<&[u64]> {
        self.few.as_deref()
    }

    /// The value, if there is only one.
    pub(crate) fn single(&self) -> Option<u64> {
        match self.few.as_deref() {
            Some(&[value]) => Some(value),
            _ if self.zeros == u64::MAX => Some(0),
            _ => None,
        }
    }

    /// An upper bound of all values.
    pub(crate) fn maximum(&self) -> u64 {
        match &self.few {
            Some(few) => few.last().copied().unwrap_or(u64::MAX),
            None => !self.zeros,
        }
    }

    /// A lower bound of all values.
    pub(crate) fn minimum(&self) -> u64 {
        self.few.as_ref().and_then(|few| few.first().copied()).unwrap_or(0)
    }

    /// Returns `true` if the sets certainly have no value in common.
    pub(crate) fn is_disjoint(&self, other: &ValueSet) -> bool {
        match (&self.few, &other.few) {
            (Some(a), Some(b)) => !a.iter().any(|x| b.contains(x)),
            (Some(a), None) => a.iter().all(|x| x & other.zeros != 0),
            (None, Some(b)) => b.iter().all(|x| x & self.zeros != 0),
            (None, None) => false,
        }
    }

    pub(crate) fn union(&self, other: &ValueSet) -> ValueSet {
        let zeros = self.zeros & other.zeros;
        let few = match (&self.few, &other.few) {
            (Some(a), Some(b)) => few(a.iter().chain(b).copied()),
            _ => None,
        };
        ValueSet { few, zeros }
    }

    /// Returns `true` if `other` certainly is a subset.
    pub(crate) fn contains(&self, other: &ValueSet) -> bool {
        let few = match (&self.few, &other.few) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(a), Some(b)) => b.iter().all(|x| a.contains(x)),
        };
        few && self.zeros & !other.zeros == 0
    }

    /// Widening, for fixpoints to terminate: keeps one bit more than the highest bit of all values, or, if `to_any`,
    /// nothing.
    pub(crate) fn widened(&self, width: u8, to_any: bool) -> ValueSet {
        if to_any {
            return ValueSet::any(width);
        }
        let bits = 64 - (!self.zeros & mask(width)).leading_zeros();
        let room = u8::try_from(bits).unwrap_or(64).saturating_add(1);
        ValueSet { few: None, zeros: !mask(room.min(width)) }
    }

    /// The results of a unary function, of the given width.
    pub(crate) fn map(&self, width: u8, f: impl Fn(u64) -> u64) -> ValueSet {
        match &self.few {
            Some(values) => ValueSet::listed(values.iter().map(|&x| f(x)), width),
            None => ValueSet::any(width),
        }
    }

    /// The results of a binary operation, of the given width; `f` computes them for constants.
    pub(crate) fn combine(
        &self,
        other: &ValueSet,
        width: u8,
        op: BinaryOp,
        f: impl Fn(u64, u64) -> u64,
    ) -> ValueSet {
        if let (Some(a), Some(b)) = (&self.few, &other.few)
            && a.len() * b.len() <= 4 * MAX_LISTED
        {
            let pairs = a.iter().flat_map(|&x| b.iter().map(move |&y| (x, y)));
            return ValueSet::listed(pairs.map(|(x, y)| f(x, y)), width);
        }
        let zeros = match op {
            BinaryOp::And => self.zeros | other.zeros,
            BinaryOp::Xor => self.zeros & other.zeros,
            BinaryOp::Add => {
                let highest = (!self.zeros | !other.zeros) & mask(width);
                let bits = 64 - highest.leading_zeros() + 1;
                !mask(u8::try_from(bits.min(64)).unwrap_or(64))
            }
            BinaryOp::Lshr | BinaryOp::Udiv | BinaryOp::Urem => {
                let bits = 64 - (!self.zeros & mask(width)).leading_zeros();
                if op == BinaryOp::Lshr { !mask(u8::try_from(bits).unwrap_or(64)) } else { 0 }
            }
            _ => 0,
        };
        ValueSet::any(width).with_zeros(zeros)
    }

    /// The set of these values, or all values of the width if they are too many to list.
    fn listed(values: impl Iterator<Item = u64>, width: u8) -> ValueSet {
        match few(values) {
            Some(values) => {
                let zeros = values.iter().fold(u64::MAX, |zeros, x| zeros & !x);
                ValueSet { few: Some(values), zeros }
            }
            None => ValueSet::any(width),
        }
    }
}

/// The distinct values, sorted, if there are at most [`MAX_LISTED`].
fn few(values: impl Iterator<Item = u64>) -> Option<Vec<u64>> {
    let mut all: Vec<u64> = values.collect();
    all.sort_unstable();
    all.dedup();
    (all.len() <= MAX_LISTED).then_some(all)
}
