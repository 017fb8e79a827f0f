//! A worker: a thread of this process, or a worker process.

use std::sync::atomic::Ordering;
use std::thread::Scope;
use std::time::{Duration, Instant};

use super::process::{ForkedWorkers, ParentLink};
use super::shared::{CurrentSubtree, SharedExploration};
use super::{Helpers, ParallelTask};
use crate::facts::ExplorationFacts;
use crate::rf_part_smc::subtree::{Subtree, SubtreeReport};
use crate::rf_part_smc::{SubtreeSource, explore_subtrees};
use crate::{Control, Extent, Leaf, Visitor};
use raddle_core::program::Program;

/// Explores subtrees until none is left. The first worker has a scope for threads that serve worker processes.
pub(super) fn work<'s, V: Visitor + Send>(
    shared: &'s SharedExploration<'_, V>,
    scope: Option<&'s Scope<'s, '_>>,
    program: &mut dyn Program,
) {
    let by_first = scope.is_some();
    let (start, fork_check) = (Instant::now(), shared.task.budget.alone / EARLY_FORK_FACTOR);
    let mut worker =
        Worker { shared, scope, by_first, fork_check, current: None, start, parent: None };
    let ParallelTask { model, limits, .. } = *shared.task;
    let summary = explore_subtrees(program, model, limits, &mut worker);
    if let Some(parent) = &mut worker.parent {
        let ends = Some(summary.extent);
        let report = SubtreeReport { ends, ..SubtreeReport::default() };
        parent.report(&report, &(shared.task.visitor)());
        parent.end();
    }
    shared.histories.fetch_add(summary.histories, Ordering::Relaxed);
    if worker.current.is_some() {
        shared.end_early(summary.extent);
    }
}

/// How long a subtree is explored at least before it is suspended because others wait.
const MIN_TIME: Duration = Duration::from_millis(1);
/// How long a subtree is explored at most before it is suspended, so that progress is reported.
const MAX_TIME: Duration = Duration::from_millis(250);

/// How much earlier to fork when the estimate is large.
const EARLY_FORK_FACTOR: u32 = 16;

struct Worker<'s, 'e, 'a, V> {
    shared: &'s SharedExploration<'a, V>,
    /// `None` if worker processes were forked already, or this worker does not fork.
    scope: Option<&'s Scope<'s, 'e>>,
    by_first: bool,
    /// When to decide next whether to fork.
    fork_check: Duration,
    current: Option<CurrentSubtree<V>>,
    /// When the current subtree was begun.
    start: Instant,
    /// In a worker process: the link to the parent.
    parent: Option<ParentLink<'s, V>>,
}

impl<'s, V: Visitor + Send> Worker<'s, '_, '_, V> {
    /// Returns `true` if it is time to decide whether to fork.
    fn may_fork(&self) -> bool {
        self.scope.is_some() && self.shared.may_fork(self.fork_check)
    }

    /// Forks worker processes, once, when there is work for them. They continue from here, too.
    fn fork(&mut self) {
        if !self.may_fork() {
            return;
        }
        let shared = self.shared;
        if let Err(later) = shared.is_worth_forking() {
            self.fork_check = later;
            return;
        }
        let (Some(scope), Helpers::Processes(processes)) = (self.scope, &shared.task.helpers)
        else {
            return;
        };
        let workers = shared.useful_helpers();
        if workers == 0 {
            return;
        }
        self.scope = None;
        match processes.fork(workers) {
            ForkedWorkers::Worker(parent) => self.parent = Some(parent),
            ForkedWorkers::Parent(remotes) => {
                for remote in remotes {
                    scope.spawn(move || shared.serve(remote));
                }
            }
        }
    }
}

impl<V: Visitor + Send> Visitor for Worker<'_, '_, '_, V> {
    fn visit(&mut self, leaf: &dyn Leaf) -> Control {
        match &mut self.current {
            Some(current) => current.visitor.visit(leaf),
            None => Control::Stop,
        }
    }
}

impl<V: Visitor + Send> SubtreeSource for Worker<'_, '_, '_, V> {
    fn next_subtree(&mut self) -> Option<(Subtree, u64)> {
        self.fork();
        let (current, budget) = match &mut self.parent {
            None => self.shared.next(self.by_first)?,
            Some(parent) => {
                let ((subtree, budget), visitor) = (parent.next(), (self.shared.task.visitor)());
                (CurrentSubtree { key: vec![], subtree, visitor, by_first: false }, budget)
            }
        };
        let subtree = current.subtree.clone();
        (self.current, self.start) = (Some(current), Instant::now());
        Some((subtree, budget))
    }

    fn first_budget(&self) -> u64 {
        self.shared.task.budget.first
    }

    fn facts(&self) -> ExplorationFacts {
        self.shared.facts.clone()
    }

    fn report(&mut self, report: SubtreeReport) {
        let Some(current) = self.current.take() else { return };
        match &mut self.parent {
            None => self.shared.report(current, report),
            Some(parent) => parent.report(&report, &current.visitor),
        }
    }

    /// A worker process is not told: it is ended.
    fn is_cancelled(&self) -> bool {
        let is_cancelled = |current: &CurrentSubtree<V>| self.shared.is_cancelled(&current.key);
        self.parent.is_none() && self.current.as_ref().is_some_and(is_cancelled)
    }

    fn wants_suspension(&self) -> bool {
        let time = self.start.elapsed();
        time >= MAX_TIME
            || time >= MIN_TIME
                && (self.shared.is_hungry().load(Ordering::Relaxed) || self.may_fork())
    }
}

impl<V> Drop for Worker<'_, '_, '_, V> {
    /// Ends the others if the worker panics. A worker process ends here: what follows is for the parent.
    fn drop(&mut self) {
        if let Some(parent) = &self.parent {
            parent.end();
        }
        if self.current.is_some() && std::thread::panicking() {
            self.shared.end_early(Extent::Stopped);
        }
    }
}
