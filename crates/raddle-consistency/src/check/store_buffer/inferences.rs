//! The log of inferences of the closure.

use super::instance::Instance;
use super::preserved::Preserved;
use crate::witness::Fact;

/// A link from one event to a later one: preserved program order, or an inferred fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClosureLink {
    Program,
    Fact(u32),
}

/// The facts inferred so far, in the order of inference.
pub(super) struct Inferences<'i> {
    pub(super) instance: &'i Instance,
    pub(super) preserved: &'i Preserved,
    pub(super) facts: Vec<Fact>,
    /// By event: the inferred edges that leave it, as facts.
    pub(super) edges_from: Vec<Vec<u32>>,
}

impl Inferences<'_> {
    /// The events that an event is known to come before, by program order or by inference.
    pub(super) fn successors(&self, event: u32) -> impl Iterator<Item = u32> {
        let inferred = self.edges_from[event as usize].iter().filter_map(|&fact| {
            match self.facts[fact as usize] {
                Fact::Order(edge) => Some(edge.to.index() as u32),
                Fact::Excluded { .. } => None,
            }
        });
        self.preserved.successors(event).chain(inferred)
    }

    /// The events in an order that respects what is known, as far as that has no cycles.
    pub(super) fn sorted_events(&self) -> Vec<u32> {
        let events = 0..self.instance.ops.len() as u32;
        let mut incoming = vec![0u32; events.len()];
        for to in events.clone().flat_map(|event| self.successors(event)) {
            incoming[to as usize] += 1;
        }
        let mut sorted: Vec<u32> =
            events.clone().filter(|&event| incoming[event as usize] == 0).collect();
        let mut at = 0;
        while at < sorted.len() {
            for to in self.successors(sorted[at]) {
                incoming[to as usize] -= 1;
                if incoming[to as usize] == 0 {
                    sorted.push(to);
                }
            }
            at += 1;
        }
        sorted.extend(events.filter(|&event| incoming[event as usize] != 0));
        sorted
    }
}

/// The saturation was contradictory.
pub(super) enum ClosureContradiction {
    /// An event would have to come before itself.
    Cycle(u32),
    /// A read has no source left.
    NoSource(u32),
}
