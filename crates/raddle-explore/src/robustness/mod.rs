//! Robustness: does a program do under TSO or PSO what it cannot do under SC?
//!
//! A program without such an execution is *robust*: who has understood it under SC has understood it.
//! Every class of executions that the model allows is explored, and VerifySC asked about each; so an
//! execution counts if some read observes what it cannot observe under SC. (Orders in which memory
//! changes that no read notices do not count.) For one that SC does not allow there is a circle of
//! events to show for it ([`Link`]).
//!
//! What one wants to know next is where fences are missing. Each run that SC does not allow says which
//! fences would forbid it ([`Fence`]); a smallest set of fences that contains one for every run so far is
//! tried by exploring the program with them (`fenced`), until the program is robust. That is
//! the smallest number of fences, of all those right after a store or right before a load.
//!
//! Cost: VerifySC for every class, and an exploration for every set of fences that is tried.

mod cycle;
mod delays;
mod fence;
mod fenced;
mod report;

use std::collections::BTreeSet;

pub use cycle::Link;
pub use fence::{Fence, Side};
pub use report::{advice, place, report, sentence};

use crate::counterexample::past;
use crate::plan::Plan;
use crate::{Control, Extent, Leaf, Limits, Summary, Unsupported};
use raddle_consistency::check::CheckOptions;
use raddle_consistency::witness::ConsistencyVerdict;
use raddle_core::model::Model;
use raddle_core::program::Program;
use raddle_core::trace::{Ending, Trace};

use delays::Delays;
use fenced::{Fenced, Remembered};

/// What an exploration for robustness came to.
#[derive(Clone, Debug)]
pub struct Answer {
    /// How far it got.
    pub summary: Summary,
    /// What was found; if it is nothing and all was explored, the program is robust.
    pub finding: Option<Finding>,
}

/// What there is to tell.
#[derive(Clone, Debug)]
pub enum Finding {
    /// An execution that SC allows, too, and that goes wrong.
    Wrong(Ending, Trace),
    /// An execution that SC does not allow.
    NotRobust(NotRobust),
}

/// An execution that SC does not allow.
#[derive(Clone, Debug)]
pub struct NotRobust {
    /// How it ends.
    pub ending: Ending,
    /// The execution.
    pub trace: Trace,
    /// A part of it that SC does not allow either.
    pub part: Trace,
    /// Why SC does not allow that part: every event comes before the next.
    pub cycle: Vec<Link>,
    /// A smallest set of fences with which the program is robust, or how far the search for it got;
    /// [`Extent::Stopped`] if there was none.
    pub fences: Result<BTreeSet<Fence>, Extent>,
}

/// Explores a program until an execution is one that SC does not allow, or goes wrong as `is_bug` says,
/// which is mostly [`Ending::is_bug`].
pub fn check(
    program: &mut dyn Program,
    plan: Plan,
    limits: &Limits,
    is_bug: &dyn Fn(&dyn Leaf) -> bool,
) -> Answer {
    let search = Search { remembered: Remembered::new(program), plan, limits };
    let (summary, found) = search.explore(&BTreeSet::new(), is_bug);
    let finding = found.map(|(ending, trace, is_sc)| match is_sc {
        true => Finding::Wrong(ending, trace),
        false => Finding::NotRobust(search.explain(ending, trace)),
    });
    Answer { summary, finding }
}

struct Search<'a> {
    remembered: Remembered<'a>,
    plan: Plan,
    limits: &'a Limits,
}

impl Search<'_> {
    /// Explores the program with these fences until an execution is not allowed by SC, or goes wrong;
    /// the last part tells whether SC allows it.
    fn explore(
        &self,
        fences: &BTreeSet<Fence>,
        is_bug: &dyn Fn(&dyn Leaf) -> bool,
    ) -> (Summary, Option<(Ending, Trace, bool)>) {
        let (mut found, mut undecided) = (None, false);
        let mut visitor = |leaf: &dyn Leaf| {
            let trace = leaf.trace();
            match self.is_sc(&trace) {
                Some(false) => found = Some((leaf.ending().clone(), trace, false)),
                Some(true) if is_bug(leaf) => {
                    found = Some((leaf.ending().clone(), trace, true));
                }
                Some(true) => {}
                None => undecided = true,
            }
            if found.is_some() { Control::Stop } else { Control::Continue }
        };
        let mut program = Fenced::new(&self.remembered, fences);
        let mut summary = self.plan.showing_all().explore(&mut program, self.limits, &mut visitor);
        if undecided && summary.extent == Extent::All {
            summary.extent = Extent::Unsupported(Unsupported::Undecided);
        }
        (summary, found)
    }

    /// Whether SC allows the execution, if that can be told.
    fn is_sc(&self, trace: &Trace) -> Option<bool> {
        is_sc(&**self.remembered.program.borrow(), trace)
    }

    fn explain(&self, ending: Ending, trace: Trace) -> NotRobust {
        let found = explain(&**self.remembered.program.borrow(), self.plan.model, ending, trace);
        let fences = self.fences(&found.trace);
        NotRobust { fences, ..found }
    }

    /// A smallest set of fences with which the program is robust; without any it has this execution.
    fn fences(&self, trace: &Trace) -> Result<BTreeSet<Fence>, Extent> {
        let mut clauses = vec![self.clause(trace)?];
        loop {
            let fences = fence::smallest(&clauses);
            match self.explore(&fences, &|_| false) {
                (_, Some((_, trace, _))) => clauses.push(self.clause(&trace)?),
                (Summary { extent: Extent::All, .. }, None) => return Ok(fences),
                (summary, None) => return Err(summary.extent),
            }
        }
    }

    /// The fences each of which forbids a run of the execution.
    fn clause(&self, trace: &Trace) -> Result<BTreeSet<Fence>, Extent> {
        let delays = Delays::of(trace, &**self.remembered.program.borrow(), self.plan.model);
        let fences = delays.map(|delays| fence::that_forbid(trace, &delays)).unwrap_or_default();
        let undecided = Extent::Unsupported(Unsupported::Undecided);
        if fences.is_empty() { Err(undecided) } else { Ok(fences) }
    }
}

/// Whether SC allows the execution, if that can be told.
fn is_sc(program: &dyn Program, trace: &Trace) -> Option<bool> {
    let execution = trace.to_execution(program).ok()?;
    let options = CheckOptions { shrink: false, ..CheckOptions::default() };
    match raddle_consistency::check(&execution, Model::Sc, &options) {
        ConsistencyVerdict::Consistent(_) => Some(true),
        ConsistencyVerdict::Inconsistent(_) => Some(false),
        ConsistencyVerdict::Unknown { .. } => None,
    }
}

/// Compares one execution with SC; no fences are searched for.
#[must_use]
pub fn compare(
    program: &dyn Program,
    model: Model,
    ending: Ending,
    trace: Trace,
) -> Option<NotRobust> {
    let differs = is_sc(program, &trace) == Some(false);
    differs.then(|| explain(program, model, ending, trace))
}

/// Why SC does not allow an execution.
fn explain(program: &dyn Program, model: Model, ending: Ending, trace: Trace) -> NotRobust {
    let circle = |trace: &Trace| cycle::shortest(trace, &Delays::of(trace, program, model)?);
    let cycle = circle(&trace).unwrap_or_default();
    let roots: Vec<usize> = cycle.iter().map(|link| link.from).collect();
    let part = past::part(&trace, &roots);
    let smaller = circle(&part).filter(|_| is_sc(program, &part) == Some(false));
    let (part, cycle) = match smaller {
        Some(cycle) => (part, cycle),
        None => (trace.clone(), cycle),
    };
    NotRobust { ending, trace, part, cycle, fences: Err(Extent::Stopped) }
}
