//! RF-SMC: exploring by reads-from, with schedules.
//!
//! **Problem.** Visit every reads-from class of a program once, with nothing but maximal executions on
//! the way, for every memory model that can tell whether a prefix with its reads-from map is consistent.
//!
//! **Idea** (Bui et al., OOPSLA 2021, Algorithm 3, after Abdulla et al., OOPSLA 2019). Run to the end
//! (`extend`). Every question on the way gets a slot. Then find other answers that the events of this
//! execution suggest (`mutate`): keep what was explored before the question and what the answer rests
//! on, drop the rest, and if the model allows that, put it into the slot's queue. What the answer rests
//! on is settled and loses its slots, for the question's own slot explores it. Then visit what is
//! in the queues, last slot first; a visit adds to the queues of earlier slots.
//!
//! The slots are a stack, since those of an extension come after those of the execution extended and
//! are done with before them. So there is no recursion.
//!
//! **Why each once.** What was explored before a question `r` stays as it is while the slot lives, and is
//! closed under causes; so every maximal execution beyond it has `r`, with one answer, and answers are
//! told apart by name: what an answer is and all that led to it.
//!
//! **Why all.** A class that is missing differs from one that was visited in the answer to some first
//! question `r`; move what that answer rests on next to `r`. For that, two things can be in the way
//! that loads and stores do not have, and the paper leaves them to others.
//!
//! - *Updates* take what they observe. Where `w` updates what `r` wrote, neither can have the other's
//!   source alone, so the two swap (`swaps`): `w` observes what `r` did, and `r` observes `w`. The partner
//!   need not write now (a compare-exchange that fails), it must then; and it may be settled. A changed
//!   update is a new write, so it is a source and a partner for others.
//! - *Locks and synchronization objects* have one access after the other. There the question is not
//!   what `r` observes but who takes what `r` takes (`takers`): everybody who came later, or waits at the
//!   end, unless their way there rests on `r`. For locks it would be enough to ask the next one, and those
//!   who wait only where `r` never releases. For objects it is not: one who could take the state before
//!   `r` may have to wait for a third one after it (`P || P || V` of a semaphore of 1).
//!
//! **Where we differ.** Choices and the spurious failures of weak compare-exchanges are answers like
//! others; a swap tries both outcomes of the swapped question, because success and failure may have
//! different orders. The paper compares schedules as sequences (this leads to duplicates) and adds the
//! initial writes to the sources only if they are events: here they are.
//! Effects, joins, and takers of a last state can be added to every consistent execution, so only loads,
//! updates and compare-exchanges are put to the checkers.
//!
//! **What is visited.** A thread that fails, whose assumption fails, that repeats a loop or reaches its limit
//! stops alone; the other threads run to their ends. An execution with a race of plain accesses is reported as a race,
//! otherwise one with failed threads as the failure of the first of them. Races do not end executions: the classes are
//! those that the axioms allow. Only a race of cells ends its execution, and the exploration (`cells`). Whether threads that repeat loops can do so forever is a question to the checkers, too
//! (`livelock`).
//!
//! **Cost.** One visit for each class; for each question of an extension a check of a prefix, and for
//! each pair of a question and a write that is new one more: polynomial but for the checkers. A check
//! starts from nothing. Schedules are whole executions, and there can be exponentially many of them at
//! once ([`Statistics::peak_pending`]; the program of figure 13 of the paper shows it).

mod answers;
mod cell_race;
mod cells;
mod extend;
mod graph;
mod leaf;
mod livelock;
mod mutate;
mod past;
mod past_set;

use std::time::Instant;

use rustc_hash::FxHashSet;

use raddle_core::execution::ThreadId;
use raddle_core::model::Model;
use raddle_core::program::{LocalHistories, Program};

use super::{Control, Extent, Leaf, Limits, Summary, Unsupported, Visitor};
use graph::{Graph, Name};
use raddle_core::trace::Ending;

/// What an exploration cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// How often a checker was asked.
    pub checks: u64,
    /// How many different other answers to questions were tried.
    pub proposals: u64,
    /// How many schedules were waiting to be explored at most: what the memory grows with.
    pub peak_pending: u64,
}

/// Where the other answers to one question are collected.
struct Slot {
    /// The names of all answers so far, explored or not, and of those that the model forbids.
    seen: FxHashSet<Name>,
    /// Executions to explore.
    queue: Vec<Graph>,
}

impl Slot {
    fn new(first: Name) -> Slot {
        Slot { seen: FxHashSet::from_iter([first]), queue: vec![] }
    }
}

struct Explorer<'a> {
    program: &'a mut dyn Program,
    model: Model,
    limits: Limits,
    histories: LocalHistories,
    shares_memory: bool,
    /// The slots of all questions that are being explored, in the order of their ranks.
    slots: Vec<Slot>,
    /// How many executions are in the queues.
    pending: u64,
    summary: Summary,
    statistics: Statistics,
}

/// Visits every reads-from class of a program under a model once.
///
/// Cells are supported under the models with store buffers only, and up to the first race of them: otherwise the
/// extent is [`Unsupported::Cells`].
pub fn explore(
    program: &mut dyn Program,
    model: Model,
    limits: &Limits,
    visitor: &mut dyn Visitor,
) -> Summary {
    explore_measured(program, model, limits, visitor).0
}

/// As [`explore`], and says what it cost.
pub fn explore_measured(
    program: &mut dyn Program,
    model: Model,
    limits: &Limits,
    visitor: &mut dyn Visitor,
) -> (Summary, Statistics) {
    let mut explorer = Explorer {
        shares_memory: program.shares_memory(),
        program,
        model,
        limits: *limits,
        histories: LocalHistories::new(),
        slots: vec![],
        pending: 0,
        summary: Summary {
            extent: Extent::All,
            classes: 0,
            blocked: 0,
            histories: 0,
            cut: None,
            symmetry: None,
        },
        statistics: Statistics::default(),
    };
    if let Err(extent) = explorer.run(visitor) {
        explorer.summary.extent = extent;
    }
    explorer.summary.histories = explorer.histories.len() as u64;
    (explorer.summary, explorer.statistics)
}

impl From<Unsupported> for Extent {
    fn from(unsupported: Unsupported) -> Extent {
        Extent::Unsupported(unsupported)
    }
}

impl Explorer<'_> {
    /// Explores everything, or says why not.
    fn run(&mut self, visitor: &mut dyn Visitor) -> Result<(), Extent> {
        let main = ThreadId::new(0);
        let root = self.histories.start(self.program, &[], main, None);
        let mut next = Some(Graph::new(main, root));
        while let Some(schedule) = next {
            self.check_limits()?;
            self.visit(schedule, visitor)?;
            next = self.next_schedule();
        }
        Ok(())
    }

    fn check_limits(&self) -> Result<(), Extent> {
        let classes = self.summary.classes + self.summary.blocked;
        if self.limits.classes.is_some_and(|limit| classes >= limit) {
            return Err(Extent::Classes);
        }
        if self.limits.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Extent::Deadline);
        }
        Ok(())
    }

    /// A schedule of the last slot that has one. The slots after it are done with.
    fn next_schedule(&mut self) -> Option<Graph> {
        while let Some(slot) = self.slots.last_mut() {
            if let Some(schedule) = slot.queue.pop() {
                self.pending -= 1;
                return Some(schedule);
            }
            self.slots.pop();
        }
        None
    }

    /// Extends a schedule to a maximal execution, tells of it, and proposes others.
    fn visit(&mut self, mut graph: Graph, visitor: &mut dyn Visitor) -> Result<(), Extent> {
        let race = self.extend(&mut graph)?;
        let leaf = self.leaf(&graph, race)?;
        match leaf.ending() {
            Ending::Blocked => self.summary.blocked += 1,
            _ => self.summary.classes += 1,
        }
        if leaf.hit_limit() {
            self.summary.extent = Extent::Events;
        }
        if visitor.visit(&leaf) == Control::Stop {
            return Err(Extent::Stopped);
        }
        match race {
            Some(_) => Err(Extent::Unsupported(Unsupported::Cells)),
            None => Ok(self.mutate(&graph)?),
        }
    }
}
