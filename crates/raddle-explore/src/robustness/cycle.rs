//! Why SC does not allow an execution: a circle of events, each of which comes before the next (Shasha
//! and Snir 1988).
//!
//! Under SC program order, reads-from, the order in which memory changes and from-read are all part of
//! one total order, so they have no circle. Here it is searched for one with as few events as possible.
//!
//! Cost: a breadth-first search from every event, over a square of relations; for one execution.

use std::collections::VecDeque;

use super::delays::Delays;
use raddle_consistency::witness::Relation;
use raddle_core::program::OpKind;
use raddle_core::trace::{Observed, Trace};

/// One event comes before another under SC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The index of the first in the trace.
    pub from: usize,
    /// The index of the second.
    pub to: usize,
    /// Why: program order (`Po`; `Asw` for starting and joining threads), `Rf`, `Mo` or `Fr`.
    pub relation: Relation,
}

/// A shortest circle of an execution whose memory changes in this order, if there is one. In other runs
/// memory may change in another order; so one without `mo` is preferred.
pub(super) fn shortest(trace: &Trace, delays: &Delays) -> Option<Vec<Link>> {
    let graph = Graph { trace, delays };
    let mut next: Vec<Vec<Link>> = (0..trace.events.len()).map(|at| graph.links(at)).collect();
    let circle =
        |next: &[Vec<Link>]| (0..next.len()).filter_map(|at| from(at, next)).min_by_key(Vec::len);
    let with_mo = circle(&next);
    for links in &mut next {
        links.retain(|link| link.relation != Relation::Mo);
    }
    circle(&next).or(with_mo)
}

/// A shortest circle through an event.
fn from(start: usize, next: &[Vec<Link>]) -> Option<Vec<Link>> {
    let mut reached: Vec<Option<Link>> = vec![None; next.len()];
    let mut open = VecDeque::from([start]);
    while let Some(at) = open.pop_front() {
        for &link in &next[at] {
            if reached[link.to].is_none() {
                reached[link.to] = Some(link);
                open.push_back(link.to);
            }
        }
    }
    let mut circle = vec![reached[start]?];
    while circle[circle.len() - 1].from != start {
        circle.push(reached[circle[circle.len() - 1].from]?);
    }
    circle.reverse();
    Some(circle)
}

/// What comes before what.
struct Graph<'a> {
    trace: &'a Trace,
    delays: &'a Delays,
}

impl Graph<'_> {
    /// What comes after an event, and why.
    fn links(&self, from: usize) -> Vec<Link> {
        let link = |to: usize| Some(Link { from, to, relation: self.relation(from, to)? });
        (0..self.trace.events.len()).filter(|&to| to != from).filter_map(link).collect()
    }

    fn relation(&self, from: usize, to: usize) -> Option<Relation> {
        let (first, second) = (&self.trace.events[from], &self.trace.events[to]);
        if first.thread == second.thread {
            return (first.position < second.position).then_some(Relation::Po);
        }
        if first.op.kind == (OpKind::Spawn { thread: second.thread })
            || second.op.kind == (OpKind::Join { thread: first.thread })
        {
            return Some(Relation::Asw);
        }
        let location = first.op.kind.location()?;
        if second.op.kind.location() != Some(location) || !self.counts(from) || !self.counts(to) {
            return None;
        }
        if second.observed == Some(Observed::Event(from)) {
            return Some(Relation::Rf);
        }
        let earlier = |a: usize, b: usize| self.delays.arrival[a] < self.delays.arrival[b];
        if !self.writes(to) {
            return None;
        }
        match first.observed {
            _ if self.writes(from) => earlier(from, to).then_some(Relation::Mo),
            Some(Observed::Initial) => Some(Relation::Fr),
            Some(Observed::Event(source)) => earlier(source, to).then_some(Relation::Fr),
            _ => None,
        }
    }

    /// Whether an event accesses memory that an op carries.
    fn counts(&self, at: usize) -> bool {
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
