//! Families: all cycles of some relaxations.
//!
//! Enumerates all sequences in which each relaxation fits the previous one, and identifies rotations. The cost is
//! exponential in the length, so the number of sequences is limited.

use std::collections::BTreeSet;

use super::edge::{CycleEdge, EXPECTED};
use super::{Cycle, CycleError, quote};

/// Maximal number of sequences and prefixes of sequences.
const BUDGET: usize = 1_000_000;

pub(super) fn all(length: usize, relaxations: &str) -> Result<Vec<Cycle>, CycleError> {
    let unknown = |word| CycleError(format!("found {}: expected {EXPECTED}", quote(word)));
    let words = relaxations.split_whitespace();
    let edges: Vec<CycleEdge> = words
        .map(|word| CycleEdge::parse(word).ok_or_else(|| unknown(word)))
        .collect::<Result<_, _>>()?;
    let mut search =
        CycleSearch { edges, length, path: vec![], found: BTreeSet::new(), left: BUDGET };
    search.extend()?;
    Ok(search.found.into_iter().collect())
}

struct CycleSearch {
    edges: Vec<CycleEdge>,
    length: usize,
    path: Vec<CycleEdge>,
    found: BTreeSet<Cycle>,
    left: usize,
}

impl CycleSearch {
    fn extend(&mut self) -> Result<(), CycleError> {
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            CycleError("too many cycles: expected a smaller length or fewer relaxations".into())
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
