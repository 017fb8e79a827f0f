//! Operations on two terms: what is constant is computed, what is simple is made simpler.

use super::{FALSE, Node, Op, TRUE, Term, Terms, evaluate, mask, signed};

impl Terms {
    /// An operation on two terms of the same width.
    pub fn binary(&mut self, op: Op, a: Term, b: Term) -> Term {
        let operand = self.width(a);
        debug_assert_eq!(operand, self.width(b), "{op:?}");
        let width = if op.is_predicate() { 1 } else { operand };
        let (a, b) = if op.commutes() && self.goes_behind(a, b) { (b, a) } else { (a, b) };
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
            && let Some(value) = self.decided(op, a, b)
        {
            return self.constant(value, 1);
        }
        self.make(Node::Binary(op, a, b), width)
    }

    /// Constants come last, otherwise the older one first.
    fn goes_behind(&self, a: Term, b: Term) -> bool {
        match (self.as_const(a), self.as_const(b)) {
            (Some(_), None) => true,
            (None, Some(_)) => false,
            _ => a > b,
        }
    }

    /// Moves an operation into a choice of constants.
    fn distribute(&mut self, op: Op, a: Term, b: Term) -> Option<Term> {
        let leaves = |terms: &Self, term: Term| terms.infos[term.0 as usize].leaves;
        let (many, few) = (leaves(self, a), leaves(self, b));
        if few == 1 && (many > 1 || op == Op::Eq || op == Op::Ult || op == Op::Slt) {
            if let Node::Ite(c, x, y) = self.node(a)
                && (many > 1 || leaves(self, x) == 1 || leaves(self, y) == 1)
            {
                let (x, y) = (self.binary(op, x, b), self.binary(op, y, b));
                return Some(self.ite(c, x, y));
            }
            return None;
        }
        if many == 1
            && few > 1
            && let Node::Ite(c, x, y) = self.node(b)
        {
            let (x, y) = (self.binary(op, a, x), self.binary(op, a, y));
            return Some(self.ite(c, x, y));
        }
        None
    }

    /// A predicate that is the same for all values.
    fn decided(&mut self, op: Op, a: Term, b: Term) -> Option<u64> {
        if !op.is_predicate() {
            return None;
        }
        let operand = self.width(a);
        let (a, b) = (self.values(a), self.values(b));
        if op == Op::Eq && a.disjoint(&b) {
            return Some(0);
        }
        if op == Op::Ult && a.maximum() < b.minimum() {
            return Some(1);
        }
        if op == Op::Ult && a.minimum() >= b.maximum() {
            return Some(0);
        }
        a.combine(&b, 1, op, |x, y| evaluate(op, x, y, operand)).single()
    }

    fn simplify(&mut self, op: Op, a: Term, b: Term, width: u8) -> Option<Term> {
        let constant = self.as_const(b);
        let ones = mask(width);
        match (op, constant) {
            (Op::And, _) => return self.simplify_and(a, b, width),
            (Op::Xor | Op::Sub, _) if a == b => return Some(self.constant(0, width)),
            (Op::Eq, _) if a == b => return Some(TRUE),
            (Op::Ult | Op::Slt, _) if a == b => return Some(FALSE),
            (Op::Xor, Some(value)) if value == ones => return Some(self.not(a)),
            (Op::Xor | Op::Add | Op::Sub | Op::Shl | Op::Lshr | Op::Ashr, Some(0)) => {
                return Some(a);
            }
            (Op::Mul, Some(0)) => return Some(b),
            (Op::Mul | Op::Udiv, Some(1)) => return Some(a),
            (Op::Urem, Some(1)) | (Op::Ult, Some(0)) => {
                let width = if op == Op::Ult { 1 } else { width };
                return Some(self.constant(0, width));
            }
            (Op::Mul, Some(value)) if value.is_power_of_two() => {
                let by = self.constant(value.trailing_zeros().into(), width);
                return Some(self.binary(Op::Shl, a, by));
            }
            (Op::Sub, Some(value)) => {
                let negated = self.constant(value.wrapping_neg(), width);
                return Some(self.binary(Op::Add, a, negated));
            }
            _ => {}
        }
        match op {
            Op::Xor if width == 1 => {
                let equal = self.eq(a, b);
                Some(self.not(equal))
            }
            Op::Add => self.simplify_add(a, b, constant),
            Op::Eq => self.simplify_eq(a, b, width, constant),
            Op::Slt | Op::Ult => self.simplify_less(op, a, b, constant),
            _ => None,
        }
    }

    fn simplify_add(&mut self, a: Term, b: Term, constant: Option<u64>) -> Option<Term> {
        if constant.is_some()
            && let Node::Binary(Op::Add, x, y) = self.node(a)
            && self.as_const(y).is_some()
        {
            let sum = self.binary(Op::Add, y, b);
            return Some(self.binary(Op::Add, x, sum));
        }
        None
    }

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
            Node::Zext(inner) => {
                let from = self.width(inner);
                Some(if value & !mask(from) == 0 { self.is(inner, value) } else { FALSE })
            }
            Node::Sext(inner) => {
                let from = self.width(inner);
                let fits = signed(value, from) as u64 & mask(width) == value;
                Some(if fits { self.is(inner, value) } else { FALSE })
            }
            Node::Binary(Op::Add, x, y) => {
                let by = self.as_const(y)?;
                Some(self.is(x, value.wrapping_sub(by)))
            }
            Node::Not(inner) => Some(self.is(inner, !value)),
            _ => None,
        }
    }

    /// Comparisons of numbers that were made longer.
    fn simplify_less(&mut self, op: Op, a: Term, b: Term, constant: Option<u64>) -> Option<Term> {
        if let (Node::Zext(x), Node::Zext(y)) = (self.node(a), self.node(b))
            && self.width(x) == self.width(y)
        {
            return Some(self.binary(Op::Ult, x, y));
        }
        if let (Node::Zext(x), Some(1), Op::Ult) = (self.node(a), constant, op) {
            return Some(self.is(x, 0));
        }
        None
    }
}
