//! Exploring a test by several workers, which are forks of this process, with checkpoints.
//!
//! If the program of a worker process needs other settings, these are handed over, and the exploration restarts, after
//! what comes before was explored, as a single worker would have. The subtree in which a bug is found is explored once
//! more by a fresh program, so that names in the report do not depend on which worker found it.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};

use raddle_core::model::Model;
use raddle_core::trace::Counterexample;
use raddle_explore::parallel::checkpoint::CheckpointWriter;
use raddle_explore::parallel::frontier::{Frontier, SubtreeKey};
use raddle_explore::parallel::process::WorkerProcesses;
use raddle_explore::parallel::{
    self, Budget, ExploredSubtree, Helpers, ParallelResult, ParallelTask,
};
use raddle_explore::rf_part_smc::subtree::Subtree;
use raddle_explore::{Control, Extent, Leaf, Limits, Summary, Visitor};
use raddle_runtime::{Settings, WorkerUpdate, worker_process};
use serde::{Deserialize, Serialize};

use crate::{Test, TestProgram};

/// How to explore with several workers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParallelOptions {
    pub(crate) model: Model,
    pub(crate) limits: Limits,
    pub(crate) jobs: NonZero<usize>,
}

/// What is left of an exploration, and what the program has learned.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    settings: Settings,
    left: Frontier,
    /// How often native code was run from its beginning.
    executions: u64,
}

impl Checkpoint {
    /// The checkpoint of an exploration that has not begun, with these settings.
    pub(crate) fn new(settings: Settings) -> Self {
        Checkpoint { settings, left: Frontier::new(), executions: 0 }
    }
}

/// The result of an exploration by several workers.
pub(crate) struct Divided<'f> {
    pub(crate) summary: Summary,
    pub(crate) found: Option<Counterexample>,
    /// The program to which the counterexample refers.
    pub(crate) program: TestProgram<'f>,
    /// How often native code was run from its beginning, by all workers.
    pub(crate) executions: u64,
}

impl Divided<'_> {
    /// Returns `true` if a worker process found a bug that does not occur again.
    pub(crate) fn is_lost(&self) -> bool {
        self.found.is_none() && self.summary.extent == Extent::Stopped
    }
}

/// Looks for a bug.
#[derive(Default)]
struct Watch(Option<Counterexample>);

impl Visitor for Watch {
    fn visit(&mut self, leaf: &dyn Leaf) -> Control {
        if !leaf.ending().is_bug() {
            return Control::Continue;
        }
        self.0 = Some(Counterexample::new(leaf.ending().clone(), leaf.trace()));
        Control::Stop
    }
}

/// Explores what is left of a test, and writes checkpoints.
///
/// # Errors
/// If it needs other settings.
pub(crate) fn explore<'f>(
    options: ParallelOptions,
    test: Test<'f>,
    checkpoint: Checkpoint,
    writer: Option<&CheckpointWriter>,
) -> Result<Divided<'f>, Settings> {
    let Checkpoint { settings, left, executions } = checkpoint;
    let mut program = test.program(settings);
    let known = Mutex::new(WorkerUpdates { executions, reported: executions, wanted: None });
    let write = |left: &Frontier, executions, is_last| {
        if let Some(writer) = writer {
            let checkpoint = || Checkpoint { settings, left: left.clone(), executions };
            writer.update(is_last, || (!left.is_stopped()).then(checkpoint));
        }
    };
    let note = |note: &ExploredSubtree<'_, Watch>| {
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let control = known.note(note);
        if control == Control::Continue {
            write(note.left, known.reported, false);
        }
        control
    };
    let is_hungry = worker_process::Flag::new();
    let task = ParallelTask {
        model: options.model,
        limits: &options.limits,
        jobs: options.jobs,
        budget: Budget::default(),
        helpers: Helpers::Processes(WorkerProcesses {
            fork: &worker_process::fork,
            end: worker_process::end,
            is_hungry: &is_hungry,
            pack: |_| String::new(),
            unpack: |_| Watch::default(),
        }),
        visitor: &Watch::default,
        keeps: &|watch: &Watch| watch.0.is_some(),
        observer: Some(&note),
    };
    let explored = raddle_runtime::on_large_stack(|| {
        parallel::explore_renewed(&task, &mut program, left, |program| {
            let executions = program.executions();
            known.lock().unwrap_or_else(PoisonError::into_inner).executions += executions;
            *program = test.program(settings);
        })
    });
    let known = known.into_inner().unwrap_or_else(PoisonError::into_inner);
    match known.wanted {
        Some((key, wanted)) if !explored.frontier.is_cut(&key) => Err(wanted),
        _ => {
            if explored.summary.extent == Extent::Deadline {
                write(&explored.frontier, known.reported, true);
            }
            repeat_bug(options.model, test, explored, program, known.executions)
        }
    }
}

/// What all workers have reported.
struct WorkerUpdates {
    /// The settings with which the exploration must restart, and the subtree in which that was found.
    wanted: Option<(SubtreeKey, Settings)>,
    /// How often native code was run from its beginning by programs of other processes, and by earlier programs of this
    /// one.
    executions: u64,
    /// How often it was run by all workers, as far as they have reported.
    reported: u64,
}

impl WorkerUpdates {
    /// Adds the update of an explored subtree. Returns whether to continue.
    fn note(&mut self, note: &ExploredSubtree<'_, Watch>) -> Control {
        let update = WorkerUpdate::read(note.learned);
        self.reported += update.executions;
        if !note.by_first {
            self.executions += update.executions;
        }
        let Some(wanted) = update.wanted else { return Control::Continue };
        if !note.is_cut() {
            self.wanted = Some((note.key.clone(), wanted));
        }
        Control::Stop
    }
}

/// Repeats the subtree with the bug, if there is one, with a fresh program that has not explored anything else since
/// the first subtree.
fn repeat_bug<'f>(
    model: Model,
    test: Test<'f>,
    mut explored: ParallelResult<Watch>,
    mut program: TestProgram<'f>,
    by_others: u64,
) -> Result<Divided<'f>, Settings> {
    let executions = program.executions() + by_others;
    let Watch(mut found) = explored.visitors.pop().unwrap_or_default();
    let part = explored.frontier.stopped().filter(|&part| *part != Subtree::default());
    if let Some(part) = part.cloned() {
        let (mut fresh, mut watch) = (test.program(program.settings()), Watch::default());
        raddle_runtime::on_large_stack(|| {
            let budget = Budget::default();
            let part = (explored.frontier.facts(), part);
            parallel::explore_subtree(&mut fresh, model, budget, part, &mut watch);
        });
        if let Some(wanted) = fresh.wanted() {
            return Err(wanted);
        }
        // If the bug does not occur again, the test depends on something other than what its threads read.
        if watch.0.is_some() {
            (program, found) = (fresh, watch.0);
        }
    }
    Ok(Divided { summary: explored.summary, found, program, executions })
}
