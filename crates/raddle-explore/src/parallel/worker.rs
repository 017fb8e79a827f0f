//! One of those who explore: in this process, or in a copy of it.

use std::sync::atomic::Ordering;
use std::thread::Scope;
use std::time::{Duration, Instant};

use super::super::{Control, Extent, Leaf, Visitor};
use super::process::{Forked, Upward};
use super::shared::{Current, Shared};
use super::{Helpers, Task};
use crate::rf_part_smc::subtree::{Report, Subtree};
use crate::rf_part_smc::{Subtrees, explore_subtrees};
use raddle_core::program::Program;

/// Explores until nothing is left. The first worker has a scope for threads that help it.
pub(super) fn work<'s, V: Visitor + Send>(
    shared: &'s Shared<'_, V>,
    scope: Option<&'s Scope<'s, '_>>,
    program: &mut dyn Program,
) {
    let by_first = scope.is_some();
    let (start, looks_at) = (Instant::now(), shared.task.budget.alone / EARLIER);
    let mut worker =
        Worker { shared, scope, by_first, looks_at, current: None, start, upward: None };
    let Task { model, limits, .. } = *shared.task;
    let summary = explore_subtrees(program, model, limits, &mut worker);
    if let Some(upward) = &mut worker.upward {
        let ends = Some(summary.extent);
        upward.report(&Report { ends, ..Report::default() }, &(shared.task.visitor)());
        upward.end();
    }
    shared.histories.fetch_add(summary.histories, Ordering::Relaxed);
    if worker.current.is_some() {
        shared.give_up(summary.extent);
    }
}

/// How long a subtree is explored at least before it is suspended because others wait, and at most: something is to be
/// reported once in a while.
const SHORT: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_millis(250);

/// So many times earlier than in any case copies of this process are made if much is left.
const EARLIER: u32 = 16;

struct Worker<'s, 'e, 'a, V> {
    shared: &'s Shared<'a, V>,
    /// If copies of this process are still to be made.
    scope: Option<&'s Scope<'s, 'e>>,
    by_first: bool,
    /// When it is next asked whether to make them.
    looks_at: Duration,
    current: Option<Current<V>>,
    /// When it was begun.
    start: Instant,
    /// In a copy of the process: to the original.
    upward: Option<Upward<'s, V>>,
}

impl<'s, V: Visitor + Send> Worker<'s, '_, '_, V> {
    /// Whether it is time to think of copies of this process.
    fn may_fork(&self) -> bool {
        self.scope.is_some() && self.shared.may_have_copies(self.looks_at)
    }

    /// Makes copies of this process, once, when there is work for them. They go on from here, too.
    fn fork(&mut self) {
        if !self.may_fork() {
            return;
        }
        let shared = self.shared;
        if let Err(later) = shared.wants_copies() {
            self.looks_at = later;
            return;
        }
        let (Some(scope), Helpers::Processes(processes)) = (self.scope, &shared.task.helpers)
        else {
            return;
        };
        let copies = shared.useful_helpers();
        if copies == 0 {
            return;
        }
        self.scope = None;
        match processes.fork(copies) {
            Forked::Copy(upward) => self.upward = Some(upward),
            Forked::Original(remotes) => {
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

impl<V: Visitor + Send> Subtrees for Worker<'_, '_, '_, V> {
    fn next(&mut self) -> Option<(Subtree, u64)> {
        self.fork();
        let (current, budget) = match &mut self.upward {
            None => self.shared.next(self.by_first)?,
            Some(upward) => {
                let ((subtree, budget), visitor) = (upward.next(), (self.shared.task.visitor)());
                (Current { key: vec![], subtree, visitor, by_first: false }, budget)
            }
        };
        let subtree = current.subtree.clone();
        (self.current, self.start) = (Some(current), Instant::now());
        Some((subtree, budget))
    }

    fn first(&self) -> u64 {
        self.shared.task.budget.first
    }

    fn explored(&mut self, report: Report) {
        let Some(current) = self.current.take() else { return };
        match &mut self.upward {
            None => self.shared.report(current, report),
            Some(upward) => upward.report(&report, &current.visitor),
        }
    }

    /// A copy is not asked: it is ended.
    fn is_cancelled(&self) -> bool {
        let is_cancelled = |current: &Current<V>| self.shared.is_cancelled(&current.key);
        self.upward.is_none() && self.current.as_ref().is_some_and(is_cancelled)
    }

    fn is_enough(&self) -> bool {
        let time = self.start.elapsed();
        time >= LONG
            || time >= SHORT && (self.shared.is_hungry().load(Ordering::Relaxed) || self.may_fork())
    }
}

impl<V> Drop for Worker<'_, '_, '_, V> {
    /// Nobody waits for a worker that panics; a copy does not do what comes after.
    fn drop(&mut self) {
        if let Some(upward) = &self.upward {
            upward.end();
        }
        if self.current.is_some() && std::thread::panicking() {
            self.shared.give_up(Extent::Stopped);
        }
    }
}
