//! Turns a contradiction between chains into a violation with reasons.
//!
//! Every contradiction involves a read that observes an overwritten write, because happens-before and reads-from alone have
//! no cycle. The violation shows this read, as a breach of read coherence; the other parts of the cycle are the reasons why
//! the write that it has seen comes after the one that it observes. Runs only for inconsistent executions; O(nk).

use rustc_hash::FxHashMap;

use super::basis::Basis;
use super::chains::UpdateChains;
use super::graph::{C11Graph, NONE, id};
use super::observe::{LocationWalk, SeenOfThread, observe};
use super::sort::ChainContradiction;
use crate::witness::{Axiom, CycleLink, MoFact, Relation, Violation, WhyMo};

/// Why a write comes before a chain.
#[derive(Clone, Copy)]
pub(super) struct Reason {
    /// The event that has seen the write: it observes or is a write of the chain.
    pub(super) event: u32,
    /// The read that observes the write and that the event has seen, or [`NONE`] if it has seen the
    /// write itself.
    pub(super) by: u32,
}

impl Reason {
    /// The fact that the event shows, about a write that it has seen.
    pub(super) fn fact(self, graph: &C11Graph<'_>, write: u32) -> MoFact {
        let event = self.event;
        match graph.rf(event) {
            NONE => fact(write, event, WhyMo::HappensBefore),
            source => fact(write, source, WhyMo::Read { read: id(event) }),
        }
    }
}

/// The reason for each pair of a write and the top of a chain that must come after it. The pairs are of one location.
pub(super) fn reasons(
    graph: &C11Graph<'_>,
    basis: &Basis,
    location: usize,
    pairs: &[(u32, u32)],
) -> Vec<Reason> {
    let mut found: FxHashMap<(u32, u32), Option<Reason>> =
        pairs.iter().map(|&pair| (pair, None)).collect();
    let Basis { clocks, chains, by_location } = basis;
    let accesses = by_location.get(location);
    let event = |index: u32| accesses[index as usize].event;
    let mut walk = LocationWalk::default();
    observe(walk.enter(graph, clocks, accesses), |access, seen| {
        let Some(target) = accesses[access as usize].target(access) else { return };
        let top = chains.top(event(target));
        for (write, by) in seen.iter().flat_map(SeenOfThread::writes) {
            if let Some(reason) = found.get_mut(&(event(write), top)) {
                let by = if by == NONE { NONE } else { event(by) };
                reason.get_or_insert(Reason { event: event(access), by });
            }
        }
    });
    let reason = |pair| found[pair].expect("what is forced has a reason");
    pairs.iter().map(reason).collect()
}

/// The violation that a contradiction at a location shows.
pub(super) fn explain(
    graph: &C11Graph<'_>,
    basis: &Basis,
    location: usize,
    contradiction: ChainContradiction,
) -> Violation {
    let chains = &basis.chains;
    match contradiction {
        ChainContradiction::Stale { read, write, by } => {
            let first = match graph.rf(read) {
                NONE => read,
                source => source,
            };
            let facts = later_in_chain(graph, chains, first, write);
            stale(graph, Reason { event: read, by }, write, facts)
        }
        ChainContradiction::Cycle(pairs) => {
            let reasons = reasons(graph, basis, location, &pairs);
            cycle_violation(graph, chains, pairs, reasons)
        }
    }
}

/// Why a write comes after another of its chain, or after one of the initial chain.
fn later_in_chain(
    graph: &C11Graph<'_>,
    chains: &UpdateChains,
    first: u32,
    write: u32,
) -> Vec<MoFact> {
    if chains.same(first, write) {
        return updates_between(chains, first, write);
    }
    let init = graph.location(write);
    let mut facts = vec![fact(init, write, WhyMo::HappensBefore)];
    if first != init {
        facts.push(fact(first, write, WhyMo::Chains));
    }
    facts
}

/// The updates by which one write of a chain comes before another.
pub(super) fn updates_between(chains: &UpdateChains, first: u32, last: u32) -> Vec<MoFact> {
    let before = chains.from(first).take_while(|&at| at != last);
    before.map(|at| fact(at, chains.next(at), WhyMo::Update)).collect()
}

/// A cycle of writes, each before the chain of the next.
fn cycle_violation(
    graph: &C11Graph<'_>,
    chains: &UpdateChains,
    mut pairs: Vec<(u32, u32)>,
    mut reasons: Vec<Reason>,
) -> Violation {
    let reads = |reason: &Reason| graph.rf(reason.event) != NONE;
    let last = reasons.iter().position(reads).expect("a cycle needs a read");
    pairs.rotate_left(last + 1);
    reasons.rotate_left(last + 1);
    let (Some((write, _)), Some(reason)) = (pairs.pop(), reasons.pop()) else {
        unreachable!("a cycle has pairs");
    };
    let source = graph.rf(reason.event);
    let mut facts = vec![];
    for (&(write, top), reason) in pairs.iter().zip(&reasons) {
        let base = reason.fact(graph, write);
        facts.push(base);
        lift(&mut facts, chains.top(write), top);
    }
    lift(&mut facts, source, write);
    stale(graph, reason, write, facts)
}

/// Adds that one write comes before another because their chains do, unless the last fact says so.
pub(super) fn lift(facts: &mut Vec<MoFact>, from: u32, to: u32) {
    let is_last = facts.last().is_some_and(|last| last.from == id(from) && last.to == id(to));
    if !is_last {
        facts.push(fact(from, to, WhyMo::Chains));
    }
}

/// A read observes a write although it has seen a later one, or a write comes before one that it has
/// seen.
fn stale(graph: &C11Graph<'_>, reason: Reason, write: u32, derivation: Vec<MoFact>) -> Violation {
    let read = reason.event;
    let (axiom, relation) = match graph.rf(read) {
        NONE => (Axiom::WriteCoherence, Relation::Mo),
        _ => (Axiom::ReadCoherence, Relation::Fr),
    };
    let mut cycle = vec![link(read, write, relation)];
    let seen = if reason.by == NONE {
        write
    } else {
        cycle.push(link(write, reason.by, Relation::Rf));
        reason.by
    };
    cycle.push(link(seen, read, Relation::Hb));
    Violation::Axiom { axiom, cycle, derivation }
}

pub(super) fn link(from: u32, to: u32, relation: Relation) -> CycleLink {
    CycleLink { from: id(from), to: id(to), relation }
}

pub(super) fn fact(from: u32, to: u32, why: WhyMo) -> MoFact {
    MoFact { from: id(from), to: id(to), why }
}
