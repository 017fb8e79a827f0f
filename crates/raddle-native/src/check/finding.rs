//! From an execution to a finding.

use raddle_core::model::Model;
use raddle_core::outcome::{Bound, Finding, FindingKind, Outcome, Place};
use raddle_core::program::Naming;
use raddle_core::schedule::Schedule;
use raddle_core::trace::{Counterexample, Ending, Trace};
use raddle_explore::Extent;
use raddle_explore::counterexample::{self, Style};

use super::leaks::CompleteExecutions;
use super::meaning::{self, unjoined};
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
    let findings = findings(program, request.model, found, complete).into_iter();
    let findings: Vec<Finding> =
        findings.map(|finding| Finding { sample: plan.last_run(&summary), ..finding }).collect();
    let bound = match summary.extent {
        Extent::All if program.bound.is_some() => program.bound.clone().map(Bound::Other),
        Extent::Stopped if findings.is_empty() => {
            Some(Bound::Other(String::from("the exploration was stopped")))
        }
        _ => plan.bound(&summary),
    };
    let remarks = program.remark.clone().filter(|_| findings.is_empty()).into_iter().collect();
    let symmetry = summary.symmetry;
    Outcome { remarks, symmetry, ..Outcome::new(findings, counts, bound) }
}

/// The findings, with what the program printed in their executions.
fn findings(
    program: &mut NativeProgram,
    model: Model,
    found: Vec<Counterexample>,
    complete: CompleteExecutions,
) -> Vec<Finding> {
    let prints = !program.printed.is_empty();
    let mut made: Vec<(Trace, Finding)> = (found.into_iter())
        .map(|found| (found.trace.clone(), of_execution(program, model, found)))
        .collect();
    if made.is_empty()
        && let Some((trace, leak)) = complete.leak(program)
    {
        made.push((trace.clone(), of_leak(program, model, trace, leak)));
    }
    for (trace, finding) in &mut made {
        if let (true, Some(reported)) = (prints, &mut finding.trace) {
            reported.printed = printed::printed(program, trace);
        }
        if program.table.rust.is_some() {
            panics::describe(finding);
        }
    }
    made.into_iter().map(|(_, finding)| finding).collect()
}

fn of_execution(program: &NativeProgram, model: Model, found: Counterexample) -> Finding {
    if found.not_robust.is_some() {
        return reported(program, model, FindingKind::NotRobust, found);
    }
    let found = waits::as_deadlock(program, found);
    let Counterexample { ending, trace, .. } = &found;
    if let (Ending::Complete, Some(thread)) = (ending, unjoined(trace)) {
        let name = program.thread_name(thread);
        let message = format!("{name} was not joined and may still run when main returns");
        let finding = reported(program, model, FindingKind::Misuse, found);
        return Finding { message, ..finding };
    }
    let kind = meaning::kind(ending, trace);
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
