//! Causal pasts as sets of events.

use super::graph::Graph;

/// A set of events of one execution.
#[derive(Clone, Debug)]
pub(super) struct EventSet(Vec<u64>);

impl EventSet {
    fn empty(events: usize) -> EventSet {
        EventSet(vec![0; events.div_ceil(64)])
    }

    fn insert(&mut self, event: usize) {
        self.0[event / 64] |= 1 << (event % 64);
    }

    pub(super) fn has(&self, event: usize) -> bool {
        self.0[event / 64] >> (event % 64) & 1 == 1
    }

    /// Adds another set.
    pub(super) fn unite(&mut self, other: &EventSet) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }

    /// The events, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..64 * self.0.len()).filter(|&event| self.has(event))
    }
}

/// The causal pasts of all events of an execution: each with the events before it in its thread, what
/// it observes, the starts and ends of threads, and the pasts of all these.
pub(super) struct Pasts {
    of: Vec<EventSet>,
    none: EventSet,
}

impl Pasts {
    pub(super) fn new(graph: &Graph) -> Pasts {
        let none = EventSet::empty(graph.events.len());
        let mut of: Vec<EventSet> = vec![];
        for (id, event) in graph.events.iter().enumerate() {
            let mut past = none.clone();
            event.causes().for_each(|cause| past.unite(&of[cause]));
            past.insert(id);
            of.push(past);
        }
        Pasts { of, none }
    }

    /// The past of an event, itself included.
    pub(super) fn of(&self, event: Option<usize>) -> &EventSet {
        event.map_or(&self.none, |event| &self.of[event])
    }

    /// What was explored before an event.
    pub(super) fn earlier(&self, graph: &Graph, event: usize) -> EventSet {
        let mut earlier = self.none.clone();
        let rank = graph.events[event].rank;
        let before = (0..graph.events.len()).filter(|&other| graph.events[other].rank < rank);
        before.for_each(|other| earlier.insert(other));
        earlier
    }
}
