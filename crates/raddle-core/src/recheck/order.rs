//! What is known of the order of events: preserved program order, then more and more facts.
//!
//! A node of the graph is the moment of an event: for a plain store the moment it reaches memory,
//! for everything else the moment it runs. Only a store-store fence has a moment of its own making:
//! the first one when it has run and all earlier stores of its thread are in memory; so it comes
//! after all events before it and before all stores, fences and draining events after it.
//!
//! So program order is preserved except from a store or store-store fence to a later load and,
//! under PSO, between stores to different locations (SC preserves all of it). Initial writes come
//! before everything, a spawn before the thread spawned, and a thread before its join. The graph
//! has O(n) edges for n events, of which the preserved order is the transitive closure.
//!
//! A question is answered by walking the graph: O(n) each, and no cleverness.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::execution::{Action, EventId, Execution, LocationId, ThreadId};
use crate::model::Model;

/// A directed graph over the events and one more node, the start of the threads.
pub(super) struct Order {
    after: Vec<Vec<usize>>,
    before: Vec<Vec<usize>>,
    /// How many nodes walks have visited.
    visited: usize,
}

impl Order {
    /// The preserved program order of a model.
    pub(super) fn program(execution: &Execution, model: Model) -> Self {
        let nodes = execution.event_count() + 1;
        let mut order =
            Order { after: vec![vec![]; nodes], before: vec![vec![]; nodes], visited: 0 };
        for thread in execution.threads() {
            let mut last = Last::default();
            for event in execution.thread_events(thread) {
                for earlier in last.directly_before(execution.action(event), model) {
                    order.link(earlier.index(), event.index());
                }
                last.append(event, execution.action(event), model);
            }
        }
        order.link_threads(execution);
        order
    }

    /// Adds that one event comes before another.
    pub(super) fn add(&mut self, from: EventId, to: EventId) {
        self.link(from.index(), to.index());
    }

    /// All events known to come after an event.
    pub(super) fn after(&mut self, event: EventId) -> FxHashSet<EventId> {
        let found = walk(&self.after, event.index());
        self.visited += found.len();
        found
    }

    /// All events known to come before an event.
    pub(super) fn before(&mut self, event: EventId) -> FxHashSet<EventId> {
        let found = walk(&self.before, event.index());
        self.visited += found.len();
        found
    }

    /// Whether one event is known to come before another.
    pub(super) fn is_before(&mut self, from: EventId, to: EventId) -> bool {
        self.before(to).contains(&from)
    }

    /// How many nodes were visited to answer all questions so far.
    pub(super) fn visited(&self) -> usize {
        self.visited
    }

    fn link(&mut self, from: usize, to: usize) {
        self.after[from].push(to);
        self.before[to].push(from);
    }

    /// Links initial writes, spawns and joins to the ends of the threads.
    fn link_threads(&mut self, execution: &Execution) {
        let start = execution.event_count();
        let ends =
            execution.threads().map(|thread| self.ends(execution, thread)).collect::<Vec<_>>();
        for location in execution.locations() {
            self.link(execution.init_of(location).index(), start);
        }
        for thread in execution.threads() {
            let spawn = execution.spawned_by(thread).map_or(start, EventId::index);
            for &first in &ends[thread.index()].0 {
                self.link(spawn, first);
            }
        }
        for event in execution.events() {
            let Action::Join { thread } = *execution.action(event) else { continue };
            for &last in &ends[thread.index()].1 {
                self.link(last, event.index());
            }
            if let (Some(spawn), 0) = (execution.spawned_by(thread), execution.thread_len(thread)) {
                self.add(spawn, event);
            }
        }
    }

    /// The events of a thread with none of its events before, and those with none after.
    fn ends(&self, execution: &Execution, thread: ThreadId) -> (Vec<usize>, Vec<usize>) {
        let events = || execution.thread_events(thread).map(EventId::index);
        let first = events().filter(|&event| self.before[event].is_empty()).collect();
        let last = events().filter(|&event| self.after[event].is_empty()).collect();
        (first, last)
    }
}

/// All nodes that a path of at least one edge leads to.
fn walk(edges: &[Vec<usize>], from: usize) -> FxHashSet<EventId> {
    let mut found = FxHashSet::default();
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        for &next in &edges[node] {
            if found.insert(EventId::new(next)) {
                open.push(next);
            }
        }
    }
    found
}

/// The last events of a thread so far, after which the next one may be ordered.
#[derive(Default)]
struct Last {
    /// The last event that is neither a plain store nor a store-store fence.
    other: Option<EventId>,
    /// The last store-store fence, if no draining event came after it.
    fence: Option<EventId>,
    /// The last plain store to each location since the last fence of any kind; under TSO the last
    /// plain store to any location, under the key `None`.
    stores: FxHashMap<Option<LocationId>, EventId>,
}

/// The queue of a store in its buffer: under PSO there is one for each location.
fn queue(action: &Action, model: Model) -> Option<LocationId> {
    if model == Model::Pso { action.location() } else { None }
}

impl Last {
    /// The events that come directly before the next one.
    fn directly_before(&self, next: &Action, model: Model) -> Vec<EventId> {
        let mut earlier: Vec<EventId> = self.other.into_iter().collect();
        match next {
            Action::Read { .. } => {}
            Action::Write { .. } => {
                earlier.extend(self.fence);
                earlier.extend(self.stores.get(&queue(next, model)));
            }
            _ => {
                earlier.extend(self.fence);
                earlier.extend(self.stores.values());
            }
        }
        earlier
    }

    fn append(&mut self, event: EventId, action: &Action, model: Model) {
        match action {
            Action::Read { .. } => self.other = Some(event),
            Action::Write { .. } if model == Model::Sc => self.other = Some(event),
            Action::Write { .. } => {
                self.stores.insert(queue(action, model), event);
            }
            Action::StoreFence if model != Model::Sc => {
                self.fence = Some(event);
                self.stores.clear();
            }
            _ => *self = Last { other: Some(event), ..Last::default() },
        }
    }
}
