//! What a term can be: a few values, or at least bits that are always zero.
//!
//! Pointers are such terms: a pointer that was read is one of the addresses that were ever stored where it came from. And
//! flags: all bits but one are zero, and so they cost nothing in a formula.

use crate::term::{Op, mask};

/// So many values are told apart.
const MANY: usize = 40;

/// An overapproximation of what a term can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    /// All of them, sorted, if they are few.
    few: Option<Vec<u64>>,
    /// Bits that are zero in all of them.
    zeros: u64,
}

impl Values {
    /// Nothing at all.
    #[must_use]
    pub fn none() -> Self {
        Values { few: Some(vec![]), zeros: u64::MAX }
    }

    /// A constant.
    #[must_use]
    pub fn one(value: u64) -> Self {
        Values { few: Some(vec![value]), zeros: !value }
    }

    /// Anything of this width.
    #[must_use]
    pub fn any(width: u8) -> Self {
        let few = (width == 1).then(|| vec![0, 1]);
        Values { few, zeros: !mask(width) }
    }

    /// Anything with these bits zero.
    #[must_use]
    pub fn with_zeros(mut self, zeros: u64) -> Self {
        self.zeros |= zeros;
        self
    }

    /// The bits that are always zero.
    #[must_use]
    pub fn zeros(&self) -> u64 {
        self.zeros
    }

    /// All of them, if they are few.
    #[must_use]
    pub fn few(&self) -> Option<&[u64]> {
        self.few.as_deref()
    }

    /// The only one.
    #[must_use]
    pub fn single(&self) -> Option<u64> {
        match self.few.as_deref() {
            Some(&[value]) => Some(value),
            _ if self.zeros == u64::MAX => Some(0),
            _ => None,
        }
    }

    /// No value is greater.
    #[must_use]
    pub fn maximum(&self) -> u64 {
        match &self.few {
            Some(few) => few.last().copied().unwrap_or(u64::MAX),
            None => !self.zeros,
        }
    }

    /// No value is less.
    #[must_use]
    pub fn minimum(&self) -> u64 {
        self.few.as_ref().and_then(|few| few.first().copied()).unwrap_or(0)
    }

    /// Whether the two have no value in common.
    #[must_use]
    pub fn disjoint(&self, other: &Values) -> bool {
        match (&self.few, &other.few) {
            (Some(a), Some(b)) => !a.iter().any(|x| b.contains(x)),
            (Some(a), None) => a.iter().all(|x| x & other.zeros != 0),
            (None, Some(b)) => b.iter().all(|x| x & self.zeros != 0),
            (None, None) => false,
        }
    }

    /// Everything of both.
    #[must_use]
    pub fn union(&self, other: &Values) -> Values {
        let zeros = self.zeros & other.zeros;
        let few = match (&self.few, &other.few) {
            (Some(a), Some(b)) => few(a.iter().chain(b).copied()),
            _ => None,
        };
        Values { few, zeros }
    }

    /// Whether everything of the other is in this one.
    #[must_use]
    pub fn contains(&self, other: &Values) -> bool {
        let few = match (&self.few, &other.few) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(a), Some(b)) => b.iter().all(|x| a.contains(x)),
        };
        few && self.zeros & !other.zeros == 0
    }

    /// Forgets which values they are; only their highest bit is remembered, and if that grew as well, nothing.
    #[must_use]
    pub fn widened(&self, width: u8, forget: bool) -> Values {
        if forget {
            return Values::any(width);
        }
        let bits = 64 - (!self.zeros & mask(width)).leading_zeros();
        let room = u8::try_from(bits).unwrap_or(64).saturating_add(1);
        Values { few: None, zeros: !mask(room.min(width)) }
    }

    /// What a function of one makes of them.
    #[must_use]
    pub fn map(&self, width: u8, f: impl Fn(u64) -> u64) -> Values {
        match &self.few {
            Some(values) => Values::listed(values.iter().map(|&x| f(x)), width),
            None => Values::any(width),
        }
    }

    /// What an operation makes of them.
    #[must_use]
    pub fn combine(
        &self,
        other: &Values,
        width: u8,
        op: Op,
        f: impl Fn(u64, u64) -> u64,
    ) -> Values {
        if let (Some(a), Some(b)) = (&self.few, &other.few)
            && a.len() * b.len() <= 4 * MANY
        {
            let pairs = a.iter().flat_map(|&x| b.iter().map(move |&y| (x, y)));
            return Values::listed(pairs.map(|(x, y)| f(x, y)), width);
        }
        let zeros = match op {
            Op::And => self.zeros | other.zeros,
            Op::Xor => self.zeros & other.zeros,
            Op::Add => {
                let highest = (!self.zeros | !other.zeros) & mask(width);
                let bits = 64 - highest.leading_zeros() + 1;
                !mask(u8::try_from(bits.min(64)).unwrap_or(64))
            }
            Op::Lshr | Op::Udiv | Op::Urem => {
                let bits = 64 - (!self.zeros & mask(width)).leading_zeros();
                if op == Op::Lshr { !mask(u8::try_from(bits).unwrap_or(64)) } else { 0 }
            }
            _ => 0,
        };
        Values::any(width).with_zeros(zeros)
    }

    fn listed(values: impl Iterator<Item = u64>, width: u8) -> Values {
        match few(values) {
            Some(values) => {
                let zeros = values.iter().fold(u64::MAX, |zeros, x| zeros & !x);
                Values { few: Some(values), zeros }
            }
            None => Values::any(width),
        }
    }
}

fn few(values: impl Iterator<Item = u64>) -> Option<Vec<u64>> {
    let mut all: Vec<u64> = values.collect();
    all.sort_unstable();
    all.dedup();
    (all.len() <= MANY).then_some(all)
}
