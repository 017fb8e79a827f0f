//! Exploring by several workers, with checkpoints.
//!
//! The other workers are forks of this process (`raddle_runtime::worker_process`). If the program of one of them learns
//! a fact with which the exploration must restart, the fact is handed over (`facts`), after what comes before it was
//! explored, as a single worker would have. The subtree in which a bug is found is explored once more here, so that the
//! report speaks of this program, and does not depend on which worker found it.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};

use raddle_core::model::Model;
use raddle_core::program::Program;
use raddle_core::trace::{Counterexample, Ending};
use raddle_explore::parallel::frontier::{Frontier, SubtreeKey};
use raddle_explore::parallel::process::{ForkSide, WorkerProcesses};
use raddle_explore::parallel::{
    self, Budget, ExploredSubtree, Helpers, ParallelResult, ParallelTask,
};
use raddle_explore::rf_part_smc::subtree::Subtree;
use raddle_explore::{Control, Extent, Leaf, Limits, Summary, Visitor};
use raddle_runtime::worker_process;
use serde::{Deserialize, Serialize};

use crate::check::{has_exited, main_has_ended, running};
use crate::facts::{Facts, WorkerUpdate};
use crate::native::Native;
use crate::trap::Watchdog;

/// How to explore with several workers.
pub struct ParallelOptions<'a> {
    /// The number of workers.
    pub jobs: NonZero<usize>,
    /// When subtrees are suspended.
    pub budget: Budget,
    /// A checkpoint of an earlier exploration of the same program.
    pub resumed: Option<Checkpoint>,
    /// Is called whenever a subtree was explored, and at the end.
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
    /// Whether nothing more will be explored.
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
    /// With which all parts are explored.
    facts: Option<Facts>,
    main_leaves: bool,
    bound: Option<String>,
    /// The first part in which threads wait forever although the main thread has ended: wrong only if that does not
    /// end the program.
    late: Option<(SubtreeKey, Subtree)>,
    /// How often threads were run by others.
    executions: u64,
    /// How often the exploration had started over when `late` was found.
    #[serde(default)]
    restarts: u32,
    /// In which part something was learned with which the exploration must start again.
    #[serde(skip)]
    restart: Option<(SubtreeKey, Facts)>,
}

/// Looks for what is wrong.
#[derive(Default)]
struct Watch {
    found: Option<Counterexample>,
    is_late: bool,
    /// Whether what is late is wrong.
    stops_late: bool,
}

impl Visitor for Watch {
    fn visit(&mut self, leaf: &dyn Leaf) -> Control {
        let is_bug = match leaf.ending() {
            Ending::Deadlock(_) | Ending::Livelock(_) if has_exited(leaf) => false,
            Ending::Deadlock(_) | Ending::Livelock(_) if main_has_ended(leaf) => {
                self.is_late = true;
                self.stops_late
            }
            ending => ending.is_bug(),
        };
        if !is_bug {
            return Control::Continue;
        }
        self.found = Some(Counterexample::new(leaf.ending().clone(), leaf.trace()));
        Control::Stop
    }
}

/// Explores a program. Returns `None` if a worker process found a bug that does not occur again, as the program depends
/// on something other than what its threads read.
pub(crate) fn explore(
    program: &mut Native,
    model: Model,
    limits: &Limits,
    options: &mut ParallelOptions<'_>,
) -> Option<(Summary, Option<Counterexample>)> {
    let Checkpoint { left, known } = options.resumed.take().unwrap_or_default();
    program.take_up(&known);
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
            fork: &fork,
            end: worker_process::end,
            is_hungry: &is_hungry,
            pack: |watch: &Watch| watch.is_late.to_string(),
            unpack: |is_late| Watch { is_late: is_late == "true", ..Watch::default() },
        }),
        visitor: &Watch::default,
        observer: Some(&note),
    };
    let explored = running(|| {
        parallel::explore_renewed(&task, program, left, |program| {
            program.renew(&known.lock().unwrap_or_else(PoisonError::into_inner));
        })
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
    let found = found(program, model, options.budget, &explored, known.late.as_ref());
    program.executions += known.executions;
    program.told_executions = program.executions;
    let is_lost = explored.frontier.is_stopped() && found.is_none() && !program.needs_restart();
    (!is_lost).then_some((explored.summary, found))
}

/// Forks worker processes.
fn fork(workers: usize) -> ForkSide {
    let side = worker_process::fork(workers);
    if let ForkSide::Worker(_) = &side {
        // Timers are not inherited. Without one, a loop without hooks continues until the parent ends.
        std::mem::forget(Watchdog::start());
    }
    side
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
        if self.facts.is_none() {
            self.facts = update.facts;
        }
        self.main_leaves |= update.main_leaves;
        self.bound = self.bound.take().or(update.bound);
        if !note.by_first {
            self.executions += update.executions;
        }
        if self.restarts != note.left.restarts() {
            (self.restarts, self.late) = (note.left.restarts(), None);
        }
        let is_first = self.late.as_ref().is_none_or(|(key, _)| note.key < key);
        if note.visitor.is_late && is_first {
            self.late = Some((note.key.clone(), note.subtree.clone()));
        }
        Control::Continue
    }
}

impl Native {
    /// Prepares to explore once more what others explore, too.
    fn renew(&mut self, known: &Known) {
        match known.facts {
            Some(_) => self.take_up(known),
            None => self.restart(),
        }
    }

    /// Goes on with an exploration in which so much was learned.
    fn take_up(&mut self, known: &Known) {
        if let Some(facts) = &known.facts {
            self.take_over(facts);
            self.restart();
            self.layout.is_settled = true;
        }
    }
}

/// What was found, in the words of this program.
fn found(
    program: &mut Native,
    model: Model,
    budget: Budget,
    explored: &ParallelResult<Watch>,
    late: Option<&(SubtreeKey, Subtree)>,
) -> Option<Counterexample> {
    // Only one worker explores the first part. Names in reports on others must not depend on what was explored before.
    let stopped = explored.frontier.stopped();
    if stopped == Some(&Subtree::default()) {
        return explored.visitors.last().and_then(|watch| watch.found.clone());
    }
    let stops_late = stopped.is_none();
    let is_over = explored.summary.extent != Extent::Deadline;
    let part = match stopped {
        Some(stopped) => stopped,
        None => &late.filter(|_| program.main_leaves && is_over)?.1,
    };
    let mut watch = Watch { stops_late, ..Watch::default() };
    program.restart_part();
    running(|| {
        let part = (explored.frontier.facts(), part.clone());
        parallel::explore_subtree(program, model, budget, part, &mut watch);
    });
    watch.found
}
