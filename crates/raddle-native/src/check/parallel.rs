//! Exploring with several workers, and with checkpoints.
//!
//! The other workers are forks of this process (`raddle_runtime::worker_process`). If the program of a worker learns a fact with
//! which the exploration must restart, the fact is handed over (`program::facts`) after everything before it was
//! explored, as a single worker would have done. The subtree in which a bug is found is explored once more here, so that the report is in
//! terms of this program and does not depend on the worker that found it.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};

use raddle_core::model::Model;
use raddle_core::program::Program;
use raddle_core::trace::Counterexample;
use raddle_explore::parallel::frontier::{Frontier, SubtreeKey};
use raddle_explore::parallel::process::WorkerProcesses;
use raddle_explore::parallel::{
    self, Budget, ExploredSubtree, Helpers, ParallelResult, ParallelTask,
};
use raddle_explore::rf_part_smc::subtree::Subtree;
use raddle_explore::{Control, Extent, Leaf, Limits, Summary, Visitor};
use raddle_runtime::worker_process;
use serde::{Deserialize, Serialize};

use super::{Blocked, blocked};
use crate::program::NativeProgram;
use crate::program::facts::{Facts, WorkerUpdate};

/// How to explore with several workers.
pub struct ParallelOptions<'a> {
    /// The number of workers.
    pub jobs: NonZero<usize>,
    /// When subtrees are suspended.
    pub budget: Budget,
    /// A checkpoint of an earlier exploration of the same program.
    pub resumed: Option<Checkpoint>,
    /// Called whenever a subtree was explored, and at the end.
    pub observer: Option<&'a (dyn Fn(&Progress<'_>) + Sync)>,
}

impl Default for ParallelOptions<'_> {
    fn default() -> Self {
        let (jobs, budget) = (NonZero::<usize>::MIN, Budget::default());
        ParallelOptions { jobs, budget, resumed: None, observer: None }
    }
}

/// What is left of an exploration, and what the program has learned.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Checkpoint {
    left: Frontier,
    known: Known,
}

/// How far an exploration has got.
pub struct Progress<'a> {
    left: &'a Frontier,
    known: &'a Known,
    /// Nothing more will be explored.
    pub is_last: bool,
}

impl Progress<'_> {
    /// Number of explored classes.
    #[must_use]
    pub fn classes(&self) -> u64 {
        self.left.counts().classes
    }

    /// The checkpoint to write; `None` if a bug was found.
    #[must_use]
    pub fn checkpoint(&self) -> Option<Checkpoint> {
        let checkpoint = || Checkpoint { left: self.left.clone(), known: self.known.clone() };
        (!self.left.is_stopped()).then(checkpoint)
    }
}

/// What is known about a program that is explored in parts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Known {
    /// The facts with which all parts are explored.
    facts: Option<Facts>,
    main_leaves: bool,
    bound: Option<String>,
    /// The first subtree in which threads wait forever after the main thread has ended: a bug only if that does not end the
    /// program.
    after_main: Option<(SubtreeKey, Subtree)>,
    /// How often the exploration had started over when that subtree was found.
    #[serde(default)]
    restarts: u32,
    /// How often threads ran from their start in worker processes.
    executions: u64,
    /// The subtree in which a fact was learned with which the exploration must restart.
    #[serde(skip)]
    restart: Option<(SubtreeKey, Facts)>,
}

/// Looks for bugs.
#[derive(Default)]
struct Watch {
    found: Option<Counterexample>,
    /// Threads wait forever after the main thread has ended.
    is_after_main: bool,
    /// That is a bug.
    stops_after_main: bool,
}

impl Visitor for Watch {
    fn visit(&mut self, leaf: &dyn Leaf) -> Control {
        let is_bug = match blocked(leaf) {
            Some(Blocked::Exited) => false,
            Some(Blocked::AfterMain) => {
                self.is_after_main = true;
                self.stops_after_main
            }
            Some(Blocked::Bug) => true,
            None => leaf.ending().is_bug(),
        };
        if !is_bug {
            return Control::Continue;
        }
        self.found = Some(Counterexample::new(leaf.ending().clone(), leaf.trace()));
        Control::Stop
    }
}

/// Explores a program. Returns `None` if a worker process found a bug that does not occur again, because the program depends on something
/// other than what its threads read.
pub(super) fn explore(
    program: &mut NativeProgram,
    model: Model,
    limits: &Limits,
    options: &mut ParallelOptions<'_>,
) -> Option<(Summary, Option<Counterexample>)> {
    let Checkpoint { left, known } = options.resumed.take().unwrap_or_default();
    known.resume(program);
    let known = Mutex::new(known);
    let note = |note: &ExploredSubtree<'_, Watch>| {
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let control = known.note(note);
        if let Some(observer) = options.observer.filter(|_| control == Control::Continue) {
            observer(&Progress { left: note.left, known: &known, is_last: false });
        }
        control
    };
    let is_hungry = worker_process::Flag::new();
    let task = ParallelTask {
        model,
        limits,
        jobs: options.jobs,
        budget: options.budget,
        helpers: Helpers::Processes(WorkerProcesses {
            fork: &worker_process::fork,
            end: worker_process::end,
            is_hungry: &is_hungry,
            pack: |watch: &Watch| watch.is_after_main.to_string(),
            unpack: |text| Watch { is_after_main: text == "true", ..Watch::default() },
        }),
        visitor: &Watch::default,
        keeps: &|watch: &Watch| watch.found.is_some(),
        observer: Some(&note),
    };
    let explored = parallel::explore_renewed(&task, program, left, |program| {
        known.lock().unwrap_or_else(PoisonError::into_inner).renew(program);
    });
    let known = known.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, facts)) =
        known.restart.as_ref().filter(|(key, _)| !explored.frontier.is_cut(key))
    {
        program.take_over(facts);
        program.want_restart();
        return Some((explored.summary, None));
    }
    if let Some(observer) = options.observer {
        observer(&Progress { left: &explored.frontier, known: &known, is_last: true });
    }
    program.main_leaves |= known.main_leaves;
    program.bound = program.bound.take().or_else(|| known.bound.clone());
    let found = found(program, model, options.budget, &explored, &known);
    program.executions += known.executions;
    program.reported_executions = program.executions;
    let is_lost = explored.frontier.is_stopped() && found.is_none() && !program.needs_restart();
    (!is_lost).then_some((explored.summary, found))
}

impl Known {
    /// Adds what was learned in an explored subtree. Returns whether to continue.
    fn note(&mut self, note: &ExploredSubtree<'_, Watch>) -> Control {
        let update: WorkerUpdate = serde_json::from_str(note.learned).unwrap_or_default();
        if update.wants_restart {
            if !note.is_cut() {
                self.restart = update.facts.map(|facts| (note.key.clone(), facts));
            }
            return Control::Stop;
        }
        if note.is_cut() {
            return Control::Continue;
        }
        if self.restarts != note.left.restarts() {
            (self.restarts, self.after_main) = (note.left.restarts(), None);
        }
        if self.facts.is_none() {
            self.facts = update.facts;
        }
        self.main_leaves |= update.main_leaves;
        self.bound = self.bound.take().or(update.bound);
        if !note.by_first {
            self.executions += update.executions;
        }
        let is_first = self.after_main.as_ref().is_none_or(|(key, _)| note.key < key);
        if note.visitor.is_after_main && is_first {
            self.after_main = Some((note.key.clone(), note.subtree.clone()));
        }
        Control::Continue
    }

    /// Lets a program explore once more, after the exploration has started over.
    fn renew(&self, program: &mut NativeProgram) {
        match self.facts {
            Some(_) => self.resume(program),
            None => program.restart(),
        }
    }

    /// Lets a program continue the exploration.
    fn resume(&self, program: &mut NativeProgram) {
        if let Some(facts) = &self.facts {
            program.resume_with(facts);
        }
    }
}

/// The bug that was found, in terms of this program.
fn found(
    program: &mut NativeProgram,
    model: Model,
    budget: Budget,
    explored: &ParallelResult<Watch>,
    known: &Known,
) -> Option<Counterexample> {
    // Only one worker explores the first subtree. Names in reports on others must not depend on what was explored before.
    let stopped = explored.frontier.stopped();
    if stopped == Some(&Subtree::default()) {
        return explored.visitors.last().and_then(|watch| watch.found.clone());
    }
    let is_over = explored.summary.extent != Extent::Deadline;
    let subtree = match stopped {
        Some(stopped) => stopped,
        None => &known.after_main.as_ref().filter(|_| program.main_leaves && is_over)?.1,
    };
    let mut watch = Watch { stops_after_main: stopped.is_none(), ..Watch::default() };
    program.restart_part();
    let subtree = (explored.frontier.facts(), subtree.clone());
    parallel::explore_subtree(program, model, budget, subtree, &mut watch);
    watch.found
}
