//! A prefix of an order of all events, and the events that can follow.

use super::basis::Basis;
use super::explain::{fact, lift, link, reasons};
use super::graph::{C11Graph, NONE, Traits, id};
use super::sra_waits::Waits;
use crate::witness::{Axiom, MoFact, Relation, Violation, WhyMo};
use raddle_core::execution::EventId;

/// The reason why an event waits for another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    HappensBefore,
    /// A read forces the other to come before the chain that the event starts.
    Forced,
    /// The event is an update that observes the other.
    Update,
}

/// The executed events.
pub(super) struct SraState<'a, 'e> {
    graph: &'a C11Graph<'e>,
    basis: &'a Basis,
    waits: &'a Waits,
    /// By location: whether some update observes a write of it.
    has_updates: Vec<bool>,
    /// By thread: the number of its executed events.
    pub(super) done: Vec<u32>,
    /// By location: the update that must be the next write, or [`NONE`].
    pending: Vec<u32>,
    /// The writes in the order of execution, and what was pending before each.
    pub(super) trail: Vec<(u32, u32)>,
}

impl<'a, 'e> SraState<'a, 'e> {
    /// The initial state.
    pub(super) fn new(graph: &'a C11Graph<'e>, basis: &'a Basis, waits: &'a Waits) -> Self {
        let mut has_updates = vec![false; graph.locations()];
        for event in 0..graph.events() as u32 {
            if basis.chains.next(event) != NONE {
                has_updates[graph.location(event) as usize] = true;
            }
        }
        let inits = 0..graph.locations() as u32;
        let pending = inits.map(|init| basis.chains.next(init)).collect();
        let done = vec![0; graph.threads()];
        SraState { graph, basis, waits, has_updates, done, pending, trail: vec![] }
    }

    /// Returns `true` if some update observes some write.
    pub(super) fn has_updates(&self) -> bool {
        self.has_updates.iter().any(|&updates| updates)
    }

    /// Returns `true` if all events have been executed.
    pub(super) fn is_complete(&self) -> bool {
        let lens = self.graph.bounds.iter().map(|&(first, end)| end - first);
        lens.eq(self.done.iter().copied())
    }

    /// The next event of a thread.
    fn next(&self, thread: usize) -> Option<u32> {
        let (first, end) = self.graph.bounds[thread];
        Some(first + self.done[thread]).filter(|&event| event < end)
    }

    /// An event that an event waits for, and why.
    fn blocker(&self, event: u32) -> Option<(u32, Wait)> {
        let own = self.graph.thread_of(event) as usize;
        let short = |row: &[u32], thread: usize| row[thread] > self.done[thread];
        let (clock, forced) = (self.basis.clocks.row(event), self.waits.get(event));
        let last = |row: &[u32], thread: usize| self.graph.bounds[thread].0 + row[thread] - 1;
        if let Some(other) = (0..clock.len()).find(|&other| other != own && short(clock, other)) {
            return Some((last(clock, other), Wait::HappensBefore));
        }
        if let Some(other) = (0..forced.len()).find(|&other| short(forced, other)) {
            return Some((last(forced, other), Wait::Forced));
        }
        // A non-atomic source need not happen before the update.
        let source = self.graph.rf(event);
        let waits = self.graph.is_update(event) && source != NONE && !self.is_done(source);
        waits.then_some((source, Wait::Update))
    }

    fn is_done(&self, event: u32) -> bool {
        self.graph.is_init(event) || {
            let thread = self.graph.thread_of(event) as usize;
            self.graph.position(event) < self.done[thread]
        }
    }

    /// Returns `true` if an event is a write to a location with updates.
    fn is_contended(&self, event: u32) -> bool {
        self.graph.is(event, Traits::WRITE) && self.has_updates[self.graph.location(event) as usize]
    }

    /// Executes events as long as possible. If `spare_contended`, contended writes are left to the search.
    pub(super) fn run_ahead(&mut self, spare_contended: bool) {
        let mut ready: Vec<usize> = (0..self.done.len()).rev().collect();
        // By thread: the threads that wait for it.
        let mut waiting: Vec<Vec<usize>> = vec![vec![]; self.done.len()];
        while let Some(thread) = ready.pop() {
            let before = self.done[thread];
            while let Some(event) = self.next(thread) {
                if spare_contended && self.is_contended(event) {
                    break;
                }
                if let Some((blocker, _)) = self.blocker(event) {
                    waiting[self.graph.thread_of(blocker) as usize].push(thread);
                    break;
                }
                self.execute(event);
            }
            if self.done[thread] > before {
                ready.append(&mut waiting[thread]);
            }
        }
    }

    pub(super) fn execute(&mut self, event: u32) {
        self.done[self.graph.thread_of(event) as usize] += 1;
        if self.graph.is(event, Traits::WRITE) {
            let pending = &mut self.pending[self.graph.location(event) as usize];
            self.trail.push((event, *pending));
            *pending = self.basis.chains.next(event);
        }
    }

    /// The contended writes that can be executed now.
    pub(super) fn moves(&self) -> Vec<u32> {
        (0..self.done.len())
            .filter_map(|thread| self.next(thread))
            .filter(|&event| self.is_contended(event) && self.blocker(event).is_none())
            .filter(|&event| {
                let pending = self.pending[self.graph.location(event) as usize];
                pending == NONE || pending == event
            })
            .collect()
    }

    /// Returns to an earlier state.
    pub(super) fn undo_to(&mut self, done: &[u32], trail: usize) {
        self.done.copy_from_slice(done);
        while self.trail.len() > trail {
            if let Some((event, pending)) = self.trail.pop() {
                self.pending[self.graph.location(event) as usize] = pending;
            }
        }
    }

    /// By location: its writes in the order of execution.
    pub(super) fn orders(&self) -> Vec<Vec<EventId>> {
        let mut orders: Vec<Vec<EventId>> =
            (0..self.graph.locations() as u32).map(|init| vec![id(init)]).collect();
        for &(event, _) in &self.trail {
            orders[self.graph.location(event) as usize].push(id(event));
        }
        orders
    }

    /// No event can be executed: follows the blockers until the cycle closes.
    pub(super) fn waiting_cycle(&self) -> Violation {
        let stuck = (0..self.done.len()).find(|&thread| self.next(thread).is_some());
        let mut thread = stuck.expect("some event is left");
        let mut links = vec![];
        let mut derivation: Vec<MoFact> = vec![];
        let mut entered = vec![NONE; self.done.len()];
        while entered[thread] == NONE {
            entered[thread] = links.len() as u32;
            let event = self.graph.bounds[thread].0 + self.done[thread];
            let (blocker, why) = self.blocker(event).expect("the event waits");
            let relation = if why == Wait::HappensBefore { Relation::Hb } else { Relation::Mo };
            links.push(link(blocker, event, relation));
            match why {
                Wait::HappensBefore => {}
                Wait::Forced => derivation.extend(self.why(blocker, event)),
                Wait::Update => derivation.push(fact(blocker, event, WhyMo::Update)),
            }
            thread = self.graph.thread_of(blocker) as usize;
            let stuck_at = self.graph.bounds[thread].0 + self.done[thread];
            if blocker != stuck_at {
                links.push(link(stuck_at, blocker, Relation::Hb));
            }
        }
        let mut cycle = links.split_off(entered[thread] as usize);
        cycle.reverse();
        Violation::Axiom { axiom: Axiom::StrongWriteCoherence, cycle, derivation }
    }

    /// Why a write must come before the write that starts a chain.
    fn why(&self, write: u32, top: u32) -> Vec<MoFact> {
        let location = self.graph.location(write) as usize;
        let reason = reasons(self.graph, self.basis, location, &[(write, top)])[0];
        let mut facts = vec![reason.fact(self.graph, write)];
        lift(&mut facts, write, top);
        facts
    }
}
