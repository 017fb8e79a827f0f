//! Options of `Checker` for several workers and checkpoints.

use std::num::NonZero;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use raddle_core::outcome::Outcome;
use raddle_explore::driver::{self, Restart};
use raddle_explore::plan::Plan;
use raddle_explore::{Extent, Limits};

use crate::Test;
use crate::checker::{Checker, Workers, outcome};
use crate::checkpoint::CheckpointFile;
use crate::parts::{self, Checkpoint, Divided, ParallelOptions};

/// Options of the feature `parallel`.
impl Checker {
    /// Explores with so many workers, if there is enough to explore: all but one are copies of this process, so each has
    /// its own static variables, and what the test changes outside of itself, such as a counter that it captures, is
    /// only seen by the worker that ran it. Counts and reports are the same for any number of workers. One worker explores
    /// where executions are counted ([`max_executions`](Checker::max_executions)), compared
    /// ([`robust`](Checker::robust)) or run again ([`leaks`](Checker::leaks)).
    ///
    /// # Panics
    /// If there are none.
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.workers.jobs =
            Some(NonZero::new(jobs).expect("raddle: at least one worker is needed"));
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
        self.workers.checkpoint = Some((path.into(), every));
        self
    }

    /// Explores the test with several workers or a checkpoint, if that is requested and possible.
    pub(crate) fn explore_divided(
        &self,
        plan: Plan,
        test: Test<'_>,
        start: Instant,
    ) -> Option<Outcome> {
        let Workers { jobs, checkpoint } = &self.workers;
        let is_divided = jobs.is_some_and(|jobs| jobs.get() > 1) || checkpoint.is_some();
        if is_divided && let Err(why) = plan.is_divisible() {
            panic!("raddle: {why}");
        }
        assert!(
            checkpoint.is_none() || !self.is_whole(),
            "raddle: a checkpoint supports none of max_executions, robust and leaks"
        );
        let options = self.parallel_options(plan, start)?;
        Some(self.explore_parallel(options, plan, test, start))
    }

    /// How to divide the exploration among workers, if that is requested and possible.
    fn parallel_options(&self, plan: Plan, start: Instant) -> Option<ParallelOptions> {
        let is_whole = self.is_whole() || plan.is_divisible().is_err();
        let one = self.workers.checkpoint.is_some().then_some(NonZero::<usize>::MIN);
        let jobs = self.workers.jobs.or(one).filter(|_| !is_whole)?;
        let deadline = self.timeout.map(|timeout| start + timeout);
        let limits = Limits { deadline, events: self.events(), ..Limits::default() };
        Some(ParallelOptions { model: self.model, limits, jobs })
    }

    /// Returns `true` if one worker must explore all executions.
    fn is_whole(&self) -> bool {
        self.robust || self.settings.leaks_are_sought || self.max_executions.is_some()
    }

    fn explore_parallel(
        &self,
        mut options: ParallelOptions,
        plan: Plan,
        test: Test<'_>,
        start: Instant,
    ) -> Outcome {
        let open = |(path, every): &(PathBuf, Duration)| {
            CheckpointFile::open((path, *every), test, self.model, self.settings)
        };
        let file = self.workers.checkpoint.as_ref().map(open);
        let resumed = file.as_ref().and_then(|file| file.resumed.clone());
        let mut checkpoint = resumed.unwrap_or_else(|| Checkpoint::new(self.settings));
        let writer = file.as_ref().map(|file| &file.writer);
        let explored = driver::drive(|_| {
            let mut explored = parts::explore(options, test, checkpoint.clone(), writer);
            if explored.as_ref().is_ok_and(Divided::is_lost) {
                // The error that a worker process found does not occur again. One worker finds what there is.
                options.jobs = NonZero::<usize>::MIN;
                explored = parts::explore(options, test, checkpoint.clone(), writer);
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
}
