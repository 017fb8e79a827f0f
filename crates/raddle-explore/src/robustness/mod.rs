//! Robustness: does a program have an execution under TSO or PSO that SC forbids?
//!
//! A program without such an execution is *robust*: it can be understood as if memory were sequentially
//! consistent. The explorer visits every class of executions that the model allows, and VerifySC decides each.
//! So an execution counts if some read observes a write that it cannot observe under SC. (An order of memory
//! updates that no read notices does not count.) An execution that SC forbids comes with a cycle of events
//! ([`CycleEdge`](raddle_core::trace::CycleEdge)).
//!
//! The next question is where fences are missing. Each run that SC forbids tells which fences would forbid it
//! ([`Fence`]). A smallest set of fences that has one for each run seen so far is tried by exploring the
//! program with these fences (`fenced`), until the program is robust. The result is a smallest set among all
//! fences directly after a store or directly before a load.
//!
//! *Cost.* VerifySC for every class, and one exploration for every set of fences that is tried.

mod cycle;
mod delays;
mod fence;
mod fenced;

use std::collections::BTreeSet;

use crate::plan::Plan;
use crate::{Control, Extent, Leaf, Limits, Summary, Unsupported};
use raddle_consistency::check::CheckOptions;
use raddle_consistency::witness::ConsistencyVerdict;
use raddle_core::model::Model;
use raddle_core::program::{Naming, Program};
use raddle_core::trace::{Counterexample, Ending, Fence, FenceSearch, NotRobust, Trace};

use delays::Delays;
use fenced::{Fenced, Remembered};

/// The result of [`check`].
#[derive(Clone, Debug)]
pub struct RobustnessCheck {
    /// How far the exploration got.
    pub summary: Summary,
    /// An execution that SC forbids, or that SC allows but that is a bug. If there is none and everything was
    /// explored, the program is robust.
    pub counterexample: Option<Counterexample>,
}

/// Explores a program until SC forbids an execution, or `is_bug` accepts one. `is_bug` is usually
/// [`Ending::is_bug`].
pub fn check(
    program: &mut dyn Program,
    plan: Plan,
    limits: &Limits,
    is_bug: &dyn Fn(&dyn Leaf) -> bool,
) -> RobustnessCheck {
    if program.has_joint_accesses() {
        let summary = Summary::unsupported(Unsupported::Overlaps);
        return RobustnessCheck { summary, counterexample: None };
    }
    let search = Search { remembered: Remembered::new(program), plan, limits };
    let (summary, found) = search.explore(&BTreeSet::new(), is_bug);
    let counterexample = found.map(|Found { ending, trace, is_sc }| match is_sc {
        true => Counterexample::new(ending, trace),
        false => search.explain(ending, trace),
    });
    RobustnessCheck { summary, counterexample }
}

/// An execution that ends the exploration.
struct Found {
    ending: Ending,
    trace: Trace,
    /// Whether SC allows it.
    is_sc: bool,
}

struct Search<'a> {
    remembered: Remembered<'a>,
    plan: Plan,
    limits: &'a Limits,
}

impl Search<'_> {
    /// Explores the program with these fences until SC forbids an execution, or `is_bug` accepts one.
    fn explore(
        &self,
        fences: &BTreeSet<Fence>,
        is_bug: &dyn Fn(&dyn Leaf) -> bool,
    ) -> (Summary, Option<Found>) {
        let (mut found, mut undecided) = (None, false);
        let mut visitor = |leaf: &dyn Leaf| {
            let trace = leaf.trace();
            let ending = || leaf.ending().clone();
            match self.is_sc(&trace) {
                Some(false) => found = Some(Found { ending: ending(), trace, is_sc: false }),
                Some(true) if is_bug(leaf) => {
                    found = Some(Found { ending: ending(), trace, is_sc: true });
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

    fn is_sc(&self, trace: &Trace) -> Option<bool> {
        is_sc(&**self.remembered.program.borrow(), trace)
    }

    /// Explains why SC forbids an execution, and searches for fences.
    fn explain(&self, ending: Ending, trace: Trace) -> Counterexample {
        let fences = self.fences(&trace);
        let program = self.remembered.program.borrow();
        explain(&**program, self.plan.model, ending, trace, fences)
    }

    /// Searches for a smallest set of fences with which the program is robust. Without fences it has this
    /// execution.
    fn fences(&self, trace: &Trace) -> FenceSearch {
        let mut clauses = vec![];
        let mut forbidden = trace.clone();
        loop {
            match self.clause(&forbidden) {
                Some(clause) => clauses.push(clause),
                None => return FenceSearch::Undecided,
            }
            let fences = fence::smallest_hitting_set(&clauses);
            match self.explore(&fences, &|_| false) {
                (_, Some(found)) => forbidden = found.trace,
                (Summary { extent: Extent::All, .. }, None) => return FenceSearch::Found(fences),
                (Summary { extent: Extent::Deadline, .. }, None) => return FenceSearch::Deadline,
                (_, None) => return FenceSearch::Undecided,
            }
        }
    }

    /// The fences each of which forbids some run of the execution, if a run was found.
    fn clause(&self, trace: &Trace) -> Option<BTreeSet<Fence>> {
        let delays = Delays::of(trace, &**self.remembered.program.borrow(), self.plan.model)?;
        let fences = fence::forbidding(trace, &delays);
        (!fences.is_empty()).then_some(fences)
    }
}

/// Whether SC allows the execution. `None` if the search was cut off.
fn is_sc(names: &(impl Naming + ?Sized), trace: &Trace) -> Option<bool> {
    let execution = trace.to_execution(names).ok()?;
    let options = CheckOptions { shrink: false, ..CheckOptions::default() };
    match raddle_consistency::check(&execution, Model::Sc, &options) {
        ConsistencyVerdict::Consistent(_) => Some(true),
        ConsistencyVerdict::Inconsistent(_) => Some(false),
        ConsistencyVerdict::Unknown { .. } => None,
    }
}

/// Explains why SC forbids one execution, if it does. Does not search for fences.
#[must_use]
pub fn compare(
    names: &dyn Naming,
    model: Model,
    ending: Ending,
    trace: Trace,
) -> Option<Counterexample> {
    let differs = is_sc(names, &trace) == Some(false);
    differs.then(|| explain(names, model, ending, trace, FenceSearch::NotDone))
}

fn explain(
    names: &(impl Naming + ?Sized),
    model: Model,
    ending: Ending,
    trace: Trace,
    fences: FenceSearch,
) -> Counterexample {
    let cycle_of = |trace: &Trace| cycle::shortest(trace, &Delays::of(trace, names, model)?);
    let cycle = cycle_of(&trace).unwrap_or_default();
    let events: Vec<usize> = cycle.iter().map(|edge| edge.from).collect();
    let (part, _) = trace.causal_past(&events);
    let smaller = cycle_of(&part).filter(|_| is_sc(names, &part) == Some(false));
    let (part, cycle) = match smaller {
        Some(cycle) => (part, cycle),
        None => (trace.clone(), cycle),
    };
    let not_robust = Some(NotRobust { part, cycle, fences });
    Counterexample { ending, trace, not_robust }
}
