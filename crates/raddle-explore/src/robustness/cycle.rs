//! Cycles: why SC forbids an execution (Shasha and Snir 1988).
//!
//! Under SC, program order, reads-from, coherence and from-reads are part of one total order, so they have
//! no cycle. An execution that SC forbids has one; this module finds one with as few events as possible.
//!
//! *Cost.* A breadth-first search from every event, over quadratically many edges; for one execution.

use std::collections::VecDeque;

use super::delays::Delays;
use raddle_core::program::OpKind;
use raddle_core::trace::{CycleEdge, CycleRelation, Observed, Trace};

/// A shortest cycle of an execution whose memory is updated in this order, if there is one. In other runs
/// memory may be updated in another order, so cycles without coherence are preferred.
pub(super) fn shortest(trace: &Trace, delays: &Delays) -> Option<Vec<CycleEdge>> {
    let graph = Graph { trace, delays };
    let mut next: Vec<Vec<CycleEdge>> =
        (0..trace.events.len()).map(|at| graph.edges_from(at)).collect();
    let shortest = |next: &[Vec<CycleEdge>]| {
        (0..next.len()).filter_map(|at| shortest_through(at, next)).min_by_key(Vec::len)
    };
    let with_coherence = shortest(&next);
    for edges in &mut next {
        edges.retain(|edge| edge.relation != CycleRelation::Coherence);
    }
    shortest(&next).or(with_coherence)
}

/// A shortest cycle through an event.
fn shortest_through(start: usize, next: &[Vec<CycleEdge>]) -> Option<Vec<CycleEdge>> {
    let mut reached: Vec<Option<CycleEdge>> = vec![None; next.len()];
    let mut open = VecDeque::from([start]);
    while let Some(at) = open.pop_front() {
        for &edge in &next[at] {
            if reached[edge.to].is_none() {
                reached[edge.to] = Some(edge);
                open.push_back(edge.to);
            }
        }
    }
    let mut cycle = vec![reached[start]?];
    while cycle[cycle.len() - 1].from != start {
        cycle.push(reached[cycle[cycle.len() - 1].from]?);
    }
    cycle.reverse();
    Some(cycle)
}

/// The events of a trace, with an edge for each pair that SC orders.
struct Graph<'a> {
    trace: &'a Trace,
    delays: &'a Delays,
}

impl Graph<'_> {
    fn edges_from(&self, from: usize) -> Vec<CycleEdge> {
        let edge = |to: usize| Some(CycleEdge { from, to, relation: self.relation(from, to)? });
        (0..self.trace.events.len()).filter(|&to| to != from).filter_map(edge).collect()
    }

    fn relation(&self, from: usize, to: usize) -> Option<CycleRelation> {
        let (first, second) = (&self.trace.events[from], &self.trace.events[to]);
        if first.thread == second.thread {
            return (first.position < second.position).then_some(CycleRelation::ProgramOrder);
        }
        if first.op.kind == (OpKind::Spawn { thread: second.thread })
            || second.op.kind == (OpKind::Join { thread: first.thread })
        {
            return Some(CycleRelation::SpawnOrJoin);
        }
        let location = first.op.kind.location()?;
        let is_same = second.op.kind.location() == Some(location);
        if !is_same || !self.is_access(from) || !self.is_access(to) {
            return None;
        }
        if second.observed == Some(Observed::Event(from)) {
            return Some(CycleRelation::ReadsFrom);
        }
        let earlier = |a: usize, b: usize| self.delays.arrival[a] < self.delays.arrival[b];
        if !self.writes(to) {
            return None;
        }
        match first.observed {
            _ if self.writes(from) => earlier(from, to).then_some(CycleRelation::Coherence),
            Some(Observed::Initial) => Some(CycleRelation::FromReads),
            Some(Observed::Event(source)) => {
                earlier(source, to).then_some(CycleRelation::FromReads)
            }
            _ => None,
        }
    }

    /// Returns `true` for an access to memory that executions contain.
    fn is_access(&self, at: usize) -> bool {
        !matches!(
            self.trace.events[at].op.kind,
            OpKind::Init { .. } | OpKind::WriteCell { .. } | OpKind::ReadCell { .. }
        )
    }

    fn writes(&self, at: usize) -> bool {
        let event = &self.trace.events[at];
        event.written.is_some()
            || matches!(event.op.kind, OpKind::Lock { .. } | OpKind::Unlock { .. })
    }
}
