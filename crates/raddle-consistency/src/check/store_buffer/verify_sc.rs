//! VerifySC: consistency under sequential consistency.
//!
//! **Problem.** Given the threads and for each read the writes it may have observed (VSC with
//! good-writes; with one source each, VSC-rf), is there an interleaving in which each read observes
//! one of them?
//!
//! **Paper.** Agarwal et al., *Stateless model checking under a reads-value-from equivalence*, CAV
//! 2021, Algorithm 1 with all heuristics of section 4.2: greedy reads, dead writes, closure, and
//! guidance by an auxiliary trace (here the recorded order of the history).
//!
//! **Where we differ.** See [`eager`](super::eager) for the state and for what is never branched
//! on. The paper's second greedy rule needs the write to be minimal in the order as well (the order
//! that the closure found, if it was run).
//!
//! **Cost.** O(k n^k) states for a reads-from map with k threads and n events; with good-writes
//! O(n^k k^d) for d locations. The problem is NP-hard in k and in d.

use super::eager::Eager;
use super::run::Question;
use super::search::{SearchOutcome, search};
use crate::check::effort::Effort;
use crate::witness::Witness;

/// Searches for an interleaving.
pub(super) fn verify_sc(question: Question<'_>, effort: &mut Effort) -> (SearchOutcome, Witness) {
    search(Eager::new(question), effort)
}
