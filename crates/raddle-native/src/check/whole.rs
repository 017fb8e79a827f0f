//! Exploring a program as a whole, with any explorer.

use std::cell::RefCell;

use raddle_core::trace::{Counterexample, Ending};
use raddle_explore::plan::Plan;
use raddle_explore::robustness::{self, RobustnessCheck};
use raddle_explore::{Control, Leaf, Limits, Summary};

use super::leaks::CompleteExecutions;
use super::{Blocked, Explored, Request, blocked};
use crate::program::NativeProgram;

/// Explores until an execution shows a bug.
pub(super) fn explore(program: &mut NativeProgram, request: &Request, limits: &Limits) -> Explored {
    let after_main = RefCell::new(None);
    let complete = RefCell::new(CompleteExecutions::default());
    let is_bug = |leaf: &dyn Leaf| match blocked(leaf) {
        Some(Blocked::Exited) => false,
        Some(Blocked::AfterMain) => {
            let found = || Counterexample::new(leaf.ending().clone(), leaf.trace());
            after_main.borrow_mut().get_or_insert_with(found);
            false
        }
        Some(Blocked::Bug) => true,
        None if *leaf.ending() == Ending::Complete && request.leaks => {
            complete.borrow_mut().note(leaf.trace());
            false
        }
        None => leaf.ending().is_bug(),
    };
    let plan = if request.leaks { request.plan().showing_all() } else { request.plan() };
    let (summary, found) = match request.robust {
        true => {
            let RobustnessCheck { summary, counterexample } =
                robustness::check(program, plan, limits, &is_bug);
            (summary, counterexample)
        }
        false => first_bug(program, plan, limits, &is_bug),
    };
    // When `main` returns, the program ends: it is no bug that other threads would wait forever.
    let after_main = after_main.into_inner().filter(|_| program.main_leaves);
    Explored { summary, found: found.or(after_main), complete: complete.into_inner() }
}

fn first_bug(
    program: &mut NativeProgram,
    plan: Plan,
    limits: &Limits,
    is_bug: &dyn Fn(&dyn Leaf) -> bool,
) -> (Summary, Option<Counterexample>) {
    let mut found = None;
    let mut visitor = |leaf: &dyn Leaf| {
        if !is_bug(leaf) {
            return Control::Continue;
        }
        found = Some(Counterexample::new(leaf.ending().clone(), leaf.trace()));
        Control::Stop
    };
    let summary = plan.explore(program, limits, &mut visitor);
    (summary, found)
}
