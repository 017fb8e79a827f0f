//! From an execution to a finding.

use raddle_core::execution::ThreadId;
use raddle_core::model::Model;
use raddle_core::outcome::{Bound, Finding, FindingKind, Outcome, Place};
use raddle_core::program::Naming;
use raddle_core::schedule::Schedule;
use raddle_core::trace::{Counterexample, Ending, NamedTrace, Trace};
use raddle_explore::Extent;
use raddle_explore::counterexample::{self, Style};

use super::call_stacks::{FrameNames, RecordedStacks};
use super::leaks::CompleteExecutions;
use super::meaning::{self, unjoined};
use super::object_names::ObjectNames;
use super::{
    Explored, Request, object_states, panics, printed, private_events, recording, thread_names,
    waits,
};
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
    let volatile_race = found.iter().any(|found| is_volatile_race(program, found));
    let findings = findings(program, request, found, complete).into_iter();
    let findings: Vec<Finding> =
        findings.map(|finding| Finding { sample: plan.last_run(&summary), ..finding }).collect();
    let bound = match summary.extent {
        Extent::All if program.bound.is_some() => program.bound.clone().map(Bound::Other),
        Extent::Stopped if findings.is_empty() => {
            Some(Bound::Other(String::from("the exploration was stopped")))
        }
        _ => plan.bound(&summary),
    };
    let remarks = match findings.is_empty() {
        true => program.remark.clone().into_iter().collect(),
        false => volatile_race.then(|| VOLATILE_RACE.to_owned()).into_iter().collect(),
    };
    let symmetry = summary.symmetry;
    Outcome { remarks, symmetry, ..Outcome::new(findings, counts, bound) }
}

/// What a report says of a race of volatile accesses.
const VOLATILE_RACE: &str = "an access that races is volatile: --volatile relaxed takes such accesses for relaxed atomic ones";

/// Returns `true` if an execution ends with a race of a volatile access.
fn is_volatile_race(program: &NativeProgram, found: &Counterexample) -> bool {
    let Ending::Race(first, second) = found.ending else { return false };
    let place = |event: usize| found.trace.events.get(event).map(|event| event.op.place);
    let mut places = [first, second].into_iter().filter_map(place);
    places.any(|place| program.is_volatile(program.places.address(place)))
}

/// The findings, with what the program printed in their executions.
pub(super) fn findings(
    program: &mut NativeProgram,
    request: &Request,
    found: Vec<Counterexample>,
    complete: CompleteExecutions,
) -> Vec<Finding> {
    let prints = !program.printed.is_empty();
    let mut shown: Vec<Shown> =
        found.into_iter().map(|found| of_execution(program, request, found)).collect();
    if shown.is_empty()
        && let Some((trace, leak)) = complete.leak(program)
    {
        shown.push(of_leak(program, &trace, &leak));
    }
    let reports: Vec<Report> =
        shown.into_iter().map(|shown| Report::of(program, request.model, shown)).collect();
    // From here on, the program forgets its locations.
    let findings: Vec<Finding> =
        reports.into_iter().map(|report| report.complete(program, prints)).collect();
    findings.into_iter().map(|finding| recording::record(program, finding)).collect()
}

/// A report that contains what the last exploration of the program knows.
struct Report {
    kind: FindingKind,
    message: Option<String>,
    unjoined: Option<ThreadId>,
    place: Option<Place>,
    /// The execution with all its events.
    whole: Trace,
    /// The positions of the shown events in the whole execution and in the shown one.
    kept: Vec<(ThreadId, usize, usize)>,
    trace: NamedTrace,
    objects: ObjectNames,
    schedule: Schedule,
}

impl Report {
    fn of(program: &NativeProgram, model: Model, shown: Shown) -> Self {
        let Shown { kind, whole, kept, schedule, found, message, unjoined, place } = shown;
        let kept = positions(&whole, &kept, &found.trace);
        let objects = ObjectNames::of(program, &whole);
        let mut trace = found.named(program, model);
        trace.names.special_values = vec![(GONE, "freed".into())];
        trace.names.object_states = object_states::of(program, &trace.trace);
        Report { kind, message, unjoined, place, whole, kept, trace, objects, schedule }
    }

    /// Follows the execution to find out more, and makes the finding.
    fn complete(mut self, program: &mut NativeProgram, prints: bool) -> Finding {
        RecordedStacks::begin(program, &self.whole);
        self.objects.complete(program, &self.whole);
        let stacks = RecordedStacks::end(program, &self.whole);
        let mut frames = FrameNames::new(program);
        self.trace.stacks = stacks.of_steps(&mut frames, &self.kept);
        thread_names::apply(program, &mut self.trace);
        self.objects.apply(program, &stacks, &mut frames, &mut self.trace);
        if prints {
            self.trace.printed = printed::printed(program, &self.whole);
        }
        let style = Style::in_working_directory();
        let mut finding = counterexample::finding(self.kind, self.trace, &style);
        finding.message = match (self.message, self.unjoined) {
            (_, Some(thread)) => {
                let name = finding.trace.as_ref().map(|trace| trace.thread_name(thread));
                let name = name.unwrap_or_default();
                format!("{name} was not joined and may still run when main returns")
            }
            (Some(message), None) => message,
            (None, None) => finding.message,
        };
        finding.place = self.place.or(finding.place).or_else(|| Some(Place::new("the start")));
        finding.schedule = Some(self.schedule);
        if program.table.rust.is_some() {
            panics::describe(&mut finding);
        }
        finding
    }
}

/// What a report shows.
struct Shown {
    kind: FindingKind,
    /// The execution with all its events.
    whole: Trace,
    /// The indices of the shown events in the whole execution.
    kept: Vec<usize>,
    schedule: Schedule,
    found: Counterexample,
    /// Unless the execution tells.
    message: Option<String>,
    /// A thread that was not joined, if that is the error.
    unjoined: Option<ThreadId>,
    /// Unless the execution tells.
    place: Option<Place>,
}

impl Shown {
    /// The whole execution is shown.
    fn new(kind: FindingKind, whole: Trace, schedule: Schedule, found: Counterexample) -> Self {
        let kept = (0..whole.events.len()).collect();
        let (message, unjoined, place) = (None, None, None);
        Shown { kind, whole, kept, schedule, found, message, unjoined, place }
    }
}

fn of_execution(program: &NativeProgram, request: &Request, found: Counterexample) -> Shown {
    let whole = found.trace.clone();
    let schedule = Schedule::of_trace(&whole);
    let schedule = match found.ending.is_bug() {
        true => schedule.ending_as(&found.ending, &whole),
        false => schedule,
    };
    if found.not_robust.is_some() {
        return Shown::new(FindingKind::NotRobust, whole, schedule, found);
    }
    let found = waits::as_deadlock(program, found);
    let Counterexample { ending, trace, .. } = &found;
    if let (Ending::Complete, Some(thread)) = (ending, unjoined(trace)) {
        let shown = Shown::new(FindingKind::Misuse, whole, schedule, found);
        return Shown { unjoined: Some(thread), ..shown };
    }
    let kind = meaning::kind(ending, trace);
    if request.full {
        return Shown::new(kind, whole, schedule, found);
    }
    let (part, kept) = private_events::remove(program, ending, trace);
    Shown { kept, ..Shown::new(kind, whole, schedule, part) }
}

/// The positions of shown events in the whole execution and in the shown one.
fn positions(whole: &Trace, kept: &[usize], shown: &Trace) -> Vec<(ThreadId, usize, usize)> {
    let pairs = kept.iter().zip(&shown.events);
    let positions =
        pairs.map(|(&at, event)| (event.thread, whole.events[at].position, event.position));
    positions.collect()
}

/// A block that is never freed.
fn of_leak(program: &NativeProgram, trace: &Trace, leak: &Leak) -> Shown {
    let Leak { place, size } = *leak;
    let place = Naming::place(program, place);
    let place = Style::in_working_directory().relative(&place).to_owned();
    let message = format!(
        "leak: nothing points to a block of {size} bytes at the end, which was allocated at {place}"
    );
    let schedule = Schedule::of_trace(trace);
    let is_remains = |location| program.is_remains(location);
    let shown = trace.only(|event| !event.op.kind.location().is_some_and(is_remains)).0;
    let found = Counterexample::new(Ending::Complete, shown.clone());
    let (message, place) = (Some(message), Some(Place::new(place)));
    Shown { message, place, ..Shown::new(FindingKind::Leak, shown, schedule, found) }
}
