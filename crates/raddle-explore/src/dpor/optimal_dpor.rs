//! Optimal-DPOR: every trace exactly once.
//!
//! *Problem.* Visit one execution of every trace, and never start one that was seen before.
//!
//! *Idea.* At every place of the current execution there are the steps that were explored from there (the
//! *sleep set*), and a *wakeup tree* of words that remain. When an execution is complete, every race in it
//! is turned round: if no step of the sleep set there could come first in the word, that is something new,
//! and the word is added to the tree. Beyond the tree any step will do.
//!
//! *Paper.* Abdulla, Aronis, Jonsson, Sagonas, *Optimal Dynamic Partial Order Reduction*, POPL 2014, algorithm 2.
//! Where we differ: locks and guards (`races.rs`); choices of the program and of weak compare-exchanges,
//! which are like races of a step with itself; and a race is not turned round again where that gives no
//! other word than in the last execution.
//!
//! *Cost.* A step for each event that differs from the last execution, and a word for each race. A million
//! traces a second for eight writers of one location, 200,000 for `readers(16)`, where half of an execution is
//! new each time and most words turn out to be known.
//!
//! *Tried and rejected.* Looking only at races whose second event is new: it loses traces, since what does
//! not depend on the first event is not what it was. Comparing steps of a word with all accesses of the location one by
//! one, instead of rows of them: half the speed.

use super::footprint::Footprint;
use super::state::{Event, State};
use super::tally::Tally;
use super::wakeup::{Arena, Branches};
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
    Exploration::new(program, model, limits, visitor).run::<Optimal>()
}

/// The algorithm, for any width.
struct Optimal;

impl Algorithm for Optimal {
    fn run<R: EventSet>(state: State<'_, R>, tally: &mut Tally<'_>) -> Result<(), Restart> {
        let nodes = vec![Node::default()];
        let mut explorer = Explorer { state, tally, nodes, arena: Arena::default(), fresh: 0 };
        if explorer.state.cut.is_some() {
            explorer.end();
        } else {
            explorer.node(0);
        }
        explorer.tally.keep(explorer.state)
    }
}

/// A place of the current execution.
struct Node {
    /// The steps that lead to what was explored.
    sleep: Vec<Footprint>,
    /// What remains.
    tree: Branches,
}

impl Default for Node {
    fn default() -> Self {
        Node { sleep: vec![], tree: Branches::EMPTY }
    }
}

struct Explorer<'s, 'a, 't, R> {
    state: State<'s, R>,
    tally: &'t mut Tally<'a>,
    /// By the number of events.
    nodes: Vec<Node>,
    arena: Arena,
    /// The first event that was not in the last execution.
    fresh: usize,
}

impl<R: EventSet> Explorer<'_, '_, '_, R> {
    /// Explores all that the tree of a place says.
    fn node(&mut self, depth: usize) {
        if self.nodes[depth].tree.is_empty() {
            let Some(process) = self.state.pick(|_| true) else { return self.end() };
            assert!(
                self.nodes[depth].sleep.is_empty(),
                "Raddle explores an execution twice; that is a mistake of Raddle, please report it"
            );
            let foot = self.state.foot(process, 0);
            self.arena.add(&mut self.nodes[depth].tree, foot);
        }
        if self.nodes.len() == depth + 1 {
            self.nodes.push(Node::default());
        }
        while let Some((foot, below)) = self.arena.take_first(&mut self.nodes[depth].tree) {
            let foot = self.state.foot(foot.process, foot.choice);
            self.descend(depth, foot, below);
            self.nodes[depth].sleep.push(foot);
            if self.tally.is_stopped() {
                return;
            }
        }
    }

    fn descend(&mut self, depth: usize, foot: Footprint, below: Branches) {
        let [here, next] = &mut self.nodes[depth..depth + 2] else { return };
        next.sleep.clear();
        next.sleep.extend(here.sleep.iter().filter(|other| !self.state.conflict(&foot, other)));
        next.tree = below;
        self.fresh = self.fresh.min(depth);
        self.state.step(foot);
        if self.state.cut.is_some() {
            self.end();
        } else {
            self.node(depth + 1);
        }
        self.state.pop();
    }

    /// The execution is complete: turns its races round.
    fn end(&mut self) {
        self.tally.leaf(&self.state);
        for event in 0..self.state.events.len() {
            self.turn_round(event);
        }
        for event in self.state.choices.iter() {
            self.choose(event);
        }
        for thread in 0..self.state.threads.len() as u32 {
            if let Some((foot, base, rivals)) = self.state.waiting(thread) {
                rivals.iter().for_each(|first| self.wake(first, foot, base));
            }
        }
        self.fresh = usize::MAX;
    }

    /// Turns round the races of an event with earlier ones. If it was in the last execution, that was done
    /// there, and nothing is new unless something new does not depend on the first event of the race.
    fn turn_round(&mut self, event: usize) {
        let Event { races, base, .. } = self.state.events[event];
        for first in races.iter() {
            if event < self.fresh && !self.has_news(first) {
                continue;
            }
            let (foot, spurious) = self.state.reversed(first, event);
            self.wake(first, foot, base);
            if let Some(foot) = spurious {
                self.wake(first, foot, base);
            }
        }
    }

    /// Whether something that was not in the last execution does not depend on the event.
    fn has_news(&self, event: usize) -> bool {
        self.state.events[self.fresh..].iter().any(|new| !new.before.has(event))
    }

    /// Lets an event be done in all other ways.
    fn choose(&mut self, event: usize) {
        let Event { base, options, foot: Footprint { choice, .. }, .. } = self.state.events[event];
        for other in (0..options).filter(|&other| other != choice) {
            self.wake(event, self.state.otherwise(event, other), base);
        }
    }

    /// Notes to follow what does not depend on an event, and then a step, unless that was seen.
    fn wake(&mut self, first: usize, last: Footprint, base: R) {
        let word = self.state.word(first, last, base);
        let Node { sleep, tree } = &mut self.nodes[first];
        let seen = |foot: &Footprint| self.state.place(&word, foot) != super::not_dep::Place::No;
        if !sleep.iter().any(seen) {
            self.arena.insert(&self.state, tree, word);
        }
    }
}
