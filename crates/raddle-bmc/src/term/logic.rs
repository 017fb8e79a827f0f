//! Truth values and choices.

use super::{FALSE, Node, Op, TRUE, Term, Terms};

impl Terms {
    /// Negation; of several bits, of each.
    pub fn not(&mut self, a: Term) -> Term {
        let width = self.width(a);
        match self.node(a) {
            Node::Const(value) => self.constant(!value, width),
            Node::Not(inner) => inner,
            Node::Ite(c, x, y) if self.is_choice(a) => {
                let (x, y) = (self.not(x), self.not(y));
                self.ite(c, x, y)
            }
            _ => self.make(Node::Not(a), width),
        }
    }

    /// Both.
    pub fn and(&mut self, a: Term, b: Term) -> Term {
        self.binary(Op::And, a, b)
    }

    /// All of them.
    pub fn all(&mut self, terms: impl IntoIterator<Item = Term>) -> Term {
        terms.into_iter().fold(TRUE, |all, term| self.and(all, term))
    }

    /// One of them.
    pub fn any(&mut self, terms: impl IntoIterator<Item = Term>) -> Term {
        terms.into_iter().fold(FALSE, |any, term| self.or(any, term))
    }

    /// One of the two.
    pub fn or(&mut self, a: Term, b: Term) -> Term {
        let (a, b) = (self.not(a), self.not(b));
        let neither = self.and(a, b);
        self.not(neither)
    }

    /// The first implies the second.
    pub fn implies(&mut self, a: Term, b: Term) -> Term {
        let b = self.not(b);
        let counter = self.and(a, b);
        self.not(counter)
    }

    /// Whether two terms are equal.
    pub fn eq(&mut self, a: Term, b: Term) -> Term {
        self.binary(Op::Eq, a, b)
    }

    /// Whether two terms differ.
    pub fn ne(&mut self, a: Term, b: Term) -> Term {
        let equal = self.eq(a, b);
        self.not(equal)
    }

    /// Whether a term equals a number.
    pub fn is(&mut self, a: Term, value: u64) -> Term {
        let value = self.constant(value, self.width(a));
        self.eq(a, value)
    }

    /// Whether any bit is set.
    pub fn truth(&mut self, a: Term) -> Term {
        if self.width(a) == 1 {
            return a;
        }
        let zero = self.is(a, 0);
        self.not(zero)
    }

    /// The second if the first is true, otherwise the third.
    pub fn ite(&mut self, c: Term, a: Term, b: Term) -> Term {
        let width = self.width(a);
        debug_assert_eq!(width, self.width(b));
        if c == TRUE || a == b {
            return a;
        }
        if c == FALSE {
            return b;
        }
        if let Node::Not(c) = self.node(c) {
            return self.ite(c, b, a);
        }
        if width == 1 {
            return self.ite_bool(c, a, b);
        }
        match self.node(a) {
            Node::Ite(inner, x, _) if inner == c => return self.ite(c, x, b),
            _ => {}
        }
        match self.node(b) {
            Node::Ite(inner, _, y) if inner == c => return self.ite(c, a, y),
            Node::Ite(inner, x, y) if x == a => {
                let either = self.or(c, inner);
                return self.ite(either, a, y);
            }
            _ => {}
        }
        self.make(Node::Ite(c, a, b), width)
    }

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
        self.make(Node::Ite(c, a, b), 1)
    }
}
