//! VerifyTSO: consistency under total store order.
//!
//! **Problem.** Given the threads and for each read its source (VTSO-rf), is there a run of the
//! machine with one FIFO store buffer for each thread in which each read observes its source, in
//! the buffer or in memory?
//!
//! **Paper.** Bui et al., *The reads-from equivalence for the TSO and PSO memory models*, OOPSLA
//! 2021, Algorithm 1: enumerate the sets of stores that have reached memory, and for each keep one
//! run that is maximal in the other events. O(k n^(k+1)) for n events and k threads.
//!
//! **Where we differ.**
//! - The paper has no read-modify-writes. An update needs an empty buffer and writes memory at
//!   once: it is one of the writes that are enumerated and never runs eagerly, unless nothing else
//!   can happen at its location ([`eager`](super::eager)). A sequentially consistent store is the
//!   same without the read.
//! - A failed compare-exchange, a spawn and a join need empty buffers too and run eagerly.
//! - Stores that no event will read are flushed eagerly, as Algorithm 2 does under PSO.
//! - Several possible sources: the same enumeration with the order of writes in the state (see
//!   `eager`). That also decides PSO with several sources, where a store may leave the buffer of
//!   its location: exact, but without the polynomial bound.

use super::eager::Eager;
use super::run::Question;
use super::search::{SearchOutcome, search};
use crate::check::effort::Effort;
use crate::witness::Witness;

/// Searches for a run with the given store buffers.
pub(super) fn verify_tso(question: Question<'_>, effort: &mut Effort) -> (SearchOutcome, Witness) {
    search(Eager::new(question), effort)
}
