//! Simplification of conjunctions.
//!
//! Guards of paths are nested conjunctions of conditions and their negations. These rules make the guards of infeasible
//! paths [`FALSE`](super::FALSE).

use super::node::{BinaryOp, Term, TermNode};
use super::number::mask;
use super::store::TermStore;

impl TermStore {
    /// A simpler term that equals the conjunction, if a rule applies.
    pub(super) fn simplify_and(&mut self, a: Term, b: Term, width: u8) -> Option<Term> {
        match self.as_const(b) {
            Some(0) => return Some(b),
            Some(value) if value == mask(width) => return Some(a),
            _ => {}
        }
        if a == b {
            return Some(a);
        }
        if self.not(a) == b {
            return Some(self.constant(0, width));
        }
        self.absorb(a, b, width).or_else(|| self.absorb(b, a, width)).or_else(|| self.resolve(a, b))
    }

    /// Absorption, where `a` is `x` and `b` is the other operand: `x & (x & y)`, `x & (!x & y)`, `x & !(x & y)`,
    /// `x & !(!x & y)`.
    fn absorb(&mut self, a: Term, b: Term, width: u8) -> Option<Term> {
        let inverse = self.not(a);
        if let TermNode::Binary(BinaryOp::And, x, y) = self.node(b) {
            if x == a || y == a {
                return Some(b);
            }
            if x == inverse || y == inverse {
                return Some(self.constant(0, width));
            }
        }
        if let TermNode::Not(inner) = self.node(b)
            && let TermNode::Binary(BinaryOp::And, x, y) = self.node(inner)
        {
            if x == inverse || y == inverse {
                return Some(a);
            }
            if x == a || y == a {
                let other = if x == a { y } else { x };
                let other = self.not(other);
                return Some(self.and(a, other));
            }
        }
        None
    }

    /// Resolution: `!(x & y) & !(x & !y)` is `!x`.
    fn resolve(&mut self, a: Term, b: Term) -> Option<Term> {
        let (TermNode::Not(a), TermNode::Not(b)) = (self.node(a), self.node(b)) else {
            return None;
        };
        let (TermNode::Binary(BinaryOp::And, p, q), TermNode::Binary(BinaryOp::And, x, y)) =
            (self.node(a), self.node(b))
        else {
            return None;
        };
        for (common, rest) in [(p, q), (q, p)] {
            for (same, other) in [(x, y), (y, x)] {
                if common == same && self.not(rest) == other {
                    return Some(self.not(common));
                }
            }
        }
        None
    }
}
