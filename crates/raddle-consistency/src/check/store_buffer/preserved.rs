//! The preserved program order of a model, as chains and edges.
//!
//! An event *comes* where it takes effect on memory: a store where it reaches memory, everything
//! else where it runs. A buffered store may come after later loads of its thread, so the events of
//! a thread form several *chains* within each of which they come in program order: under SC one;
//! under TSO one of stores and one of everything else; under PSO one of stores for each location
//! written between two fences, one of store-store fences, one of everything else. A store-store fence
//! under PSO *comes* when all stores before it have come. Edges connect the chains. The initial writes
//! are chain 0 and come before everything.
//!
//! The fence before a release store under PSO is no event. So the release store and the stores after it have edges from the
//! last store of each chain before it. If these are many, only the release store has them: the order is then weaker than
//! what the model preserves, which is sound, because the search handles the fence anyway.

use super::instance::{Instance, Lists, NONE, OpRole, SearchOp};
use super::queues::StoreQueues;

/// Stores after a release store have edges from at most this many stores before it.
const MOST_RELEASED: usize = 64;

/// The preserved program order.
pub(super) struct Preserved {
    /// The number of chains.
    pub(super) chains: usize,
    /// By event: its chain.
    pub(super) chain_of: Vec<u32>,
    /// By event: its position in the chain.
    pub(super) at: Vec<u32>,
    /// By event: the next event of its chain, or [`NONE`].
    pub(super) next: Vec<u32>,
    /// By event: events of other chains that come after it. With the chains, these generate the
    /// preserved program order.
    pub(super) edges: Lists,
}

impl Preserved {
    pub(super) fn new(instance: &Instance, buffers: &StoreQueues) -> Preserved {
        let mut order = ChainBuilder::new(instance);
        let mut ends = vec![];
        for thread in 0..instance.threads() as u32 {
            ends.push(order.add_thread(instance, buffers, thread));
        }
        order.add_joins(instance, &ends);
        let edges = Lists::group(instance.ops.len(), &order.edges);
        Preserved {
            chains: order.lens.len(),
            chain_of: order.chain_of,
            at: order.at,
            next: order.next,
            edges,
        }
    }
}

impl Preserved {
    /// The events that come right after an event: the next one of its chain, and what the edges
    /// lead to.
    pub(super) fn successors(&self, event: u32) -> impl Iterator<Item = u32> {
        let next = self.next[event as usize];
        self.edges.get(event).iter().copied().chain((next != NONE).then_some(next))
    }
}

struct ChainBuilder {
    chain_of: Vec<u32>,
    at: Vec<u32>,
    next: Vec<u32>,
    edges: Vec<(u32, u32)>,
    /// By chain: its length and its last event.
    lens: Vec<u32>,
    lasts: Vec<u32>,
}

impl ChainBuilder {
    fn new(instance: &Instance) -> ChainBuilder {
        let events = instance.ops.len();
        let mut chains = ChainBuilder {
            chain_of: vec![0; events],
            at: vec![0; events],
            next: vec![NONE; events],
            edges: vec![],
            lens: vec![],
            lasts: vec![],
        };
        let init = chains.open();
        for event in 0..instance.locations as u32 {
            chains.push(init, event);
        }
        chains
    }

    fn open(&mut self) -> u32 {
        self.lens.push(0);
        self.lasts.push(NONE);
        self.lens.len() as u32 - 1
    }

    fn push(&mut self, chain: u32, event: u32) {
        let last = std::mem::replace(&mut self.lasts[chain as usize], event);
        if last != NONE {
            self.next[last as usize] = event;
        }
        self.chain_of[event as usize] = chain;
        self.at[event as usize] = self.lens[chain as usize];
        self.lens[chain as usize] += 1;
    }

    fn edge(&mut self, from: u32, to: u32) {
        if from != NONE {
            self.edges.push((from, to));
        }
    }

    /// Adds a thread. Returns the events after which it is over: the last one outside the buffers,
    /// and the last stores that nothing drains.
    fn add_thread(&mut self, instance: &Instance, buffers: &StoreQueues, thread: u32) -> Vec<u32> {
        let main = self.open();
        let mut fences = NONE;
        let mut stores = StoreChains::new(buffers.queues_of.get(thread));
        // The last event outside the buffers, and the last store-store fence.
        let mut last = match instance.spawned_by[thread as usize] {
            NONE => self.lasts[0],
            spawn => spawn,
        };
        let mut last_fence = NONE;
        // Stores of the epoch before the last release store: all later stores come after them.
        let mut released = vec![];
        let (first, end) = instance.bounds[thread as usize];
        for event in first..end {
            let SearchOp { kind, starts_epoch, .. } = instance.ops[event as usize];
            if buffers.is_buffered(event) {
                if starts_epoch {
                    let cut = stores.cut().into_iter();
                    released = cut.map(|chain| self.lasts[chain as usize]).collect();
                }
                let queue = buffers.queue_of[event as usize];
                if starts_epoch || (stores.is_new(queue) && released.len() <= MOST_RELEASED) {
                    released.iter().for_each(|&store| self.edge(store, event));
                }
                let chain = stores.chain(self, queue);
                self.edge(last, event);
                self.edge(last_fence, event);
                self.push(chain, event);
            } else if starts_epoch {
                if fences == NONE {
                    fences = self.open();
                }
                for chain in stores.cut() {
                    self.edge(self.lasts[chain as usize], event);
                }
                self.edge(last, event);
                self.push(fences, event);
                last_fence = event;
                released.clear();
            } else {
                if self.lasts[main as usize] == NONE {
                    self.edge(last, event);
                }
                if kind.drains() {
                    for chain in stores.cut() {
                        self.edge(self.lasts[chain as usize], event);
                    }
                    self.edge(last_fence, event);
                    released.clear();
                }
                self.push(main, event);
                last = event;
            }
        }
        let mut ends: Vec<u32> =
            stores.cut().into_iter().map(|chain| self.lasts[chain as usize]).collect();
        ends.extend((last_fence != NONE).then_some(last_fence));
        ends.push(last);
        ends
    }

    fn add_joins(&mut self, instance: &Instance, ends: &[Vec<u32>]) {
        for event in 0..instance.ops.len() as u32 {
            if let OpRole::Join { thread } = instance.ops[event as usize].kind {
                for &end in &ends[thread as usize] {
                    self.edge(end, event);
                }
            }
        }
    }
}

/// The chains of the stores of one thread.
///
/// Between two events that all earlier stores come before and all later stores come after, each
/// queue needs a chain of its own. Beyond such an event the chains are used again, for whatever
/// queues come next: so a thread has at most one for each location that it writes between two fences.
struct StoreChains {
    /// The chains; the first `used` have stores since the last cut.
    pool: Vec<u32>,
    used: usize,
    /// The first queue of the thread; they are numbered consecutively.
    first_queue: u32,
    /// By queue: its chain since the last cut, or [`NONE`].
    chain_of: Vec<u32>,
    /// The queues that have a chain.
    queues: Vec<u32>,
}

impl StoreChains {
    fn new(queues: &[u32]) -> StoreChains {
        StoreChains {
            pool: vec![],
            used: 0,
            first_queue: queues.first().copied().unwrap_or(0),
            chain_of: vec![NONE; queues.len()],
            queues: vec![],
        }
    }

    /// The chain of a queue.
    fn chain(&mut self, chains: &mut ChainBuilder, queue: u32) -> u32 {
        let chain = &mut self.chain_of[(queue - self.first_queue) as usize];
        if *chain == NONE {
            if self.used == self.pool.len() {
                self.pool.push(chains.open());
            }
            *chain = self.pool[self.used];
            self.used += 1;
            self.queues.push(queue);
        }
        *chain
    }

    /// Returns `true` if a queue has no store since the last cut.
    fn is_new(&self, queue: u32) -> bool {
        self.chain_of[(queue - self.first_queue) as usize] == NONE
    }

    /// Everything so far comes before everything from now on. Returns the chains with stores since
    /// the last cut.
    fn cut(&mut self) -> Vec<u32> {
        for queue in self.queues.drain(..) {
            self.chain_of[(queue - self.first_queue) as usize] = NONE;
        }
        self.pool[..std::mem::take(&mut self.used)].to_vec()
    }
}
