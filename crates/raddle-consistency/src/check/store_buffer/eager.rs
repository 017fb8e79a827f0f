//! The search space of VerifySC and VerifyTSO: run threads eagerly, branch on the writes to memory.
//!
//! **Idea.** A thread event that does not change memory (a load that sees one of its sources, a store entering the buffer, a
//! fence that finds the buffer empty) can run as early as possible: moving it to the front of any completion of the run
//! gives another completion. So the search never branches on such events. What remains are the writes to memory, and the
//! state is a function of the set of writes done: O(n^k) states instead of O(n^2k).
//!
//! [`PartialRun::run_free_steps`] takes all such steps, and the heuristics of Agarwal et al., CAV 2021, section 4.2,
//! stated there for SC, which hold for store buffers as well: no branching on dead writes
//! or on updates that must be the next event at their location.
//!
//! **State.** With a reads-from map, the number of memory writes done by each thread. With several
//! sources for some reads, the order of the writes matters too: then the key has the positions of
//! the threads, the stores flushed, and for each location concerned the write in memory, as the
//! paper's memory maps. We identify that write not by its thread but by the source sets it belongs
//! to, and all writes that no event may still read with each other: fewer states, same answers.
//!
//! Without a recorded order to follow, moves are tried thread by thread, always the first one first.
//! With a closed order, that is the max-min linearisation by which Pavlogiannis, POPL 2020, runs two
//! threads without ever going back.

use rustc_hash::FxHashMap;

use super::instance::Instance;
use super::run::{PartialRun, Question};
use super::search::Space;

/// The search space of the strategy.
pub(super) struct Eager<'i> {
    run: PartialRun<'i>,
    queues: u32,
    /// Empty if the instance has a reads-from map.
    open: Vec<OpenLocation>,
}

/// A location with reads that have several sources.
struct OpenLocation {
    location: u32,
    /// By write of the location: writes of the same class have the same readers.
    classes: FxHashMap<u32, u32>,
}

impl<'i> Eager<'i> {
    pub(super) fn new(question: Question<'i>) -> Self {
        Eager {
            run: PartialRun::new(question),
            queues: question.buffers.queues.len() as u32,
            open: open_locations(question.instance),
        }
    }

    fn thread_moves(&self, thread: u32, out: &mut Vec<u32>) {
        for &queue in self.run.busy(thread) {
            out.extend(self.run.front(queue).filter(|&store| self.run.can_flush(store)));
        }
        out.extend(self.run.next(thread).filter(|&event| self.run.can_run(thread, event)));
    }
}

fn open_locations(instance: &Instance) -> Vec<OpenLocation> {
    let mut is_open = vec![false; instance.locations];
    for set in 0..instance.sets.len() as u32 {
        if instance.sets.get(set).len() > 1 {
            is_open[instance.set_location[set as usize] as usize] = true;
        }
    }
    let mut open: Vec<OpenLocation> = vec![];
    let mut index = vec![usize::MAX; instance.locations];
    for location in (0..instance.locations).filter(|&location| is_open[location]) {
        index[location] = open.len();
        open.push(OpenLocation { location: location as u32, classes: FxHashMap::default() });
    }
    let mut numbers: FxHashMap<&[u32], u32> = FxHashMap::default();
    for write in 0..instance.ops.len() as u32 {
        let sets = instance.sets_of.get(write);
        let location = instance.ops[write as usize].location as usize;
        if !sets.is_empty() && is_open[location] {
            let next = numbers.len() as u32 + 1;
            let class = *numbers.entry(sets).or_insert(next);
            open[index[location]].classes.insert(write, class);
        }
    }
    open
}

impl<'i> Space<'i> for Eager<'i> {
    fn run(&self) -> &PartialRun<'i> {
        &self.run
    }

    fn run_mut(&mut self) -> &mut PartialRun<'i> {
        &mut self.run
    }

    fn moves(&self, out: &mut Vec<u32>) {
        let start = out.len();
        for thread in self.run.threads() {
            self.thread_moves(thread, out);
        }
        if let Some(guide) = self.run.question.guide {
            out[start..].sort_by_key(|&event| guide[event as usize]);
        }
    }

    /// A move is the event that writes memory.
    fn apply(&mut self, event: u32) -> bool {
        let thread = self.run.question.instance.thread_of[event as usize];
        if self.run.question.buffers.is_buffered(event) {
            self.run.flush(self.run.question.buffers.queue_of[event as usize], event);
        } else {
            self.run.run(thread, event);
        }
        true
    }

    fn key(&self, out: &mut Vec<u32>) {
        if self.open.is_empty() {
            out.extend(self.run.threads().map(|thread| self.run.written(thread)));
            return;
        }
        out.extend(self.run.threads().map(|thread| self.run.position(thread)));
        out.extend((0..self.queues).map(|queue| self.run.head(queue)));
        out.extend(self.open.iter().map(|open| {
            let active = self.run.memory.active(open.location);
            if self.run.memory.is_live(active) { open.classes[&active] } else { 0 }
        }));
    }
}
