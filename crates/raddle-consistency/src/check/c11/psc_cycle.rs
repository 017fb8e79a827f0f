//! Explains a cycle of `psc` that coherence alone forces.
//!
//! Every step of `psc` is decomposed into the relations that it consists of: `po` and `hb`, `rf`, and `mo` or `fr`, whose
//! reasons are in the derivation. Runs only for inconsistent executions.

use std::collections::VecDeque;

use super::basis::Basis;
use super::bits::{BitMatrix, ones};
use super::explain::{fact, lift, link, reasons, updates_between};
use super::forced::ForcedOrder;
use super::graph::{C11Graph, NONE, Traits};
use super::psc::{FixedPsc, Psc};
use super::seq_cst::{ChainOrders, known};
use super::sort::Predecessors;
use crate::witness::{Axiom, CycleLink, MoFact, Relation, Violation, WhyMo};

/// The violation: a cycle of `psc` with the forced orders.
pub(super) fn explain(graph: &C11Graph<'_>, basis: &Basis, psc: &Psc) -> Violation {
    let cycle = shortest(&known(psc, &ChainOrders::forced(psc)), psc.events.len());
    let around = FixedPsc::new(graph, basis);
    let mut builder = CycleBuilder { around, basis, cycle: vec![], derivation: vec![] };
    for (at, &from) in cycle.iter().enumerate() {
        let to = cycle[(at + 1) % cycle.len()];
        builder.step(psc.events[from], psc.events[to]);
    }
    Violation::Axiom { axiom: Axiom::SeqCst, cycle: builder.cycle, derivation: builder.derivation }
}

/// A shortest cycle of a relation that has one. Only events on cycles are tried as starts.
fn shortest(relation: &BitMatrix, count: usize) -> Vec<usize> {
    let mut reach = relation.clone();
    reach.close();
    let starts = (0..count).filter(|&event| reach.has(event, event));
    let cycles = starts.filter_map(|start| cycle_through(relation, count, start));
    cycles.min_by_key(Vec::len).expect("there is a cycle")
}

/// A shortest cycle through an event, if there is one.
fn cycle_through(relation: &BitMatrix, count: usize, start: usize) -> Option<Vec<usize>> {
    let mut came = vec![usize::MAX; count];
    let mut queue = VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        for next in ones(relation.row(at)) {
            if next == start {
                let back = |&event: &usize| Some(came[event]).filter(|&e| e != usize::MAX);
                let mut cycle: Vec<usize> = std::iter::successors(Some(at), back).collect();
                cycle.reverse();
                return Some(cycle);
            }
            if came[next] == usize::MAX {
                came[next] = at;
                queue.push_back(next);
            }
        }
    }
    None
}

/// One side of an ordered pair of writes: how an event is related to the write.
#[derive(Clone, Copy)]
struct PscSide {
    write: u32,
    /// The read of the write that connects them, or [`NONE`].
    read: u32,
}

struct CycleBuilder<'a, 'e> {
    around: FixedPsc<'a, 'e>,
    basis: &'a Basis,
    cycle: Vec<CycleLink>,
    derivation: Vec<MoFact>,
}

impl CycleBuilder<'_, '_> {
    /// Adds the links that show that one event is psc-before another.
    fn step(&mut self, from: u32, to: u32) {
        if let Some(path) = self.around.fixed_path(from, to) {
            path.windows(2).for_each(|pair| self.ordered(pair[0], pair[1]));
            return;
        }
        let found = (0..self.around.graph.locations()).any(|location| {
            self.observed_between(location, from, to) || self.overwritten(location, from, to)
        });
        debug_assert!(found, "a step of psc has a reason");
    }

    /// Adds that an event happens before another, unless it is the other.
    fn ordered(&mut self, from: u32, to: u32) {
        if from == to {
            return;
        }
        let thread = |event: u32| self.around.graph.thread_of(event);
        let same = thread(from) == thread(to);
        self.cycle.push(link(from, to, if same { Relation::Po } else { Relation::Hb }));
    }

    /// `[F]; hb; rf; hb; [F]`.
    fn observed_between(&mut self, location: usize, from: u32, to: u32) -> bool {
        let graph = self.around.graph;
        if !graph.is(from, Traits::FENCE) || !graph.is(to, Traits::FENCE) {
            return false;
        }
        let reads = self.basis.by_location.get(location).iter().map(|access| access.event);
        let found = reads.map(|read| (graph.rf(read), read)).find(|&(write, read)| {
            write != NONE && self.around.hb(from, write) && self.around.hb(read, to)
        });
        let Some((write, read)) = found else { return false };
        self.ordered(from, write);
        self.cycle.push(link(write, read, Relation::Rf));
        self.ordered(read, to);
        true
    }

    /// By `mo` or `fr` at a location.
    fn overwritten(&mut self, location: usize, from: u32, to: u32) -> bool {
        let accesses = || self.basis.by_location.get(location).iter().map(|access| access.event);
        let left: Vec<PscSide> = accesses().filter_map(|at| self.left(at, from)).collect();
        let right: Vec<PscSide> = accesses().filter_map(|at| self.right(at, from, to)).collect();
        if left.is_empty() || right.is_empty() {
            return false;
        }
        let mut orders = ForcedAtLocation::new(&self.around, self.basis, location);
        let pairs = left.iter().flat_map(|&l| right.iter().map(move |&r| (l, r)));
        let Some((left, right)) = pairs.into_iter().find(|(l, r)| orders.orders(l.write, r.write))
        else {
            return false;
        };
        let facts = orders.why(left.write, right.write);
        self.derivation.extend(facts);
        let (start, relation) = match left.read {
            NONE => (left.write, Relation::Mo),
            read => (read, Relation::Fr),
        };
        self.ordered(from, start);
        self.cycle.push(link(start, right.write, relation));
        if right.read != NONE {
            self.cycle.push(link(right.write, right.read, Relation::Rf));
        }
        self.ordered(if right.read == NONE { right.write } else { right.read }, to);
        true
    }

    /// Returns the write that an access is or observes if an event is in its `left`.
    fn left(&self, access: u32, event: u32) -> Option<PscSide> {
        let graph = self.around.graph;
        let fence = graph.is(event, Traits::FENCE);
        let fits = access == event || (fence && self.around.hb(event, access));
        match graph.rf(access) {
            _ if !fits => None,
            source if !graph.is(access, Traits::WRITE) => {
                (source != NONE).then_some(PscSide { write: source, read: access })
            }
            _ => Some(PscSide { write: access, read: NONE }),
        }
    }

    /// Returns the write that an access is or observes if an event is in its `right`, for a step that starts at `from`.
    fn right(&self, access: u32, from: u32, event: u32) -> Option<PscSide> {
        let graph = self.around.graph;
        let fence = |event| graph.is(event, Traits::FENCE);
        let after = fence(event) && self.around.hb(access, event);
        if graph.is(access, Traits::WRITE) {
            return (access == event || after).then_some(PscSide { write: access, read: NONE });
        }
        let source = graph.rf(access);
        (source != NONE && after && fence(from)).then_some(PscSide { write: source, read: access })
    }
}

/// The forced order at a location, with reasons.
struct ForcedAtLocation<'a, 'e> {
    around: &'a FixedPsc<'a, 'e>,
    basis: &'a Basis,
    forced: ForcedOrder,
    location: usize,
}

impl<'a, 'e> ForcedAtLocation<'a, 'e> {
    fn new(around: &'a FixedPsc<'a, 'e>, basis: &'a Basis, location: usize) -> Self {
        let mut forced = ForcedOrder::default();
        let found = forced.find(around.graph, basis, location);
        debug_assert!(found.is_ok(), "coherence was checked before");
        ForcedAtLocation { around, basis, forced, location }
    }

    /// Returns `true` if one write must come before another.
    fn orders(&mut self, one: u32, other: u32) -> bool {
        let chains = &self.basis.chains;
        if chains.same(one, other) {
            return chains.place(one) < chains.place(other);
        }
        self.path(one, other).is_some()
    }

    /// Forced pairs that lead from the chain of one write to the chain of another; none if the first
    /// chain is the initial one.
    fn path(&self, one: u32, other: u32) -> Option<Vec<(u32, u32)>> {
        let accesses = self.basis.by_location.get(self.location);
        let chain_of = |write: u32| self.forced.chain_of(accesses, write);
        let event = |write: u32| accesses[write as usize].event;
        let tops = &self.forced.numbers().tops;
        let (start, end) = (chain_of(one), chain_of(other));
        if start == 0 {
            return Some(vec![]);
        }
        // By chain: the pair by which it comes before one that is nearer to the end.
        let mut pair: Vec<Option<(u32, u32)>> = vec![None; tops.len()];
        let mut queue = VecDeque::from([end]);
        while let Some(chain) = queue.pop_front() {
            for at in 0..self.forced.degree(chain) {
                let Some((write, before)) = self.forced.get(chain, at) else { continue };
                if before != end && pair[before].is_none() {
                    pair[before] = Some((event(write), event(tops[chain])));
                    queue.push_back(before);
                }
            }
        }
        let step = |&(_, top): &(u32, u32)| pair[chain_of(top)];
        pair[start]?;
        Some(std::iter::successors(pair[start], step).collect())
    }

    /// The facts by which one write comes before another.
    fn why(&self, one: u32, other: u32) -> Vec<MoFact> {
        let chains = &self.basis.chains;
        if chains.same(one, other) {
            return updates_between(chains, one, other);
        }
        let pairs = self.path(one, other).unwrap_or_default();
        let graph = self.around.graph;
        let reasons = reasons(graph, self.basis, self.location, &pairs);
        let mut facts = vec![];
        for (&(write, top), reason) in pairs.iter().zip(reasons) {
            facts.push(reason.fact(graph, write));
            lift(&mut facts, chains.top(write), top);
        }
        if pairs.is_empty() {
            facts.push(fact(self.location as u32, other, WhyMo::HappensBefore));
        }
        lift(&mut facts, one, other);
        facts
    }
}
