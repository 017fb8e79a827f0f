//! RF-partSMC by several workers.
//!
//! *Idea.* The sources of one read lead to independent subtrees. A worker explores one until it is done, or until
//! others wait for work; then what is left of it is handed out as smaller ones ([`frontier`]). Every
//! worker has a program of its own, as native code cannot be shared, and remembers the histories that it met. Workers are
//! threads, or copies of this process ([`process`]).
//!
//! *The same for any number of workers.* The tree does not depend on where it is cut, and subtrees are numbered
//! in the order of the exploration. If something goes wrong in one, those after it are given up, and those
//! before it are finished; what is found is what one worker finds. Counts are those up to there.
//!
//! *Cost.* Small programs are explored before other workers start ([`Budget`]); large ones are recognised early by what share
//! of the tree the first leaves are. A suspended subtree costs about as many subtrees as
//! its stack has sources left; following the way to each takes some microseconds, and handing it to another process
//! some ten. So the first worker takes the first subtrees in the order of the exploration, of which many are tiny, and the others
//! take the last ones, which are large.

pub mod checkpoint;
pub mod frontier;
pub mod process;
mod shared;
mod worker;

use std::num::NonZero;
use std::time::Duration;

use super::driver::{self, Restart};
use super::rf_part_smc::subtree::{Report, Subtree};
use super::rf_part_smc::{Subtrees, explore_subtrees};
use super::{Control, Leaf, Limits, Summary, Visitor};
use frontier::{Frontier, Key};
use process::Processes;
use raddle_core::model::Model;
use raddle_core::program::Program;
use shared::Shared;

/// When a subtree is suspended, and when others begin to help.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// After how many leaves the first one is suspended, which is the whole tree. The order of the exploration depends on it.
    pub first: u64,
    /// After how many leaves at the latest all others are; 0: never.
    pub next: u64,
    /// How long the first worker works alone, unless what is left seems to take longer. Copying a process, and what is
    /// written to memory afterwards, takes some milliseconds.
    pub alone: Duration,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { first: 2_048, next: 0, alone: Duration::from_millis(32) }
    }
}

/// Makes a program, hands it to the function, and looks what has become of it.
pub type WithProgram<'a> = dyn Fn(&mut dyn FnMut(&mut dyn Program)) + Sync + 'a;

/// Who helps the first worker.
pub enum Helpers<'a, V> {
    /// Threads; this makes a program for each.
    Threads(&'a WithProgram<'a>),
    /// Copies of this process, with its program.
    Processes(Processes<'a, V>),
}

/// What several workers explore.
pub struct Task<'a, V> {
    /// The model.
    pub model: Model,
    /// How far to explore. The limit of classes does not count.
    pub limits: &'a Limits,
    /// How many workers there are.
    pub jobs: NonZero<usize>,
    /// How large subtrees are.
    pub budget: Budget,
    /// Who the others are.
    pub helpers: Helpers<'a, V>,
    /// Makes who looks at the leaves of a subtree.
    pub visitor: &'a (dyn Fn() -> V + Sync),
    /// Is told what is left, whenever something was explored, and may end everything because the program must be explored
    /// in another way. Then what was explored last is the last that counts, and what is left before that may still be
    /// explored ([`explore_renewed`]).
    pub observer: Option<&'a Observer<'a, V>>,
}

/// Who is told what was explored.
pub type Observer<'a, V> = dyn Fn(&Note<'_, V>) -> Control + Sync + 'a;

/// Something was explored.
pub struct Note<'n, V> {
    /// What is left.
    pub left: &'n Frontier,
    /// Where in the order of the exploration it is.
    pub key: &'n Key,
    /// What was explored.
    pub subtree: &'n Subtree,
    /// Who looked at its leaves.
    pub visitor: &'n V,
    /// What the program has learned that was explored.
    pub learned: &'n str,
    /// Whether that is the program of the first worker.
    pub by_first: bool,
}

impl<V> Note<'_, V> {
    /// Whether it is of no interest, because the exploration ends before.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.left.is_cut(self.key)
    }
}

/// What came of it.
pub struct Explored<V> {
    /// How far it got.
    pub summary: Summary,
    /// Who looked at the leaves, in the order of the exploration. If one of them stopped it, that is the last.
    pub visitors: Vec<V>,
    /// What is left.
    pub frontier: Frontier,
    /// Whether the observer ended it.
    pub is_interrupted: bool,
}

/// Explores one subtree, until the visitor stops it.
pub fn explore_again(
    program: &mut dyn Program,
    model: Model,
    budget: Budget,
    subtree: Subtree,
    visitor: &mut dyn Visitor,
) {
    let mut one = One { first: budget.first, subtree: Some(subtree), visitor };
    explore_subtrees(program, model, &Limits::default(), &mut one);
}

/// One subtree, for somebody.
struct One<'a> {
    first: u64,
    subtree: Option<Subtree>,
    visitor: &'a mut dyn Visitor,
}

impl Visitor for One<'_> {
    fn visit(&mut self, leaf: &dyn Leaf) -> Control {
        self.visitor.visit(leaf)
    }
}

impl Subtrees for One<'_> {
    fn next(&mut self) -> Option<(Subtree, u64)> {
        Some((self.subtree.take()?, 0))
    }

    fn first(&self) -> u64 {
        self.first
    }

    fn explored(&mut self, _: Report) {}

    fn is_cancelled(&self) -> bool {
        false
    }

    fn is_enough(&self) -> bool {
        false
    }
}

/// Explores what is left. If the observer ends that, then also what is left before, as one worker alone would have: with the
/// program renewed, which cannot go on as it is.
pub fn explore_renewed<V: Visitor + Send, P: Program>(
    task: &Task<'_, V>,
    program: &mut P,
    mut frontier: Frontier,
    mut renew: impl FnMut(&mut P),
) -> Explored<V> {
    driver::drive(|_| {
        let left = std::mem::take(&mut frontier);
        let explored = explore(task, program, left);
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

/// Explores what is left. The first worker has this program.
pub fn explore<V: Visitor + Send>(
    task: &Task<'_, V>,
    program: &mut dyn Program,
    frontier: Frontier,
) -> Explored<V> {
    let shared = Shared::new(task, frontier);
    std::thread::scope(|scope| {
        if let Helpers::Threads(with_program) = task.helpers {
            for _ in 1..task.jobs.get() {
                let shared = &shared;
                scope.spawn(move || {
                    if shared.has_more_than_one() {
                        with_program(&mut |program| worker::work(shared, None, program));
                    }
                });
            }
        }
        worker::work(&shared, Some(scope), program);
    });
    shared.explored()
}
