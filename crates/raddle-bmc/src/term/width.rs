//! Extension, truncation and signed division.

use super::node::{BinaryOp, Term, TermNode};
use super::number::signed;
use super::store::TermStore;

impl TermStore {
    /// Zero extension to `width` bits.
    pub(crate) fn zext(&mut self, a: Term, width: u8) -> Term {
        if width == self.width(a) {
            return a;
        }
        match self.node(a) {
            TermNode::Const(value) => self.constant(value, width),
            TermNode::Zext(inner) => self.zext(inner, width),
            TermNode::Ite(c, x, y) if self.is_choice(a) => {
                let (x, y) = (self.zext(x, width), self.zext(y, width));
                self.ite(c, x, y)
            }
            _ => self.intern(TermNode::Zext(a), width),
        }
    }

    /// Sign extension to `width` bits.
    pub(crate) fn sext(&mut self, a: Term, width: u8) -> Term {
        let from = self.width(a);
        if width == from {
            return a;
        }
        match self.node(a) {
            TermNode::Const(value) => self.constant(signed(value, from) as u64, width),
            TermNode::Zext(inner) => self.zext(inner, width),
            TermNode::Sext(inner) => self.sext(inner, width),
            TermNode::Ite(c, x, y) if self.is_choice(a) => {
                let (x, y) = (self.sext(x, width), self.sext(y, width));
                self.ite(c, x, y)
            }
            _ => self.intern(TermNode::Sext(a), width),
        }
    }

    /// The lowest `width` bits.
    pub(crate) fn truncate(&mut self, a: Term, width: u8) -> Term {
        self.extract(a, 0, width)
    }

    /// `width` bits from bit `low` on.
    pub(crate) fn extract(&mut self, a: Term, low: u8, width: u8) -> Term {
        if low == 0 && width == self.width(a) {
            return a;
        }
        match self.node(a) {
            TermNode::Const(value) => self.constant(value >> low, width),
            TermNode::Zext(inner) | TermNode::Sext(inner) if low + width <= self.width(inner) => {
                self.extract(inner, low, width)
            }
            TermNode::Zext(inner) if low == 0 => self.zext(inner, width),
            TermNode::Sext(inner) if low == 0 => self.sext(inner, width),
            TermNode::Extract(inner, before) => self.extract(inner, before + low, width),
            TermNode::Ite(c, x, y) if self.is_choice(a) => {
                let (x, y) = (self.extract(x, low, width), self.extract(y, low, width));
                self.ite(c, x, y)
            }
            TermNode::Binary(op @ (BinaryOp::Add | BinaryOp::And), x, y)
                if low == 0 && self.as_const(y).is_some() =>
            {
                let (x, y) = (self.truncate(x, width), self.truncate(y, width));
                self.binary(op, x, y)
            }
            _ => self.intern(TermNode::Extract(a, low), width),
        }
    }

    /// Truncation, sign extension or zero extension to `width` bits.
    pub(crate) fn resize(&mut self, a: Term, width: u8, is_signed: bool) -> Term {
        if width < self.width(a) {
            self.truncate(a, width)
        } else if is_signed {
            self.sext(a, width)
        } else {
            self.zext(a, width)
        }
    }

    /// Signed quotient or remainder, rounded towards zero. A divisor of 0 gives 1 or -1 as the quotient, opposite to
    /// the sign of the dividend, and the dividend as the remainder.
    pub(crate) fn signed_division(&mut self, a: Term, b: Term, is_remainder: bool) -> Term {
        let width = self.width(a);
        if let (Some(x), Some(y)) = (self.as_const(a), self.as_const(b)) {
            let (x, y) = (i128::from(signed(x, width)), i128::from(signed(y, width)));
            let value = match (y, is_remainder) {
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
            (self.binary(BinaryOp::Slt, a, zero), self.binary(BinaryOp::Slt, b, zero));
        let (a_magnitude, b_magnitude) =
            (self.negate_if(a, a_negative), self.negate_if(b, b_negative));
        let op = if is_remainder { BinaryOp::Urem } else { BinaryOp::Udiv };
        let magnitude = self.binary(op, a_magnitude, b_magnitude);
        let signs_differ = self.binary(BinaryOp::Xor, a_negative, b_negative);
        let is_negative = if is_remainder { a_negative } else { signs_differ };
        self.negate_if(magnitude, is_negative)
    }

    /// The negated number if `negate` is true.
    fn negate_if(&mut self, a: Term, negate: Term) -> Term {
        let zero = self.constant(0, self.width(a));
        let negated = self.binary(BinaryOp::Sub, zero, a);
        self.ite(negate, negated, a)
    }
}
