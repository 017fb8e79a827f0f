//! Exploring a test, and what comes out.

use std::cell::RefCell;
use std::fmt;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use raddle_core::model::Model;
use raddle_core::outcome::Estimate;
use raddle_core::outcome::FindingKind;
use raddle_core::trace::{Ending, Trace};
use raddle_explore::driver::{self, Restart};
use raddle_explore::plan::{self, Equivalence, Explorer, Plan};
use raddle_explore::rf_part_smc;
use raddle_explore::robustness::{self, Finding, NotRobust};
use raddle_explore::sampling::Sampling;
use raddle_explore::{Control, Extent, Leaf, Limits, Summary, Unsupported};
use raddle_runtime::{Native, Settings, ops};
use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpoint;
use crate::parts::{self, Divided, Kept, Parts};
use crate::replay::{Schedule, leak_of};
use crate::report;

/// Explores a test under the model of Rust and C++20 until every behaviour has been seen.
///
/// # Panics
/// With a report, if something goes wrong in some execution, or if not all of them could be explored.
#[track_caller]
pub fn check<F: Fn()>(f: F) {
    Checker::new().check(f);
}

/// How to explore a test.
#[derive(Clone, Debug)]
#[must_use = "call `check` or `explore`"]
pub struct Checker {
    model: Model,
    explorer: Explorer,
    max_executions: Option<u64>,
    timeout: Option<Duration>,
    trace_file: Option<PathBuf>,
    robust: bool,
    jobs: Option<NonZero<usize>>,
    /// Where what is left is kept, and how often.
    checkpoint: Option<(PathBuf, Duration)>,
    settings: Settings,
    has_max_events: bool,
}

/// What an exploration says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// All executions were explored, and nothing is wrong.
    Clean,
    /// Something is wrong.
    Bug,
    /// Nothing wrong was found, but not all executions were explored, or none comes to its end.
    Incomplete,
}

/// What came out of an exploration.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Whether all is well.
    pub verdict: Verdict,
    /// How many classes of executions there are, as far as they were explored.
    pub classes: u64,
    /// How many classes of executions that did not end: an assumption failed, or a thread waits in a
    /// loop.
    pub blocked: u64,
    /// How often native code was run from its beginning.
    pub executions: u64,
    /// How long it took.
    pub seconds: f64,
    /// What is wrong.
    pub bug: Option<Bug>,
    /// Why not everything was explored, or nothing.
    pub bound: Option<String>,
    /// The seed of the last run, if runs have seeds: the one in which something goes wrong.
    pub seed: Option<u64>,
}

/// Something that is wrong.
#[derive(Clone, Debug)]
pub struct Bug {
    /// What kind of thing.
    pub kind: FindingKind,
    /// What it is, in a sentence.
    pub message: String,
    /// Where in the source.
    pub place: String,
    /// The execution in which it happens, for people.
    pub report: String,
    /// The execution, for [`replay`](crate::replay()).
    pub trace: Schedule,
}

impl Default for Checker {
    fn default() -> Self {
        Self::new()
    }
}

impl Checker {
    /// The model of Rust and C++20, no limits but 10,000 events for each thread.
    pub fn new() -> Self {
        Checker {
            model: Model::C20,
            explorer: Explorer::default(),
            max_executions: None,
            timeout: None,
            trace_file: None,
            robust: false,
            jobs: None,
            checkpoint: None,
            settings: Settings::default(),
            has_max_events: false,
        }
    }

    /// The memory model.
    pub fn model(mut self, model: Model) -> Self {
        self.model = model;
        self
    }

    /// When two executions count as the same. By traces and values only under SC, TSO and PSO.
    pub fn by(mut self, equivalence: Equivalence) -> Self {
        self.explorer = equivalence.explorer();
        self
    }

    /// The algorithm, which says when two executions count as the same.
    pub fn explorer(mut self, explorer: Explorer) -> Self {
        self.explorer = explorer;
        self
    }

    /// Runs the test so many times instead of exploring it, everything by chance. That proves nothing:
    /// [`check`](Checker::check) then panics only if something goes wrong. A run may have as many events as it
    /// likes, if [`max_events`](Checker::max_events) does not say otherwise.
    pub fn random(self, iterations: u64, seed: u64) -> Self {
        let sampling = Sampling { iterations, seed, ..Sampling::default() };
        self.explorer(Explorer::Random(sampling))
    }

    /// As [`random`](Checker::random), with priorities that change at few moments: good at errors for which
    /// `depth` things, say 3, must come together.
    pub fn pct(self, iterations: u64, seed: u64, depth: u32) -> Self {
        let sampling = Sampling { iterations, seed, depth, ..Sampling::default() };
        self.explorer(Explorer::Pct(sampling))
    }

    /// At most so many classes of executions, blocked ones included.
    pub fn max_executions(mut self, executions: u64) -> Self {
        self.max_executions = Some(executions);
        self
    }

    /// At most so long.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Writes the schedule of an execution that goes wrong to this file, for [`replay`](crate::replay()).
    pub fn trace_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.trace_file = Some(path.into());
        self
    }

    /// Explores with so many workers, if there is enough to explore: all but one are copies of this process, so each has
    /// its own static variables, and what the test changes outside of itself, such as a counter that it captures, is
    /// only seen by the worker that ran it. Counts and reports are the same for any number of workers. One worker explores
    /// where executions are counted ([`max_executions`](Checker::max_executions)), compared
    /// ([`robust`](Checker::robust)) or run again ([`leaks`](Checker::leaks)).
    ///
    /// # Panics
    /// If there are none.
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = Some(NonZero::new(jobs).expect("raddle: at least one worker is needed"));
        self
    }

    /// Keeps what is left of the exploration in this file, every so often. If there is such a file already, of the same test
    /// in the same executable, the exploration goes on with what is left there: after a kill at any moment not more is
    /// lost than was explored since the last time, and nothing counts twice. The file is removed when everything is
    /// explored, or something was found; it stays if the time is up ([`timeout`](Checker::timeout)).
    ///
    /// Not where executions are counted ([`max_executions`](Checker::max_executions)), compared
    /// ([`robust`](Checker::robust)) or run again ([`leaks`](Checker::leaks)).
    pub fn checkpoint(mut self, path: impl Into<PathBuf>, every: Duration) -> Self {
        self.checkpoint = Some((path.into(), every));
        self
    }

    /// At most so many events for each thread.
    pub fn max_events(mut self, events: u32) -> Self {
        self.settings.max_events = events;
        self.has_max_events = true;
        self
    }

    /// Whether an [`Arc`](crate::sync::Arc) that still has owners when all threads have finished is wrong, such
    /// as one in a cycle. For that every class is run once more. (What a destructor owns that asks a question,
    /// such as one that loads, counts as leaked.)
    pub fn leaks(mut self, are_sought: bool) -> Self {
        self.settings.leaks_are_sought = are_sought;
        self
    }

    /// Whether an execution that SC does not allow is wrong, under TSO or PSO: then the report also says
    /// which fences forbid all of them.
    pub fn robust(mut self, is_asked: bool) -> Self {
        self.robust = is_asked;
        self
    }

    /// Explores the test.
    ///
    /// # Panics
    /// With a report, if something goes wrong in some execution, or if not all of them could be explored.
    #[track_caller]
    pub fn check<F: Fn()>(&self, f: F) {
        let outcome = self.explore(f);
        match outcome.verdict {
            Verdict::Clean => {}
            Verdict::Incomplete if self.explorer.sampling().is_some() => {}
            Verdict::Incomplete => panic!("raddle: incomplete: {outcome}"),
            Verdict::Bug => panic!("raddle: {outcome}"),
        }
    }

    /// Explores the test.
    ///
    /// # Panics
    /// If this is called in a test that is being explored, if [`robust`](Checker::robust) is asked of
    /// another model than TSO or PSO, or if several workers ([`jobs`](Checker::jobs)) or a
    /// [`checkpoint`](Checker::checkpoint) are asked of another explorer than the compact one, or the checkpoint cannot be
    /// written.
    pub fn explore<F: Fn()>(&self, f: F) -> Outcome {
        assert!(!ops::is_running(), "raddle: a test that is being explored cannot explore another");
        let mut plan = Plan { model: self.model, explorer: self.explorer };
        if self.settings.leaks_are_sought {
            plan = plan.showing_all();
        }
        assert!(
            !self.robust || plan.has_robustness(),
            "raddle: {}",
            plan::Unsupported { what: plan::What::Robustness, model: self.model }
        );
        let is_divided = self.jobs.is_some_and(|jobs| jobs.get() > 1) || self.checkpoint.is_some();
        if is_divided && let Err(why) = plan.is_divisible() {
            panic!("raddle: {why}");
        }
        assert!(
            self.checkpoint.is_none() || !self.is_whole(),
            "raddle: a checkpoint goes with none of max_executions, robust and leaks"
        );
        let start = Instant::now();
        if let Some(parts) = self.parts(plan, start) {
            return self.explore_parts(parts, plan, &f, start);
        }
        let mut settings = self.settings;
        if self.explorer.sampling().is_some() && !self.has_max_events {
            settings.max_events = u32::MAX;
        }
        let mut program = Native::new(&f, settings);
        let (summary, found) = driver::until_stable(&mut program, |program| {
            raddle_runtime::on_large_stack(|| self.explore_once(program, plan, &f, start))
        });
        let outcome = outcome(&program, plan, summary, found, start);
        self.write_trace(&outcome);
        outcome
    }

    /// How to divide the exploration, if that is asked for and possible.
    fn parts(&self, plan: Plan, start: Instant) -> Option<Parts> {
        let is_whole = self.is_whole() || plan.is_divisible().is_err();
        let one = self.checkpoint.is_some().then_some(NonZero::<usize>::MIN);
        let jobs = self.jobs.or(one).filter(|_| !is_whole)?;
        let deadline = self.timeout.map(|timeout| start + timeout);
        let limits = Limits { classes: None, deadline };
        Some(Parts { model: self.model, limits, jobs })
    }

    /// Whether all executions must be seen by one worker.
    fn is_whole(&self) -> bool {
        self.robust || self.settings.leaks_are_sought || self.max_executions.is_some()
    }

    fn explore_parts<F: Fn()>(
        &self,
        mut parts: Parts,
        plan: Plan,
        f: &F,
        start: Instant,
    ) -> Outcome {
        let open = |(path, every): &(PathBuf, Duration)| {
            Checkpoint::open::<F>((path, *every), self.model, self.settings)
        };
        let checkpoint = self.checkpoint.as_ref().map(open);
        let kept = checkpoint.as_ref().and_then(|checkpoint| checkpoint.kept.clone());
        let mut kept = kept.unwrap_or_else(|| Kept::new(self.settings));
        let keeper = checkpoint.as_ref().map(|checkpoint| &checkpoint.keeper);
        let explored = driver::drive(|_| {
            let mut explored = parts::explore(parts, f, kept.clone(), keeper);
            if explored.as_ref().is_ok_and(Divided::is_lost) {
                // What a worker process has found is not there. One worker alone finds what is.
                parts.jobs = NonZero::<usize>::MIN;
                explored = parts::explore(parts, f, kept.clone(), keeper);
            }
            explored.map_err(|wanted| {
                kept = Kept::new(wanted);
                Restart::ProgramFacts
            })
        });
        let Divided { summary, found, program, executions } = explored;
        if let Some(checkpoint) = &checkpoint {
            checkpoint.close(summary.extent == Extent::Deadline);
        }
        let mut outcome = outcome(&program, plan, summary, found, start);
        outcome.executions = executions;
        self.write_trace(&outcome);
        outcome
    }

    /// Estimates in so much time how many classes of executions the test has.
    ///
    /// # Panics
    /// If this is called in a test that is being explored.
    pub fn estimate<F: Fn()>(&self, f: F, time: Duration) -> Option<Estimate> {
        assert!(!ops::is_running(), "raddle: a test that is being explored cannot explore another");
        let mut program = Native::new(&f, self.settings);
        driver::until_stable(&mut program, |program| {
            let end = Some(Instant::now() + time);
            raddle_runtime::on_large_stack(|| {
                rf_part_smc::estimate(program, self.model, u64::MAX, end)
            })
        })
    }

    fn write_trace(&self, outcome: &Outcome) {
        let (Some(path), Some(bug)) = (&self.trace_file, &outcome.bug) else { return };
        if let Err(error) = std::fs::write(path, bug.trace.to_string()) {
            eprintln!("raddle: cannot write the trace to {}: {error}", path.display());
        }
    }

    fn explore_once<F: Fn()>(
        &self,
        program: &mut Native<&F>,
        plan: Plan,
        f: &F,
        start: Instant,
    ) -> (Summary, Option<Finding>) {
        let limits = Limits {
            classes: self.max_executions,
            deadline: self.timeout.map(|timeout| start + timeout),
        };
        if self.robust {
            let is_bug = |leaf: &dyn Leaf| leaf.ending().is_bug();
            let robustness::Answer { summary, finding } =
                robustness::check(program, plan, &limits, &is_bug);
            return (summary, finding);
        }
        let found = RefCell::new(None);
        let (names, settings) = (program.names(), program.settings());
        let leak = |leaf: &dyn Leaf| {
            let trace = leaf.trace();
            let schedule = Schedule::new(&names, settings, self.model, leaf.ending(), &trace);
            leak_of(&schedule, f, &names).map(|ending| Finding::Wrong(ending, trace))
        };
        let (mut leaves, most) = (0, self.max_executions.unwrap_or(u64::MAX));
        let mut visitor = |leaf: &dyn Leaf| {
            let wrong = match leaf.ending() {
                Ending::Complete if settings.leaks_are_sought => leak(leaf),
                Ending::Complete | Ending::Blocked | Ending::Limit(_) => None,
                ending => Some(Finding::Wrong(ending.clone(), leaf.trace())),
            };
            // The explorer counts classes; those that are blocked take time, too.
            leaves += 1;
            let stops = wrong.is_some() || leaves > most;
            found.replace(wrong);
            if stops { Control::Stop } else { Control::Continue }
        };
        let summary = plan.explore(program, &limits, &mut visitor);
        (summary, found.into_inner())
    }
}

fn outcome<F: Fn()>(
    program: &Native<F>,
    plan: Plan,
    summary: Summary,
    found: Option<Finding>,
    start: Instant,
) -> Outcome {
    let Plan { model, explorer } = plan;
    let runs = summary.classes + summary.blocked;
    let sampled = (summary.extent == Extent::Sampled).then(|| explorer.sampled(runs));
    let bug = found.map(|wrong| bug(program, model, &wrong));
    let bound = match summary.extent {
        _ if bug.is_some() => None,
        Extent::Sampled => sampled.as_deref(),
        Extent::All if summary.classes == 0 => {
            Some("nothing was explored, as no execution comes to its end")
        }
        Extent::All => None,
        Extent::Classes | Extent::Stopped => Some("the limit of executions was reached"),
        Extent::Deadline => Some("the time was up"),
        Extent::Events => {
            Some("an execution has more events than the limit of a thread, or than 500 in all")
        }
        Extent::Unsupported(Unsupported::Model) => {
            Some("this explorer cannot explore under the model: expected sc, tso or pso")
        }
        Extent::Unsupported(_) => Some("the program does what this explorer does not know"),
    };
    let verdict = match (&bug, bound) {
        (Some(_), _) => Verdict::Bug,
        (None, Some(_)) => Verdict::Incomplete,
        (None, None) => Verdict::Clean,
    };
    Outcome {
        verdict,
        classes: summary.classes,
        blocked: summary.blocked,
        executions: program.executions(),
        seconds: start.elapsed().as_secs_f64(),
        bug,
        bound: bound.map(String::from),
        seed: explorer.only_last(runs).sampling().map(|sampling| sampling.seed),
    }
}

/// What came out of one execution: what goes wrong in it, or why nothing does.
pub(crate) fn outcome_of_one<F: Fn()>(
    program: &Native<F>,
    model: Model,
    wrong: Result<Finding, String>,
) -> Outcome {
    let (bug, bound) = match wrong {
        Ok(wrong) => (Some(bug(program, model, &wrong)), None),
        Err(why) => (None, Some(why)),
    };
    Outcome {
        verdict: if bug.is_some() { Verdict::Bug } else { Verdict::Incomplete },
        classes: 1,
        blocked: 0,
        executions: program.executions(),
        seconds: 0.0,
        bug,
        bound,
        seed: None,
    }
}

fn bug<F: Fn()>(program: &Native<F>, model: Model, wrong: &Finding) -> Bug {
    match wrong {
        Finding::Wrong(ending, trace) => bug_of_ending(program, model, ending, trace),
        Finding::NotRobust(found) => {
            let NotRobust { ending, trace, .. } = found;
            let style = report::style();
            Bug {
                kind: FindingKind::NotRobust,
                message: robustness::sentence(program, model, found, &style),
                place: robustness::place(program, found, &style),
                report: format!("\n{}\n", robustness::report(program, model, found, &style)),
                trace: Schedule::new(&program.names(), program.settings(), model, ending, trace),
            }
        }
    }
}

fn bug_of_ending<F: Fn()>(
    program: &Native<F>,
    model: Model,
    ending: &Ending,
    trace: &Trace,
) -> Bug {
    let kind = match ending {
        Ending::Deadlock(_) => FindingKind::Deadlock,
        Ending::Livelock(_) => FindingKind::Livelock,
        Ending::Race(..) => FindingKind::Race,
        Ending::Failed(_, failure) => failure.kind,
        Ending::Complete | Ending::Blocked | Ending::Limit(_) => FindingKind::Misuse,
    };
    Bug {
        kind,
        message: report::sentence(program, ending, trace),
        place: report::place(program, ending, trace),
        report: report::table(program, model, ending, trace),
        trace: Schedule::new(&program.names(), program.settings(), model, ending, trace),
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(bug) = &self.bug {
            write!(f, "{bug}")?;
        }
        if let Some(bound) = &self.bound {
            write!(f, "{bound}: ")?;
        }
        if let (Some(seed), Some(_)) = (self.seed, &self.bug) {
            writeln!(f, "found in the run with the seed {seed}")?;
        }
        write!(
            f,
            "{} classes of executions explored, {} blocked, {} runs, {:.3} s",
            self.classes, self.blocked, self.executions, self.seconds
        )
    }
}

impl fmt::Display for Bug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.message)?;
        writeln!(f, "  at {}", self.place)?;
        write!(f, "{}", self.report)?;
        writeln!(f, "to run it again: raddle::replay(\"{}\", || ...)", self.trace)
    }
}
