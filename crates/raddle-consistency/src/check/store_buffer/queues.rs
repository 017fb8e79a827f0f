//! The store buffers of a model as queues of stores.
//!
//! Every store that is buffered belongs to a *queue*: one for each thread under TSO, one for each
//! thread and location under PSO, none under SC, where stores reach memory at once. Under PSO a
//! store-store fence cuts the stores of a thread into *epochs*: a store leaves its queue only when
//! all stores of earlier epochs have left theirs. A release store is the first of an epoch. A
//! sequentially consistent store is in no queue: it waits until all are empty.

use super::instance::{Instance, Lists, NONE, OpRole};
use raddle_core::model::orders::StoreBuffers;

/// The queues of an execution under a model.
pub(super) struct StoreQueues {
    /// By queue: its stores in program order.
    pub(super) queues: Lists,
    /// By thread: its queues, which are numbered consecutively.
    pub(super) queues_of: Lists,
    /// By thread: its buffered stores in program order.
    pub(super) stores_of: Lists,
    /// By location: the queues with stores to it.
    pub(super) queues_at: Lists,
    /// By event: the queue of a buffered store, or [`NONE`].
    pub(super) queue_of: Vec<u32>,
    /// By event: the position of a buffered store in its queue.
    pub(super) place: Vec<u32>,
    /// By event: how many stores of the thread belong to epochs before that of a buffered store.
    pub(super) epoch_start: Vec<u32>,
    /// By thread: whether a store-store fence divides its stores into epochs.
    pub(super) has_epochs: Vec<bool>,
}

impl StoreQueues {
    pub(super) fn new(instance: &Instance, kind: StoreBuffers) -> StoreQueues {
        let events = instance.ops.len();
        let mut buffers = StoreQueues {
            queues: Lists::default(),
            queues_of: Lists::default(),
            stores_of: Lists::default(),
            queues_at: Lists::default(),
            queue_of: vec![NONE; events],
            place: vec![0; events],
            epoch_start: vec![0; events],
            has_epochs: vec![false; instance.threads()],
        };
        let mut queued: Vec<(u32, u32)> = vec![];
        let mut owned: Vec<(u32, u32)> = vec![];
        let mut stored: Vec<(u32, u32)> = vec![];
        let mut lens: Vec<u32> = vec![];
        let mut queue_at = vec![NONE; instance.locations];
        for thread in 0..instance.threads() as u32 {
            let first_queue = lens.len() as u32;
            let (first, end) = instance.bounds[thread as usize];
            let (mut stores, mut epoch_start) = (0, 0);
            for event in first..end {
                let op = &instance.ops[event as usize];
                if op.starts_epoch {
                    epoch_start = stores;
                }
                if op.kind == OpRole::BufferedWrite {
                    let slot = match kind {
                        StoreBuffers::None | StoreBuffers::PerThread => 0,
                        StoreBuffers::PerLocation => op.location as usize,
                    };
                    // What is there may be a queue of an earlier thread.
                    if queue_at[slot] == NONE || queue_at[slot] < first_queue {
                        queue_at[slot] = lens.len() as u32;
                        owned.push((thread, queue_at[slot]));
                        lens.push(0);
                    }
                    let queue = queue_at[slot];
                    queued.push((queue, event));
                    stored.push((thread, event));
                    buffers.queue_of[event as usize] = queue;
                    buffers.place[event as usize] = lens[queue as usize];
                    buffers.epoch_start[event as usize] = epoch_start;
                    buffers.has_epochs[thread as usize] |= epoch_start != 0;
                    lens[queue as usize] += 1;
                    stores += 1;
                }
            }
        }
        buffers.queues = Lists::group(lens.len(), &queued);
        buffers.queues_of = Lists::group(instance.threads(), &owned);
        buffers.stores_of = Lists::group(instance.threads(), &stored);
        let at = |&(queue, store): &(u32, u32)| (instance.ops[store as usize].location, queue);
        let mut queues_at: Vec<(u32, u32)> = queued.iter().map(at).collect();
        queues_at.sort_unstable();
        queues_at.dedup();
        buffers.queues_at = Lists::group(instance.locations, &queues_at);
        buffers
    }

    /// Returns `true` if a store waits in a buffer before it reaches memory.
    #[inline]
    pub(super) fn is_buffered(&self, event: u32) -> bool {
        self.queue_of[event as usize] != NONE
    }
}
