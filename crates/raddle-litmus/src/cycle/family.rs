//! All cycles from some relaxations.
//!
//! Sequences of relaxations are tried one by one, where the next one fits the last; turned cycles are
//! one. The cost is exponential in the length, so there is a bound.

use std::collections::BTreeSet;

use super::edge::{EXPECTED, Edge};
use super::{Cycle, CycleError, quote};

/// How many sequences are tried.
const BUDGET: usize = 1_000_000;

pub(super) fn all(length: usize, relaxations: &str) -> Result<Vec<Cycle>, CycleError> {
    let unknown = |word| CycleError(format!("found {}: expected {EXPECTED}", quote(word)));
    let words = relaxations.split_whitespace();
    let edges: Vec<Edge> = words
        .map(|word| Edge::parse(word).ok_or_else(|| unknown(word)))
        .collect::<Result<_, _>>()?;
    let mut search = Search { edges, length, path: vec![], found: BTreeSet::new(), left: BUDGET };
    search.extend()?;
    Ok(search.found.into_iter().collect())
}

struct Search {
    edges: Vec<Edge>,
    length: usize,
    path: Vec<Edge>,
    found: BTreeSet<Cycle>,
    left: usize,
}

impl Search {
    fn extend(&mut self) -> Result<(), CycleError> {
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            CycleError(
                "there are too many cycles: expected a smaller length or fewer relaxations".into(),
            )
        })?;
        if self.path.len() == self.length {
            self.found.extend(Cycle::new(&self.path));
            return Ok(());
        }
        for at in 0..self.edges.len() {
            let edge = self.edges[at];
            if self.path.last().is_none_or(|last| last.target == edge.source) {
                self.path.push(edge);
                self.extend()?;
                self.path.pop();
            }
        }
        Ok(())
    }
}
