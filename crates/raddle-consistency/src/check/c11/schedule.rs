//! Visits all events in an order that respects `po` and `rf`: the axiom `po-rf`.
//!
//! Every C11-style model forbids cycles of program order, reads-from, spawn and join. So threads can be run event by event,
//! each waiting for its source, its spawn or the thread that it joins. If all are blocked, following the blockers closes a
//! cycle. O(n).

use rustc_hash::FxHashMap;

use super::graph::{C11Graph, NONE, id};
use crate::witness::{Axiom, CycleLink, Relation, Violation};

/// Visits every event of the threads after all events that it depends on.
///
/// # Errors
/// If a cycle of `po`, `asw` and `rf` makes that impossible.
pub(super) fn run_through(graph: &C11Graph<'_>, visit: impl FnMut(u32)) -> Result<(), Violation> {
    let mut schedule = PoRfSchedule::new(graph);
    schedule.run(visit);
    match (0..graph.threads()).find(|&t| schedule.next[t] < graph.bounds[t].1) {
        None => Ok(()),
        Some(thread) => Err(schedule.waiting_cycle(thread)),
    }
}

struct PoRfSchedule<'g, 'e> {
    graph: &'g C11Graph<'e>,
    /// By thread: its next event.
    next: Vec<u32>,
    /// By event that blocks threads: the first of them.
    waiting: FxHashMap<u32, u32>,
    /// By waiting thread: the next one that waits for the same event, or [`NONE`].
    next_waiting: Vec<u32>,
}

impl<'g, 'e> PoRfSchedule<'g, 'e> {
    fn new(graph: &'g C11Graph<'e>) -> Self {
        PoRfSchedule {
            graph,
            next: graph.bounds.iter().map(|&(first, _)| first).collect(),
            waiting: FxHashMap::default(),
            next_waiting: vec![NONE; graph.threads()],
        }
    }

    fn run(&mut self, mut visit: impl FnMut(u32)) {
        let mut ready: Vec<u32> = (0..self.graph.threads() as u32).rev().collect();
        while let Some(thread) = ready.pop() {
            let end = self.graph.bounds[thread as usize].1;
            while self.next[thread as usize] < end {
                let event = self.next[thread as usize];
                let blocker = self.blocker(event);
                if blocker != NONE {
                    self.next_waiting[thread as usize] =
                        self.waiting.insert(blocker, thread).unwrap_or(NONE);
                    break;
                }
                visit(event);
                self.next[thread as usize] += 1;
                if !self.waiting.is_empty() {
                    let mut waiter = self.waiting.remove(&event).unwrap_or(NONE);
                    while waiter != NONE {
                        ready.push(waiter);
                        waiter = self.next_waiting[waiter as usize];
                    }
                }
            }
        }
    }

    /// An event that must come before this one and has not, or [`NONE`].
    #[inline]
    fn blocker(&self, event: u32) -> u32 {
        let source = self.graph.rf(event);
        if source != NONE && !self.is_done(source) {
            return source;
        }
        let spawn = self.spawn(event);
        if spawn != NONE && !self.is_done(spawn) {
            return spawn;
        }
        match self.graph.joined(event) {
            NONE => NONE,
            last if self.is_done(last) => NONE,
            last => last,
        }
    }

    /// The spawn of the thread whose first event this is, or [`NONE`].
    #[inline]
    fn spawn(&self, event: u32) -> u32 {
        let thread = self.graph.thread_of(event) as usize;
        match self.graph.bounds[thread].0 {
            first if first == event => self.graph.spawned_by[thread],
            _ => NONE,
        }
    }

    #[inline]
    fn is_done(&self, event: u32) -> bool {
        match self.graph.thread_of(event) {
            NONE => true,
            thread => event < self.next[thread as usize],
        }
    }

    /// Follows the blockers from a blocked thread until the cycle closes.
    fn waiting_cycle(&self, mut thread: usize) -> Violation {
        let mut links: Vec<CycleLink> = vec![];
        let mut entered: FxHashMap<usize, usize> = FxHashMap::default();
        loop {
            if let Some(&start) = entered.get(&thread) {
                let mut cycle = links.split_off(start);
                cycle.reverse();
                return Violation::Axiom { axiom: Axiom::PoRf, cycle, derivation: vec![] };
            }
            entered.insert(thread, links.len());
            let stuck = self.next[thread];
            let blocker = self.blocker(stuck);
            let observed = self.graph.rf(stuck) == blocker;
            let relation = if observed { Relation::Rf } else { Relation::Asw };
            links.push(CycleLink { from: id(blocker), to: id(stuck), relation });
            thread = self.graph.thread_of(blocker) as usize;
            let first = self.next[thread];
            if first != blocker {
                links.push(CycleLink { from: id(first), to: id(blocker), relation: Relation::Po });
            }
        }
    }
}
