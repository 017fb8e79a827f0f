//! Terms and the operations that they are made of.

/// A bit-vector term, as an index into the [`TermStore`](super::TermStore) that created it.
///
/// Two terms of the same store are equal if and only if they have the same structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Term(pub(crate) u32);

/// The one-bit constant 0. Every store creates it first.
pub(crate) const FALSE: Term = Term(0);
/// The one-bit constant 1. Every store creates it second.
pub(crate) const TRUE: Term = Term(1);

/// The outermost operation of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TermNode {
    /// A constant. Bits beyond the width of the term are 0.
    Const(u64),
    /// A variable, by its index in the order of creation.
    Var(u32),
    /// Bitwise negation.
    Not(Term),
    /// A binary operation on two terms of the same width.
    Binary(BinaryOp, Term, Term),
    /// `Ite(c, a, b)`: `a` if the one-bit term `c` is true, otherwise `b`.
    Ite(Term, Term, Term),
    /// Zero extension to the width of the term.
    Zext(Term),
    /// Sign extension to the width of the term.
    Sext(Term),
    /// The bits from the given position on, as many as the term is wide.
    Extract(Term, u8),
}

/// A binary operation on bit-vectors, with the semantics of SMT-LIB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BinaryOp {
    And,
    Xor,
    Add,
    Sub,
    Mul,
    /// Unsigned quotient; all ones if the divisor is 0.
    Udiv,
    /// Unsigned remainder; the dividend if the divisor is 0.
    Urem,
    /// Left shift; 0 if the distance is at least the width.
    Shl,
    /// Logical right shift; 0 if the distance is at least the width.
    Lshr,
    /// Arithmetic right shift; copies of the sign bit if the distance is at least the width.
    Ashr,
    /// Equality. The result has one bit.
    Eq,
    /// Unsigned less-than. The result has one bit.
    Ult,
    /// Signed less-than. The result has one bit.
    Slt,
}

impl TermNode {
    /// The immediate subterms.
    pub(crate) fn operands(self) -> impl Iterator<Item = Term> {
        let operands = match self {
            TermNode::Const(_) | TermNode::Var(_) => [None; 3],
            TermNode::Not(a) | TermNode::Zext(a) | TermNode::Sext(a) | TermNode::Extract(a, _) => {
                [Some(a), None, None]
            }
            TermNode::Binary(_, a, b) => [Some(a), Some(b), None],
            TermNode::Ite(a, b, c) => [Some(a), Some(b), Some(c)],
        };
        operands.into_iter().flatten()
    }
}

impl BinaryOp {
    /// Returns `true` if the result has one bit, whatever the width of the operands.
    pub(super) fn is_predicate(self) -> bool {
        matches!(self, BinaryOp::Eq | BinaryOp::Ult | BinaryOp::Slt)
    }

    pub(super) fn is_commutative(self) -> bool {
        use BinaryOp as B;
        matches!(self, B::And | B::Xor | B::Add | B::Mul | B::Eq)
    }
}
