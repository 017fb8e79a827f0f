//! VerifyPSO: consistency under partial store order.
//!
//! **Problem.** Given the threads and for each read its source (VPSO-rf), is there a run of the
//! machine with one FIFO store buffer for each thread and location in which each read observes its
//! source?
//!
//! **Paper.** Bui et al., OOPSLA 2021, Algorithm 2 and appendix A.3: stores reach memory as late as
//! possible, that is, when a remote read or a fence needs them, except for *spurious* ones, which
//! no event will read and which go as soon as their location is not held. Then which stores have
//! reached memory is a function of the events that have run, up to one thing: whether a spurious
//! store went before or still waits behind a write that holds its location. That matters to fences,
//! and the *fence map* says how: for threads t and u, the last read of u that must run
//! before t can empty its buffers. O(k n^(k+1)) without fences, times the number of fence maps
//! with them.
//!
//! **Where we differ.**
//! - The fence map counts all reads that hold the location, also those of the thread whose store
//!   they read. The paper leaves these out (item 2 of its definition); then a realizable execution
//!   is refused, depending on the order of the search (test
//!   `fence_map_counts_reads_of_the_own_store`).
//! - Updates flush their thread's buffers and their source, then read and write at once. If an
//!   update reads the write that holds a location, it takes over and holds it for its own readers
//!   without a gap, so the fence map follows the chain of updates (test
//!   `fence_map_follows_updates`).
//! - A sequentially consistent store flushes its thread's buffers and writes at once. It takes over
//!   from nothing: its location must not be held.
//! - Thread events that change nothing in memory are taken for granted ([`PartialRun::run_free_steps`]); the paper
//!   branches on all.
//! - Store-store fences, alone or before a release store. The appendix only sketches them: keep a
//!   second map for the stores before the latest store-store fence, flush by need. That is not
//!   complete: a spurious store may wait behind a store-store fence for a store that is read later,
//!   and only an early flush of both unblocks other threads (test `store_fence_needs_an_early_flush`).
//!   So a thread may also flush all stores of its oldest *epoch*, up to an executed store-store
//!   fence, at any time. The state then has the oldest epoch of such a thread, and its row of the
//!   map speaks of the stores of that epoch: one map serves for both kinds of fences.
//! - The order found by the closure restricts the search only if no thread has epochs; a store
//!   waiting for the order behind such a fence would be invisible in the map.

use super::instance::{Instance, Lists, NONE, OpRole};
use super::run::{PartialRun, Question};
use super::search::{SearchOutcome, Space, search};
use crate::check::effort::Effort;
use crate::witness::Witness;

/// Searches for a run with the given store buffers.
pub(super) fn verify_pso(question: Question<'_>, effort: &mut Effort) -> (SearchOutcome, Witness) {
    search(Lazy::new(question), effort)
}

/// The search space of the strategy.
pub(super) struct Lazy<'i> {
    run: PartialRun<'i>,
    /// By thread: the event after its last one that waits for empty buffers; the end of the thread
    /// if another thread joins it.
    last_drain: Vec<u32>,
    holds: Holds,
}

/// By write: for each thread, the event after the last read that holds the location while the
/// write, or an update that took over from it, is in memory. Only threads with such a read are listed.
struct Holds {
    rows: Vec<(u32, u32)>,
    /// By event: its row is `rows[start..end]`.
    bounds: Vec<(u32, u32)>,
}

impl Holds {
    fn new(instance: &Instance) -> Holds {
        let events = 0..instance.ops.len() as u32;
        let sources = events.clone().map(|event| (instance.only_source(event), event));
        let pairs: Vec<(u32, u32)> = sources.filter(|&(source, _)| source != NONE).collect();
        let readers = Lists::group(instance.ops.len(), &pairs);
        let mut holds = Holds { rows: vec![], bounds: vec![(0, 0); instance.ops.len()] };
        let mut place = vec![0; instance.threads()];
        let mut visited = vec![false; instance.ops.len()];
        let mut chain = vec![];
        for write in events {
            // Follow the chain of updates, then fill its rows from the end.
            let mut next = Some(write);
            while let Some(at) = next
                && !std::mem::replace(&mut visited[at as usize], true)
            {
                chain.push(at);
                next = successor(instance, &readers, at);
            }
            while let Some(write) = chain.pop() {
                holds.add(instance, &readers, write, &mut place);
            }
        }
        holds
    }

    /// Adds the row of a write, whose successor has its row already. `place` says where in the rows
    /// the entry of a thread is, counting from 1; it is all 0 before and after.
    fn add(&mut self, instance: &Instance, readers: &Lists, write: u32, place: &mut [u32]) {
        let start = self.rows.len();
        let successor =
            successor(instance, readers, write).map_or((0, 0), |u| self.bounds[u as usize]);
        for i in successor.0..successor.1 {
            self.rows.push(self.rows[i as usize]);
        }
        for (i, &(thread, _)) in self.rows.iter().enumerate().skip(start) {
            place[thread as usize] = i as u32 + 1;
        }
        for &reader in readers.get(write) {
            let thread = instance.thread_of[reader as usize];
            if place[thread as usize] == 0 {
                self.rows.push((thread, 0));
                place[thread as usize] = self.rows.len() as u32;
            }
            let entry = &mut self.rows[place[thread as usize] as usize - 1].1;
            *entry = (*entry).max(reader + 1);
        }
        for &(thread, _) in &self.rows[start..] {
            place[thread as usize] = 0;
        }
        self.bounds[write as usize] = (start as u32, self.rows.len() as u32);
    }

    fn row(&self, write: u32) -> &[(u32, u32)] {
        let (start, end) = self.bounds[write as usize];
        &self.rows[start as usize..end as usize]
    }
}

/// The update that reads from a write.
fn successor(instance: &Instance, readers: &Lists, write: u32) -> Option<u32> {
    let is_update = |&event: &u32| instance.ops[event as usize].kind == OpRole::Update;
    readers.get(write).iter().copied().find(is_update)
}

impl<'i> Lazy<'i> {
    pub(super) fn new(mut question: Question<'i>) -> Self {
        if question.buffers.has_epochs.contains(&true) {
            question.order = None;
        }
        let instance = question.instance;
        let last_drain = (0..instance.threads())
            .map(|thread| {
                let (first, end) = instance.bounds[thread];
                let drains = |event: &u32| instance.ops[*event as usize].kind.drains();
                let last = (first..end).rev().find(drains).map_or(first, |event| event + 1);
                if instance.joined[thread] { end + 1 } else { last }
            })
            .collect();
        Lazy { run: PartialRun::new(question), last_drain, holds: Holds::new(instance) }
    }

    /// Flushes all stores of a thread that are in its buffers, if that is possible.
    fn drain(&mut self, thread: u32) -> bool {
        let mut before = self.run.mark() + 1;
        while self.run.has_buffered(thread) && self.run.mark() != before {
            before = self.run.mark();
            self.run.flush_all(thread, PartialRun::can_flush);
        }
        !self.run.has_buffered(thread)
    }

    /// Flushes the source of a read, if it is the oldest store of its buffer and can go.
    fn fetch(&mut self, event: u32) -> bool {
        if self.run.sees_source(event) {
            return true;
        }
        let question = self.run.question;
        let source = question.instance.only_source(event);
        let queue = question.buffers.queue_of[source as usize];
        let can_fetch =
            queue != NONE && self.run.front(queue) == Some(source) && self.run.can_flush(source);
        if can_fetch {
            self.run.flush(queue, source);
        }
        can_fetch
    }

    /// Runs the next event of a thread after whatever must reach memory for it.
    fn apply_event(&mut self, event: u32) -> bool {
        let question = self.run.question;
        let thread = question.instance.thread_of[event as usize];
        let kind = question.instance.ops[event as usize].kind;
        let prepared = match kind {
            OpRole::Read => self.fetch(event),
            OpRole::DrainedRead | OpRole::Update => self.drain(thread) && self.fetch(event),
            OpRole::Join { thread: joined } => {
                self.run.has_finished(joined) && self.drain(joined) && self.drain(thread)
            }
            _ => self.drain(thread),
        };
        let runs = prepared && self.run.can_run(thread, event);
        if runs {
            self.run.run(thread, event);
        }
        runs
    }

    /// Flushes the oldest epoch of a thread, if that is possible.
    fn apply_epoch(&mut self, thread: u32) -> bool {
        let epoch = self.run.oldest_epoch(thread);
        self.run.flush_all(thread, |run, store| {
            run.question.buffers.epoch_start[store as usize] == epoch && run.can_flush(store)
        });
        self.run.oldest_epoch(thread) != epoch
    }

    /// Adds the row of the fence map for a thread: for each thread, the event after the last read
    /// that must run before the stores of the oldest epoch in the buffers can go. Threads without
    /// such a read are left out.
    fn fence_map_row(&self, thread: u32, out: &mut Vec<u32>) {
        let question = self.run.question;
        let epoch = self.run.oldest_epoch(thread);
        let start = out.len();
        for &queue in self.run.busy(thread) {
            let Some(store) = self.run.front(queue) else { continue };
            let location = question.instance.ops[store as usize].location;
            if question.buffers.epoch_start[store as usize] == epoch
                && self.run.memory.is_held(location)
            {
                let row = self.holds.row(self.run.memory.active(location)).iter();
                let pending = row.filter(|&&(other, read)| read > self.run.position(other));
                out.extend(pending.flat_map(|&(other, read)| [other, read]));
            }
        }
        keep_largest(out, start);
        out.push(NONE);
    }
}

/// Of pairs stored flat from `start` on, keeps for each first number the largest second one.
fn keep_largest(pairs: &mut Vec<u32>, start: usize) {
    let (sorted, _) = pairs[start..].as_chunks_mut::<2>();
    sorted.sort_unstable_by_key(|&[first, second]| (first, std::cmp::Reverse(second)));
    let mut kept = start;
    for at in (start..pairs.len()).step_by(2) {
        if at == start || pairs[at] != pairs[kept - 2] {
            pairs.copy_within(at..at + 2, kept);
            kept += 2;
        }
    }
    pairs.truncate(kept);
}

impl<'i> Space<'i> for Lazy<'i> {
    fn run(&self) -> &PartialRun<'i> {
        &self.run
    }

    fn run_mut(&mut self) -> &mut PartialRun<'i> {
        &mut self.run
    }

    /// A move is an event to run or, beyond the events, a thread whose oldest epoch is to be flushed.
    fn moves(&self, out: &mut Vec<u32>) {
        let start = out.len();
        out.extend(self.run.threads().filter_map(|thread| self.run.next(thread)));
        if let Some(guide) = self.run.question.guide {
            out[start..].sort_by_key(|&event| guide[event as usize]);
        }
        let events = self.run.question.instance.ops.len() as u32;
        let waiting = self.run.threads().filter(|&thread| self.run.has_waiting_epoch(thread));
        out.extend(waiting.map(|thread| events + thread));
    }

    fn apply(&mut self, step: u32) -> bool {
        let events = self.run.question.instance.ops.len() as u32;
        if step < events { self.apply_event(step) } else { self.apply_epoch(step - events) }
    }

    fn key(&self, out: &mut Vec<u32>) {
        let question = self.run.question;
        for thread in self.run.threads() {
            let position = self.run.position(thread);
            out.push(position);
            let has_epochs = question.buffers.has_epochs[thread as usize];
            if has_epochs {
                out.push(self.run.oldest_epoch(thread));
            }
            if has_epochs || position < self.last_drain[thread as usize] {
                self.fence_map_row(thread, out);
            }
        }
    }
}
