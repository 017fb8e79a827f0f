//! Causal pasts of events.

use super::graph::Graph;
use super::past_set::PastSet;

/// The causal pasts of all events of an execution: each with the events before it in its thread, what
/// it observes, the starts and ends of threads, and the pasts of all these.
pub(super) struct Pasts {
    of: Vec<PastSet>,
    none: PastSet,
}

impl Pasts {
    pub(super) fn new(graph: &Graph) -> Pasts {
        let none = PastSet::empty(graph.events.len());
        let mut of: Vec<PastSet> = vec![];
        for (id, event) in graph.events.iter().enumerate() {
            let mut past = none.clone();
            event.causes().for_each(|cause| past.unite(&of[cause]));
            past.insert(id);
            of.push(past);
        }
        Pasts { of, none }
    }

    /// The past of an event, itself included.
    pub(super) fn of(&self, event: Option<usize>) -> &PastSet {
        event.map_or(&self.none, |event| &self.of[event])
    }

    /// What was explored before an event.
    pub(super) fn earlier(&self, graph: &Graph, event: usize) -> PastSet {
        let mut earlier = self.none.clone();
        let rank = graph.events[event].rank;
        let before = (0..graph.events.len()).filter(|&other| graph.events[other].rank < rank);
        before.for_each(|other| earlier.insert(other));
        earlier
    }
}
