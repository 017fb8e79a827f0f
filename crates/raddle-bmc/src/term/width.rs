//! Longer and shorter numbers, and numbers with signs.

use super::{Node, Op, Term, Terms, signed};

impl Terms {
    /// With zeros in front.
    pub fn zext(&mut self, a: Term, width: u8) -> Term {
        if width == self.width(a) {
            return a;
        }
        match self.node(a) {
            Node::Const(value) => self.constant(value, width),
            Node::Zext(inner) => self.zext(inner, width),
            Node::Ite(c, x, y) if self.is_choice(a) => {
                let (x, y) = (self.zext(x, width), self.zext(y, width));
                self.ite(c, x, y)
            }
            _ => self.make(Node::Zext(a), width),
        }
    }

    /// With copies of the sign in front.
    pub fn sext(&mut self, a: Term, width: u8) -> Term {
        let from = self.width(a);
        if width == from {
            return a;
        }
        match self.node(a) {
            Node::Const(value) => self.constant(signed(value, from) as u64, width),
            Node::Zext(inner) => self.zext(inner, width),
            Node::Sext(inner) => self.sext(inner, width),
            Node::Ite(c, x, y) if self.is_choice(a) => {
                let (x, y) = (self.sext(x, width), self.sext(y, width));
                self.ite(c, x, y)
            }
            _ => self.make(Node::Sext(a), width),
        }
    }

    /// So many bits, from the lowest on.
    pub fn truncate(&mut self, a: Term, width: u8) -> Term {
        self.extract(a, 0, width)
    }

    /// So many bits, from this one on.
    pub fn extract(&mut self, a: Term, low: u8, width: u8) -> Term {
        if low == 0 && width == self.width(a) {
            return a;
        }
        match self.node(a) {
            Node::Const(value) => self.constant(value >> low, width),
            Node::Zext(inner) | Node::Sext(inner) if low + width <= self.width(inner) => {
                self.extract(inner, low, width)
            }
            Node::Zext(inner) if low == 0 => self.zext(inner, width),
            Node::Sext(inner) if low == 0 => self.sext(inner, width),
            Node::Extract(inner, before) => self.extract(inner, before + low, width),
            Node::Ite(c, x, y) if self.is_choice(a) => {
                let (x, y) = (self.extract(x, low, width), self.extract(y, low, width));
                self.ite(c, x, y)
            }
            Node::Binary(op @ (Op::Add | Op::And), x, y)
                if low == 0 && self.as_const(y).is_some() =>
            {
                let (x, y) = (self.truncate(x, width), self.truncate(y, width));
                self.binary(op, x, y)
            }
            _ => self.make(Node::Extract(a, low), width),
        }
    }

    /// Makes a number longer, with its sign or without, or shorter.
    pub fn resize(&mut self, a: Term, width: u8, is_signed: bool) -> Term {
        if width < self.width(a) {
            self.truncate(a, width)
        } else if is_signed {
            self.sext(a, width)
        } else {
            self.zext(a, width)
        }
    }

    /// Quotient or remainder of numbers with signs, rounded towards zero.
    pub fn signed_division(&mut self, a: Term, b: Term, remainder: bool) -> Term {
        let width = self.width(a);
        if let (Some(x), Some(y)) = (self.as_const(a), self.as_const(b)) {
            let (x, y) = (i128::from(signed(x, width)), i128::from(signed(y, width)));
            let value = match (y, remainder) {
                (0, true) => x,
                (0, false) => {
                    if x < 0 {
                        1
                    } else {
                        -1
                    }
                }
                (_, true) => x % y,
                (_, false) => x / y,
            };
            return self.constant(value as u64, width);
        }
        let zero = self.constant(0, width);
        let (a_negative, b_negative) =
            (self.binary(Op::Slt, a, zero), self.binary(Op::Slt, b, zero));
        let (a_size, b_size) = (self.absolute(a, a_negative), self.absolute(b, b_negative));
        let op = if remainder { Op::Urem } else { Op::Udiv };
        let size = self.binary(op, a_size, b_size);
        let differ = self.binary(Op::Xor, a_negative, b_negative);
        let is_negative = if remainder { a_negative } else { differ };
        self.absolute(size, is_negative)
    }

    fn absolute(&mut self, a: Term, negate: Term) -> Term {
        let zero = self.constant(0, self.width(a));
        let negated = self.binary(Op::Sub, zero, a);
        self.ite(negate, negated, a)
    }
}
