//! Small arrays of terms with an index that is a term.

use crate::term::{BinaryOp, Term, TermStore};

/// An array.
#[derive(Clone)]
pub(super) struct Array(pub(super) Vec<Term>);

impl Array {
    /// The element at an index; the last one if it is too large.
    pub(super) fn get(&self, terms: &mut TermStore, index: Term) -> Term {
        let mut elements = self.0.iter().enumerate().rev();
        let last = elements.next().map(|(_, &last)| last);
        let last = last.expect("arrays are not empty");
        elements.fold(last, |rest, (i, &element)| {
            let here = terms.is(index, i as u64);
            terms.ite(here, element, rest)
        })
    }

    /// Replaces the element at an index, if this is true.
    pub(super) fn set(&mut self, terms: &mut TermStore, index: Term, when: Term, value: Term) {
        for (i, element) in self.0.iter_mut().enumerate() {
            let here = terms.is(index, i as u64);
            let here = terms.and(when, here);
            *element = terms.ite(here, value, *element);
        }
    }
}

/// So many bits are needed for numbers up to this one.
pub(super) fn bits(most: usize) -> u8 {
    u8::try_from(usize::BITS - most.leading_zeros()).unwrap_or(64).max(1)
}

/// At most: without signs.
pub(super) fn at_most(terms: &mut TermStore, a: Term, b: Term) -> Term {
    let greater = terms.binary(BinaryOp::Ult, b, a);
    terms.not(greater)
}
