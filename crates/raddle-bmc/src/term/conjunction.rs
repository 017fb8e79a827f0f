//! Conjunctions of what is nearly the same: guards are made of these, and branches that cannot be taken are seen by them.

use super::{Node, Op, Term, Terms, mask};

impl Terms {
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

    /// `x & (x & y)`, `x & (!x & y)`, `x & !(x & y)`, `x & !(!x & y)`.
    fn absorb(&mut self, a: Term, b: Term, width: u8) -> Option<Term> {
        let inverse = self.not(a);
        if let Node::Binary(Op::And, x, y) = self.node(b) {
            if x == a || y == a {
                return Some(b);
            }
            if x == inverse || y == inverse {
                return Some(self.constant(0, width));
            }
        }
        if let Node::Not(inner) = self.node(b)
            && let Node::Binary(Op::And, x, y) = self.node(inner)
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

    /// `!(x & y) & !(x & !y)` is `!x`.
    fn resolve(&mut self, a: Term, b: Term) -> Option<Term> {
        let (Node::Not(a), Node::Not(b)) = (self.node(a), self.node(b)) else { return None };
        let (Node::Binary(Op::And, p, q), Node::Binary(Op::And, x, y)) =
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
