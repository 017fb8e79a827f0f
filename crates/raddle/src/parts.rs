//! Exploring a test in parts, by several workers, which are copies of this process.
//!
//! What a copy learns that needs other settings is handed over, and the exploration starts again. The part in which something is
//! found is explored once more by a fresh program, so that names in the report do not depend on who found it.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};

use raddle_core::explore::parallel::process::Processes;
use raddle_core::explore::parallel::{
    self, Budget, Explored, Helpers, Note, Task, frontier::Frontier,
};
use raddle_core::explore::reads_from_compact::subtree::Subtree;
use raddle_core::explore::{Control, Leaf, Limits, Summary, Visitor};
use raddle_core::model::Model;
use raddle_core::robust::Finding;
use raddle_runtime::{Native, News, Settings, copies};

/// How to explore in parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    pub(crate) model: Model,
    pub(crate) limits: Limits,
    pub(crate) jobs: NonZero<usize>,
}

/// What came of it.
pub(crate) struct Divided<'f, F> {
    pub(crate) summary: Summary,
    pub(crate) found: Option<Finding>,
    /// The program of which what was found speaks.
    pub(crate) program: Native<&'f F>,
    /// How often native code was run from its beginning, by all workers.
    pub(crate) executions: u64,
}

/// Looks for what is wrong.
#[derive(Default)]
struct Watch(Option<Finding>);

impl Visitor for Watch {
    fn visit(&mut self, leaf: &dyn Leaf) -> Control {
        if !leaf.ending().is_wrong() {
            return Control::Continue;
        }
        self.0 = Some(Finding::Wrong(leaf.ending().clone(), leaf.trace()));
        Control::Stop
    }
}

/// Explores a test with these settings.
///
/// # Errors
/// If it needs others.
pub(crate) fn explore<F: Fn()>(
    parts: Parts,
    f: &F,
    settings: Settings,
) -> Result<Divided<'_, F>, Settings> {
    let mut program = Native::new(f, settings);
    let (wanted, by_others) = (Mutex::new(None), Mutex::new(0));
    let note = |note: &Note<'_, Watch>| {
        let news = News::read(note.learned);
        if !note.by_first {
            *by_others.lock().unwrap_or_else(PoisonError::into_inner) += news.executions;
        }
        let stops = news.wanted.is_some();
        if stops {
            *wanted.lock().unwrap_or_else(PoisonError::into_inner) = news.wanted;
        }
        if stops { Control::Stop } else { Control::Continue }
    };
    let task = Task {
        model: parts.model,
        limits: &parts.limits,
        jobs: parts.jobs,
        budget: Budget::default(),
        helpers: Helpers::Processes(Processes {
            fork: &copies::fork,
            end: copies::end,
            pack: |_| String::new(),
            unpack: |_| Watch::default(),
        }),
        visitor: &Watch::default,
        observer: Some(&note),
    };
    let explore = || parallel::explore(&task, &mut program, Frontier::new());
    let explored = raddle_runtime::on_large_stack(explore);
    let wanted = wanted.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(wanted) = wanted.or(program.wanted()) {
        return Err(wanted);
    }
    let executions =
        program.executions() + by_others.into_inner().unwrap_or_else(PoisonError::into_inner);
    told(parts.model, f, explored, program, executions)
}

/// What was found, in the words of a program that has not explored anything else since the first part.
fn told<'f, F: Fn()>(
    model: Model,
    f: &'f F,
    mut explored: Explored<Watch>,
    mut program: Native<&'f F>,
    executions: u64,
) -> Result<Divided<'f, F>, Settings> {
    let Watch(mut found) = explored.visitors.pop().unwrap_or_default();
    let part = explored.stopped.map(|stopped| stopped.subtree);
    if let Some(part) = part.filter(|part| *part != Subtree::default()) {
        let (mut fresh, mut watch) = (Native::new(f, program.settings()), Watch::default());
        let limits = Limits::default();
        raddle_runtime::on_large_stack(|| {
            parallel::explore_again(&mut fresh, model, &limits, part, &mut watch);
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
