//! Exploring a program as a whole, with any explorer.

use std::cell::RefCell;

use raddle_core::program::Program;
use raddle_core::trace::{Counterexample, Ending};
use raddle_explore::plan::Plan;
use raddle_explore::robustness::{self, RobustnessCheck};
use raddle_explore::{Control, Leaf, Limits, Summary};

use super::distinct::Distinct;
use super::leaks::CompleteExecutions;
use super::meaning::{self, Meaning, UNFINISHED, meaning};
use super::{Explored, Request};
use crate::environment::Environment;
use crate::program::NativeProgram;

/// What was found, apart from the error at which an exploration stops.
#[derive(Default)]
struct Collected {
    /// With `keep_going`: all errors.
    bugs: Distinct,
    livelocks: Distinct,
    after_main: Option<Counterexample>,
    /// Threads that were not joined.
    unjoined: Option<Counterexample>,
    complete: CompleteExecutions,
    is_unfinished: bool,
}

/// Explores until an execution shows a bug, or to the end if that is requested.
pub(super) fn explore(program: &mut NativeProgram, request: &Request, limits: &Limits) -> Explored {
    let collected = RefCell::new(Collected::default());
    let is_bug = |leaf: &dyn Leaf| collected.borrow_mut().is_last(leaf, request);
    let plan = if request.leaks || request.environment.require_join || request.environment.races {
        request.plan().showing_all()
    } else {
        request.plan()
    };
    let (summary, found) = match request.robust {
        true => {
            let RobustnessCheck { summary, counterexample } =
                robustness::check(program, plan, limits, &is_bug);
            (summary, counterexample)
        }
        false => first_bug(program, plan, limits, &is_bug, &request.environment),
    };
    let collected = collected.into_inner();
    // An exploration that starts again ends with an error of its own.
    if collected.is_unfinished && !program.needs_restart() {
        program.bound = program.bound.take().or_else(|| Some(UNFINISHED.to_owned()));
    }
    // When `main` returns, the program ends: it is no bug that other threads would wait forever.
    let main_leaves = program.main_leaves;
    let after_main = collected.after_main.filter(|_| main_leaves);
    let unjoined = collected.unjoined.filter(|_| !main_leaves);
    let others = collected.bugs.into_iter().chain(unjoined).chain(after_main);
    let all = found.into_iter().chain(others).chain(collected.livelocks);
    let most = if request.keep_going { usize::MAX } else { 1 };
    Explored { summary, found: all.take(most).collect(), complete: collected.complete }
}

impl Collected {
    /// Notes an execution. Returns `true` if it ends the exploration.
    fn is_last(&mut self, leaf: &dyn Leaf, request: &Request) -> bool {
        let environment = &request.environment;
        let ending = meaning::ending(leaf, environment);
        let found = || Counterexample::new(ending.clone(), leaf.trace());
        // Random runs are repeated by their number, and robustness has one counterexample.
        let stops_at_livelock = request.robust || request.explorer.sampling().is_some();
        let meaning = meaning(leaf, &ending, environment);
        let is_complete = *leaf.ending() == Ending::Complete || meaning == Meaning::AfterMain;
        if environment.require_join && is_complete && self.unjoined.is_none() {
            let trace = leaf.trace();
            self.unjoined =
                meaning::unjoined(&trace).map(|_| Counterexample::new(Ending::Complete, trace));
        }
        match meaning {
            Meaning::Good if request.leaks && *leaf.ending() == Ending::Complete => {
                self.complete.note(leaf.trace());
            }
            Meaning::Good => {}
            Meaning::Livelock if stops_at_livelock => return true,
            Meaning::Livelock => self.livelocks.add(found()),
            Meaning::AfterMain => {
                self.after_main.get_or_insert_with(found);
            }
            Meaning::Unfinished => self.is_unfinished = true,
            Meaning::Bug if request.keep_going => self.bugs.add(found()),
            Meaning::Bug => return true,
        }
        false
    }
}

fn first_bug(
    program: &mut NativeProgram,
    plan: Plan,
    limits: &Limits,
    is_bug: &dyn Fn(&dyn Leaf) -> bool,
    environment: &Environment,
) -> (Summary, Option<Counterexample>) {
    let mut found = None;
    let mut visitor = |leaf: &dyn Leaf| {
        if !is_bug(leaf) {
            return Control::Continue;
        }
        found = Some(Counterexample::new(meaning::ending(leaf, environment), leaf.trace()));
        Control::Stop
    };
    let summary = plan.explore(program, limits, &mut visitor);
    (summary, found)
}
