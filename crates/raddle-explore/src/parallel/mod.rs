//! RF-partSMC by several workers.
//!
//! *Idea.* The sources of one read lead to independent subtrees. A worker explores one until it is done, or until
//! others wait for work; then what is left of it is handed out as smaller ones ([`frontier`]). Every worker has a
//! program of its own, as native code cannot be shared, and remembers the histories that it met. Workers are threads,
//! or processes that are forked in the middle of the exploration ([`process`]).
//!
//! *The same result for any number of workers.* The tree does not depend on where it is cut, and subtrees are numbered
//! in the order of the exploration. If a bug is found in one, those after it are abandoned, and those before it are
//! finished; so the bug that is reported is the one that a single worker finds. Counts are those up to there.
//!
//! *Cost.* Small programs are explored before other workers start ([`Budget`]); large ones are recognised early by the
//! share of the tree that the first leaves are. A suspended subtree is split into about as many subtrees as its stack
//! has sources left; following the path to each takes some microseconds, and handing it to another process some ten. So
//! the first worker takes the first subtrees in the order of the exploration, of which many are tiny, and the others
//! take the last ones, which are large.

pub mod checkpoint;
pub mod frontier;
pub mod process;
mod shared;
mod worker;

use std::num::NonZero;
use std::time::Duration;

use crate::driver::{self, Restart};
use crate::facts::{ExplorationFacts, NewFact};
use crate::rf_part_smc::subtree::{Subtree, SubtreeReport};
use crate::rf_part_smc::{SubtreeSource, explore_subtrees};
use crate::{Control, Extent, Leaf, Limits, Summary, Visitor};
use frontier::{Frontier, SubtreeKey};
use process::WorkerProcesses;
use raddle_core::model::Model;
use raddle_core::program::Program;
use shared::SharedExploration;

/// When a subtree is suspended, and when other workers start.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// The number of leaves after which the whole tree is suspended. The order of the exploration depends on it.
    pub first: u64,
    /// The number of leaves after which all other subtrees are suspended at the latest; 0: never.
    pub next: u64,
    /// How long the first worker works alone, unless the rest seems to take longer. Forking a process, and the page
    /// faults afterwards, take some milliseconds.
    pub alone: Duration,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { first: 2_048, next: 0, alone: Duration::from_millis(32) }
    }
}

/// Makes a program, passes it to the function, and examines it afterwards.
pub type WithProgram<'a> = dyn Fn(&mut dyn FnMut(&mut dyn Program)) + Sync + 'a;

/// The workers besides the first one.
pub enum Helpers<'a, V> {
    /// Threads; this makes a program for each.
    Threads(&'a WithProgram<'a>),
    /// Forks of this process, with its program.
    Processes(WorkerProcesses<'a, V>),
}

/// An exploration by several workers.
pub struct ParallelTask<'a, V> {
    /// The memory model.
    pub model: Model,
    /// How far to explore. The limit of classes is ignored.
    pub limits: &'a Limits,
    /// The number of workers.
    pub jobs: NonZero<usize>,
    /// When subtrees are suspended.
    pub budget: Budget,
    /// The other workers.
    pub helpers: Helpers<'a, V>,
    /// Makes the visitor of a subtree.
    pub visitor: &'a (dyn Fn() -> V + Sync),
    /// Whether the visitor of an explored subtree belongs to the result. The others are dropped: there are many subtrees.
    pub keeps: &'a (dyn Fn(&V) -> bool + Sync),
    /// Is called whenever a subtree was explored. May end the exploration because the program must be explored in
    /// another way. Then that subtree is the last one that counts, and what is left before it may still be explored
    /// ([`explore_renewed`]).
    pub observer: Option<&'a SubtreeObserver<'a, V>>,
}

/// Receives explored subtrees.
pub type SubtreeObserver<'a, V> = dyn Fn(&ExploredSubtree<'_, V>) -> Control + Sync + 'a;

/// A subtree that was explored.
pub struct ExploredSubtree<'n, V> {
    /// What is left of the tree.
    pub left: &'n Frontier,
    /// Its place in the order of the exploration.
    pub key: &'n SubtreeKey,
    /// The subtree.
    pub subtree: &'n Subtree,
    /// The visitor of its leaves.
    pub visitor: &'n V,
    /// What the program of the worker has learned ([`Program::learned`]).
    pub learned: &'n str,
    /// Whether that is the program of the first worker.
    pub by_first: bool,
}

impl<V> ExploredSubtree<'_, V> {
    /// Returns `true` if it does not count, because the exploration ends before it.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.left.is_cut(self.key)
    }
}

/// The result of an exploration by several workers.
pub struct ParallelResult<V> {
    /// How far it got.
    pub summary: Summary,
    /// The visitors that were kept, in the order of the exploration. If one of them stopped it, that is the last.
    pub visitors: Vec<V>,
    /// What is left.
    pub frontier: Frontier,
    /// Whether the observer ended it, or a fact was learned.
    pub is_interrupted: bool,
    /// What was learned in which subtree, if the exploration must start over.
    fact: Option<(SubtreeKey, NewFact)>,
}

/// Explores one subtree of the tree that these facts determine, until the visitor stops it.
pub fn explore_subtree(
    program: &mut dyn Program,
    model: Model,
    budget: Budget,
    (facts, subtree): (&ExplorationFacts, Subtree),
    visitor: &mut dyn Visitor,
) {
    let (first, facts) = (budget.first, facts.clone());
    let mut single = SingleSubtree { first, facts, subtree: Some(subtree), visitor };
    explore_subtrees(program, model, &Limits::default(), &mut single);
}

/// Hands out one subtree.
struct SingleSubtree<'a> {
    first: u64,
    facts: ExplorationFacts,
    subtree: Option<Subtree>,
    visitor: &'a mut dyn Visitor,
}

impl Visitor for SingleSubtree<'_> {
    fn visit(&mut self, leaf: &dyn Leaf) -> Control {
        self.visitor.visit(leaf)
    }
}

impl SubtreeSource for SingleSubtree<'_> {
    fn next_subtree(&mut self) -> Option<(Subtree, u64)> {
        Some((self.subtree.take()?, 0))
    }

    fn first_budget(&self) -> u64 {
        self.first
    }

    fn report(&mut self, _: SubtreeReport) {}

    fn facts(&self) -> ExplorationFacts {
        self.facts.clone()
    }

    fn is_cancelled(&self) -> bool {
        false
    }

    fn wants_suspension(&self) -> bool {
        false
    }
}

/// As [`explore`]. If the observer ends that, also explores what is left before, as a single worker would have: with
/// the program renewed, which cannot be used any longer as it is.
pub fn explore_renewed<V: Visitor + Send, P: Program>(
    task: &ParallelTask<'_, V>,
    program: &mut P,
    mut frontier: Frontier,
    mut renew: impl FnMut(&mut P),
) -> ParallelResult<V> {
    driver::drive(|_| {
        let left = std::mem::take(&mut frontier);
        let explored = explore_all(task, program, left, &mut renew);
        if !explored.is_interrupted {
            return Ok(explored);
        }
        renew(program);
        if explored.frontier.is_done() {
            return Ok(explored);
        }
        frontier = explored.frontier;
        Err(Restart::ProgramFacts)
    })
}

/// Explores what is left of a tree. The first worker uses this program.
pub fn explore<V: Visitor + Send, P: Program>(
    task: &ParallelTask<'_, V>,
    program: &mut P,
    frontier: Frontier,
) -> ParallelResult<V> {
    explore_all(task, program, frontier, &mut |program: &mut P| program.restart())
}

/// As [`explore`]. Whenever a fact is learned, first explores what is left before, as a single worker
/// would have, and then starts over with that fact.
fn explore_all<V: Visitor + Send, P: Program>(
    task: &ParallelTask<'_, V>,
    program: &mut P,
    mut frontier: Frontier,
    renew: &mut dyn FnMut(&mut P),
) -> ParallelResult<V> {
    let mut fact = None;
    driver::drive(|_| {
        let mut explored = explore_once(task, program, std::mem::take(&mut frontier));
        let has_learned = explored.fact.is_some();
        fact = explored.fact.take().or_else(|| fact.take());
        fact.take_if(|(key, _)| explored.frontier.is_cut(key));
        let ends = explored.is_interrupted && !has_learned;
        if ends || fact.is_none() || explored.summary.extent == Extent::Deadline {
            return Ok(explored);
        }
        renew(program);
        frontier = explored.frontier;
        if let Some((_, fact)) = fact.take_if(|_| frontier.is_done()) {
            frontier = frontier.started_over(fact);
        }
        Err(Restart::ExplorationFacts)
    })
}

/// Explores what is left of a tree until it is done, somebody stops, or a fact is learned.
fn explore_once<V: Visitor + Send>(
    task: &ParallelTask<'_, V>,
    program: &mut dyn Program,
    frontier: Frontier,
) -> ParallelResult<V> {
    let shared = SharedExploration::new(task, frontier);
    std::thread::scope(|scope| {
        if let Helpers::Threads(with_program) = task.helpers {
            for _ in 1..task.jobs.get() {
                let shared = &shared;
                scope.spawn(move || {
                    if shared.wait_for_second_subtree() {
                        with_program(&mut |program| worker::work(shared, None, program));
                    }
                });
            }
        }
        worker::work(&shared, Some(scope), program);
    });
    shared.into_result()
}
