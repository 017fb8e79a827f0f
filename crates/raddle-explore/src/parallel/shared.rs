//! What workers share: what is left, and what was found so far.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::super::{Control, Extent, Summary};
use super::frontier::{Frontier, Key};
use super::process::Remote;
use super::{Explored, Helpers, Note, Task};
use crate::rf_part_smc::subtree::{Report, Subtree};

/// What workers share.
pub(super) struct Shared<'a, V> {
    pub(super) task: &'a Task<'a, V>,
    start: Instant,
    /// How much of the whole was left then, about.
    left: f64,
    /// Among threads.
    is_hungry: AtomicBool,
    state: Mutex<State<V>>,
    /// Something was reported.
    changed: Condvar,
    /// Whether all workers are to end.
    ended: AtomicBool,
    pub(super) histories: AtomicU64,
}

struct State<V> {
    frontier: Frontier,
    visitors: Vec<(Key, V)>,
    /// Why the exploration ends before everything is explored, if nothing was found.
    ends: Option<Extent>,
    /// Whether the observer ended it.
    is_interrupted: bool,
    /// Classes and blocked ones of subtrees in which the time was up: they are not done.
    unfinished: (u64, u64),
}

/// What a worker explores.
pub(super) struct Current<V> {
    pub(super) key: Key,
    pub(super) subtree: Subtree,
    pub(super) visitor: V,
    /// Whether the worker is the first.
    pub(super) by_first: bool,
}

impl<'a, V> Shared<'a, V> {
    pub(super) fn new(task: &'a Task<'a, V>, mut frontier: Frontier) -> Self {
        frontier.restart();
        let left = frontier.left();
        let (visitors, unfinished) = (vec![], (0, 0));
        let state = State { frontier, visitors, ends: None, is_interrupted: false, unfinished };
        Shared {
            task,
            start: Instant::now(),
            left,
            is_hungry: AtomicBool::new(false),
            state: Mutex::new(state),
            changed: Condvar::new(),
            ended: AtomicBool::new(false),
            histories: AtomicU64::new(0),
        }
    }

    /// What came of it, when nobody works any more.
    pub(super) fn explored(self) -> Explored<V> {
        let Shared { state, histories, .. } = self;
        let state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let State { frontier, mut visitors, ends, is_interrupted, unfinished } = state;
        visitors.retain(|(key, _)| !frontier.is_cut(key));
        visitors.sort_by(|(a, _), (b, _)| a.cmp(b));
        let counts = frontier.counts();
        let extent = match ends {
            Some(extent) => extent,
            None if frontier.is_stopped() => Extent::Stopped,
            None if counts.hit_limit => Extent::Events,
            None => Extent::All,
        };
        let (classes, blocked) = (counts.classes + unfinished.0, counts.blocked + unfinished.1);
        let summary = Summary { extent, classes, blocked, histories: histories.into_inner() };
        let visitors = visitors.into_iter().map(|(_, visitor)| visitor).collect();
        Explored { summary, visitors, frontier, is_interrupted }
    }

    /// The state; if a worker has panicked, what it reported before still holds.
    fn lock(&self) -> MutexGuard<'_, State<V>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State<V>>) -> MutexGuard<'s, State<V>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all workers.
    pub(super) fn give_up(&self, extent: Extent) {
        let mut state = self.lock();
        state.ends.get_or_insert(extent);
        self.ended.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Whether workers should leave something to others.
    pub(super) fn is_hungry(&self) -> &AtomicBool {
        match &self.task.helpers {
            Helpers::Threads(_) => &self.is_hungry,
            Helpers::Processes(processes) => processes.is_hungry,
        }
    }

    /// There is more work, or less.
    fn note_work(&self, state: &State<V>) {
        let is_hungry = state.frontier.waiting() + 1 < self.task.jobs.get();
        self.is_hungry().store(is_hungry, Ordering::Relaxed);
    }

    /// Whether copies of this process may be made, and the exploration has taken so long.
    pub(super) fn may_have_copies(&self, time: Duration) -> bool {
        let is_for_copies = matches!(self.task.helpers, Helpers::Processes(_));
        is_for_copies && self.task.jobs.get() > 1 && self.start.elapsed() >= time
    }

    /// Whether copies of this process are worth their while: the exploration has taken long enough, or what is left, by a
    /// guess that need not be good, will take twice as long. If not, when that is to be asked again.
    pub(super) fn wants_copies(&self) -> Result<(), Duration> {
        let (time, alone) = (self.start.elapsed(), self.task.budget.alone);
        let left = self.lock().frontier.left();
        let explored = (self.left - left).max(0.0);
        let is_long = time >= alone || time.mul_f64(left) >= 2 * alone.mul_f64(explored);
        if is_long { Ok(()) } else { Err(2 * time) }
    }

    /// How many helpers there is work for, now.
    pub(super) fn useful_helpers(&self) -> usize {
        let waiting = self.lock().frontier.waiting();
        waiting.saturating_sub(1).min(self.task.jobs.get() - 1)
    }

    /// Waits until there is work for a second worker; false if that never happens.
    pub(super) fn has_more_than_one(&self) -> bool {
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

    /// The next subtree, when there is one, and after how many leaves it is suspended.
    pub(super) fn next(&self, by_first: bool) -> Option<(Current<V>, u64)> {
        let mut state = self.lock();
        loop {
            if state.ends.is_some() {
                return None;
            }
            if let Some((key, subtree)) = state.frontier.take(!by_first) {
                self.note_work(&state);
                let budget = self.task.budget;
                let budget = if key.is_empty() { budget.first } else { budget.next };
                let visitor = (self.task.visitor)();
                return Some((Current { key, subtree, visitor, by_first }, budget));
            }
            if state.frontier.is_done() {
                self.changed.notify_all();
                return None;
            }
            state = self.wait(state);
        }
    }

    /// Whether nobody is interested any more in the subtree with this key.
    pub(super) fn is_cancelled(&self, key: &Key) -> bool {
        self.ended.load(Ordering::Relaxed) || self.lock().frontier.is_cut(key)
    }

    /// A subtree was explored, or suspended.
    pub(super) fn report(&self, current: Current<V>, report: Report) {
        let Current { key, subtree, visitor, by_first } = current;
        let ends = report.ends.filter(|&extent| extent != Extent::Stopped);
        let mut state = self.lock();
        if ends.is_some() || state.ends.is_some() {
            state.unfinished.0 += report.classes;
            state.unfinished.1 += report.blocked;
            drop(state);
            return ends.map_or((), |extent| self.give_up(extent));
        }
        let (is_last, learned) = (report.ends.is_some(), report.learned.clone());
        let key = state.frontier.report(&key, report, is_last);
        let (left, learned) = (&state.frontier, learned.as_str());
        let (key_of, visitor_of, subtree) = (&key, &visitor, &subtree);
        let note = Note { left, key: key_of, subtree, visitor: visitor_of, learned, by_first };
        let control = self.task.observer.map(|observer| observer(&note));
        if control == Some(Control::Stop) {
            state.is_interrupted = true;
            state.frontier.cut(&key, subtree);
            drop(state);
            return self.give_up(Extent::Stopped);
        }
        state.visitors.push((key, visitor));
        self.note_work(&state);
        self.changed.notify_all();
    }

    /// Hands subtrees to somebody elsewhere, until there are no more, or it is gone: then others explore what it had.
    pub(super) fn serve(&self, mut remote: Remote<'_, V>) {
        while let Some((mut current, budget)) = self.next(false) {
            let goes_on = || !self.is_cancelled(&current.key);
            match remote.explore(&current.subtree, budget, &goes_on) {
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
