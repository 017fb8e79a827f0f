//! From terms to clauses.
//!
//! Every term becomes a literal for each bit. Gates are made once each, and simplified if an input is constant or if two
//! are the same; both directions of every gate are encoded (Tseitin), as most are used both ways. Adders ripple,
//! products are sums of shifted rows, and a division is the product that it undoes, with a remainder that is less than
//! the divisor.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::solve::{Lit, Solver, YES};
use crate::term::{BinaryOp, Term, TermNode, TermStore, ValueSet, evaluate, mask, signed};

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Gate {
    And(Lit, Lit),
    Xor(Lit, Lit),
    Mux(Lit, Lit, Lit),
    Majority(Lit, Lit, Lit),
}

/// Quotient and remainder.
type Division = (Box<[Lit]>, Box<[Lit]>);

/// Turns terms into clauses.
pub(crate) struct Blaster {
    pub(crate) solver: Solver,
    bits: FxHashMap<Term, Box<[Lit]>>,
    gates: FxHashMap<Gate, Lit>,
    divisions: FxHashMap<(Term, Term), Division>,
}

impl Blaster {
    pub(crate) fn new(solver: Solver) -> Self {
        Blaster {
            solver,
            bits: FxHashMap::default(),
            gates: FxHashMap::default(),
            divisions: FxHashMap::default(),
        }
    }

    /// Makes a term true.
    pub(crate) fn require(&mut self, terms: &mut TermStore, term: Term) {
        match terms.node(term) {
            TermNode::Binary(BinaryOp::And, a, b) => {
                self.require(terms, a);
                self.require(terms, b);
            }
            TermNode::Not(inner) => self.forbid(terms, inner),
            _ => {
                let lit = self.lit(terms, term);
                self.solver.add(&[lit]);
            }
        }
    }

    /// Makes a conjunction false: a clause. If a part of it says that two terms differ, then a clause for every bit, in
    /// place of a gate for every bit.
    fn forbid(&mut self, terms: &mut TermStore, term: Term) {
        let (mut open, mut clause, mut equal) = (vec![term], vec![], None);
        while let Some(term) = open.pop() {
            match terms.node(term) {
                TermNode::Binary(BinaryOp::And, a, b) if terms.width(term) == 1 => {
                    open.extend([a, b])
                }
                TermNode::Not(inner) if equal.is_none() && is_equality(terms, inner) => {
                    equal = Some(inner);
                }
                _ => clause.push(-self.lit(terms, term)),
            }
        }
        match equal.map(|equal| terms.node(equal)) {
            Some(TermNode::Binary(BinaryOp::Eq, a, b)) => {
                let (a, b) = (self.bits(terms, a), self.bits(terms, b));
                // Bits may share literals.
                let mut done = FxHashSet::default();
                for (&a, &b) in a.iter().zip(&b) {
                    if done.insert((a, b)) {
                        self.imply_equal(&clause, a, b);
                    }
                }
            }
            _ => self.solver.add(&clause),
        }
    }

    /// One literal of the clause is true, or these two are equal.
    fn imply_equal(&mut self, clause: &[Lit], a: Lit, b: Lit) {
        if a == b {
            return;
        }
        for (a, b) in [(a, -b), (-a, b)] {
            let rest = [a, b].into_iter().filter(|&lit| lit != -YES);
            let whole: Vec<Lit> = clause.iter().copied().chain(rest).collect();
            if !whole.contains(&YES) {
                self.solver.add(&whole);
            }
        }
    }

    /// The literal of a truth value.
    pub(crate) fn lit(&mut self, terms: &mut TermStore, term: Term) -> Lit {
        self.bits(terms, term)[0]
    }

    /// The value of a term in the assignment that was found. What is not in the formula is computed from what is; a
    /// variable that is not in it is 0.
    pub(crate) fn value(&self, terms: &TermStore, term: Term) -> u64 {
        if let Some(bits) = self.bits.get(&term) {
            let bit = |value, &lit| value << 1 | u64::from(self.solver.value(lit));
            return bits.iter().rev().fold(0, bit);
        }
        let width = terms.width(term);
        match terms.node(term) {
            TermNode::Const(value) => value,
            TermNode::Var(_) => 0,
            TermNode::Not(a) => !self.value(terms, a) & mask(width),
            TermNode::Binary(op, a, b) => {
                let (x, y) = (self.value(terms, a), self.value(terms, b));
                evaluate(op, x, y, terms.width(a))
            }
            TermNode::Ite(c, a, b) => {
                let chosen = if self.value(terms, c) == 1 { a } else { b };
                self.value(terms, chosen)
            }
            TermNode::Zext(a) => self.value(terms, a),
            TermNode::Sext(a) => signed(self.value(terms, a), terms.width(a)) as u64 & mask(width),
            TermNode::Extract(a, low) => self.value(terms, a) >> low & mask(width),
        }
    }

    /// The literals of a term, the lowest first.
    pub(crate) fn bits(&mut self, terms: &mut TermStore, term: Term) -> Box<[Lit]> {
        if let Some(bits) = self.bits.get(&term) {
            return bits.clone();
        }
        let width = usize::from(terms.width(term));
        let bits: Box<[Lit]> = match terms.node(term) {
            TermNode::Const(value) => {
                (0..width).map(|i| if value >> i & 1 == 1 { YES } else { -YES }).collect()
            }
            TermNode::Var(_) => self.variable(&terms.values(term), width),
            TermNode::Not(a) => self.bits(terms, a).iter().map(|lit| -lit).collect(),
            TermNode::Ite(c, a, b) => {
                let c = self.lit(terms, c);
                let (a, b) = (self.bits(terms, a), self.bits(terms, b));
                a.iter().zip(&b).map(|(&a, &b)| self.mux(c, a, b)).collect()
            }
            TermNode::Zext(a) => {
                let mut bits = self.bits(terms, a).into_vec();
                bits.resize(width, -YES);
                bits.into()
            }
            TermNode::Sext(a) => {
                let mut bits = self.bits(terms, a).into_vec();
                let sign = bits[bits.len() - 1];
                bits.resize(width, sign);
                bits.into()
            }
            TermNode::Extract(a, low) => {
                let low = usize::from(low);
                self.bits(terms, a)[low..low + width].into()
            }
            TermNode::Binary(op, a, b) => self.operation(terms, op, a, b),
        };
        self.bits.insert(term, bits.clone());
        bits
    }

    /// The literals of a variable. Bits that are the same in all its values are constants, and bits that are equal or
    /// opposite in all of them have one literal: -1, 0, 1 and 2 take two, however wide the variable is.
    fn variable(&mut self, values: &ValueSet, width: usize) -> Box<[Lit]> {
        let mut known: FxHashMap<Vec<bool>, Lit> = FxHashMap::default();
        let mut bit = |i: usize| {
            let Some(few) = values.few() else {
                return if values.zeros() >> i & 1 == 1 { -YES } else { self.solver.fresh() };
            };
            let column: Vec<bool> = few.iter().map(|value| value >> i & 1 == 1).collect();
            if !column.contains(&true) {
                return -YES;
            }
            let is_opposite = column[0];
            let column: Vec<bool> = column.into_iter().map(|bit| bit != is_opposite).collect();
            let lit = match column.contains(&true) {
                true => *known.entry(column).or_insert_with(|| self.solver.fresh()),
                false => -YES,
            };
            if is_opposite { -lit } else { lit }
        };
        (0..width).map(&mut bit).collect()
    }

    fn operation(&mut self, terms: &mut TermStore, op: BinaryOp, a: Term, b: Term) -> Box<[Lit]> {
        if matches!(op, BinaryOp::Udiv | BinaryOp::Urem) {
            let (quotient, remainder) = self.division(terms, a, b);
            return if op == BinaryOp::Udiv { quotient } else { remainder };
        }
        let (x, y) = (self.bits(terms, a), self.bits(terms, b));
        match op {
            BinaryOp::And => x.iter().zip(&y).map(|(&x, &y)| self.and(x, y)).collect(),
            BinaryOp::Xor => x.iter().zip(&y).map(|(&x, &y)| self.xor(x, y)).collect(),
            BinaryOp::Add => self.sum(&x, &y, -YES).0,
            BinaryOp::Sub => {
                let y: Vec<Lit> = y.iter().map(|lit| -lit).collect();
                self.sum(&x, &y, YES).0
            }
            BinaryOp::Mul => self.product(&x, &y),
            BinaryOp::Shl => self.shift(&x, &y, BinaryOp::Shl),
            BinaryOp::Lshr => self.shift(&x, &y, BinaryOp::Lshr),
            BinaryOp::Ashr => self.shift(&x, &y, BinaryOp::Ashr),
            BinaryOp::Eq => [self.equal(&x, &y)].into(),
            BinaryOp::Ult => [self.less(&x, &y)].into(),
            BinaryOp::Slt => {
                let (mut x, mut y) = (x.into_vec(), y.into_vec());
                let last = x.len() - 1;
                (x[last], y[last]) = (-x[last], -y[last]);
                [self.less(&x, &y)].into()
            }
            BinaryOp::Udiv | BinaryOp::Urem => unreachable!("done above"),
        }
    }

    fn equal(&mut self, x: &[Lit], y: &[Lit]) -> Lit {
        let same: Vec<Lit> = x.iter().zip(y).map(|(&x, &y)| -self.xor(x, y)).collect();
        same.into_iter().fold(YES, |all, same| self.and(all, same))
    }

    /// Whether the first is less: there is no carry out of `x + !y + 1`.
    fn less(&mut self, x: &[Lit], y: &[Lit]) -> Lit {
        let carry = x.iter().zip(y).fold(YES, |carry, (&x, &y)| self.majority(x, -y, carry));
        -carry
    }

    fn sum(&mut self, x: &[Lit], y: &[Lit], carry: Lit) -> (Box<[Lit]>, Lit) {
        let mut carry = carry;
        let mut bit = |(&x, &y): (&Lit, &Lit)| {
            let half = self.xor(x, y);
            let sum = self.xor(half, carry);
            carry = self.majority(x, y, carry);
            sum
        };
        let bits = x.iter().zip(y).map(&mut bit).collect();
        (bits, carry)
    }

    fn product(&mut self, x: &[Lit], y: &[Lit]) -> Box<[Lit]> {
        let width = x.len();
        let constants = |bits: &[Lit]| bits.iter().filter(|lit| lit.abs() == YES).count();
        let (x, y) = if constants(x) > constants(y) { (y, x) } else { (x, y) };
        let mut total: Box<[Lit]> = vec![-YES; width].into();
        for (i, &digit) in y.iter().enumerate() {
            if digit == -YES {
                continue;
            }
            let row: Vec<Lit> =
                (0..width).map(|j| if j < i { -YES } else { self.and(x[j - i], digit) }).collect();
            total = self.sum(&total, &row, -YES).0;
        }
        total
    }

    /// Shifts by every power of two that the number of places may have.
    fn shift(&mut self, x: &[Lit], by: &[Lit], op: BinaryOp) -> Box<[Lit]> {
        let width = x.len();
        let fill = if op == BinaryOp::Ashr { x[width - 1] } else { -YES };
        let steps = (usize::BITS - (width - 1).leading_zeros()) as usize;
        let mut bits: Vec<Lit> = x.to_vec();
        for (i, &digit) in by.iter().take(steps).enumerate() {
            let places = 1usize << i;
            let moved = |j: usize| match op {
                BinaryOp::Shl => j.checked_sub(places).map_or(fill, |j| bits[j]),
                _ => bits.get(j + places).copied().unwrap_or(fill),
            };
            let moved: Vec<Lit> = (0..width).map(moved).collect();
            bits = moved.iter().zip(&bits).map(|(&a, &b)| self.mux(digit, a, b)).collect();
        }
        let mut too_far = by.iter().skip(steps).fold(-YES, |any, &lit| self.or(any, lit));
        if !width.is_power_of_two() {
            let (low, limit) = (&by[..steps.min(by.len())], width);
            let limit: Vec<Lit> =
                (0..low.len()).map(|i| if limit >> i & 1 == 1 { YES } else { -YES }).collect();
            let within = self.less(low, &limit);
            too_far = self.or(too_far, -within);
        }
        bits.iter().map(|&bit| self.mux(too_far, fill, bit)).collect()
    }

    /// Quotient and remainder: `x = q * y + r` without overflow, and `r < y`.
    fn division(&mut self, terms: &mut TermStore, a: Term, b: Term) -> Division {
        if let Some(known) = self.divisions.get(&(a, b)) {
            return known.clone();
        }
        let (x, y) = (self.bits(terms, a), self.bits(terms, b));
        let width = x.len();
        let mut fresh = || (0..width).map(|_| self.solver.fresh()).collect::<Box<[Lit]>>();
        let (quotient, remainder) = (fresh(), fresh());
        let long = |bits: &[Lit]| [bits, &vec![-YES; width]].concat();
        let product = self.product(&long(&quotient), &long(&y));
        let (sum, _) = self.sum(&product, &long(&remainder), -YES);
        let exact = self.equal(&sum, &long(&x));
        let small = self.less(&remainder, &y);
        let zero = self.equal(&y, &vec![-YES; width]);
        self.solver.add(&[zero, exact]);
        self.solver.add(&[zero, small]);
        let all_ones = self.equal(&quotient, &vec![YES; width]);
        let unchanged = self.equal(&remainder, &x);
        self.solver.add(&[-zero, all_ones]);
        self.solver.add(&[-zero, unchanged]);
        self.divisions.insert((a, b), (quotient.clone(), remainder.clone()));
        (quotient, remainder)
    }

    fn or(&mut self, a: Lit, b: Lit) -> Lit {
        -self.and(-a, -b)
    }

    fn gate(&mut self, gate: Gate, clauses: impl FnOnce(&mut Solver, Lit)) -> Lit {
        if let Some(&lit) = self.gates.get(&gate) {
            return lit;
        }
        let out = self.solver.fresh();
        clauses(&mut self.solver, out);
        self.gates.insert(gate, out);
        out
    }

    fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = (a.min(b), a.max(b));
        match (a, b) {
            _ if a == -YES || b == -YES || a == -b => -YES,
            _ if a == YES || a == b => b,
            _ if b == YES => a,
            _ => self.gate(Gate::And(a, b), |solver, out| {
                solver.add(&[-out, a]);
                solver.add(&[-out, b]);
                solver.add(&[out, -a, -b]);
            }),
        }
    }

    fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let (x, y) = (a.abs().min(b.abs()), a.abs().max(b.abs()));
        let negate = (a < 0) != (b < 0);
        let out = match (x, y) {
            _ if x == y => -YES,
            (YES, _) => -y,
            _ => self.gate(Gate::Xor(x, y), |solver, out| {
                solver.add(&[-out, x, y]);
                solver.add(&[-out, -x, -y]);
                solver.add(&[out, -x, y]);
                solver.add(&[out, x, -y]);
            }),
        };
        if negate { -out } else { out }
    }

    fn mux(&mut self, c: Lit, a: Lit, b: Lit) -> Lit {
        match () {
            () if c == YES || a == b => a,
            () if c == -YES => b,
            () if c < 0 => self.mux(-c, b, a),
            () if a == -b => self.xor(c, b),
            () if a == YES || a == c => self.or(c, b),
            () if a == -YES || a == -c => self.and(-c, b),
            () if b == YES || b == -c => self.or(-c, a),
            () if b == -YES || b == c => self.and(c, a),
            () => self.gate(Gate::Mux(c, a, b), |solver, out| {
                solver.add(&[-c, -a, out]);
                solver.add(&[-c, a, -out]);
                solver.add(&[c, -b, out]);
                solver.add(&[c, b, -out]);
                solver.add(&[-a, -b, out]);
                solver.add(&[a, b, -out]);
            }),
        }
    }

    fn majority(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let mut all = [a, b, c];
        all.sort_unstable();
        let [a, b, c] = all;
        for (x, y, z) in [(a, b, c), (b, c, a), (c, a, b)] {
            if x == y || z == -x {
                return if x == y { x } else { y };
            }
            if x == YES {
                return self.or(y, z);
            }
            if x == -YES {
                return self.and(y, z);
            }
        }
        self.gate(Gate::Majority(a, b, c), |solver, out| {
            for (x, y) in [(a, b), (a, c), (b, c)] {
                solver.add(&[-x, -y, out]);
                solver.add(&[x, y, -out]);
            }
        })
    }
}

fn is_equality(terms: &TermStore, term: Term) -> bool {
    matches!(terms.node(term), TermNode::Binary(BinaryOp::Eq, a, _) if terms.width(a) > 1)
}
