//! The known order of events: preserved program order, and facts that are added to it.
//!
//! A node of the graph is the moment of an event: for a store that waits in a buffer the moment it
//! reaches memory, for everything else the moment it runs. Only a store-store fence (a release fence
//! is one) is different: its moment is the first one at which it has run and all earlier stores of
//! its thread are in memory. So it comes after all events before it and before all stores, fences
//! and draining events after it. An acquire fence is like a load.
//!
//! So program order is preserved except from a store or store-store fence to a later load and,
//! under PSO, between stores to different locations (SC preserves all of it). Initial writes come
//! before everything, a spawn before the thread spawned, and a thread before its join. A release
//! store under PSO has a store-store fence before it, which is a node of its own. The graph has O(n)
//! edges for n events, of which the preserved order is the transitive closure.
//!
//! Every query walks the graph: O(n).

use rustc_hash::{FxHashMap, FxHashSet};

use raddle_core::execution::{Action, EventId, Execution, LocationId, MemoryOrder, ThreadId};
use raddle_core::model::reference::Buffering;

/// A directed graph over the events and a few more nodes: the start of the threads, and the fences of
/// release stores.
pub(super) struct KnownOrder {
    after: Vec<Vec<usize>>,
    before: Vec<Vec<usize>>,
    /// The number of nodes that all queries visited.
    visited: usize,
}

impl KnownOrder {
    /// The preserved program order.
    pub(super) fn program(execution: &Execution, buffering: Buffering) -> Self {
        let nodes = execution.event_count() + 1;
        let mut order =
            KnownOrder { after: vec![vec![]; nodes], before: vec![vec![]; nodes], visited: 0 };
        for thread in execution.threads() {
            let mut last = LastEvents::default();
            for event in execution.thread_events(thread) {
                let role =
                    OrderRole::of(execution.action(event), execution.order(event), buffering);
                if let OrderRole::Store { releases: true, .. } = role
                    && !last.stores.is_empty()
                {
                    let fence = order.add_node();
                    order.append(&mut last, fence, OrderRole::StoreFence);
                }
                order.append(&mut last, event, role);
            }
        }
        order.link_threads(execution);
        order
    }

    /// Adds the next node of a thread.
    fn append(&mut self, last: &mut LastEvents, node: EventId, role: OrderRole) {
        for earlier in last.directly_before(role) {
            self.link(earlier.index(), node.index());
        }
        last.append(node, role);
    }

    /// Adds a node that is not an event.
    fn add_node(&mut self) -> EventId {
        self.after.push(vec![]);
        self.before.push(vec![]);
        EventId::new(self.after.len() - 1)
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

    /// Returns `true` if one event is known to come before another.
    pub(super) fn is_before(&mut self, from: EventId, to: EventId) -> bool {
        self.before(to).contains(&from)
    }

    /// The number of nodes that all queries visited.
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

/// How an event is ordered within its thread.
#[derive(Clone, Copy)]
enum OrderRole {
    /// A load, an acquire fence: later than loads, not than stores that wait.
    Load,
    /// A store that waits in a buffer: in the queue of its location under PSO, in the only one under
    /// TSO. Under PSO a release store has a store-store fence before it.
    Store { queue: Option<LocationId>, releases: bool },
    /// A store-store fence.
    StoreFence,
    /// Everything else: it is later than all before it, and earlier than all after.
    Full,
}

impl OrderRole {
    fn of(action: &Action, order: MemoryOrder, buffering: Buffering) -> OrderRole {
        let is_pso = match buffering {
            Buffering::None => return OrderRole::Full,
            Buffering::Fifo => false,
            Buffering::FifoPerLocation => true,
        };
        match (action, order) {
            (Action::Read { .. }, _) | (Action::Fence, MemoryOrder::Acquire) => OrderRole::Load,
            (Action::Write { .. } | Action::Fence, MemoryOrder::SeqCst) => OrderRole::Full,
            (Action::Write { location, .. }, _) => OrderRole::Store {
                queue: is_pso.then_some(*location),
                releases: is_pso && order == MemoryOrder::Release,
            },
            (Action::Fence | Action::StoreFence, _) => OrderRole::StoreFence,
            _ => OrderRole::Full,
        }
    }
}

/// The last events of a thread so far, after which the next one may be ordered.
#[derive(Default)]
struct LastEvents {
    /// The last event that is neither a store that waits nor a store-store fence.
    other: Option<EventId>,
    /// The last store-store fence, if no draining event came after it.
    fence: Option<EventId>,
    /// The last store of each queue since the last fence of any kind.
    stores: FxHashMap<Option<LocationId>, EventId>,
}

impl LastEvents {
    /// The events that come directly before the next one.
    fn directly_before(&self, next: OrderRole) -> Vec<EventId> {
        let mut earlier: Vec<EventId> = self.other.into_iter().collect();
        match next {
            OrderRole::Load => {}
            OrderRole::Store { queue, .. } => {
                earlier.extend(self.fence);
                earlier.extend(self.stores.get(&queue));
            }
            OrderRole::StoreFence | OrderRole::Full => {
                earlier.extend(self.fence);
                earlier.extend(self.stores.values());
            }
        }
        earlier
    }

    fn append(&mut self, event: EventId, role: OrderRole) {
        match role {
            OrderRole::Load => self.other = Some(event),
            OrderRole::Store { queue, .. } => {
                self.stores.insert(queue, event);
            }
            OrderRole::StoreFence => {
                self.fence = Some(event);
                self.stores.clear();
            }
            OrderRole::Full => *self = LastEvents { other: Some(event), ..LastEvents::default() },
        }
    }
}
