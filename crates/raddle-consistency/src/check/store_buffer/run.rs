//! A partial run of an execution on a store-buffer machine, extended and undone step by step.
//!
//! All verifiers search over such runs. They differ in which steps they take without branching, which they branch on, and
//! which runs they identify. The rules of what can run (the papers' *executable* events) are here and only here.

use super::closure::ClosureOrder;
use super::instance::{Instance, Lists, NONE, OpRole};
use super::memory::SearchMemory;
use super::queues::StoreQueues;
use crate::witness::{MachineStep, Witness};
use raddle_core::execution::EventId;

/// The immutable input of a search.
#[derive(Clone, Copy)]
pub(super) struct Question<'i> {
    pub(super) instance: &'i Instance,
    pub(super) buffers: &'i StoreQueues,
    /// By write: the stores that must be in memory before it, because a read of it comes after
    /// them in their own thread.
    pub(super) own_first: &'i Lists,
    /// An order that every complete run respects, if the closure was computed.
    pub(super) order: Option<&'i ClosureOrder>,
    /// By event: its rank in a recorded order that is likely to be a run.
    pub(super) guide: Option<&'i [u32]>,
}

/// Computes [`Question::own_first`]: if a load reads a write other than its own thread's latest store to the location, that
/// store must reach memory before the write does, or the load would observe the store. (Item 2b of executability in Bui et
/// al.) If the write is an update, nothing comes between it and its source, so the store must come before the first write of
/// the whole chain.
pub(super) fn own_stores_first(instance: &Instance) -> Lists {
    let roots = chain_roots(instance);
    let mut pairs = vec![];
    for event in 0..instance.ops.len() as u32 {
        let op = &instance.ops[event as usize];
        let source = instance.only_source(event);
        if op.kind == OpRole::Read
            && source != NONE
            && op.own_latest != NONE
            && op.own_latest != source
        {
            pairs.push((source, op.own_latest));
            let root = roots[source as usize];
            if root != source && root != roots[op.own_latest as usize] {
                pairs.push((root, op.own_latest));
            }
        }
    }
    Lists::group(instance.ops.len(), &pairs)
}

/// By write: the first write of its chain of updates. An update with several sources, or in a cycle of updates, starts a
/// chain.
fn chain_roots(instance: &Instance) -> Vec<u32> {
    let mut roots = vec![NONE; instance.ops.len()];
    let mut chain = vec![];
    for write in 0..instance.ops.len() as u32 {
        let mut at = write;
        while roots[at as usize] == NONE {
            chain.push(at);
            roots[at as usize] = at;
            let source = instance.only_source(at);
            if instance.ops[at as usize].kind != OpRole::Update || source == NONE {
                break;
            }
            at = source;
        }
        let root = roots[at as usize];
        chain.drain(..).for_each(|write| roots[write as usize] = root);
    }
    roots
}

#[derive(Clone, Copy)]
struct TrailEntry {
    step: MachineStep,
    /// The write that a write overwrote.
    overwritten: u32,
}

/// A partial run.
pub(super) struct PartialRun<'i> {
    pub(super) question: Question<'i>,
    pub(super) memory: SearchMemory<'i>,
    /// By thread: its next event.
    next: Vec<u32>,
    /// By thread: how many of its stores are in its buffers.
    buffered: Vec<u32>,
    /// By thread: how many of its buffered stores have reached memory.
    flushed: Vec<u32>,
    /// By thread: how many of its events have written memory, at once or from a buffer.
    written: Vec<u32>,
    /// By queue: how many of its stores have reached memory.
    heads: Vec<u32>,
    /// By queue: how many of its stores are in the buffer.
    lens: Vec<u32>,
    /// By thread: its queues that have stores in the buffer, in no order.
    busy: Vec<Vec<u32>>,
    /// By busy queue: its place there.
    busy_at: Vec<u32>,
    /// By chain of the order: how many of its events have come.
    done: Vec<u32>,
    /// Events still to run, plus buffered stores still to reach memory.
    left: usize,
    /// Locations accessed since the last [`PartialRun::flush_dead`], and perhaps others.
    touched: Vec<u32>,
    /// By location: whether it is touched.
    is_touched: Vec<bool>,
    trail: Vec<TrailEntry>,
}

impl<'i> PartialRun<'i> {
    pub(super) fn new(question: Question<'i>) -> Self {
        let instance = question.instance;
        let stores: usize = (0..question.buffers.queues.len() as u32)
            .map(|queue| question.buffers.queues.get(queue).len())
            .sum();
        let mut done = vec![0; question.order.map_or(0, ClosureOrder::chains)];
        if let Some(first) = done.first_mut() {
            *first = instance.locations as u32;
        }
        PartialRun {
            question,
            memory: SearchMemory::new(instance),
            next: instance.bounds.iter().map(|&(first, _)| first).collect(),
            buffered: vec![0; instance.threads()],
            flushed: vec![0; instance.threads()],
            written: vec![0; instance.threads()],
            heads: vec![0; question.buffers.queues.len()],
            lens: vec![0; question.buffers.queues.len()],
            busy: vec![vec![]; instance.threads()],
            busy_at: vec![0; question.buffers.queues.len()],
            done,
            left: instance.ops.len() - instance.locations + stores,
            touched: vec![],
            is_touched: vec![false; instance.locations],
            trail: vec![],
        }
    }

    pub(super) fn threads(&self) -> std::ops::Range<u32> {
        0..self.question.instance.threads() as u32
    }

    /// The next event of a thread that has started and not finished.
    #[inline]
    pub(super) fn next(&self, thread: u32) -> Option<u32> {
        let event = self.next[thread as usize];
        let instance = self.question.instance;
        (event < instance.bounds[thread as usize].1 && self.has_started(thread)).then_some(event)
    }

    /// The position of a thread: its next event, whether or not that can run.
    #[inline]
    pub(super) fn position(&self, thread: u32) -> u32 {
        self.next[thread as usize]
    }

    #[inline]
    fn has_run(&self, event: u32) -> bool {
        event < self.next[self.question.instance.thread_of[event as usize] as usize]
    }

    fn has_started(&self, thread: u32) -> bool {
        let spawn = self.question.instance.spawned_by[thread as usize];
        spawn == NONE || self.has_run(spawn)
    }

    /// Returns `true` if a thread has run all its events. Its stores may still be in its buffers.
    pub(super) fn has_finished(&self, thread: u32) -> bool {
        let end = self.question.instance.bounds[thread as usize].1;
        self.next[thread as usize] == end && self.has_started(thread)
    }

    /// Returns `true` if a thread has stores in its buffers.
    #[inline]
    pub(super) fn has_buffered(&self, thread: u32) -> bool {
        self.buffered[thread as usize] != 0
    }

    /// The number of events of a thread that have written memory.
    pub(super) fn written(&self, thread: u32) -> u32 {
        self.written[thread as usize]
    }

    /// The number of stores of a queue that have reached memory.
    pub(super) fn head(&self, queue: u32) -> u32 {
        self.heads[queue as usize]
    }

    pub(super) fn is_complete(&self) -> bool {
        self.left == 0
    }

    /// The oldest store of a queue that is in the buffer.
    #[inline]
    pub(super) fn front(&self, queue: u32) -> Option<u32> {
        let stores = self.question.buffers.queues.get(queue);
        (self.lens[queue as usize] != 0).then(|| stores[self.heads[queue as usize] as usize])
    }

    /// The queues of a thread that have stores in the buffer.
    #[inline]
    pub(super) fn busy(&self, thread: u32) -> &[u32] {
        &self.busy[thread as usize]
    }

    /// The epoch of the first store of a thread, in program order, that has not reached memory: how
    /// many stores belong to earlier epochs. [`NONE`] if all have.
    pub(super) fn oldest_epoch(&self, thread: u32) -> u32 {
        let stores = self.question.buffers.stores_of.get(thread);
        // Epochs reach memory one after the other, so the first `flushed` stores tell.
        let oldest = stores.get(self.flushed[thread as usize] as usize);
        oldest.map_or(NONE, |&store| self.question.buffers.epoch_start[store as usize])
    }

    /// Returns `true` if a thread has stores in its buffers that wait behind a store-store fence.
    pub(super) fn has_waiting_epoch(&self, thread: u32) -> bool {
        let buffered = self.buffered[thread as usize];
        let run = (self.flushed[thread as usize] + buffered) as usize;
        buffered != 0 && {
            let newest = self.question.buffers.stores_of.get(thread)[run - 1];
            self.question.buffers.epoch_start[newest as usize] > self.oldest_epoch(thread)
        }
    }

    /// Returns `true` if a write is in memory or has been.
    #[inline]
    fn has_reached_memory(&self, write: u32) -> bool {
        match self.question.buffers.queue_of[write as usize] {
            NONE => self.has_run(write),
            queue => self.question.buffers.place[write as usize] < self.heads[queue as usize],
        }
    }

    /// Returns `true` if all predecessors of an event in the order have come.
    #[inline]
    fn is_ready(&self, event: u32) -> bool {
        self.question.order.is_none_or(|order| order.is_ready(event, &self.done))
    }

    fn own_stores_are_in_memory(&self, write: u32) -> bool {
        self.question.own_first.get(write).iter().all(|&store| self.has_reached_memory(store))
    }

    /// Returns `true` if the oldest store of a queue can reach memory. It must be in the buffer.
    #[inline]
    pub(super) fn can_flush(&self, store: u32) -> bool {
        let thread = self.question.instance.thread_of[store as usize];
        !self.memory.is_held(self.question.instance.ops[store as usize].location)
            && self.flushed[thread as usize] >= self.question.buffers.epoch_start[store as usize]
            && self.is_ready(store)
            && self.own_stores_are_in_memory(store)
    }

    /// The write that a read would observe now: the newest store of its own thread, if it is still in the
    /// buffer, or else memory.
    #[inline]
    fn visible(&self, event: u32) -> u32 {
        let op = &self.question.instance.ops[event as usize];
        if op.own_latest != NONE && !self.has_reached_memory(op.own_latest) {
            op.own_latest
        } else {
            self.memory.active(op.location)
        }
    }

    /// Returns `true` if a read would observe one of its sources.
    #[inline]
    pub(super) fn sees_source(&self, event: u32) -> bool {
        let set = self.question.instance.ops[event as usize].set;
        self.question.instance.contains(set, self.visible(event))
    }

    /// Returns `true` if the next event of a thread can run.
    pub(super) fn can_run(&self, thread: u32, event: u32) -> bool {
        let op = &self.question.instance.ops[event as usize];
        let possible = match op.kind {
            OpRole::Init => false,
            OpRole::BufferedWrite | OpRole::Idle => return true,
            OpRole::DrainedWrite => {
                !self.has_buffered(thread)
                    && !self.memory.is_held(op.location)
                    && self.own_stores_are_in_memory(event)
            }
            OpRole::Read => self.sees_source(event),
            OpRole::DrainedRead => !self.has_buffered(thread) && self.sees_source(event),
            OpRole::Drain => !self.has_buffered(thread),
            OpRole::Join { thread: joined } => {
                !self.has_buffered(thread)
                    && self.has_finished(joined)
                    && !self.has_buffered(joined)
            }
            OpRole::Update => {
                !self.has_buffered(thread)
                    && self.sees_source(event)
                    && !self.memory.is_held_without(op.location, op.set)
                    && self.own_stores_are_in_memory(event)
            }
        };
        possible && self.is_ready(event)
    }

    /// Returns `true` if an update that can run must be the next event at its location: all its sources are in memory, and
    /// no other event may still read the write in memory.
    fn is_forced(&self, update: u32) -> bool {
        let op = &self.question.instance.ops[update as usize];
        let active = self.memory.active(op.location);
        self.memory.all_present(op.set) && !self.memory.is_live_without(active, op.set)
    }

    /// Returns `true` if the next event of a thread can run and running it keeps every completion possible.
    fn is_free(&self, thread: u32, event: u32) -> bool {
        self.can_run(thread, event)
            && match self.question.instance.ops[event as usize].kind {
                OpRole::DrainedWrite => self.is_dead(event),
                OpRole::Update => self.is_forced(event),
                _ => true,
            }
    }

    /// Takes all *free* steps: moving such a step to the front of any completion of the run gives another completion.
    /// - Loads that see a source, stores that enter a buffer, fences that find the buffer empty, and the like.
    /// - Dead writes ([`PartialRun::is_dead`]), at once or from a buffer.
    /// - Updates that must be the next event at their location. Other updates are not free, or
    ///   `x=0;CAS(x,0,1) || CAS(x,1,0);FAA x` is refused. Lock releases are always free.
    pub(super) fn run_free_steps(&mut self) {
        let mut is_done = false;
        while !is_done {
            let before = self.mark();
            for thread in self.threads() {
                while let Some(event) = self.next(thread)
                    && self.is_free(thread, event)
                {
                    self.run(thread, event);
                }
            }
            self.flush_dead();
            is_done = self.mark() == before;
        }
    }

    /// Runs the next event of a thread.
    pub(super) fn run(&mut self, thread: u32, event: u32) {
        debug_assert!(self.next(thread) == Some(event));
        let op = &self.question.instance.ops[event as usize];
        if op.set != NONE {
            self.memory.read(op.set);
        }
        let mut overwritten = NONE;
        if self.question.buffers.is_buffered(event) {
            self.enter_buffer(thread as usize, event);
        } else {
            if op.kind.writes() {
                overwritten = self.memory.write(event);
                self.written[thread as usize] += 1;
            }
            self.count(event, 1);
        }
        if op.location != NONE {
            self.touch(op.location);
        }
        self.next[thread as usize] += 1;
        self.left -= 1;
        self.trail
            .push(TrailEntry { step: MachineStep::Run(EventId::new(event as usize)), overwritten });
    }

    /// Lets the oldest store of a queue reach memory.
    pub(super) fn flush(&mut self, queue: u32, store: u32) {
        debug_assert!(self.front(queue) == Some(store));
        let thread = self.question.instance.thread_of[store as usize] as usize;
        let overwritten = self.memory.write(store);
        self.touch(self.question.instance.ops[store as usize].location);
        self.leave_buffer(thread, store);
        self.heads[queue as usize] += 1;
        self.flushed[thread] += 1;
        self.written[thread] += 1;
        self.left -= 1;
        self.count(store, 1);
        self.trail.push(TrailEntry {
            step: MachineStep::Flush(EventId::new(store as usize)),
            overwritten,
        });
    }

    /// Returns `true` if no event may still read a write, nor the write that it would overwrite.
    fn is_dead(&self, write: u32) -> bool {
        let location = self.question.instance.ops[write as usize].location;
        !self.memory.is_live(write) && !self.memory.is_live(self.memory.active(location))
    }

    fn touch(&mut self, location: u32) {
        if !std::mem::replace(&mut self.is_touched[location as usize], true) {
            self.touched.push(location);
        }
    }

    /// Flushes all dead stores that can be flushed.
    ///
    /// Unless there is an order or a store-store fence, whether a store can be flushed depends on its location only; then
    /// only locations that were accessed are visited. (Visiting all buffers was quadratic in the buffered stores.)
    fn flush_dead(&mut self) {
        let question = self.question;
        let wanted = |run: &Self, store: u32| run.is_dead(store) && run.can_flush(store);
        if question.order.is_some() || question.buffers.has_epochs.contains(&true) {
            for thread in self.threads() {
                self.flush_all(thread, wanted);
            }
        }
        let mut at = 0;
        while let Some(&location) = self.touched.get(at) {
            self.is_touched[location as usize] = false;
            at += 1;
            for &queue in question.buffers.queues_at.get(location) {
                self.flush_queue(queue, wanted);
            }
        }
        self.touched.clear();
    }

    /// Flushes the `wanted` stores of a thread, one buffer after the other, each as far as possible.
    pub(super) fn flush_all(&mut self, thread: u32, wanted: impl Fn(&Self, u32) -> bool) {
        let mut at = 0;
        while let Some(&queue) = self.busy(thread).get(at) {
            self.flush_queue(queue, &wanted);
            // `flush_queue` has removed an empty buffer from the list and moved another one here.
            at += usize::from(self.busy(thread).get(at) == Some(&queue));
        }
    }

    /// Flushes the stores of a queue as long as the oldest is `wanted`.
    fn flush_queue(&mut self, queue: u32, wanted: impl Fn(&Self, u32) -> bool) {
        while let Some(store) = self.front(queue)
            && wanted(self, store)
        {
            self.flush(queue, store);
        }
    }

    fn enter_buffer(&mut self, thread: usize, store: u32) {
        let queue = self.question.buffers.queue_of[store as usize];
        self.buffered[thread] += 1;
        self.lens[queue as usize] += 1;
        if self.lens[queue as usize] == 1 {
            self.busy_at[queue as usize] = self.busy[thread].len() as u32;
            self.busy[thread].push(queue);
        }
    }

    fn leave_buffer(&mut self, thread: usize, store: u32) {
        let queue = self.question.buffers.queue_of[store as usize];
        self.buffered[thread] -= 1;
        self.lens[queue as usize] -= 1;
        if self.lens[queue as usize] == 0 {
            let at = self.busy_at[queue as usize];
            self.busy[thread].swap_remove(at as usize);
            if let Some(&moved) = self.busy[thread].get(at as usize) {
                self.busy_at[moved as usize] = at;
            }
        }
    }

    fn count(&mut self, event: u32, by: u32) {
        if let Some(order) = self.question.order {
            let done = &mut self.done[order.chain_of(event) as usize];
            *done = done.wrapping_add(by);
        }
    }

    pub(super) fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Undoes all steps after a mark.
    pub(super) fn undo_to(&mut self, mark: usize) {
        while self.trail.len() > mark {
            let entry = self.trail.pop().expect("the trail is longer than the mark");
            match entry.step {
                MachineStep::Run(event) => self.undo_run(event.index() as u32, entry.overwritten),
                MachineStep::Flush(store) => {
                    self.undo_flush(store.index() as u32, entry.overwritten);
                }
            }
            self.left += 1;
        }
    }

    fn undo_run(&mut self, event: u32, overwritten: u32) {
        let op = &self.question.instance.ops[event as usize];
        let thread = self.question.instance.thread_of[event as usize] as usize;
        self.next[thread] -= 1;
        if self.question.buffers.is_buffered(event) {
            self.leave_buffer(thread, event);
        } else {
            if op.kind.writes() {
                self.memory.unwrite(event, overwritten);
                self.written[thread] -= 1;
            }
            self.count(event, u32::MAX);
        }
        if op.set != NONE {
            self.memory.unread(op.set);
        }
    }

    fn undo_flush(&mut self, store: u32, overwritten: u32) {
        let thread = self.question.instance.thread_of[store as usize] as usize;
        let queue = self.question.buffers.queue_of[store as usize];
        self.count(store, u32::MAX);
        self.written[thread] -= 1;
        self.flushed[thread] -= 1;
        self.heads[queue as usize] -= 1;
        self.enter_buffer(thread, store);
        self.memory.unwrite(store, overwritten);
    }

    /// The steps so far.
    pub(super) fn steps(&self) -> Vec<MachineStep> {
        self.trail.iter().map(|entry| entry.step).collect()
    }

    /// The run as evidence.
    pub(super) fn witness(&self) -> Witness {
        Witness::Run(crate::witness::MachineRun { steps: self.steps() })
    }
}
