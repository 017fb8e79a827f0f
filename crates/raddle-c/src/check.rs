//! Exploring a program.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use raddle_core::execution::ThreadId;
use raddle_core::model::Model;
use raddle_core::model::orders::{OrderSemantics, StoreBuffers};
use raddle_core::outcome::{Bound, Counts, Estimate, Finding, FindingKind, Outcome, Place};
use raddle_core::program::{Naming, Op, OpKind, Program};
use raddle_core::schedule::Schedule;
use raddle_core::trace::{Counterexample, Ending, Pending, ThreadEnd, Trace};
use raddle_explore::counterexample::{self, Style};
use raddle_explore::driver;
use raddle_explore::facts::EventBound;
use raddle_explore::plan::{Explorer, Plan};
use raddle_explore::rf_part_smc;
use raddle_explore::robustness::{self, RobustnessCheck};
use raddle_explore::{Control, Extent, Leaf, Limits, Summary};

use crate::compile::{self, Object, Source};
use crate::error::Error;
use crate::layout::Scalars;
use crate::leaks::{Leak, Leaves};
use crate::load::Module;
use crate::native::{GONE, Native, Settings};
use crate::object_states;
use crate::ops::EXITED;
use crate::parts::{self, ParallelOptions};
use crate::printed;
use crate::told::told;
use crate::trap::{self, Watchdog};

/// How many events a thread may have, if nobody says otherwise.
const MAX_EVENTS: u32 = EventBound::LAST;

/// What to explore, and how.
#[derive(Clone, Debug)]
pub struct Request {
    /// The program.
    pub source: Source,
    /// Its arguments, without its name.
    pub arguments: Vec<String>,
    /// The memory model.
    pub model: Model,
    /// The algorithm.
    pub explorer: Explorer,
    /// At most so many classes of executions.
    pub max_executions: Option<u64>,
    /// At most so long.
    pub timeout: Option<Duration>,
    /// At most so many events for each execution; fewer are tried first unless this is set.
    pub max_events: u32,
    /// Whether an execution that SC does not allow is wrong.
    pub robust: bool,
    /// Whether blocks of memory that are never freed are errors.
    pub leaks: bool,
}

impl Request {
    /// The program in these files, under the model of C++20, without limits but that on the events of an execution.
    #[must_use]
    pub fn new(files: &[&std::path::Path]) -> Self {
        let files = files.iter().map(|file| file.to_path_buf()).collect();
        Request {
            source: Source { files, ..Source::default() },
            arguments: vec![],
            model: Model::C20,
            explorer: Explorer::default(),
            max_executions: None,
            timeout: None,
            max_events: MAX_EVENTS,
            robust: false,
            leaks: false,
        }
    }

    /// Whether the exploration cannot be divided: for other explorers than the compact one, and where every execution is
    /// compared with others or counted.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let compares = self.robust || self.leaks || self.max_executions.is_some();
        let plan = Plan { model: self.model, explorer: self.explorer };
        plan.is_divisible().is_err() || compares
    }

    /// The bound on the events of an execution, if it was set.
    fn events(&self) -> Option<u32> {
        (self.max_events != MAX_EVENTS).then_some(self.max_events)
    }
}

/// Compiles a program and explores it.
///
/// # Errors
/// If it cannot be compiled or loaded.
pub fn check(request: &Request) -> Result<Outcome, Error> {
    let start = Instant::now();
    let mut outcome = check_built(&build(&request.source)?, request)?;
    let Counts { seconds, start_up, .. } = &mut outcome.counts;
    *start_up += start.elapsed().as_secs_f64() - *seconds;
    *seconds = start.elapsed().as_secs_f64();
    Ok(outcome)
}

/// Compiles a program, to be explored more than once.
///
/// # Errors
/// If it cannot be compiled.
pub fn build(source: &Source) -> Result<Object, Error> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        let what = "C programs can be explored on Linux on x86-64 only";
        return Err(Error::System(String::from(what)));
    }
    compile::compile(source)
}

/// Explores a program that was compiled. The source of the request only names it.
///
/// # Errors
/// If it cannot be loaded.
pub fn check_built(object: &Object, request: &Request) -> Result<Outcome, Error> {
    check_parallel(object, request, ParallelOptions::default())
}

/// As [`check_built`], with several workers. What cannot be divided ([`Request::is_whole`]) is explored by one worker.
///
/// # Errors
/// As [`check_built`].
pub fn check_parallel(
    object: &Object,
    request: &Request,
    mut options: ParallelOptions<'_>,
) -> Result<Outcome, Error> {
    let start = Instant::now();
    let module = Module::load(object.clone())?;
    let mut program = Native::new(module, settings(request))?;
    let start_up = start.elapsed().as_secs_f64();
    let (summary, found, leaves) = driver::until_stable(&mut program, |program| {
        explore(program, request, &mut options, start)
    });
    let mut outcome = outcome(&mut program, request, &summary, found, leaves);
    outcome.counts.start_up = start_up;
    outcome.counts.seconds = start.elapsed().as_secs_f64();
    Ok(outcome)
}

/// Estimates how many classes of executions a program has, by so many probes, and for so long at most. None if it has too
/// many events.
///
/// # Errors
/// If it cannot be loaded.
pub fn estimate(
    object: &Object,
    request: &Request,
    probes: u64,
    time: Duration,
) -> Result<Option<Estimate>, Error> {
    let mut program = Native::new(Module::load(object.clone())?, settings(request))?;
    let estimate = driver::until_stable(&mut program, |program| {
        let end = Some(Instant::now() + time);
        running(|| rf_part_smc::estimate(program, request.model, probes, end))
    });
    Ok(estimate)
}

fn settings(request: &Request) -> Settings {
    let name = request.source.files.first().map(|file| file.display().to_string());
    let mut arguments = vec![name.unwrap_or_default()];
    arguments.extend(request.arguments.iter().cloned());
    let scalars = match request.model.orders() {
        OrderSemantics::StoreBuffer(StoreBuffers::None | StoreBuffers::PerThread) => {
            Scalars::Watched
        }
        OrderSemantics::StoreBuffer(StoreBuffers::PerLocation) => Scalars::Whole,
        OrderSemantics::C11(_) => Scalars::Cut,
    };
    // Runs that remember nothing may be as long as they like.
    let is_default = request.max_events == MAX_EVENTS && request.explorer.sampling().is_some();
    let max_events = if is_default { u32::MAX } else { request.max_events };
    Settings { arguments, max_events, scalars, leaks: request.leaks }
}

/// An execution that shows an error.
type Found = Option<Counterexample>;

fn explore(
    program: &mut Native,
    request: &Request,
    options: &mut ParallelOptions<'_>,
    start: Instant,
) -> (Summary, Found, Leaves) {
    let deadline = request.timeout.map(|timeout| start + timeout);
    let limits = Limits { classes: request.max_executions, deadline, events: request.events() };
    if !request.is_whole() {
        if let Some((summary, found)) = parts::explore(program, request.model, &limits, options) {
            return (summary, found, Leaves::default());
        }
        program.restart();
    }
    let (late, leaves) = (RefCell::new(None), RefCell::new(Leaves::default()));
    let is_bug = |leaf: &dyn Leaf| match leaf.ending() {
        Ending::Complete if request.leaks => {
            leaves.borrow_mut().note(leaf.trace());
            false
        }
        Ending::Deadlock(_) | Ending::Livelock(_) if has_exited(leaf) => false,
        ending @ (Ending::Deadlock(_) | Ending::Livelock(_)) if main_has_ended(leaf) => {
            let found = || Counterexample::new(ending.clone(), leaf.trace());
            late.borrow_mut().get_or_insert_with(found);
            false
        }
        ending => ending.is_bug(),
    };
    let mut plan = Plan { model: request.model, explorer: request.explorer };
    if request.leaks {
        plan = plan.showing_all();
    }
    let (summary, found) = running(|| match request.robust {
        true => {
            let RobustnessCheck { summary, counterexample } =
                robustness::check(program, plan, &limits, &is_bug);
            (summary, counterexample)
        }
        false => first_wrong(program, plan, &limits, &is_bug),
    });
    // When `main` returns, the program ends: that others wait forever then is no error.
    let late = late.into_inner().filter(|_| program.main_leaves);
    (summary, found.or(late), leaves.into_inner())
}

/// Explores until an execution is wrong.
fn first_wrong(
    program: &mut Native,
    plan: Plan,
    limits: &Limits,
    is_bug: &dyn Fn(&dyn Leaf) -> bool,
) -> (Summary, Found) {
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

pub(crate) fn main_has_ended(leaf: &dyn Leaf) -> bool {
    leaf.trace().ends.get(&ThreadId::new(0)) == Some(&ThreadEnd::Finished)
}

/// Whether a thread other than the main one has ended the program.
pub(crate) fn has_exited(leaf: &dyn Leaf) -> bool {
    let waits = |pending: &Pending| {
        matches!(pending, Pending::Question(Op { kind: OpKind::Sync { guard: EXITED, .. }, .. }))
    };
    leaf.trace().pending.values().any(waits)
}

/// Does something in which the program's code runs.
pub(crate) fn running<R>(f: impl FnOnce() -> R) -> R {
    crate::on_large_stack(|| {
        trap::install();
        let _watchdog = Watchdog::start();
        f()
    })
}

fn outcome(
    program: &mut Native,
    request: &Request,
    summary: &Summary,
    found: Found,
    leaves: Leaves,
) -> Outcome {
    let plan = Plan { model: request.model, explorer: request.explorer };
    // Collecting the output of a finding runs threads again, which is not part of the exploration.
    let counts = summary.counts(program.executions());
    let finding = finding(program, request.model, found, leaves);
    let finding = finding.map(|finding| Finding { sample: plan.last_run(summary), ..finding });
    let bound = match summary.extent {
        Extent::All if program.bound.is_some() => program.bound.clone().map(Bound::Other),
        Extent::Stopped if finding.is_none() => {
            Some(Bound::Other(String::from("the exploration was stopped")))
        }
        _ => plan.bound(summary),
    };
    Outcome::new(finding.into_iter().collect(), counts, bound)
}

/// The finding, with what the program printed in its execution.
fn finding(program: &mut Native, model: Model, found: Found, leaves: Leaves) -> Option<Finding> {
    let prints = program.prints();
    let (trace, mut finding) = match found {
        Some(found) => (found.trace.clone(), finding_of(program, model, found)),
        None => {
            let leak = leaves.leak(program)?;
            (leak.trace.clone(), finding_of_leak(program, model, leak))
        }
    };
    if let (true, Some(reported)) = (prints, &mut finding.trace) {
        reported.printed = running(|| printed::printed(program, &trace));
    }
    Some(finding)
}

fn finding_of(program: &Native, model: Model, found: Counterexample) -> Finding {
    if found.not_robust.is_some() {
        return reported(program, model, FindingKind::NotRobust, found);
    }
    let Counterexample { ending, trace, .. } = &found;
    let kind = match *ending {
        Ending::Race(first, second) if frees(trace, first) || frees(trace, second) => {
            FindingKind::UseAfterFree
        }
        Ending::Race(first, _) if is_of_cell(trace, first) => FindingKind::Unsupported,
        _ => ending.finding_kind().unwrap_or(FindingKind::Misuse),
    };
    let (ending, trace) = told(program, ending, trace);
    reported(program, model, kind, Counterexample::new(ending, trace))
}

/// A block that is never freed.
fn finding_of_leak(program: &Native, model: Model, leak: Leak) -> Finding {
    let Leak { trace, place, size } = leak;
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
fn reported(program: &Native, model: Model, kind: FindingKind, found: Counterexample) -> Finding {
    let schedule = Schedule::of_trace(&found.trace, |thread| program.thread_name(thread));
    let mut trace = found.named(program, model);
    trace.names.special_values = vec![(GONE, "freed")];
    trace.names.object_states = object_states::of(program, &trace.trace);
    let mut finding = counterexample::finding(kind, trace, &Style::in_working_directory());
    finding.place.get_or_insert_with(|| Place::new("the start"));
    finding.schedule = Some(schedule);
    finding
}

/// Whether an event of a trace is an access of memory that is accessed in pieces of different sizes.
fn is_of_cell(trace: &Trace, event: usize) -> bool {
    let op = trace.events.get(event).map(|event| event.op.kind);
    matches!(op, Some(OpKind::ReadCell { .. } | OpKind::WriteCell { .. }))
}

/// Whether an event of a trace frees memory.
fn frees(trace: &Trace, event: usize) -> bool {
    let op = trace.events.get(event).map(|event| event.op.kind);
    matches!(op, Some(OpKind::Store { value: GONE, .. }))
}
