//! Terms over bit-vectors, each kept once.
//!
//! A term has a width of 1 to 64 bits; one of a single bit is a truth value. Equal terms are the same term (hash
//! consing), and the constructors simplify: what is constant is computed at once, operations move into choices between
//! constants, and [`Values`] tells what a term can be where that is few things. So code that does not depend on what a
//! thread reads costs nothing, and a branch that cannot be taken is seen to be none.
//!
//! There are no rewrites that need more than the two or three terms at hand: the solver is better at everything else.

use rustc_hash::FxHashMap;

use crate::values::Values;

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

/// The bits of a width.
#[must_use]
pub fn mask(width: u8) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// A number with so many bits, with its sign.
#[must_use]
pub fn signed(value: u64, width: u8) -> i64 {
    let shift = 64 - u32::from(width);
    ((value << shift) as i64) >> shift
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

    fn is_choice(&self, a: Term) -> bool {
        self.infos[a.0 as usize].leaves > 1
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

    fn simplify_and(&mut self, a: Term, b: Term, width: u8) -> Option<Term> {
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

/// What an operation gives for numbers of this width.
#[must_use]
pub fn evaluate(op: Op, a: u64, b: u64, width: u8) -> u64 {
    let too_far = b >= u64::from(width);
    let result = match op {
        Op::And => a & b,
        Op::Xor => a ^ b,
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Mul => a.wrapping_mul(b),
        Op::Udiv => a.checked_div(b).unwrap_or(u64::MAX),
        Op::Urem => a.checked_rem(b).unwrap_or(a),
        Op::Shl | Op::Lshr if too_far => 0,
        Op::Shl => a << b,
        Op::Lshr => a >> b,
        Op::Ashr => (signed(a, width) >> b.min(u64::from(width) - 1)) as u64,
        Op::Eq => return u64::from(a == b),
        Op::Ult => return u64::from(a < b),
        Op::Slt => return u64::from(signed(a, width) < signed(b, width)),
    };
    result & mask(width)
}
