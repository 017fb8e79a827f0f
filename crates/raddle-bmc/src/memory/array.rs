//! Small arrays of terms, indexed by terms.

use crate::term::{BinaryOp, Term, TermStore};

/// A non-empty array of terms of the same width. An access costs one selection per element.
#[derive(Clone)]
pub(super) struct TermArray(pub(super) Vec<Term>);

impl TermArray {
    /// The element at `index`; the last element if the index is too large.
    pub(super) fn get(&self, terms: &mut TermStore, index: Term) -> Term {
        let mut elements = self.0.iter().enumerate().rev();
        let last = elements.next().map(|(_, &last)| last);
        let last = last.expect("arrays are not empty");
        elements.fold(last, |rest, (i, &element)| {
            let here = terms.is(index, i as u64);
            terms.ite(here, element, rest)
        })
    }

    /// Replaces the element at `index` if `when` is true. An index that is too large has no effect.
    pub(super) fn set(&mut self, terms: &mut TermStore, index: Term, when: Term, value: Term) {
        for (i, element) in self.0.iter_mut().enumerate() {
            let here = terms.is(index, i as u64);
            let here = terms.and(when, here);
            *element = terms.ite(here, value, *element);
        }
    }
}

/// The number of bits that represent the numbers `0..=max`.
pub(super) fn bits_for(max: usize) -> u8 {
    u8::try_from(usize::BITS - max.leading_zeros()).unwrap_or(64).max(1)
}

/// Unsigned `a <= b`.
pub(super) fn at_most(terms: &mut TermStore, a: Term, b: Term) -> Term {
    let greater = terms.binary(BinaryOp::Ult, b, a);
    terms.not(greater)
}
