//! Exploring a test.

use std::cell::RefCell;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use raddle_core::model::Model;
use raddle_core::outcome::{Bound, Counts, Estimate, Finding, Outcome, Verdict};
use raddle_core::trace::{Counterexample, Ending};
use raddle_explore::driver::{self, Restart};
use raddle_explore::plan::{self, Equivalence, Explorer, Plan};
use raddle_explore::rf_part_smc;
use raddle_explore::robustness::{self, RobustnessCheck};
use raddle_explore::sampling::Sampling;
use raddle_explore::{Control, Extent, Leaf, Limits, Summary};
use raddle_runtime::{Native, Settings, ops};

use crate::checkpoint::CheckpointFile;
use crate::parts::{self, Checkpoint, Divided, ParallelOptions};
use crate::replay::leak_of;
use crate::report;
use crate::schedule::schedule_of;

/// Explores all executions of a test under the memory model of Rust and C++20.
///
/// # Panics
/// With a [`report`](crate::report()), if some execution shows an error, or if not all of them could be explored.
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
    /// The file of the checkpoint, and the interval between two writes.
    checkpoint: Option<(PathBuf, Duration)>,
    settings: Settings,
    has_max_events: bool,
}

impl Default for Checker {
    fn default() -> Self {
        Self::new()
    }
}

impl Checker {
    /// The memory model of Rust and C++20, and no limits but 10,000 events for each thread.
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

    /// Random testing: runs the test `iterations` times with random schedules instead of exploring all executions.
    /// This proves nothing, and [`check`](Checker::check) panics only if a run shows an error. The number of events
    /// of a run is not limited, unless [`max_events`](Checker::max_events) sets a limit.
    pub fn random(self, iterations: u64, seed: u64) -> Self {
        let sampling = Sampling { iterations, seed, ..Sampling::default() };
        self.explorer(Explorer::Random(sampling))
    }

    /// As [`random`](Checker::random), with thread priorities that change at few points (PCT). This finds errors
    /// that need at most `depth` ordering constraints, e.g. 3.
    pub fn pct(self, iterations: u64, seed: u64, depth: u32) -> Self {
        let sampling = Sampling { iterations, seed, depth, ..Sampling::default() };
        self.explorer(Explorer::Pct(sampling))
    }

    /// Limits the number of execution classes, blocked ones included.
    pub fn max_executions(mut self, executions: u64) -> Self {
        self.max_executions = Some(executions);
        self
    }

    /// Limits the time.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Writes the schedule of an execution that shows an error to this file, for [`replay`](crate::replay()).
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

    /// Limits the number of events of an execution. By default the limit is 1,000, and is raised up to 1,000,000 as
    /// long as an execution has more.
    pub fn max_events(mut self, events: u32) -> Self {
        self.settings.max_events = events;
        self.has_max_events = true;
        self
    }

    /// Whether an [`Arc`](crate::sync::Arc) that still has owners when all threads have finished, such as one in a
    /// cycle, is an error. Then every class is run once more. (What a destructor owns that performs a load, or
    /// another operation with an answer, counts as leaked.)
    pub fn leaks(mut self, are_sought: bool) -> Self {
        self.settings.leaks_are_sought = are_sought;
        self
    }

    /// Whether an execution under TSO or PSO that SC forbids is an error. Then the report also says which fences
    /// forbid all such executions.
    pub fn robust(mut self, is_asked: bool) -> Self {
        self.robust = is_asked;
        self
    }

    /// Explores the test.
    ///
    /// # Panics
    /// With a [`report`](crate::report()), if some execution shows an error, or if not all of them could be explored.
    #[track_caller]
    pub fn check<F: Fn()>(&self, f: F) {
        let outcome = self.explore(f);
        match outcome.verdict {
            Verdict::Clean => {}
            Verdict::Incomplete if self.explorer.sampling().is_some() => {}
            Verdict::Incomplete => panic!("raddle: incomplete: {}", report::report(&outcome)),
            Verdict::Bug => panic!("raddle: {}", report::report(&outcome)),
        }
    }

    /// Explores the test and returns the outcome.
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
            plan::UnsupportedModel { feature: plan::Feature::Robustness, model: self.model }
        );
        let is_divided = self.jobs.is_some_and(|jobs| jobs.get() > 1) || self.checkpoint.is_some();
        if is_divided && let Err(why) = plan.is_divisible() {
            panic!("raddle: {why}");
        }
        assert!(
            self.checkpoint.is_none() || !self.is_whole(),
            "raddle: a checkpoint supports none of max_executions, robust and leaks"
        );
        let start = Instant::now();
        if let Some(options) = self.parallel_options(plan, start) {
            return self.explore_parallel(options, plan, &f, start);
        }
        let mut settings = self.settings;
        if self.explorer.sampling().is_some() && !self.has_max_events {
            settings.max_events = u32::MAX;
        }
        let mut program = Native::new(&f, settings);
        let (summary, found) = driver::until_stable(&mut program, |program| {
            raddle_runtime::on_large_stack(|| self.explore_once(program, plan, &f, start))
        });
        let outcome = outcome(&program, plan, &summary, found, start);
        self.write_trace(&outcome);
        outcome
    }

    /// How to divide the exploration among workers, if that is requested and possible.
    fn parallel_options(&self, plan: Plan, start: Instant) -> Option<ParallelOptions> {
        let is_whole = self.is_whole() || plan.is_divisible().is_err();
        let one = self.checkpoint.is_some().then_some(NonZero::<usize>::MIN);
        let jobs = self.jobs.or(one).filter(|_| !is_whole)?;
        let deadline = self.timeout.map(|timeout| start + timeout);
        let limits = Limits { deadline, events: self.events(), ..Limits::default() };
        Some(ParallelOptions { model: self.model, limits, jobs })
    }

    fn events(&self) -> Option<u32> {
        self.has_max_events.then_some(self.settings.max_events)
    }

    /// Returns `true` if one worker must explore all executions.
    fn is_whole(&self) -> bool {
        self.robust || self.settings.leaks_are_sought || self.max_executions.is_some()
    }

    fn explore_parallel<F: Fn()>(
        &self,
        mut options: ParallelOptions,
        plan: Plan,
        f: &F,
        start: Instant,
    ) -> Outcome {
        let open = |(path, every): &(PathBuf, Duration)| {
            CheckpointFile::open::<F>((path, *every), self.model, self.settings)
        };
        let file = self.checkpoint.as_ref().map(open);
        let resumed = file.as_ref().and_then(|file| file.resumed.clone());
        let mut checkpoint = resumed.unwrap_or_else(|| Checkpoint::new(self.settings));
        let writer = file.as_ref().map(|file| &file.writer);
        let explored = driver::drive(|_| {
            let mut explored = parts::explore(options, f, checkpoint.clone(), writer);
            if explored.as_ref().is_ok_and(Divided::is_lost) {
                // The error that a worker process found does not occur again. One worker finds what there is.
                options.jobs = NonZero::<usize>::MIN;
                explored = parts::explore(options, f, checkpoint.clone(), writer);
            }
            explored.map_err(|wanted| {
                checkpoint = Checkpoint::new(wanted);
                Restart::ProgramFacts
            })
        });
        let Divided { summary, found, program, executions } = explored;
        if let Some(file) = &file {
            file.close(summary.extent == Extent::Deadline);
        }
        let mut outcome = outcome(&program, plan, &summary, found, start);
        outcome.counts.executions = executions;
        self.write_trace(&outcome);
        outcome
    }

    /// Estimates the number of execution classes of the test, by random probes for the given time.
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
        let schedule = outcome.finding().and_then(|finding| finding.schedule.as_ref());
        let (Some(path), Some(schedule)) = (&self.trace_file, schedule) else { return };
        if let Err(error) = std::fs::write(path, schedule.to_string()) {
            eprintln!("raddle: cannot write the trace to {}: {error}", path.display());
        }
    }

    fn explore_once<F: Fn()>(
        &self,
        program: &mut Native<&F>,
        plan: Plan,
        f: &F,
        start: Instant,
    ) -> (Summary, Option<Counterexample>) {
        let limits = Limits {
            classes: self.max_executions,
            deadline: self.timeout.map(|timeout| start + timeout),
            events: self.events(),
            rounds: false,
            symmetry: false,
        };
        if self.robust {
            let is_bug = |leaf: &dyn Leaf| leaf.ending().is_bug();
            let RobustnessCheck { summary, counterexample } =
                robustness::check(program, plan, &limits, &is_bug);
            return (summary, counterexample);
        }
        let found = RefCell::new(None);
        let (names, settings) = (program.names(), program.settings());
        let leak = |leaf: &dyn Leaf| {
            let trace = leaf.trace();
            let schedule = schedule_of(&names, settings, self.model, leaf.ending(), &trace);
            leak_of(&schedule, settings, f, &names).map(|ending| Counterexample::new(ending, trace))
        };
        let (mut leaves, most) = (0, self.max_executions.unwrap_or(u64::MAX));
        let mut visitor = |leaf: &dyn Leaf| {
            let wrong = match leaf.ending() {
                Ending::Complete if settings.leaks_are_sought => leak(leaf),
                Ending::Complete | Ending::Blocked | Ending::Limit(_) => None,
                ending => Some(Counterexample::new(ending.clone(), leaf.trace())),
            };
            // The explorer counts classes without the blocked ones, which take time, too.
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
    summary: &Summary,
    found: Option<Counterexample>,
    start: Instant,
) -> Outcome {
    let finding = found.map(|found| Finding {
        sample: plan.last_run(summary),
        ..report::finding(program, plan.model, found)
    });
    let bound = match summary.extent {
        _ if finding.is_some() => None,
        // The visitor stops at the limit of executions, or at a finding.
        Extent::Stopped => Some(Bound::Classes),
        _ => plan.bound(summary),
    };
    let seconds = start.elapsed().as_secs_f64();
    let counts = Counts { seconds, ..summary.counts(program.executions()) };
    Outcome::new(finding.into_iter().collect(), counts, bound)
}
