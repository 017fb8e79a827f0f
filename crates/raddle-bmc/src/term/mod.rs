//! Terms over bit-vectors, each kept once.
//!
//! A term has a width of 1 to 64 bits; one of a single bit is a truth value. Equal terms are the same term (hash
//! consing), and the constructors simplify: what is constant is computed at once, operations move into choices between
//! constants, and [`Values`] tells what a term can be where that is few things. So code that does not depend on what a
//! thread reads costs nothing, and a branch that cannot be taken is seen to be none.
//!
//! There are no rewrites that need more than the two or three terms at hand: the solver is better at everything else.

mod conjunction;
mod logic;
mod number;
mod operation;
mod width;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::values::Values;

pub use number::{evaluate, mask, signed};

/// A term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term(pub(crate) u32);

/// False.
pub const FALSE: Term = Term(0);
/// True.
pub const TRUE: Term = Term(1);

/// What a term is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A constant.
    Const(u64),
    /// A variable, by number.
    Var(u32),
    /// All bits inverted.
    Not(Term),
    /// Two operands of the same width.
    Binary(Op, Term, Term),
    /// The second if the first is true, otherwise the third.
    Ite(Term, Term, Term),
    /// With zeros in front.
    Zext(Term),
    /// With copies of the sign in front.
    Sext(Term),
    /// Bits from this one on.
    Extract(Term, u8),
}

/// An operation on two terms of the same width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Bitwise and.
    And,
    /// Bitwise exclusive or.
    Xor,
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient without signs; all ones if the divisor is 0.
    Udiv,
    /// Remainder without signs; the dividend if the divisor is 0.
    Urem,
    /// Shift to the left; 0 if too far.
    Shl,
    /// Shift to the right; 0 if too far.
    Lshr,
    /// Shift to the right with copies of the sign.
    Ashr,
    /// Equality: one bit.
    Eq,
    /// Less, without signs: one bit.
    Ult,
    /// Less, with signs: one bit.
    Slt,
}

impl Node {
    /// The terms that it is made of.
    pub fn operands(self) -> impl Iterator<Item = Term> {
        let operands = match self {
            Node::Const(_) | Node::Var(_) => [None; 3],
            Node::Not(a) | Node::Zext(a) | Node::Sext(a) | Node::Extract(a, _) => {
                [Some(a), None, None]
            }
            Node::Binary(_, a, b) => [Some(a), Some(b), None],
            Node::Ite(a, b, c) => [Some(a), Some(b), Some(c)],
        };
        operands.into_iter().flatten()
    }
}

impl Op {
    fn is_predicate(self) -> bool {
        matches!(self, Op::Eq | Op::Ult | Op::Slt)
    }

    fn commutes(self) -> bool {
        matches!(self, Op::And | Op::Xor | Op::Add | Op::Mul | Op::Eq)
    }
}

/// How many constants a choice may have for operations to move into it.
const LEAVES: u8 = 16;

#[derive(Clone, Copy)]
struct Info {
    node: Node,
    width: u8,
    /// How many constants this is a choice between; 0 if it is something else, or too many.
    leaves: u8,
}

/// All terms.
pub struct Terms {
    infos: Vec<Info>,
    known: FxHashMap<(Node, u8), Term>,
    variables: Vec<Values>,
    by_number: Vec<Term>,
    values: FxHashMap<Term, Values>,
}

impl Default for Terms {
    fn default() -> Self {
        let mut terms = Terms {
            infos: vec![],
            known: FxHashMap::default(),
            variables: vec![],
            by_number: vec![],
            values: FxHashMap::default(),
        };
        terms.constant(0, 1);
        terms.constant(1, 1);
        terms
    }
}

impl Terms {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.infos.len()
    }

    /// Never: true and false always are.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.infos.is_empty()
    }

    /// What a term is made of.
    #[must_use]
    pub fn node(&self, term: Term) -> Node {
        self.infos[term.0 as usize].node
    }

    /// The number of bits.
    #[must_use]
    pub fn width(&self, term: Term) -> u8 {
        self.infos[term.0 as usize].width
    }

    /// The value, if it is constant.
    #[must_use]
    pub fn as_const(&self, term: Term) -> Option<u64> {
        match self.node(term) {
            Node::Const(value) => Some(value),
            _ => None,
        }
    }

    /// A variable by number, and what it can be.
    #[must_use]
    pub fn variable(&self, number: u32) -> (Term, &Values) {
        (self.by_number[number as usize], &self.variables[number as usize])
    }

    /// How many variables there are.
    #[must_use]
    pub fn variables(&self) -> usize {
        self.variables.len()
    }

    fn make(&mut self, node: Node, width: u8) -> Term {
        if let Some(&term) = self.known.get(&(node, width)) {
            return term;
        }
        let term = Term(u32::try_from(self.infos.len()).expect("fewer than 2^32 terms"));
        let leaves = match node {
            Node::Const(_) => 1,
            Node::Ite(_, then, other) => {
                let (a, b) =
                    (self.infos[then.0 as usize].leaves, self.infos[other.0 as usize].leaves);
                if a == 0 || b == 0 || a + b > LEAVES { 0 } else { a + b }
            }
            _ => 0,
        };
        self.infos.push(Info { node, width, leaves });
        self.known.insert((node, width), term);
        term
    }

    /// A constant.
    pub fn constant(&mut self, value: u64, width: u8) -> Term {
        debug_assert!((1..=64).contains(&width));
        self.make(Node::Const(value & mask(width)), width)
    }

    /// A new variable that can be anything.
    pub fn var(&mut self, width: u8) -> Term {
        self.var_of(width, Values::any(width))
    }

    /// A new variable that is one of these values; a constant if there is only one.
    pub fn var_of(&mut self, width: u8, values: Values) -> Term {
        if let Some(value) = values.single() {
            return self.constant(value, width);
        }
        let number = u32::try_from(self.variables.len()).expect("fewer than 2^32 variables");
        self.variables.push(values);
        let term = self.make(Node::Var(number), width);
        self.by_number.push(term);
        term
    }

    /// Adds terms and everything that they are made of.
    pub fn reach(&self, roots: impl IntoIterator<Item = Term>, seen: &mut FxHashSet<Term>) {
        let mut open: Vec<Term> = roots.into_iter().collect();
        while let Some(term) = open.pop() {
            if seen.insert(term) {
                open.extend(self.node(term).operands());
            }
        }
    }

    /// What a term can be.
    pub fn values(&mut self, term: Term) -> Values {
        if let Some(values) = self.values.get(&term) {
            return values.clone();
        }
        let width = self.width(term);
        let values = match self.node(term) {
            Node::Const(value) => Values::one(value),
            Node::Var(number) => self.variables[number as usize].clone(),
            Node::Ite(_, a, b) => self.values(a).union(&self.values(b)),
            Node::Not(a) => self.values(a).map(width, |x| !x & mask(width)),
            Node::Zext(a) => self.values(a),
            Node::Sext(a) => {
                let from = self.width(a);
                let all = self.values(a);
                if all.zeros() >> (from - 1) & 1 == 1 {
                    all
                } else {
                    all.map(width, |x| signed(x, from) as u64 & mask(width))
                }
            }
            Node::Extract(a, low) => {
                let all = self.values(a);
                let zeros = (all.zeros() >> low) | !mask(width);
                all.map(width, |x| x >> low & mask(width)).with_zeros(zeros)
            }
            Node::Binary(op, a, b) => {
                let operand = self.width(a);
                let (a, b) = (self.values(a), self.values(b));
                a.combine(&b, width, op, |x, y| evaluate(op, x, y, operand))
            }
        };
        self.values.insert(term, values.clone());
        values
    }

    fn is_choice(&self, a: Term) -> bool {
        self.infos[a.0 as usize].leaves > 1
    }
}
