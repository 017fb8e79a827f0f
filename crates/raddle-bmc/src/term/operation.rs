//! Binary operations: constant folding and simplification.

use super::node::{BinaryOp, FALSE, TRUE, Term, TermNode};
use super::number::{evaluate, mask, signed};
use super::store::TermStore;

impl TermStore {
    /// A binary operation on two terms of the same width.
    pub(crate) fn binary(&mut self, op: BinaryOp, a: Term, b: Term) -> Term {
        let operand = self.width(a);
        debug_assert_eq!(operand, self.width(b), "{op:?}");
        let width = if op.is_predicate() { 1 } else { operand };
        let swaps = op.is_commutative() && self.is_ordered_after(a, b);
        let (a, b) = if swaps { (b, a) } else { (a, b) };
        if let (Some(x), Some(y)) = (self.as_const(a), self.as_const(b)) {
            let value = evaluate(op, x, y, operand);
            return self.constant(value, width);
        }
        if let Some(simple) = self.simplify(op, a, b, operand) {
            return simple;
        }
        if let Some(moved) = self.distribute(op, a, b) {
            return moved;
        }
        if width == 1
            && let Some(value) = self.decide_predicate(op, a, b)
        {
            return self.constant(value, 1);
        }
        self.intern(TermNode::Binary(op, a, b), width)
    }

    /// Returns `true` if `a` comes after `b` in the canonical order: constants last, then the order of creation.
    fn is_ordered_after(&self, a: Term, b: Term) -> bool {
        match (self.as_const(a), self.as_const(b)) {
            (Some(_), None) => true,
            (None, Some(_)) => false,
            _ => a > b,
        }
    }

    /// Moves an operation with a constant into the branches of an `Ite`, if that folds constants: if the `Ite` is a
    /// choice between constants, or if the operation is a predicate and one branch is a constant.
    fn distribute(&mut self, op: BinaryOp, a: Term, b: Term) -> Option<Term> {
        let (a_leaves, b_leaves) = (self.leaves(a), self.leaves(b));
        if b_leaves == 1 && (a_leaves > 1 || op.is_predicate()) {
            if let TermNode::Ite(c, x, y) = self.node(a)
                && (a_leaves > 1 || self.leaves(x) == 1 || self.leaves(y) == 1)
            {
                let (x, y) = (self.binary(op, x, b), self.binary(op, y, b));
                return Some(self.ite(c, x, y));
            }
            return None;
        }
        if a_leaves == 1
            && b_leaves > 1
            && let TermNode::Ite(c, x, y) = self.node(b)
        {
            let (x, y) = (self.binary(op, a, x), self.binary(op, a, y));
            return Some(self.ite(c, x, y));
        }
        None
    }

    /// The value of a predicate that is the same for all possible values of its operands.
    fn decide_predicate(&mut self, op: BinaryOp, a: Term, b: Term) -> Option<u64> {
        if !op.is_predicate() {
            return None;
        }
        let operand = self.width(a);
        let (a, b) = (self.values(a), self.values(b));
        if op == BinaryOp::Eq && a.is_disjoint(&b) {
            return Some(0);
        }
        if op == BinaryOp::Ult && a.maximum() < b.minimum() {
            return Some(1);
        }
        if op == BinaryOp::Ult && a.minimum() >= b.maximum() {
            return Some(0);
        }
        a.combine(&b, 1, op, |x, y| evaluate(op, x, y, operand)).single()
    }

    /// A simpler term that equals the operation, if an algebraic rule applies. A constant operand is `b` if the
    /// operation is commutative.
    fn simplify(&mut self, op: BinaryOp, a: Term, b: Term, width: u8) -> Option<Term> {
        let constant = self.as_const(b);
        let ones = mask(width);
        match (op, constant) {
            (BinaryOp::And, _) => return self.simplify_and(a, b, width),
            (BinaryOp::Xor | BinaryOp::Sub, _) if a == b => return Some(self.constant(0, width)),
            (BinaryOp::Eq, _) if a == b => return Some(TRUE),
            (BinaryOp::Ult | BinaryOp::Slt, _) if a == b => return Some(FALSE),
            (BinaryOp::Xor, Some(value)) if value == ones => return Some(self.not(a)),
            (
                BinaryOp::Xor
                | BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Shl
                | BinaryOp::Lshr
                | BinaryOp::Ashr,
                Some(0),
            ) => {
                return Some(a);
            }
            (BinaryOp::Mul, Some(0)) => return Some(b),
            (BinaryOp::Mul | BinaryOp::Udiv, Some(1)) => return Some(a),
            (BinaryOp::Urem, Some(1)) | (BinaryOp::Ult, Some(0)) => {
                let width = if op == BinaryOp::Ult { 1 } else { width };
                return Some(self.constant(0, width));
            }
            (BinaryOp::Mul, Some(value)) if value.is_power_of_two() => {
                let by = self.constant(value.trailing_zeros().into(), width);
                return Some(self.binary(BinaryOp::Shl, a, by));
            }
            (BinaryOp::Sub, Some(value)) => {
                let negated = self.constant(value.wrapping_neg(), width);
                return Some(self.binary(BinaryOp::Add, a, negated));
            }
            _ => {}
        }
        match op {
            BinaryOp::Xor if width == 1 => {
                let equal = self.eq(a, b);
                Some(self.not(equal))
            }
            BinaryOp::Add => self.simplify_add(a, b, constant),
            BinaryOp::Eq => self.simplify_eq(a, b, width, constant),
            BinaryOp::Slt | BinaryOp::Ult => self.simplify_less(op, a, b, constant),
            _ => None,
        }
    }

    /// `(x + c) + d` is `x + (c + d)` for constants `c` and `d`.
    fn simplify_add(&mut self, a: Term, b: Term, constant: Option<u64>) -> Option<Term> {
        if constant.is_some()
            && let TermNode::Binary(BinaryOp::Add, x, y) = self.node(a)
            && self.as_const(y).is_some()
        {
            let sum = self.binary(BinaryOp::Add, y, b);
            return Some(self.binary(BinaryOp::Add, x, sum));
        }
        None
    }

    /// Equality with a complement, of single bits, and of invertible operations with a constant.
    fn simplify_eq(&mut self, a: Term, b: Term, width: u8, constant: Option<u64>) -> Option<Term> {
        if self.not(a) == b {
            return Some(FALSE);
        }
        if width == 1 {
            return match constant {
                Some(0) => Some(self.not(a)),
                Some(_) => Some(a),
                None => None,
            };
        }
        let value = constant?;
        match self.node(a) {
            TermNode::Zext(inner) => {
                let from = self.width(inner);
                Some(if value & !mask(from) == 0 { self.is(inner, value) } else { FALSE })
            }
            TermNode::Sext(inner) => {
                let from = self.width(inner);
                let fits = signed(value, from) as u64 & mask(width) == value;
                Some(if fits { self.is(inner, value) } else { FALSE })
            }
            TermNode::Binary(BinaryOp::Add, x, y) => {
                let by = self.as_const(y)?;
                Some(self.is(x, value.wrapping_sub(by)))
            }
            TermNode::Not(inner) => Some(self.is(inner, !value)),
            _ => None,
        }
    }

    /// Comparisons of zero-extended terms.
    fn simplify_less(
        &mut self,
        op: BinaryOp,
        a: Term,
        b: Term,
        constant: Option<u64>,
    ) -> Option<Term> {
        if let (TermNode::Zext(x), TermNode::Zext(y)) = (self.node(a), self.node(b))
            && self.width(x) == self.width(y)
        {
            return Some(self.binary(BinaryOp::Ult, x, y));
        }
        if let (TermNode::Zext(x), Some(1), BinaryOp::Ult) = (self.node(a), constant, op) {
            return Some(self.is(x, 0));
        }
        None
    }
}
