//! State that the workers of one process share: what is left, and what was found so far.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::frontier::{Frontier, SubtreeKey};
use super::process::RemoteWorker;
use super::{ExploredSubtree, Helpers, ParallelResult, ParallelTask};
use crate::facts::{ExplorationFacts, NewFact};
use crate::rf_part_smc::subtree::{Subtree, SubtreeReport};
use crate::{Control, Extent, Summary};

/// An exploration by several workers.
pub(super) struct SharedExploration<'a, V> {
    pub(super) task: &'a ParallelTask<'a, V>,
    /// What is known about the program.
    pub(super) facts: ExplorationFacts,
    start: Instant,
    /// The estimated share of the tree that was left at the start.
    share_at_start: f64,
    /// Whether threads wait for work.
    is_hungry: AtomicBool,
    state: Mutex<SharedState<V>>,
    /// Notified when a subtree was reported.
    changed: Condvar,
    /// Whether all workers must end.
    has_ended: AtomicBool,
    /// The number of histories of all workers of this process.
    pub(super) histories: AtomicU64,
}

struct SharedState<V> {
    frontier: Frontier,
    visitors: Vec<(SubtreeKey, V)>,
    /// Why the exploration ends early, unless a visitor or the observer stopped it.
    ends: Option<Extent>,
    /// Whether the observer stopped it, or a fact was learned.
    is_interrupted: bool,
    /// What was learned in which subtree.
    fact: Option<(SubtreeKey, NewFact)>,
    /// Classes and blocked ones of subtrees in which the time was up: these remain in the frontier.
    unfinished: (u64, u64),
}

/// The subtree that a worker explores.
pub(super) struct CurrentSubtree<V> {
    pub(super) key: SubtreeKey,
    pub(super) subtree: Subtree,
    pub(super) visitor: V,
    /// Whether the worker is the first.
    pub(super) by_first: bool,
}

impl<'a, V> SharedExploration<'a, V> {
    pub(super) fn new(task: &'a ParallelTask<'a, V>, mut frontier: Frontier) -> Self {
        frontier.give_back_all();
        let share_at_start = frontier.share_left();
        let facts = frontier.facts().clone();
        let (visitors, unfinished) = (vec![], (0, 0));
        let state = SharedState {
            frontier,
            visitors,
            ends: None,
            is_interrupted: false,
            fact: None,
            unfinished,
        };
        SharedExploration {
            task,
            facts,
            start: Instant::now(),
            share_at_start,
            is_hungry: AtomicBool::new(false),
            state: Mutex::new(state),
            changed: Condvar::new(),
            has_ended: AtomicBool::new(false),
            histories: AtomicU64::new(0),
        }
    }

    /// The result, when all workers have ended.
    pub(super) fn into_result(self) -> ParallelResult<V> {
        let SharedExploration { state, histories, .. } = self;
        let state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let SharedState { frontier, mut visitors, ends, is_interrupted, fact, unfinished } = state;
        visitors.retain(|(key, _)| !frontier.is_cut(key));
        visitors.sort_by(|(a, _), (b, _)| a.cmp(b));
        let counts = frontier.counts();
        let extent = match ends {
            Some(extent) => extent,
            None if frontier.is_stopped() => Extent::Stopped,
            None if !frontier.is_done() => Extent::Stopped,
            None if counts.hit_limit => Extent::Events,
            None => Extent::All,
        };
        let (classes, blocked) = (counts.classes + unfinished.0, counts.blocked + unfinished.1);
        let cut = counts.cut.filter(|_| extent == Extent::Events);
        let (histories, symmetry) = (histories.into_inner(), counts.symmetry);
        let summary = Summary { extent, classes, blocked, histories, cut, symmetry };
        let visitors = visitors.into_iter().map(|(_, visitor)| visitor).collect();
        ParallelResult { summary, visitors, frontier, is_interrupted, fact }
    }

    /// Locks the state. If a worker has panicked, what it reported before is still valid.
    fn lock(&self) -> MutexGuard<'_, SharedState<V>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, SharedState<V>>) -> MutexGuard<'s, SharedState<V>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all workers.
    pub(super) fn end_early(&self, extent: Extent) {
        let mut state = self.lock();
        state.ends.get_or_insert(extent);
        self.has_ended.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Whether some worker waits for work. Seen by worker processes, too.
    pub(super) fn is_hungry(&self) -> &AtomicBool {
        match &self.task.helpers {
            Helpers::Threads(_) => &self.is_hungry,
            Helpers::Processes(processes) => processes.is_hungry,
        }
    }

    /// Updates [`SharedExploration::is_hungry`].
    fn update_hunger(&self, state: &SharedState<V>) {
        let is_hungry = state.frontier.waiting() + 1 < self.task.jobs.get();
        self.is_hungry().store(is_hungry, Ordering::Relaxed);
    }

    /// Returns `true` if worker processes may be forked, and the exploration has taken this time.
    pub(super) fn may_fork(&self, time: Duration) -> bool {
        let has_processes = matches!(self.task.helpers, Helpers::Processes(_));
        has_processes && self.task.jobs.get() > 1 && self.start.elapsed() >= time
    }

    /// Returns `Ok` if it pays to fork: the exploration has taken long enough, or the rest, by a rough estimate, will
    /// take twice as long. Otherwise returns when to ask again.
    pub(super) fn is_worth_forking(&self) -> Result<(), Duration> {
        let (time, alone) = (self.start.elapsed(), self.task.budget.alone);
        let left = self.lock().frontier.share_left();
        let explored = (self.share_at_start - left).max(0.0);
        let is_long = time >= alone || time.mul_f64(left) >= 2 * alone.mul_f64(explored);
        if is_long { Ok(()) } else { Err(2 * time) }
    }

    /// The number of helpers for which there is work now.
    pub(super) fn useful_helpers(&self) -> usize {
        let waiting = self.lock().frontier.waiting();
        waiting.saturating_sub(1).min(self.task.jobs.get() - 1)
    }

    /// Waits until there is work for a second worker. Returns `false` if that never happens.
    pub(super) fn wait_for_second_subtree(&self) -> bool {
        let mut state = self.lock();
        loop {
            if state.frontier.is_done() || state.ends.is_some() {
                return false;
            }
            if state.frontier.is_for_several() {
                return true;
            }
            state = self.wait(state);
        }
    }

    /// Waits for a subtree; returns it with the number of leaves after which it is suspended. `None` if the exploration
    /// ends.
    pub(super) fn next(&self, by_first: bool) -> Option<(CurrentSubtree<V>, u64)> {
        let mut state = self.lock();
        loop {
            if state.ends.is_some() {
                return None;
            }
            if let Some((key, subtree)) = state.frontier.take(!by_first) {
                self.update_hunger(&state);
                let budget = self.task.budget;
                let budget = if key.is_empty() { budget.first } else { budget.next };
                let visitor = (self.task.visitor)();
                return Some((CurrentSubtree { key, subtree, visitor, by_first }, budget));
            }
            if state.frontier.is_done() {
                self.changed.notify_all();
                return None;
            }
            state = self.wait(state);
        }
    }

    /// Returns `true` if the subtree with this key does not count any more.
    pub(super) fn is_cancelled(&self, key: &SubtreeKey) -> bool {
        self.has_ended.load(Ordering::Relaxed) || self.lock().frontier.is_cut(key)
    }

    /// Adds the result of a subtree that was explored, or suspended.
    pub(super) fn report(&self, current: CurrentSubtree<V>, report: SubtreeReport) {
        let CurrentSubtree { key, subtree, visitor, by_first } = current;
        let ends = report.ends.filter(|&extent| extent != Extent::Stopped);
        let mut state = self.lock();
        if ends.is_some() || state.ends.is_some() {
            state.unfinished.0 += report.classes;
            state.unfinished.1 += report.blocked;
            drop(state);
            return ends.map_or((), |extent| self.end_early(extent));
        }
        if let Some(fact) = report.fact.clone() {
            let key = state.frontier.report(&key, report, true);
            state.is_interrupted = true;
            state.fact = (!state.frontier.is_cut(&key)).then_some((key, fact));
            drop(state);
            return self.end_early(Extent::Stopped);
        }
        let (is_last, learned) = (report.ends.is_some(), report.learned.clone());
        let key = state.frontier.report(&key, report, is_last);
        let explored = ExploredSubtree {
            left: &state.frontier,
            key: &key,
            subtree: &subtree,
            visitor: &visitor,
            learned: &learned,
            by_first,
        };
        let control = self.task.observer.map(|observer| observer(&explored));
        if control == Some(Control::Stop) {
            state.is_interrupted = true;
            state.frontier.cut(&key, &subtree);
            drop(state);
            return self.end_early(Extent::Stopped);
        }
        if (self.task.keeps)(&visitor) {
            state.visitors.push((key, visitor));
        }
        self.update_hunger(&state);
        self.changed.notify_all();
    }

    /// Hands out subtrees to a worker process, until there are no more, or the process is gone: then its subtree is
    /// given back.
    pub(super) fn serve(&self, mut remote: RemoteWorker<'_, V>) {
        while let Some((mut current, budget)) = self.next(false) {
            let continues = || !self.is_cancelled(&current.key);
            match remote.explore(&current.subtree, budget, &continues) {
                Some((report, visitor)) => {
                    current.visitor = visitor;
                    self.report(current, report);
                }
                None => {
                    self.lock().frontier.give_back(&current.key);
                    self.changed.notify_all();
                    return;
                }
            }
        }
    }
}
