//! Optimal-DPOR: every trace exactly once.
//!
//! *Problem.* Visit one execution of every trace, and never begin one of a trace that was visited before.
//!
//! *Idea.* Every point of the current execution has a *sleep set*, the steps already explored from there, and a *wakeup
//! tree* of sequences that remain to be explored. When an execution is complete, every race in it is reversed: if no
//! step of the sleep set at that point is a weak initial of the reversed sequence (`not_dep`), the sequence leads to a
//! new trace and is added to the tree. Below the leaves of the tree any step will do.
//!
//! *Paper.* Abdulla, Aronis, Jonsson, Sagonas, *Optimal Dynamic Partial Order Reduction*, POPL 2014, algorithm 2.
//! *Difference:* locks and guards (`races`); choices of the program and of weak compare-exchanges, which are treated
//! like races of a step with itself; and a race is not reversed again if that gives the same sequence as in the last
//! execution.
//!
//! *Cost.* One step per event that differs from the last execution, and one sequence per race. A million traces per
//! second for eight writers of one location; 200,000 for `readers(16)`, where half of each execution is new and most
//! sequences turn out to be known.
//!
//! *Rejected.* Reversing only races whose second event is new: it misses traces, since the events that do not depend on
//! the first event may differ. Comparing the steps of a sequence with all accesses of the location one by one, instead
//! of with event sets: half the speed.

use super::footprint::Footprint;
use super::not_dep::Initial;
use super::races::BlockedStep;
use super::state::{DporEvent, DporState};
use super::tally::DporTally;
use super::wakeup::{WakeupArena, WakeupBranches};
use super::{DporAlgorithm, DporExploration};
use crate::driver::Restart;
use crate::event_index::EventIndex;
use crate::event_set::EventSet;
use crate::{Limits, Summary, Visitor};
use raddle_core::model::Model;
use raddle_core::program::Program;

/// Explores a program under SC, TSO or PSO. Under other models the extent is
/// [`Unsupported::Model`](crate::Unsupported).
pub fn explore<'a>(
    program: &'a mut (dyn Program + 'a),
    model: Model,
    limits: &'a Limits,
    visitor: &'a mut (dyn Visitor + 'a),
) -> Summary {
    DporExploration::new(program, model, limits, visitor).run::<OptimalDpor>()
}

/// Algorithm, generic over the width of event sets.
struct OptimalDpor;

impl DporAlgorithm for OptimalDpor {
    fn run<R: EventSet>(state: DporState<'_, R>, tally: &mut DporTally<'_>) -> Result<(), Restart> {
        let nodes = vec![OptimalNode::default()];
        let mut explorer =
            OptimalExplorer { state, tally, nodes, arena: WakeupArena::default(), first_new: 0 };
        if explorer.state.early_end.is_some() {
            explorer.end();
        } else {
            explorer.explore_node(0);
        }
        explorer.tally.finish(explorer.state)
    }
}

/// Point of the current execution.
struct OptimalNode {
    /// Sleep set: steps that lead only to explored traces.
    sleep: Vec<Footprint>,
    /// Sequences that remain to be explored.
    tree: WakeupBranches,
}

impl Default for OptimalNode {
    fn default() -> Self {
        OptimalNode { sleep: vec![], tree: WakeupBranches::EMPTY }
    }
}

struct OptimalExplorer<'s, 'a, 't, R> {
    state: DporState<'s, R>,
    tally: &'t mut DporTally<'a>,
    /// By number of preceding events.
    nodes: Vec<OptimalNode>,
    arena: WakeupArena,
    /// Index of the first event that was not in the last execution.
    first_new: usize,
}

impl<R: EventSet> OptimalExplorer<'_, '_, '_, R> {
    /// Explores the wakeup tree of a point. If the tree is empty, adds any enabled step first.
    fn explore_node(&mut self, depth: usize) {
        if self.nodes[depth].tree.is_empty() {
            let Some(process) = self.state.pick_process(|_| true) else { return self.end() };
            assert!(
                self.nodes[depth].sleep.is_empty(),
                "Optimal-DPOR explores a trace twice; this is a bug in Raddle, please report it"
            );
            let footprint = self.state.next_footprint(process, 0);
            self.arena.add(&mut self.nodes[depth].tree, footprint);
        }
        if self.nodes.len() == depth + 1 {
            self.nodes.push(OptimalNode::default());
        }
        while let Some((footprint, below)) = self.arena.take_first(&mut self.nodes[depth].tree) {
            let footprint = self.state.next_footprint(footprint.process, footprint.choice);
            self.descend(depth, footprint, below);
            self.nodes[depth].sleep.push(footprint);
            if self.tally.is_stopped() {
                return;
            }
        }
    }

    /// Takes a step, explores what follows, and undoes the step.
    fn descend(&mut self, depth: usize, footprint: Footprint, below: WakeupBranches) {
        let [here, next] = &mut self.nodes[depth..depth + 2] else { return };
        next.sleep.clear();
        next.sleep
            .extend(here.sleep.iter().filter(|other| !self.state.conflict(&footprint, other)));
        next.tree = below;
        self.first_new = self.first_new.min(depth);
        self.state.step(footprint);
        if self.state.early_end.is_some() {
            self.end();
        } else {
            self.explore_node(depth + 1);
        }
        self.state.pop();
    }

    /// Visits the current execution, which is complete, and reverses its races.
    fn end(&mut self) {
        self.tally.visit(&self.state);
        for event in 0..self.state.events.len() {
            self.reverse_races(EventIndex::new(event));
        }
        for event in self.state.choices.iter() {
            self.add_alternatives(event);
        }
        for thread in 0..self.state.threads.len() as u32 {
            if let Some(blocked) = self.state.blocked_step(thread) {
                let BlockedStep { footprint, base, races } = blocked;
                races.iter().for_each(|first| self.reverse_race(first, footprint, base.clone()));
            }
        }
        self.first_new = usize::MAX;
    }

    /// Reverses the races of an event with earlier ones. If the event was in the last execution, they were reversed
    /// there; the sequence differs only if some new event does not depend on the first event of the race.
    fn reverse_races(&mut self, event: EventIndex) {
        let DporEvent { races, base, .. } = self.state.events[event.index()].clone();
        for first in races.iter() {
            if event.index() < self.first_new && !self.has_new_independent_event(first) {
                continue;
            }
            let (footprint, spurious) = self.state.reversed_footprint(first, event);
            self.reverse_race(first, footprint, base.clone());
            if let Some(footprint) = spurious {
                self.reverse_race(first, footprint, base.clone());
            }
        }
    }

    /// Returns `true` if an event that was not in the last execution does not depend on `event`.
    fn has_new_independent_event(&self, event: EventIndex) -> bool {
        self.state.events[self.first_new..].iter().any(|new| !new.before.has(event))
    }

    /// Adds the other alternatives of an event.
    fn add_alternatives(&mut self, event: EventIndex) {
        let DporEvent { base, options, footprint: Footprint { choice, .. }, .. } =
            self.state.events[event.index()].clone();
        for other in (0..options).filter(|&other| other != choice) {
            self.reverse_race(event, self.state.alternative_footprint(event, other), base.clone());
        }
    }

    /// Adds the sequence of the events that do not depend on `first`, followed by the step `last`, to the wakeup tree
    /// at `first`, unless its traces were explored. `base` are the events that happen before `last`.
    fn reverse_race(&mut self, first: EventIndex, last: Footprint, base: R) {
        let sequence = self.state.not_dep(first, last, base);
        let OptimalNode { sleep, tree } = &mut self.nodes[first.index()];
        let is_explored =
            |footprint: &Footprint| self.state.weak_initial(&sequence, footprint) != Initial::No;
        if !sleep.iter().any(is_explored) {
            self.arena.insert(&self.state, tree, sequence);
        }
    }
}
