//! From an execution to a finding.

use raddle_core::model::Model;
use raddle_core::outcome::{Bound, Finding, FindingKind, Outcome, Place};
use raddle_core::program::{Naming, OpKind};
use raddle_core::schedule::Schedule;
use raddle_core::trace::{Counterexample, Ending, Trace};
use raddle_explore::Extent;
use raddle_explore::counterexample::{self, Style};

use super::leaks::CompleteExecutions;
use super::{Explored, Request, object_states, panics, printed, private_events, waits};
use crate::program::{GONE, Leak, NativeProgram};

/// The outcome of an exploration.
pub(super) fn outcome(
    program: &mut NativeProgram,
    request: &Request,
    explored: Explored,
) -> Outcome {
    let Explored { summary, found, complete } = explored;
    let plan = request.plan();
    // Collecting the output of a finding runs threads again, which is not part of the exploration.
    let counts = summary.counts(program.executions);
    let finding = finding(program, request.model, found, complete);
    let finding = finding.map(|finding| Finding { sample: plan.last_run(&summary), ..finding });
    let bound = match summary.extent {
        Extent::All if program.bound.is_some() => program.bound.clone().map(Bound::Other),
        Extent::Stopped if finding.is_none() => {
            Some(Bound::Other(String::from("the exploration was stopped")))
        }
        _ => plan.bound(&summary),
    };
    let outcome = Outcome::new(finding.into_iter().collect(), counts, bound);
    Outcome { symmetry: summary.symmetry, ..outcome }
}

/// The finding, with what the program printed in its execution.
fn finding(
    program: &mut NativeProgram,
    model: Model,
    found: Option<Counterexample>,
    complete: CompleteExecutions,
) -> Option<Finding> {
    let prints = !program.printed.is_empty();
    let (trace, mut finding) = match found {
        Some(found) => (found.trace.clone(), of_execution(program, model, found)),
        None => {
            let (trace, leak) = complete.leak(program)?;
            (trace.clone(), of_leak(program, model, trace, leak))
        }
    };
    if let (true, Some(reported)) = (prints, &mut finding.trace) {
        reported.printed = printed::printed(program, &trace);
    }
    if program.table.rust.is_some() {
        panics::describe(&mut finding);
    }
    Some(finding)
}

fn of_execution(program: &NativeProgram, model: Model, found: Counterexample) -> Finding {
    if found.not_robust.is_some() {
        return reported(program, model, FindingKind::NotRobust, found);
    }
    let found = waits::as_deadlock(program, found);
    let Counterexample { ending, trace, .. } = &found;
    let kind = match *ending {
        Ending::Race(first, second) if frees(trace, first) || frees(trace, second) => {
            FindingKind::UseAfterFree
        }
        Ending::Race(first, _) if is_of_cell(trace, first) => FindingKind::Unsupported,
        _ => ending.finding_kind().unwrap_or(FindingKind::Misuse),
    };
    let (ending, trace) = private_events::remove(program, ending, trace);
    reported(program, model, kind, Counterexample::new(ending, trace))
}

/// A block that is never freed.
fn of_leak(program: &NativeProgram, model: Model, trace: Trace, leak: Leak) -> Finding {
    let Leak { place, size } = leak;
    let found = Counterexample::new(Ending::Complete, trace);
    let place = Naming::place(program, place);
    let place = Style::in_working_directory().relative(&place).to_owned();
    let message = format!(
        "leak: nothing points to a block of {size} bytes at the end, which was allocated at {place}"
    );
    let place = Some(Place::new(place));
    Finding { message, place, ..reported(program, model, FindingKind::Leak, found) }
}

/// The finding that an execution shows, with its schedule.
fn reported(
    program: &NativeProgram,
    model: Model,
    kind: FindingKind,
    found: Counterexample,
) -> Finding {
    let schedule = Schedule::of_trace(&found.trace, |thread| program.thread_name(thread));
    let mut trace = found.named(program, model);
    trace.names.special_values = vec![(GONE, "freed".into())];
    trace.names.object_states = object_states::of(program, &trace.trace);
    let mut finding = counterexample::finding(kind, trace, &Style::in_working_directory());
    finding.place.get_or_insert_with(|| Place::new("the start"));
    finding.schedule = Some(schedule);
    finding
}

/// Returns `true` if an event of a trace accesses memory that is accessed in pieces of different sizes.
fn is_of_cell(trace: &Trace, event: usize) -> bool {
    let op = trace.events.get(event).map(|event| event.op.kind);
    matches!(op, Some(OpKind::ReadCell { .. } | OpKind::WriteCell { .. }))
}

/// Returns `true` if an event of a trace frees memory.
fn frees(trace: &Trace, event: usize) -> bool {
    let op = trace.events.get(event).map(|event| event.op.kind);
    matches!(op, Some(OpKind::Store { value: GONE, .. }))
}
