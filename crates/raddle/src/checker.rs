//! Exploring a test.

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use raddle_core::model::Model;
use raddle_core::outcome::{Bound, Counts, Estimate, Finding, Outcome, Verdict};
use raddle_core::trace::{Counterexample, Ending};
use raddle_explore::driver;
use raddle_explore::plan::{self, Equivalence, Explorer, Plan};
use raddle_explore::rf_part_smc;
use raddle_explore::robustness::{self, RobustnessCheck};
use raddle_explore::sampling::Sampling;
use raddle_explore::{Control, Extent, Leaf, Limits, Summary};
use raddle_runtime::{Settings, ops};

use crate::replay::leak_of;
use crate::report;
use crate::schedule::schedule_of;
use crate::{Test, TestProgram};

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
    pub(crate) model: Model,
    explorer: Explorer,
    pub(crate) max_executions: Option<u64>,
    pub(crate) timeout: Option<Duration>,
    trace_file: Option<PathBuf>,
    pub(crate) robust: bool,
    #[cfg(feature = "parallel")]
    pub(crate) workers: Workers,
    pub(crate) settings: Settings,
    has_max_events: bool,
}

/// Who explores a test.
#[cfg(feature = "parallel")]
#[derive(Clone, Debug, Default)]
pub(crate) struct Workers {
    pub(crate) jobs: Option<std::num::NonZero<usize>>,
    /// The file of the checkpoint, and the interval between two writes.
    pub(crate) checkpoint: Option<(PathBuf, Duration)>,
}

impl Default for Checker {
    fn default() -> Self {
        Self::new()
    }
}

impl Checker {
    /// The memory model of Rust and C++20, and no limits but the one on events ([`max_events`](Checker::max_events)).
    pub fn new() -> Self {
        Checker {
            model: Model::C20,
            explorer: Explorer::default(),
            max_executions: None,
            timeout: None,
            trace_file: None,
            robust: false,
            #[cfg(feature = "parallel")]
            workers: Workers::default(),
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
    /// another model than TSO or PSO, or if several workers (`jobs`) or a `checkpoint` are asked of another explorer than
    /// the compact one, or the checkpoint cannot be written.
    pub fn explore<F: Fn()>(&self, f: F) -> Outcome {
        self.explore_test(Test::of(&f))
    }

    fn explore_test(&self, test: Test<'_>) -> Outcome {
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
        let start = Instant::now();
        #[cfg(feature = "parallel")]
        if let Some(outcome) = self.explore_divided(plan, test, start) {
            return outcome;
        }
        let mut settings = self.settings;
        if self.explorer.sampling().is_some() && !self.has_max_events {
            settings.max_events = u32::MAX;
        }
        let mut program = test.program(settings);
        let (summary, found) = driver::until_stable(&mut program, |program| {
            raddle_runtime::on_large_stack(|| self.explore_once(program, plan, test, start))
        });
        let outcome = outcome(&program, plan, &summary, found, start);
        self.write_trace(&outcome);
        outcome
    }

    pub(crate) fn events(&self) -> Option<u32> {
        self.has_max_events.then_some(self.settings.max_events)
    }

    /// Estimates the number of execution classes of the test, by random probes for the given time.
    ///
    /// # Panics
    /// If this is called in a test that is being explored.
    pub fn estimate<F: Fn()>(&self, f: F, time: Duration) -> Option<Estimate> {
        assert!(!ops::is_running(), "raddle: a test that is being explored cannot explore another");
        self.estimate_test(Test::of(&f), time)
    }

    fn estimate_test(&self, test: Test<'_>, time: Duration) -> Option<Estimate> {
        let mut program = test.program(self.settings);
        driver::until_stable(&mut program, |program| {
            let end = Some(Instant::now() + time);
            raddle_runtime::on_large_stack(|| {
                rf_part_smc::estimate(program, self.model, u64::MAX, end)
            })
        })
    }

    pub(crate) fn write_trace(&self, outcome: &Outcome) {
        let schedule = outcome.finding().and_then(|finding| finding.schedule.as_ref());
        let (Some(path), Some(schedule)) = (&self.trace_file, schedule) else { return };
        if let Err(error) = std::fs::write(path, schedule.to_string()) {
            eprintln!("raddle: cannot write the trace to {}: {error}", path.display());
        }
    }

    fn explore_once(
        &self,
        program: &mut TestProgram<'_>,
        plan: Plan,
        test: Test<'_>,
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
            let schedule = schedule_of(settings, self.model, leaf.ending(), &trace);
            leak_of(&schedule, settings, test, &names)
                .map(|ending| Counterexample::new(ending, trace))
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

pub(crate) fn outcome(
    program: &TestProgram<'_>,
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
