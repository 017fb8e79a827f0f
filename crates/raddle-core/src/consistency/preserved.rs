//! The program order that a model preserves, in the form that the closure needs: chains and edges.
//!
//! An event *comes* where it takes effect on memory: a store where it reaches memory, everything
//! else where it runs. A buffered store may come after later loads of its thread, so the events of
//! a thread form several *chains* within each of which they come in program order: under SC one;
//! under TSO one of stores and one of everything else; under PSO one of stores for each location,
//! one of store-store fences, one of everything else. A store-store fence under PSO *comes* when all
//! stores before it have come. Edges connect the chains. The initial writes are chain 0 and come
//! before everything.

use super::buffers::Buffers;
use super::instance::{Instance, Kind, Lists, NONE};
use crate::model::Model;

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
    pub(super) fn new(instance: &Instance, buffers: &Buffers, model: Model) -> Preserved {
        let mut order = Chains::new(instance);
        let mut ends = vec![];
        for thread in 0..instance.threads() as u32 {
            ends.push(order.add_thread(instance, buffers, thread, model));
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

struct Chains {
    chain_of: Vec<u32>,
    at: Vec<u32>,
    next: Vec<u32>,
    edges: Vec<(u32, u32)>,
    /// By chain: its length and its last event.
    lens: Vec<u32>,
    lasts: Vec<u32>,
}

impl Chains {
    fn new(instance: &Instance) -> Chains {
        let events = instance.ops.len();
        let mut chains = Chains {
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
    /// and the last store of each buffer that nothing drains.
    fn add_thread(
        &mut self,
        instance: &Instance,
        buffers: &Buffers,
        thread: u32,
        model: Model,
    ) -> Vec<u32> {
        let main = self.open();
        // The queues of a thread are numbered consecutively, and so are their chains.
        let queues = buffers.queues_of.get(thread);
        let first_chain = self.lens.len() as u32;
        for _ in queues {
            self.open();
        }
        let mut fences = NONE;
        // The last event outside the buffers, and the last store-store fence.
        let mut last = match instance.spawned_by[thread as usize] {
            NONE => self.lasts[0],
            spawn => spawn,
        };
        let mut last_fence = NONE;
        // Chains with stores that no event has waited for yet.
        let mut waiting: Vec<u32> = vec![];
        let mut is_waiting = vec![false; queues.len()];
        let (first, end) = instance.bounds[thread as usize];
        for event in first..end {
            let kind = instance.ops[event as usize].kind;
            if buffers.is_buffered(event) {
                let offset = buffers.queue_of[event as usize] - queues[0];
                let chain = first_chain + offset;
                self.edge(last, event);
                self.edge(last_fence, event);
                self.push(chain, event);
                if !std::mem::replace(&mut is_waiting[offset as usize], true) {
                    waiting.push(chain);
                }
            } else if kind == Kind::StoreFence && model == Model::Pso {
                if fences == NONE {
                    fences = self.open();
                }
                for &chain in &waiting {
                    self.edge(self.lasts[chain as usize], event);
                }
                self.edge(last, event);
                self.push(fences, event);
                last_fence = event;
            } else {
                if self.lasts[main as usize] == NONE {
                    self.edge(last, event);
                }
                if !matches!(kind, Kind::Read | Kind::Write | Kind::StoreFence) {
                    for chain in waiting.drain(..) {
                        self.edge(self.lasts[chain as usize], event);
                    }
                    is_waiting.fill(false);
                }
                self.push(main, event);
                last = event;
            }
        }
        waiting.iter().map(|&chain| self.lasts[chain as usize]).chain([last]).collect()
    }

    fn add_joins(&mut self, instance: &Instance, ends: &[Vec<u32>]) {
        for event in 0..instance.ops.len() as u32 {
            if let Kind::Join { thread } = instance.ops[event as usize].kind {
                for &end in &ends[thread as usize] {
                    self.edge(end, event);
                }
            }
        }
    }
}
