//! Boolean operations, equality and `ite`.

use super::node::{BinaryOp, FALSE, TRUE, Term, TermNode};
use super::store::TermStore;

impl TermStore {
    /// Bitwise negation.
    pub(crate) fn not(&mut self, a: Term) -> Term {
        let width = self.width(a);
        match self.node(a) {
            TermNode::Const(value) => self.constant(!value, width),
            TermNode::Not(inner) => inner,
            TermNode::Ite(c, x, y) if self.is_choice(a) => {
                let (x, y) = (self.not(x), self.not(y));
                self.ite(c, x, y)
            }
            _ => self.intern(TermNode::Not(a), width),
        }
    }

    /// Bitwise conjunction.
    pub(crate) fn and(&mut self, a: Term, b: Term) -> Term {
        self.binary(BinaryOp::And, a, b)
    }

    /// The conjunction of one-bit terms; [`TRUE`] if there are none.
    pub(crate) fn all(&mut self, terms: impl IntoIterator<Item = Term>) -> Term {
        terms.into_iter().fold(TRUE, |all, term| self.and(all, term))
    }

    /// The disjunction of one-bit terms; [`FALSE`] if there are none.
    pub(crate) fn any(&mut self, terms: impl IntoIterator<Item = Term>) -> Term {
        terms.into_iter().fold(FALSE, |any, term| self.or(any, term))
    }

    /// Bitwise disjunction.
    pub(crate) fn or(&mut self, a: Term, b: Term) -> Term {
        let (a, b) = (self.not(a), self.not(b));
        let neither = self.and(a, b);
        self.not(neither)
    }

    /// The implication from `a` to `b`.
    pub(crate) fn implies(&mut self, a: Term, b: Term) -> Term {
        let b = self.not(b);
        let counter = self.and(a, b);
        self.not(counter)
    }

    /// Equality of two terms of the same width.
    pub(crate) fn eq(&mut self, a: Term, b: Term) -> Term {
        self.binary(BinaryOp::Eq, a, b)
    }

    /// Inequality of two terms of the same width.
    pub(crate) fn ne(&mut self, a: Term, b: Term) -> Term {
        let equal = self.eq(a, b);
        self.not(equal)
    }

    /// Equality with a constant.
    pub(crate) fn is(&mut self, a: Term, value: u64) -> Term {
        let value = self.constant(value, self.width(a));
        self.eq(a, value)
    }

    /// Conversion to a truth value: true if any bit is set.
    pub(crate) fn truth(&mut self, a: Term) -> Term {
        if self.width(a) == 1 {
            return a;
        }
        let zero = self.is(a, 0);
        self.not(zero)
    }

    /// `a` if the one-bit term `c` is true, otherwise `b`. `a` and `b` have the same width.
    pub(crate) fn ite(&mut self, c: Term, a: Term, b: Term) -> Term {
        let width = self.width(a);
        debug_assert_eq!(width, self.width(b));
        if c == TRUE || a == b {
            return a;
        }
        if c == FALSE {
            return b;
        }
        if let TermNode::Not(c) = self.node(c) {
            return self.ite(c, b, a);
        }
        if width == 1 {
            return self.ite_bool(c, a, b);
        }
        match self.node(a) {
            TermNode::Ite(inner, x, _) if inner == c => return self.ite(c, x, b),
            _ => {}
        }
        match self.node(b) {
            TermNode::Ite(inner, _, y) if inner == c => return self.ite(c, a, y),
            TermNode::Ite(inner, x, y) if x == a => {
                let either = self.or(c, inner);
                return self.ite(either, a, y);
            }
            _ => {}
        }
        self.intern(TermNode::Ite(c, a, b), width)
    }

    /// `ite` of one-bit terms.
    fn ite_bool(&mut self, c: Term, a: Term, b: Term) -> Term {
        if a == TRUE || a == c {
            return self.or(c, b);
        }
        if b == FALSE || b == c {
            return self.and(c, a);
        }
        let not = self.not(c);
        if a == FALSE || a == not {
            return self.and(not, b);
        }
        if b == TRUE || b == not {
            return self.or(not, a);
        }
        if self.not(a) == b {
            return self.eq(c, a);
        }
        self.intern(TermNode::Ite(c, a, b), 1)
    }
}
