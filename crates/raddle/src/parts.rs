//! Exploring a test in parts: by several workers, which are copies of this process, and with what is left as a value that can
//! be kept.
//!
//! What a copy learns that needs other settings is handed over, and the exploration starts again, after what comes before that
//! was explored, as one worker alone would. The part in which something is
//! found is explored once more by a fresh program, so that names in the report do not depend on who found it.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};

use raddle_core::model::Model;
use raddle_core::trace::Counterexample;
use raddle_explore::parallel::checkpoint::Keeper;
use raddle_explore::parallel::frontier::{Frontier, Key};
use raddle_explore::parallel::process::Processes;
use raddle_explore::parallel::{self, Budget, Explored, Helpers, Note, Task};
use raddle_explore::rf_part_smc::subtree::Subtree;
use raddle_explore::{Control, Extent, Leaf, Limits, Summary, Visitor};
use raddle_runtime::{Native, News, Settings, copies};
use serde::{Deserialize, Serialize};

/// How to explore in parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    pub(crate) model: Model,
    pub(crate) limits: Limits,
    pub(crate) jobs: NonZero<usize>,
}

/// What is left of an exploration, and what is known.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Kept {
    settings: Settings,
    left: Frontier,
    /// How often native code was run from its beginning.
    executions: u64,
}

impl Kept {
    /// Everything is left, with these settings.
    pub(crate) fn new(settings: Settings) -> Self {
        Kept { settings, left: Frontier::new(), executions: 0 }
    }
}

/// What came of it.
pub(crate) struct Divided<'f, F> {
    pub(crate) summary: Summary,
    pub(crate) found: Option<Counterexample>,
    /// The program of which what was found speaks.
    pub(crate) program: Native<&'f F>,
    /// How often native code was run from its beginning, by all workers.
    pub(crate) executions: u64,
}

impl<F> Divided<'_, F> {
    /// Returns `true` if a worker process found something that is not there when the part is explored again.
    pub(crate) fn is_lost(&self) -> bool {
        self.found.is_none() && self.summary.extent == Extent::Stopped
    }
}

/// Looks for what is wrong.
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

/// Explores what is left of a test, and has that kept from time to time.
///
/// # Errors
/// If it needs other settings.
pub(crate) fn explore<'f, F: Fn()>(
    parts: Parts,
    f: &'f F,
    kept: Kept,
    keeper: Option<&Keeper>,
) -> Result<Divided<'f, F>, Settings> {
    let Kept { settings, left, executions } = kept;
    let mut program = Native::new(f, settings);
    let known = Mutex::new(Known { executions, told: executions, wanted: None });
    let keep = |left: &Frontier, told, is_last| {
        if let Some(keeper) = keeper {
            let kept = || Kept { settings, left: left.clone(), executions: told };
            keeper.note(is_last, || (!left.is_stopped()).then(kept));
        }
    };
    let note = |note: &Note<'_, Watch>| {
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let control = known.note(note);
        if control == Control::Continue {
            keep(note.left, known.told, false);
        }
        control
    };
    let is_hungry = copies::Flag::new();
    let task = Task {
        model: parts.model,
        limits: &parts.limits,
        jobs: parts.jobs,
        budget: Budget::default(),
        helpers: Helpers::Processes(Processes {
            fork: &copies::fork,
            end: copies::end,
            is_hungry: &is_hungry,
            pack: |_| String::new(),
            unpack: |_| Watch::default(),
        }),
        visitor: &Watch::default,
        observer: Some(&note),
    };
    let explored = raddle_runtime::on_large_stack(|| {
        parallel::explore_renewed(&task, &mut program, left, |program| {
            let executions = program.executions();
            known.lock().unwrap_or_else(PoisonError::into_inner).executions += executions;
            *program = Native::new(f, settings);
        })
    });
    let known = known.into_inner().unwrap_or_else(PoisonError::into_inner);
    match known.wanted {
        Some((key, wanted)) if !explored.frontier.is_cut(&key) => Err(wanted),
        _ => {
            if explored.summary.extent == Extent::Deadline {
                keep(&explored.frontier, known.told, true);
            }
            told(parts.model, f, explored, program, known.executions)
        }
    }
}

/// What workers have told.
struct Known {
    /// The settings with which the exploration must start again, and in which part that turned out.
    wanted: Option<(Key, Settings)>,
    /// How often native code was run from its beginning by programs that are gone, or elsewhere.
    executions: u64,
    /// How often it was run by all, as far as that was told.
    told: u64,
}

impl Known {
    /// A part was explored. Says whether to go on.
    fn note(&mut self, note: &Note<'_, Watch>) -> Control {
        let news = News::read(note.learned);
        self.told += news.executions;
        if !note.by_first {
            self.executions += news.executions;
        }
        let Some(wanted) = news.wanted else { return Control::Continue };
        if !note.is_cut() {
            self.wanted = Some((note.key.clone(), wanted));
        }
        Control::Stop
    }
}

/// What was found, in the words of a program that has not explored anything else since the first part.
fn told<'f, F: Fn()>(
    model: Model,
    f: &'f F,
    mut explored: Explored<Watch>,
    mut program: Native<&'f F>,
    by_others: u64,
) -> Result<Divided<'f, F>, Settings> {
    let executions = program.executions() + by_others;
    let Watch(mut found) = explored.visitors.pop().unwrap_or_default();
    let part = explored.frontier.stopped().filter(|&part| *part != Subtree::default());
    if let Some(part) = part.cloned() {
        let (mut fresh, mut watch) = (Native::new(f, program.settings()), Watch::default());
        raddle_runtime::on_large_stack(|| {
            let budget = Budget::default();
            parallel::explore_again(&mut fresh, model, budget, part, &mut watch);
        });
        if let Some(wanted) = fresh.wanted() {
            return Err(wanted);
        }
        // A test that depends on something else may do something else.
        if watch.0.is_some() {
            (program, found) = (fresh, watch.0);
        }
    }
    Ok(Divided { summary: explored.summary, found, program, executions })
}
