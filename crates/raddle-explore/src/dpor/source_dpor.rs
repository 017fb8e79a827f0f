//! Source-DPOR: every trace at least once.
//!
//! *Idea.* Explore any execution. Whenever a step races with an earlier event, some step that can come
//! first in the word that turns the race round has to be explored from where that event happened (the
//! *source set* there); steps that lead only to what was explored are in the *sleep set* and not taken.
//! Unlike in [`optimal_dpor`](super::optimal_dpor), only the first step of a word is remembered, so an execution may
//! come to a place where all steps sleep: it was begun in vain.
//!
//! *Paper.* Abdulla, Aronis, Jonsson, Sagonas, *Optimal Dynamic Partial Order Reduction*, POPL 2014, algorithm 1.
//! Where we differ: see [`optimal_dpor`](super::optimal_dpor).

use super::footprint::Footprint;
use super::not_dep::Place;
use super::state::{Event, State};
use super::tally::Tally;
use super::{Algorithm, Exploration};
use crate::driver::Restart;
use crate::event_set::EventSet;
use crate::{Limits, Summary, Visitor};
use raddle_core::model::Model;
use raddle_core::program::Program;

/// Explores a program under a model with store buffers; there is nothing to step under others.
pub fn explore<'a>(
    program: &'a mut (dyn Program + 'a),
    model: Model,
    limits: &'a Limits,
    visitor: &'a mut (dyn Visitor + 'a),
) -> Summary {
    Exploration::new(program, model, limits, visitor).run::<Source>()
}

/// The algorithm, for any width.
struct Source;

impl Algorithm for Source {
    fn run<R: EventSet>(state: State<'_, R>, tally: &mut Tally<'_>) -> Result<(), Restart> {
        let mut explorer = Explorer { state, tally, nodes: vec![Node::default()] };
        if explorer.state.cut.is_some() {
            explorer.tally.leaf(&explorer.state);
        } else {
            explorer.node(0);
        }
        explorer.tally.keep(explorer.state)
    }
}

/// A place of the current execution.
#[derive(Default)]
struct Node {
    /// The steps that lead to what was explored.
    sleep: Vec<Footprint>,
    /// The steps to explore, explored ones included.
    sources: Vec<Footprint>,
}

struct Explorer<'s, 'a, 't, R> {
    state: State<'s, R>,
    tally: &'t mut Tally<'a>,
    /// By the number of events.
    nodes: Vec<Node>,
}

impl<R: EventSet> Explorer<'_, '_, '_, R> {
    /// Explores the source set of a place, which grows meanwhile.
    fn node(&mut self, depth: usize) {
        self.nodes[depth].sources.clear();
        let Some(first) = self.first(depth) else { return self.end() };
        self.nodes[depth].sources.push(first);
        if self.nodes.len() == depth + 1 {
            self.nodes.push(Node::default());
        }
        let mut at = 0;
        while let Some(&foot) = self.nodes[depth].sources.get(at) {
            at += 1;
            if !self.sleeps(depth, foot.process, foot.choice) {
                let foot = self.state.foot(foot.process, foot.choice);
                self.descend(depth, foot);
                self.nodes[depth].sleep.push(foot);
            }
            if self.tally.is_stopped() {
                return;
            }
        }
    }

    fn sleeps(&self, depth: usize, process: u32, choice: u32) -> bool {
        let same = |foot: &Footprint| foot.process == process && foot.choice == choice;
        self.nodes[depth].sleep.iter().any(same)
    }

    /// A step that does not sleep.
    fn first(&self, depth: usize) -> Option<Footprint> {
        let awake = |process| {
            let mut choices = 0..self.state.options(process);
            choices.find(|&choice| !self.sleeps(depth, process, choice))
        };
        let process = self.state.pick(|process| awake(process).is_some())?;
        Some(self.state.foot(process, awake(process)?))
    }

    fn descend(&mut self, depth: usize, foot: Footprint) {
        let [here, next] = &mut self.nodes[depth..depth + 2] else { return };
        next.sleep.clear();
        next.sleep.extend(here.sleep.iter().filter(|other| !self.state.conflict(&foot, other)));
        self.state.step(foot);
        self.turn_round(depth);
        if self.state.cut.is_some() {
            self.tally.leaf(&self.state);
        } else {
            self.node(depth + 1);
        }
        self.state.pop();
    }

    /// No step can be taken, or all that can be sleep.
    fn end(&mut self) {
        if self.state.pick(|_| true).is_none() {
            self.tally.leaf(&self.state);
        } else {
            self.tally.end();
        }
        for thread in 0..self.state.threads.len() as u32 {
            if let Some((foot, base, rivals)) = self.state.waiting(thread) {
                rivals.iter().for_each(|first| self.add(first, foot, base));
            }
        }
        for event in self.state.choices.iter() {
            self.choose(event);
        }
    }

    /// Lets an event be done in all other ways.
    fn choose(&mut self, event: usize) {
        let Event { base, options, foot: Footprint { choice, .. }, .. } = self.state.events[event];
        for other in (0..options).filter(|&other| other != choice) {
            self.add(event, self.state.otherwise(event, other), base);
        }
    }

    /// Turns round the races of the last event.
    fn turn_round(&mut self, event: usize) {
        let Event { races, base, .. } = self.state.events[event];
        for first in races.iter() {
            let (foot, spurious) = self.state.reversed(first, event);
            self.add(first, foot, base);
            if let Some(foot) = spurious {
                self.add(first, foot, base);
            }
        }
    }

    /// Sees to it that a word that turns a race round is explored.
    fn add(&mut self, first: usize, last: Footprint, base: R) {
        let word = self.state.word(first, last, base);
        let begins = |foot: &Footprint| {
            matches!(self.state.place(&word, foot), Place::Event(_) | Place::Last)
        };
        let sources = &mut self.nodes[first].sources;
        if !sources.iter().any(begins) {
            let initial = word.rest.first().map_or(last, |event| self.state.events[event].foot);
            sources.push(initial);
        }
    }
}
