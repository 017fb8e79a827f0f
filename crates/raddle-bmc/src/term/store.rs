//! The store of all terms, with hash consing.

use rustc_hash::{FxHashMap, FxHashSet};

use super::node::{Term, TermNode};
use super::number::{evaluate, mask, signed};
use super::value_set::ValueSet;

/// Operations move into a choice between at most this many constants.
const MAX_LEAVES: u8 = 16;

#[derive(Clone, Copy)]
struct TermInfo {
    node: TermNode,
    width: u8,
    /// The number of leaves if the term is a tree of `Ite` whose leaves are constants; otherwise, or if there are more
    /// than [`MAX_LEAVES`], 0.
    leaves: u8,
}

/// Creates terms and owns their structure.
pub(crate) struct TermStore {
    infos: Vec<TermInfo>,
    /// Terms by structure and width.
    known: FxHashMap<(TermNode, u8), Term>,
    /// The variables in the order of their creation, with their possible values.
    variables: Vec<(Term, ValueSet)>,
    /// Cache of [`TermStore::values`].
    values: FxHashMap<Term, ValueSet>,
}

impl Default for TermStore {
    fn default() -> Self {
        let mut terms = TermStore {
            infos: vec![],
            known: FxHashMap::default(),
            variables: vec![],
            values: FxHashMap::default(),
        };
        // `FALSE` and `TRUE`.
        terms.constant(0, 1);
        terms.constant(1, 1);
        terms
    }
}

impl TermStore {
    /// The outermost operation of a term.
    pub(crate) fn node(&self, term: Term) -> TermNode {
        self.infos[term.0 as usize].node
    }

    /// The number of bits, 1 to 64.
    pub(crate) fn width(&self, term: Term) -> u8 {
        self.infos[term.0 as usize].width
    }

    /// The value of the term if it is a constant.
    pub(crate) fn as_const(&self, term: Term) -> Option<u64> {
        match self.node(term) {
            TermNode::Const(value) => Some(value),
            _ => None,
        }
    }

    /// The variable with the given index, and its possible values.
    pub(crate) fn variable(&self, index: u32) -> (Term, &ValueSet) {
        let (term, values) = &self.variables[index as usize];
        (*term, values)
    }

    /// The number of variables created so far.
    pub(crate) fn variable_count(&self) -> usize {
        self.variables.len()
    }

    /// The term with this structure and width, without simplification.
    pub(super) fn intern(&mut self, node: TermNode, width: u8) -> Term {
        if let Some(&term) = self.known.get(&(node, width)) {
            return term;
        }
        let term = Term(u32::try_from(self.infos.len()).expect("fewer than 2^32 terms"));
        let leaves = match node {
            TermNode::Const(_) => 1,
            TermNode::Ite(_, then, other) => {
                let (a, b) =
                    (self.infos[then.0 as usize].leaves, self.infos[other.0 as usize].leaves);
                if a == 0 || b == 0 || a + b > MAX_LEAVES { 0 } else { a + b }
            }
            _ => 0,
        };
        self.infos.push(TermInfo { node, width, leaves });
        self.known.insert((node, width), term);
        term
    }

    /// The constant with the lowest `width` bits of `value`.
    pub(crate) fn constant(&mut self, value: u64, width: u8) -> Term {
        debug_assert!((1..=64).contains(&width));
        self.intern(TermNode::Const(value & mask(width)), width)
    }

    /// A new unconstrained variable.
    pub(crate) fn var(&mut self, width: u8) -> Term {
        self.var_of(width, ValueSet::any(width))
    }

    /// A new variable with these possible values; a constant if there is only one.
    pub(crate) fn var_of(&mut self, width: u8, values: ValueSet) -> Term {
        if let Some(value) = values.single() {
            return self.constant(value, width);
        }
        let index = u32::try_from(self.variables.len()).expect("fewer than 2^32 variables");
        let term = self.intern(TermNode::Var(index), width);
        self.variables.push((term, values));
        term
    }

    /// Adds the roots and all their subterms to `seen`. Terms that are already in `seen` are not visited again.
    pub(crate) fn reach(&self, roots: impl IntoIterator<Item = Term>, seen: &mut FxHashSet<Term>) {
        let mut open: Vec<Term> = roots.into_iter().collect();
        while let Some(term) = open.pop() {
            if seen.insert(term) {
                open.extend(self.node(term).operands());
            }
        }
    }

    /// An over-approximation of the possible values of a term.
    pub(crate) fn values(&mut self, term: Term) -> ValueSet {
        if let Some(values) = self.values.get(&term) {
            return values.clone();
        }
        let width = self.width(term);
        let values = match self.node(term) {
            TermNode::Const(value) => ValueSet::one(value),
            TermNode::Var(index) => self.variables[index as usize].1.clone(),
            TermNode::Ite(_, a, b) => self.values(a).union(&self.values(b)),
            TermNode::Not(a) => self.values(a).map(width, |x| !x & mask(width)),
            TermNode::Zext(a) => self.values(a),
            TermNode::Sext(a) => {
                let from = self.width(a);
                let all = self.values(a);
                if all.zeros() >> (from - 1) & 1 == 1 {
                    all
                } else {
                    all.map(width, |x| signed(x, from) as u64 & mask(width))
                }
            }
            TermNode::Extract(a, low) => {
                let all = self.values(a);
                let zeros = (all.zeros() >> low) | !mask(width);
                all.map(width, |x| x >> low & mask(width)).with_zeros(zeros)
            }
            TermNode::Binary(op, a, b) => {
                let operand = self.width(a);
                let (a, b) = (self.values(a), self.values(b));
                a.combine(&b, width, op, |x, y| evaluate(op, x, y, operand))
            }
        };
        self.values.insert(term, values.clone());
        values
    }

    /// The number of constants that the term is a choice between; 0 if it is something else, or if they are too many.
    pub(super) fn leaves(&self, term: Term) -> u8 {
        self.infos[term.0 as usize].leaves
    }

    /// Returns `true` if the term is a choice between two or more constants.
    pub(super) fn is_choice(&self, term: Term) -> bool {
        self.leaves(term) > 1
    }
}
