//! Source-DPOR: every trace at least once.
//!
//! *Idea.* Explore any execution. Whenever a step races with an earlier event, some initial of the sequence that
//! reverses the race (`not_dep`) has to be explored from the point before that event: it is added to the *source set*
//! there. Steps that lead only to explored traces are in the *sleep set* and are not taken. Unlike in
//! [`optimal_dpor`](super::optimal_dpor), only the first step of a sequence is remembered, so an execution may reach a
//! point where all enabled steps sleep: it was begun in vain.
//!
//! *Paper.* Abdulla, Aronis, Jonsson, Sagonas, *Optimal Dynamic Partial Order Reduction*, POPL 2014, algorithm 1.
//! *Difference:* see [`optimal_dpor`](super::optimal_dpor).

use super::footprint::Footprint;
use super::not_dep::Initial;
use super::races::BlockedStep;
use super::state::{DporEvent, DporState};
use super::tally::DporTally;
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
    DporExploration::new(program, model, limits, visitor).run::<SourceDpor>()
}

/// Algorithm, generic over the width of event sets.
struct SourceDpor;

impl DporAlgorithm for SourceDpor {
    fn run<R: EventSet>(state: DporState<'_, R>, tally: &mut DporTally<'_>) -> Result<(), Restart> {
        let mut explorer = SourceExplorer { state, tally, nodes: vec![SourceNode::default()] };
        if explorer.state.early_end.is_some() {
            explorer.tally.visit(&explorer.state);
        } else {
            explorer.explore_node(0);
        }
        explorer.tally.finish(explorer.state)
    }
}

/// Point of the current execution.
#[derive(Default)]
struct SourceNode {
    /// Sleep set: steps that lead only to explored traces.
    sleep: Vec<Footprint>,
    /// Source set: steps to explore, including explored ones.
    sources: Vec<Footprint>,
}

struct SourceExplorer<'s, 'a, 't, R> {
    state: DporState<'s, R>,
    tally: &'t mut DporTally<'a>,
    /// By number of preceding events.
    nodes: Vec<SourceNode>,
}

impl<R: EventSet> SourceExplorer<'_, '_, '_, R> {
    /// Explores the source set of a point, which grows in the meantime.
    fn explore_node(&mut self, depth: usize) {
        self.nodes[depth].sources.clear();
        let Some(first) = self.first_awake(depth) else { return self.end() };
        self.nodes[depth].sources.push(first);
        if self.nodes.len() == depth + 1 {
            self.nodes.push(SourceNode::default());
        }
        let mut at = 0;
        while let Some(&footprint) = self.nodes[depth].sources.get(at) {
            at += 1;
            if !self.is_asleep(depth, footprint.process, footprint.choice) {
                let footprint = self.state.next_footprint(footprint.process, footprint.choice);
                self.descend(depth, footprint);
                self.nodes[depth].sleep.push(footprint);
            }
            if self.tally.is_stopped() {
                return;
            }
        }
    }

    fn is_asleep(&self, depth: usize, process: u32, choice: u32) -> bool {
        let same =
            |footprint: &Footprint| footprint.process == process && footprint.choice == choice;
        self.nodes[depth].sleep.iter().any(same)
    }

    /// Returns an enabled step that is not in the sleep set.
    fn first_awake(&self, depth: usize) -> Option<Footprint> {
        let awake = |process| {
            let mut choices = 0..self.state.options(process);
            choices.find(|&choice| !self.is_asleep(depth, process, choice))
        };
        let process = self.state.pick_process(|process| awake(process).is_some())?;
        Some(self.state.next_footprint(process, awake(process)?))
    }

    /// Takes a step, explores what follows, and undoes the step.
    fn descend(&mut self, depth: usize, footprint: Footprint) {
        let [here, next] = &mut self.nodes[depth..depth + 2] else { return };
        next.sleep.clear();
        next.sleep
            .extend(here.sleep.iter().filter(|other| !self.state.conflict(&footprint, other)));
        self.state.step(footprint);
        self.reverse_races(EventIndex::new(depth));
        if self.state.early_end.is_some() {
            self.tally.visit(&self.state);
        } else {
            self.explore_node(depth + 1);
        }
        self.state.pop();
    }

    /// Ends an execution in which no step is enabled, or all enabled ones sleep.
    fn end(&mut self) {
        if self.state.pick_process(|_| true).is_none() {
            self.tally.visit(&self.state);
        } else {
            self.tally.count_execution();
        }
        for thread in 0..self.state.threads.len() as u32 {
            if let Some(blocked) = self.state.blocked_step(thread) {
                let BlockedStep { footprint, base, races } = blocked;
                races.iter().for_each(|first| self.reverse_race(first, footprint, base.clone()));
            }
        }
        for event in self.state.choices.iter() {
            self.add_alternatives(event);
        }
    }

    /// Adds the other alternatives of an event.
    fn add_alternatives(&mut self, event: EventIndex) {
        let DporEvent { base, options, footprint: Footprint { choice, .. }, .. } =
            self.state.events[event.index()].clone();
        for other in (0..options).filter(|&other| other != choice) {
            self.reverse_race(event, self.state.alternative_footprint(event, other), base.clone());
        }
    }

    /// Reverses the races of the last event with earlier ones.
    fn reverse_races(&mut self, event: EventIndex) {
        let DporEvent { races, base, .. } = self.state.events[event.index()].clone();
        for first in races.iter() {
            let (footprint, spurious) = self.state.reversed_footprint(first, event);
            self.reverse_race(first, footprint, base.clone());
            if let Some(footprint) = spurious {
                self.reverse_race(first, footprint, base.clone());
            }
        }
    }

    /// Adds an initial of the events that do not depend on `first`, followed by the step `last`, to the source set at
    /// `first`, unless it has one. `base` are the events that happen before `last`.
    fn reverse_race(&mut self, first: EventIndex, last: Footprint, base: R) {
        let sequence = self.state.not_dep(first, last, base);
        let is_initial = |footprint: &Footprint| {
            matches!(
                self.state.weak_initial(&sequence, footprint),
                Initial::Event(_) | Initial::Last
            )
        };
        let sources = &mut self.nodes[first.index()].sources;
        if !sources.iter().any(is_initial) {
            let initial = sequence
                .events
                .first()
                .map_or(last, |event| self.state.events[event.index()].footprint);
            sources.push(initial);
        }
    }
}
