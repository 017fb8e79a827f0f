//! Exploring with several workers, and with checkpoints.
//!
//! The other workers are forks of this process (`raddle_runtime::worker_process`). If the program of a worker learns a fact with
//! which the exploration must restart, the fact is handed over (`program::facts`) after everything before it was
//! explored, as a single worker would have done. The subtree in which a bug is found is explored once more here, so that the report is in
//! terms of this program and does not depend on the worker that found it.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};

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

use super::Request;
use super::meaning::{Meaning, Seen, UNFINISHED, ending, meaning};
use crate::environment::Environment;
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
    #[serde(default)]
    remark: Option<String>,
    /// The first subtree in which threads wait forever after the main thread has ended: a bug only if that does not end the
    /// program.
    after_main: Option<(SubtreeKey, Subtree)>,
    /// The first subtree with a livelock.
    #[serde(default)]
    livelock: Option<(SubtreeKey, Subtree)>,
    /// How often the exploration had started over when these subtrees were found.
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
    environment: Environment,
    found: Option<Counterexample>,
    seen: Seen,
    /// The exploration stops at an execution with this meaning, as at a bug.
    stops_at: Option<Meaning>,
}

impl Visitor for Watch {
    fn visit(&mut self, leaf: &dyn Leaf) -> Control {
        let ending = ending(leaf, &self.environment);
        let meaning = meaning(leaf, &ending, &self.environment);
        self.seen.note(meaning);
        if meaning != Meaning::Bug && Some(meaning) != self.stops_at {
            return Control::Continue;
        }
        self.found = Some(Counterexample::new(ending, leaf.trace()));
        Control::Stop
    }
}

/// Explores a program. Returns `None` if a worker process found a bug that does not occur again: because the program depends on something
/// other than what its threads read, or because a livelock is not shown again in the subtree where it was.
pub(super) fn explore(
    program: &mut NativeProgram,
    request: &Request,
    limits: &Limits,
    options: &mut ParallelOptions<'_>,
) -> Option<(Summary, Option<Counterexample>)> {
    let (model, environment) = (request.model, request.environment);
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
            pack: |watch: &Watch| serde_json::to_string(&watch.seen).unwrap_or_default(),
            unpack: |text| Watch {
                seen: serde_json::from_str(text).unwrap_or_default(),
                ..Watch::default()
            },
        }),
        visitor: &|| Watch { environment, ..Watch::default() },
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
    program.remark = program.remark.take().or_else(|| known.remark.clone());
    let found = found(program, request, options.budget, &explored, &known);
    program.executions += known.executions;
    program.reported_executions = program.executions;
    let waits = known.livelock.is_some() || known.after_main.is_some() && program.main_leaves;
    let is_expected = explored.frontier.is_stopped() || waits;
    let is_lost = is_expected && found.is_none() && !program.needs_restart();
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
            self.restarts = note.left.restarts();
            (self.after_main, self.livelock) = (None, None);
        }
        if self.facts.is_none() {
            self.facts = update.facts;
        }
        self.main_leaves |= update.main_leaves;
        self.bound = self.bound.take().or(update.bound);
        self.remark = self.remark.take().or(update.remark);
        if !note.by_first {
            self.executions += update.executions;
        }
        let Seen { livelock, after_main, unfinished } = note.visitor.seen;
        for (is_seen, first) in [(livelock, &mut self.livelock), (after_main, &mut self.after_main)]
        {
            if is_seen && first.as_ref().is_none_or(|(key, _)| note.key < key) {
                *first = Some((note.key.clone(), note.subtree.clone()));
            }
        }
        if unfinished {
            self.bound = self.bound.take().or_else(|| Some(UNFINISHED.to_owned()));
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
    request: &Request,
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
    let after_main = known.after_main.as_ref().filter(|_| program.main_leaves && is_over);
    let (subtree, stops_at) = match (stopped, after_main, &known.livelock) {
        (Some(stopped), ..) => (stopped, None),
        (None, Some((_, subtree)), _) => (subtree, Some(Meaning::AfterMain)),
        (None, None, livelock) => (&livelock.as_ref()?.1, Some(Meaning::Livelock)),
    };
    let environment = request.environment;
    let mut watch = Watch { stops_at, environment, ..Watch::default() };
    program.restart_part();
    let subtree = (explored.frontier.facts(), subtree.clone());
    parallel::explore_subtree(program, request.model, budget, subtree, &mut watch);
    watch.found
}
