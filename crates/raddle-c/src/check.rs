//! Exploring a program.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use raddle_core::execution::ThreadId;
use raddle_core::model::Model;
use raddle_core::model::orders::{OrderSemantics, StoreBuffers};
use raddle_core::outcome::{Estimate, FindingKind};
use raddle_core::program::{Naming, Op, OpKind, PlaceId, Program};
use raddle_core::trace::{Ending, Observed, Pending, ThreadEnd, Trace, TraceEvent};
use raddle_explore::counterexample::{self, Style};
use raddle_explore::driver;
use raddle_explore::plan::{Explorer, Plan};
use raddle_explore::rf_part_smc;
use raddle_explore::robustness::{self, Finding, NotRobust};
use raddle_explore::{Control, Extent, Leaf, Limits, Summary};

use crate::compile::{self, Object, Source};
use crate::error::Error;
use crate::layout::Scalars;
use crate::leaks::Leaves;
use crate::load::Module;
use crate::native::{GONE, Native, Settings};
use crate::ops::EXITED;
use crate::outcome::{Bug, Outcome, Verdict};
use crate::parts::{self, Parts};
use crate::printed;
use crate::told::told;
use crate::trap::{self, Watchdog};

/// How many events a thread may have, if nobody says otherwise.
const MAX_EVENTS: u32 = 10_000;

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
    /// At most so many events for each thread.
    pub max_events: u32,
    /// Whether an execution that SC does not allow is wrong.
    pub robust: bool,
    /// Whether blocks of memory that are never freed are errors.
    pub leaks: bool,
}

impl Request {
    /// The program in these files, under the model of C++20, without limits but 10,000 events for each
    /// thread.
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
}

/// Compiles a program and explores it.
///
/// # Errors
/// If it cannot be compiled or loaded.
pub fn check(request: &Request) -> Result<Outcome, Error> {
    let start = Instant::now();
    let mut outcome = check_built(&build(&request.source)?, request)?;
    outcome.start_up += start.elapsed().as_secs_f64() - outcome.seconds;
    outcome.seconds = start.elapsed().as_secs_f64();
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
    check_parts(object, request, Parts::default())
}

/// As [`check_built`], in parts. What cannot be divided ([`Request::is_whole`]) is explored by one worker.
///
/// # Errors
/// As [`check_built`].
pub fn check_parts(
    object: &Object,
    request: &Request,
    mut parts: Parts<'_>,
) -> Result<Outcome, Error> {
    let start = Instant::now();
    let module = Module::load(object.clone())?;
    let mut program = Native::new(module, settings(request))?;
    let start_up = start.elapsed().as_secs_f64();
    let (summary, found, leaves) =
        driver::until_stable(&mut program, |program| explore(program, request, &mut parts, start));
    let prints = program.prints();
    let leak = if found.is_none() { leaves.leak(&program) } else { None };
    let mut outcome = outcome(&program, request, summary, found);
    if let Some((trace, place, size)) = leak {
        outcome.verdict = Verdict::Bug;
        outcome.bug = Some(leak_of(&program, request.model, trace, place, size));
    }
    if let (true, Some(bug)) = (prints, &mut outcome.bug) {
        bug.printed = running(|| printed::printed(&mut program, &bug.trace));
    }
    outcome.start_up = start_up;
    outcome.seconds = start.elapsed().as_secs_f64();
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

/// What went wrong.
type Found = Option<Finding>;

fn explore(
    program: &mut Native,
    request: &Request,
    parts: &mut Parts<'_>,
    start: Instant,
) -> (Summary, Found, Leaves) {
    let deadline = request.timeout.map(|timeout| start + timeout);
    let limits = Limits { classes: request.max_executions, deadline };
    if !request.is_whole() {
        if let Some((summary, found)) = parts::explore(program, request.model, &limits, parts) {
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
            late.borrow_mut().get_or_insert_with(|| Finding::Wrong(ending.clone(), leaf.trace()));
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
            let robustness::Answer { summary, finding } =
                robustness::check(program, plan, &limits, &is_bug);
            (summary, finding)
        }
        false => first_wrong(program, plan, &limits, &is_bug),
    });
    // When `main` returns, the program ends: that others wait for ever then is no error.
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
        found = Some(Finding::Wrong(leaf.ending().clone(), leaf.trace()));
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

fn outcome(program: &Native, request: &Request, summary: Summary, found: Found) -> Outcome {
    let model = request.model;
    let runs = summary.classes + summary.blocked;
    let bug = found.map(|wrong| match wrong {
        Finding::Wrong(ending, trace) => bug(program, model, ending, trace),
        Finding::NotRobust(found) => not_robust(program, model, found),
    });
    let verdict = match summary.extent {
        _ if bug.is_some() => Verdict::Bug,
        Extent::All if program.bound.is_none() => Verdict::Clean,
        _ => Verdict::Incomplete,
    };
    let bound = match summary.extent {
        Extent::Sampled => None,
        Extent::All => program.bound.as_deref(),
        Extent::Stopped => None,
        Extent::Classes => Some("the limit of executions was reached"),
        Extent::Deadline => Some("the time was up"),
        Extent::Events => {
            Some("an execution has more events than the limit of a thread, or than 500 in all")
        }
        Extent::Unsupported(_) => Some("the program does what this explorer does not know"),
    };
    Outcome {
        verdict,
        classes: summary.classes,
        blocked: summary.blocked,
        executions: program.executions(),
        histories: summary.histories,
        seconds: 0.0,
        start_up: 0.0,
        bug,
        bound: match summary.extent {
            Extent::Sampled => Some(request.explorer.sampled(runs)),
            _ => bound.map(String::from),
        },
    }
}

fn not_robust(program: &Native, model: Model, found: NotRobust) -> Bug {
    let style = style();
    Bug {
        kind: FindingKind::NotRobust,
        message: robustness::sentence(program, model, &found, &style),
        place: robustness::place(program, &found, &style),
        report: robustness::report(program, model, &found, &style),
        printed: String::new(),
        schedule: schedule(program, &found.trace),
        ending: found.ending,
        trace: found.trace,
    }
}

fn bug(program: &Native, model: Model, ending: Ending, trace: Trace) -> Bug {
    let kind = match &ending {
        Ending::Deadlock(_) => FindingKind::Deadlock,
        Ending::Livelock(_) => FindingKind::Livelock,
        &Ending::Race(first, second) if frees(&trace, first) || frees(&trace, second) => {
            FindingKind::UseAfterFree
        }
        &Ending::Race(first, _) if is_of_cell(&trace, first) => FindingKind::Unsupported,
        Ending::Race(..) => FindingKind::Race,
        Ending::Failed(_, failure) => failure.kind,
        Ending::Complete | Ending::Blocked | Ending::Limit(_) => FindingKind::Misuse,
    };
    let style = style();
    let (told_ending, told) = told(program, &ending, &trace);
    let place = counterexample::place(&told_ending, &told);
    let mut message = counterexample::sentence(program, &told_ending, &told, &style);
    if kind == FindingKind::UseAfterFree && matches!(ending, Ending::Race(..)) {
        message = message.replace("data race on", "memory is freed while it is used:");
    }
    if kind == FindingKind::Unsupported && matches!(ending, Ending::Race(..)) {
        message =
            message.replace("data race on", "accesses of different sizes that are not ordered, of");
    }
    Bug {
        kind,
        message,
        place: place.map_or_else(|| String::from("the start"), |it| near(program, &style, it)),
        report: counterexample::execution(program, model, &told_ending, &told, &style),
        printed: String::new(),
        schedule: schedule(program, &told),
        ending,
        trace,
    }
}

/// How executions are told.
fn style() -> Style {
    let directory = std::env::current_dir().ok();
    let directory = directory.map_or(String::new(), |path| path.to_string_lossy().into_owned());
    Style { directory, special_values: vec![(GONE, "freed")], ..Style::default() }
}

/// A place, as seen from the working directory.
fn near(program: &Native, style: &Style, place: PlaceId) -> String {
    let place = Naming::place(program, place);
    match place.strip_prefix(&style.directory) {
        Some(inside) => inside.trim_start_matches('/').to_owned(),
        None => place,
    }
}

/// A block that is never freed.
fn leak_of(program: &Native, model: Model, trace: Trace, place: PlaceId, size: usize) -> Bug {
    let style = style();
    let at = near(program, &style, place);
    let ending = Ending::Complete;
    Bug {
        kind: FindingKind::Leak,
        message: format!(
            "a leak: nothing points to a block of {size} bytes in the end, which was allocated at {at}"
        ),
        place: at,
        report: counterexample::execution(program, model, &ending, &trace, &style),
        printed: String::new(),
        schedule: schedule(program, &trace),
        ending,
        trace,
    }
}

/// An execution in one line: what every question of every thread observed. `m` is main, `m/0` the first thread
/// that it spawned; `m:4=m/0:1` says that main's event 4 observed event 1 of that one, `i` the initial value,
/// `#2` a choice, and `~` that a compare-exchange failed without reason.
fn schedule(program: &Native, trace: &Trace) -> String {
    let name = |at: usize| {
        let TraceEvent { thread, position, .. } = trace.events[at];
        let path = program.thread_name(thread);
        format!("m{}:{position}", path.strip_prefix("main").unwrap_or(&path))
    };
    let step = |(at, event): (usize, &TraceEvent)| {
        let observed = match event.observed? {
            Observed::Initial => String::from("i"),
            Observed::Event(source) => name(source),
            Observed::Choice(choice) => format!("#{choice}"),
        };
        let spurious = if event.is_spurious() { "~" } else { "" };
        Some(format!("{}={observed}{spurious}", name(at)))
    };
    let steps: Vec<String> = trace.events.iter().enumerate().filter_map(step).collect();
    steps.join(" ")
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
