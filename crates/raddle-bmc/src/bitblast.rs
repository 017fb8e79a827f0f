//! Bit-blasting: from terms to clauses.
//!
//! Every term becomes one literal per bit. Equal gates are shared, and gates with constant or equal inputs are
//! simplified. Both directions of every gate are encoded (Tseitin), since most gates occur in both polarities. Adders
//! ripple, products are sums of shifted rows, and a division is encoded as the inverse product, with a remainder less
//! than the divisor.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::sat_solver::{Lit, SatSolver, TRUE_LIT};
use crate::term::{BinaryOp, Term, TermNode, TermStore, ValueSet, evaluate, mask, signed};

/// A gate with normalised inputs, as the key under which its output is shared.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Gate {
    And(Lit, Lit),
    Xor(Lit, Lit),
    /// The second input if the first is true, otherwise the third.
    Mux(Lit, Lit, Lit),
    /// True if two or three inputs are.
    Majority(Lit, Lit, Lit),
}

/// Quotient and remainder.
type Division = (Box<[Lit]>, Box<[Lit]>);

/// Adds the clauses of terms to a solver.
pub(crate) struct BitBlaster {
    pub(crate) solver: SatSolver,
    /// The literals of the terms that were encoded, the lowest bit first.
    bits: FxHashMap<Term, Box<[Lit]>>,
    gates: FxHashMap<Gate, Lit>,
    divisions: FxHashMap<(Term, Term), Division>,
}

impl BitBlaster {
    pub(crate) fn new(solver: SatSolver) -> Self {
        BitBlaster {
            solver,
            bits: FxHashMap::default(),
            gates: FxHashMap::default(),
            divisions: FxHashMap::default(),
        }
    }

    /// Adds the constraint that a one-bit term is true.
    pub(crate) fn require(&mut self, terms: &mut TermStore, term: Term) {
        match terms.node(term) {
            TermNode::Binary(BinaryOp::And, a, b) => {
                self.require(terms, a);
                self.require(terms, b);
            }
            TermNode::Not(inner) => self.forbid(terms, inner),
            _ => {
                let lit = self.lit(terms, term);
                self.solver.add_clause(&[lit]);
            }
        }
    }

    /// Adds the constraint that a conjunction is false, as a clause. If one conjunct is the inequality of two terms,
    /// adds two clauses per bit, which avoids a gate per bit.
    fn forbid(&mut self, terms: &mut TermStore, term: Term) {
        let (mut open, mut clause, mut equal) = (vec![term], vec![], None);
        while let Some(term) = open.pop() {
            match terms.node(term) {
                TermNode::Binary(BinaryOp::And, a, b) if terms.width(term) == 1 => {
                    open.extend([a, b]);
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
                // Several bits may have the same literals.
                let mut done = FxHashSet::default();
                for (&a, &b) in a.iter().zip(&b) {
                    if done.insert((a, b)) {
                        self.require_equal_unless(&clause, a, b);
                    }
                }
            }
            _ => self.solver.add_clause(&clause),
        }
    }

    /// Adds the constraint that a literal of the clause is true, or `a` equals `b`.
    fn require_equal_unless(&mut self, clause: &[Lit], a: Lit, b: Lit) {
        if a == b {
            return;
        }
        for (a, b) in [(a, -b), (-a, b)] {
            let rest = [a, b].into_iter().filter(|&lit| lit != -TRUE_LIT);
            let whole: Vec<Lit> = clause.iter().copied().chain(rest).collect();
            if !whole.contains(&TRUE_LIT) {
                self.solver.add_clause(&whole);
            }
        }
    }

    /// The literal of a one-bit term.
    pub(crate) fn lit(&mut self, terms: &mut TermStore, term: Term) -> Lit {
        self.bits(terms, term)[0]
    }

    /// The value of a term in the assignment that the solver found. Terms that are not in the formula are evaluated;
    /// variables that are not in it are 0.
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

    /// The literals of a term, the lowest bit first.
    pub(crate) fn bits(&mut self, terms: &mut TermStore, term: Term) -> Box<[Lit]> {
        if let Some(bits) = self.bits.get(&term) {
            return bits.clone();
        }
        let width = usize::from(terms.width(term));
        let bits: Box<[Lit]> = match terms.node(term) {
            TermNode::Const(value) => {
                (0..width).map(|i| if value >> i & 1 == 1 { TRUE_LIT } else { -TRUE_LIT }).collect()
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
                bits.resize(width, -TRUE_LIT);
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

    /// The literals of a new variable. Bits that are the same in all possible values are constants, and bits that are
    /// equal or complementary in all of them share one literal: a variable with the values -1, 0, 1 and 2 has two
    /// literals, whatever its width.
    fn variable(&mut self, values: &ValueSet, width: usize) -> Box<[Lit]> {
        let mut known: FxHashMap<Vec<bool>, Lit> = FxHashMap::default();
        let mut bit = |i: usize| {
            let Some(few) = values.few() else {
                return if values.zeros() >> i & 1 == 1 {
                    -TRUE_LIT
                } else {
                    self.solver.new_variable()
                };
            };
            let column: Vec<bool> = few.iter().map(|value| value >> i & 1 == 1).collect();
            if !column.contains(&true) {
                return -TRUE_LIT;
            }
            // Complementary columns get the same key: its first bit is false.
            let is_complement = column[0];
            let column: Vec<bool> = column.into_iter().map(|bit| bit != is_complement).collect();
            let lit = match column.contains(&true) {
                true => *known.entry(column).or_insert_with(|| self.solver.new_variable()),
                false => -TRUE_LIT,
            };
            if is_complement { -lit } else { lit }
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
            BinaryOp::Add => self.sum(&x, &y, -TRUE_LIT).0,
            BinaryOp::Sub => {
                let y: Vec<Lit> = y.iter().map(|lit| -lit).collect();
                self.sum(&x, &y, TRUE_LIT).0
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
        same.into_iter().fold(TRUE_LIT, |all, same| self.and(all, same))
    }

    /// Unsigned `x < y`: there is no carry out of `x + !y + 1`.
    fn less(&mut self, x: &[Lit], y: &[Lit]) -> Lit {
        let carry = x.iter().zip(y).fold(TRUE_LIT, |carry, (&x, &y)| self.majority(x, -y, carry));
        -carry
    }

    /// The sum and the carry out of a ripple-carry adder.
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

    /// The lowest bits of the product. The operand with more constant bits selects the rows.
    fn product(&mut self, x: &[Lit], y: &[Lit]) -> Box<[Lit]> {
        let width = x.len();
        let constants = |bits: &[Lit]| bits.iter().filter(|lit| lit.abs() == TRUE_LIT).count();
        let (x, y) = if constants(x) > constants(y) { (y, x) } else { (x, y) };
        let mut total: Box<[Lit]> = vec![-TRUE_LIT; width].into();
        for (i, &digit) in y.iter().enumerate() {
            if digit == -TRUE_LIT {
                continue;
            }
            let row: Vec<Lit> = (0..width)
                .map(|j| if j < i { -TRUE_LIT } else { self.and(x[j - i], digit) })
                .collect();
            total = self.sum(&total, &row, -TRUE_LIT).0;
        }
        total
    }

    /// A barrel shifter: one row of multiplexers per bit of the distance.
    fn shift(&mut self, x: &[Lit], by: &[Lit], op: BinaryOp) -> Box<[Lit]> {
        let width = x.len();
        let fill = if op == BinaryOp::Ashr { x[width - 1] } else { -TRUE_LIT };
        let steps = (usize::BITS - (width - 1).leading_zeros()) as usize;
        let mut bits: Vec<Lit> = x.to_vec();
        for (i, &digit) in by.iter().take(steps).enumerate() {
            let distance = 1usize << i;
            let shifted = |j: usize| match op {
                BinaryOp::Shl => j.checked_sub(distance).map_or(fill, |j| bits[j]),
                _ => bits.get(j + distance).copied().unwrap_or(fill),
            };
            let shifted: Vec<Lit> = (0..width).map(shifted).collect();
            bits = shifted.iter().zip(&bits).map(|(&a, &b)| self.mux(digit, a, b)).collect();
        }
        let mut exceeds_width =
            by.iter().skip(steps).fold(-TRUE_LIT, |any, &lit| self.or(any, lit));
        if !width.is_power_of_two() {
            let (low, limit) = (&by[..steps.min(by.len())], width);
            let limit: Vec<Lit> = (0..low.len())
                .map(|i| if limit >> i & 1 == 1 { TRUE_LIT } else { -TRUE_LIT })
                .collect();
            let within = self.less(low, &limit);
            exceeds_width = self.or(exceeds_width, -within);
        }
        bits.iter().map(|&bit| self.mux(exceeds_width, fill, bit)).collect()
    }

    /// Quotient and remainder: `x = q * y + r` without overflow, and `r < y`.
    fn division(&mut self, terms: &mut TermStore, a: Term, b: Term) -> Division {
        if let Some(known) = self.divisions.get(&(a, b)) {
            return known.clone();
        }
        let (x, y) = (self.bits(terms, a), self.bits(terms, b));
        let width = x.len();
        let mut variables =
            || (0..width).map(|_| self.solver.new_variable()).collect::<Box<[Lit]>>();
        let (quotient, remainder) = (variables(), variables());
        // Twice the width excludes overflow.
        let wide = |bits: &[Lit]| [bits, &vec![-TRUE_LIT; width]].concat();
        let product = self.product(&wide(&quotient), &wide(&y));
        let (sum, _) = self.sum(&product, &wide(&remainder), -TRUE_LIT);
        let exact = self.equal(&sum, &wide(&x));
        let small = self.less(&remainder, &y);
        let zero = self.equal(&y, &vec![-TRUE_LIT; width]);
        self.solver.add_clause(&[zero, exact]);
        self.solver.add_clause(&[zero, small]);
        let all_ones = self.equal(&quotient, &vec![TRUE_LIT; width]);
        let unchanged = self.equal(&remainder, &x);
        self.solver.add_clause(&[-zero, all_ones]);
        self.solver.add_clause(&[-zero, unchanged]);
        self.divisions.insert((a, b), (quotient.clone(), remainder.clone()));
        (quotient, remainder)
    }

    fn or(&mut self, a: Lit, b: Lit) -> Lit {
        -self.and(-a, -b)
    }

    /// The output of a gate. `clauses` defines a new output.
    fn gate(&mut self, gate: Gate, clauses: impl FnOnce(&mut SatSolver, Lit)) -> Lit {
        if let Some(&lit) = self.gates.get(&gate) {
            return lit;
        }
        let out = self.solver.new_variable();
        clauses(&mut self.solver, out);
        self.gates.insert(gate, out);
        out
    }

    fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = (a.min(b), a.max(b));
        match (a, b) {
            _ if a == -TRUE_LIT || b == -TRUE_LIT || a == -b => -TRUE_LIT,
            _ if a == TRUE_LIT || a == b => b,
            _ if b == TRUE_LIT => a,
            _ => self.gate(Gate::And(a, b), |solver, out| {
                solver.add_clause(&[-out, a]);
                solver.add_clause(&[-out, b]);
                solver.add_clause(&[out, -a, -b]);
            }),
        }
    }

    fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let (x, y) = (a.abs().min(b.abs()), a.abs().max(b.abs()));
        let negate = (a < 0) != (b < 0);
        let out = match (x, y) {
            _ if x == y => -TRUE_LIT,
            (TRUE_LIT, _) => -y,
            _ => self.gate(Gate::Xor(x, y), |solver, out| {
                solver.add_clause(&[-out, x, y]);
                solver.add_clause(&[-out, -x, -y]);
                solver.add_clause(&[out, -x, y]);
                solver.add_clause(&[out, x, -y]);
            }),
        };
        if negate { -out } else { out }
    }

    /// `a` if `c` is true, otherwise `b`.
    fn mux(&mut self, c: Lit, a: Lit, b: Lit) -> Lit {
        match () {
            () if c == TRUE_LIT || a == b => a,
            () if c == -TRUE_LIT => b,
            () if c < 0 => self.mux(-c, b, a),
            () if a == -b => self.xor(c, b),
            () if a == TRUE_LIT || a == c => self.or(c, b),
            () if a == -TRUE_LIT || a == -c => self.and(-c, b),
            () if b == TRUE_LIT || b == -c => self.or(-c, a),
            () if b == -TRUE_LIT || b == c => self.and(c, a),
            () => self.gate(Gate::Mux(c, a, b), |solver, out| {
                solver.add_clause(&[-c, -a, out]);
                solver.add_clause(&[-c, a, -out]);
                solver.add_clause(&[c, -b, out]);
                solver.add_clause(&[c, b, -out]);
                solver.add_clause(&[-a, -b, out]);
                solver.add_clause(&[a, b, -out]);
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
            if x == TRUE_LIT {
                return self.or(y, z);
            }
            if x == -TRUE_LIT {
                return self.and(y, z);
            }
        }
        self.gate(Gate::Majority(a, b, c), |solver, out| {
            for (x, y) in [(a, b), (a, c), (b, c)] {
                solver.add_clause(&[-x, -y, out]);
                solver.add_clause(&[x, y, -out]);
            }
        })
    }
}

/// Returns `true` for the equality of terms of more than one bit.
fn is_equality(terms: &TermStore, term: Term) -> bool {
    matches!(terms.node(term), TermNode::Binary(BinaryOp::Eq, a, _) if terms.width(a) > 1)
}
