//! RF-partSMC by several workers.
//!
//! *Idea.* The sources of one read lead to independent subtrees. A worker explores one until it is done, or until
//! its budget of leaves is spent; then what is left of it is handed out as smaller ones ([`frontier`]). Every
//! worker has a program of its own, as native code cannot be shared, and remembers the histories that it met.
//!
//! *The same for any number of workers.* Where the tree is cut depends on budgets only, and subtrees are numbered
//! in the order of the exploration. If something goes wrong in one, those after it are given up, and those
//! before it are finished; what is found is what one worker finds. Counts are those up to there.
//!
//! *Cost.* Small programs are explored before other workers start. A suspended subtree costs about as many subtrees as
//! its stack has sources left; following the way to each takes some microseconds.

pub mod frontier;

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::reads_from_compact::subtree::{Report, Subtree};
use super::reads_from_compact::{Subtrees, explore_subtrees};
use super::{Control, Extent, Leaf, Limits, Summary, Visitor};
use crate::model::Model;
use crate::program::Program;
use frontier::{Frontier, Key};

/// After how many leaves a subtree is suspended.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// The first one, which is the whole tree.
    pub first: u64,
    /// All others.
    pub next: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { first: 4_096, next: 32_768 }
    }
}

/// Makes a program, hands it to the function, and looks what has become of it.
pub type WithProgram<'a> = dyn Fn(&mut dyn FnMut(&mut dyn Program)) + Sync + 'a;

/// What several workers explore.
pub struct Task<'a, V> {
    /// The model.
    pub model: Model,
    /// How far to explore. The limit of classes does not count.
    pub limits: &'a Limits,
    /// How many workers there are.
    pub jobs: NonZero<usize>,
    /// How large subtrees are.
    pub budget: Budget,
    /// Makes a program for each worker but the first.
    pub with_program: &'a WithProgram<'a>,
    /// Makes who looks at the leaves of a subtree.
    pub visitor: &'a (dyn Fn() -> V + Sync),
    /// Is told what is left, whenever something was explored.
    pub observer: Option<&'a (dyn Fn(&Frontier) + Sync)>,
}

/// What came of it.
pub struct Explored<V> {
    /// How far it got.
    pub summary: Summary,
    /// Who looked at the leaves, in the order of the exploration. If one of them stopped it, that is the last.
    pub visitors: Vec<V>,
    /// What is left.
    pub frontier: Frontier,
    /// Where it was stopped.
    pub stopped: Option<Stopped>,
}

/// Where an exploration was stopped.
#[derive(Clone, Debug)]
pub struct Stopped {
    /// In which subtree.
    pub subtree: Subtree,
    /// Whether the first worker did it: then the trace speaks of its program.
    pub by_first: bool,
}

/// Explores one subtree, until the visitor stops it.
pub fn explore_again(
    program: &mut dyn Program,
    model: Model,
    limits: &Limits,
    subtree: Subtree,
    visitor: &mut dyn Visitor,
) {
    explore_subtrees(program, model, limits, &mut One { subtree: Some(subtree), visitor });
}

/// One subtree, for somebody.
struct One<'a> {
    subtree: Option<Subtree>,
    visitor: &'a mut dyn Visitor,
}

impl Visitor for One<'_> {
    fn visit(&mut self, leaf: &dyn Leaf) -> Control {
        self.visitor.visit(leaf)
    }
}

impl Subtrees for One<'_> {
    fn next(&mut self) -> Option<(Subtree, u64)> {
        Some((self.subtree.take()?, 0))
    }

    fn explored(&mut self, _: Report) {}

    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Explores what is left. The first worker has this program.
pub fn explore<V: Visitor + Send>(
    task: &Task<'_, V>,
    program: &mut dyn Program,
    mut frontier: Frontier,
) -> Explored<V> {
    frontier.restart();
    let shared = Shared {
        task,
        state: Mutex::new(State { frontier, visitors: vec![], ends: None, stopped: None }),
        changed: Condvar::new(),
        ended: AtomicBool::new(false),
        histories: AtomicU64::new(0),
    };
    std::thread::scope(|scope| {
        for _ in 1..task.jobs.get() {
            let shared = &shared;
            scope.spawn(move || {
                if shared.has_more_than_one() {
                    (shared.task.with_program)(&mut |program| shared.work(program, false));
                }
            });
        }
        shared.work(program, true);
    });
    let Shared { state, histories, .. } = shared;
    let State { frontier, mut visitors, ends, stopped } =
        state.into_inner().unwrap_or_else(PoisonError::into_inner);
    visitors.retain(|(key, _)| !frontier.is_cut(key));
    visitors.sort_by(|(a, _), (b, _)| a.cmp(b));
    let counts = frontier.counts();
    let extent = match ends {
        Some(extent) => extent,
        None if frontier.is_stopped() => Extent::Stopped,
        None if counts.hit_limit => Extent::Events,
        None => Extent::All,
    };
    let (classes, blocked) = (counts.classes, counts.blocked);
    let summary = Summary { extent, classes, blocked, histories: histories.into_inner() };
    let visitors = visitors.into_iter().map(|(_, visitor)| visitor).collect();
    Explored { summary, visitors, frontier, stopped }
}

/// What workers share.
struct Shared<'a, V> {
    task: &'a Task<'a, V>,
    state: Mutex<State<V>>,
    /// Something was reported.
    changed: Condvar,
    /// Whether all workers are to end.
    ended: AtomicBool,
    histories: AtomicU64,
}

struct State<V> {
    frontier: Frontier,
    visitors: Vec<(Key, V)>,
    /// Why the exploration ends before everything is explored, if nothing was found.
    ends: Option<Extent>,
    stopped: Option<Stopped>,
}

impl<V> Shared<'_, V> {
    /// The state; if a worker has panicked, what it reported before still holds.
    fn lock(&self) -> MutexGuard<'_, State<V>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all workers.
    fn give_up(&self, extent: Extent) {
        let mut state = self.lock();
        state.ends.get_or_insert(extent);
        self.ended.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }
}

impl<V: Visitor + Send> Shared<'_, V> {
    fn wait<'s>(&self, state: MutexGuard<'s, State<V>>) -> MutexGuard<'s, State<V>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is work for a second worker; false if that never happens.
    fn has_more_than_one(&self) -> bool {
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

    /// Explores until nothing is left.
    fn work(&self, program: &mut dyn Program, is_first: bool) {
        let mut worker = Worker { shared: self, is_first, current: None };
        let Task { model, limits, .. } = *self.task;
        let summary = explore_subtrees(program, model, limits, &mut worker);
        self.histories.fetch_add(summary.histories, Ordering::Relaxed);
        if worker.current.is_some() {
            self.give_up(summary.extent);
        }
    }

    /// The next subtree, when there is one.
    fn next(&self) -> Option<(Key, Subtree)> {
        let mut state = self.lock();
        loop {
            if state.ends.is_some() {
                return None;
            }
            if let Some(taken) = state.frontier.take() {
                return Some(taken);
            }
            if state.frontier.is_done() {
                self.changed.notify_all();
                return None;
            }
            state = self.wait(state);
        }
    }

    fn report(
        &self,
        Current { key, subtree, visitor }: Current<V>,
        is_first: bool,
        report: Report,
    ) {
        if let Some(extent) = report.ends.filter(|&extent| extent != Extent::Stopped) {
            return self.give_up(extent);
        }
        let mut state = self.lock();
        if state.ends.is_some() {
            return;
        }
        let is_last = report.ends.is_some();
        let key = state.frontier.report(&key, report, is_last);
        if !state.frontier.is_cut(&key) {
            if is_last {
                state.stopped = Some(Stopped { subtree, by_first: is_first });
            }
            state.visitors.push((key, visitor));
        }
        if let Some(observer) = self.task.observer {
            observer(&state.frontier);
        }
        self.changed.notify_all();
    }
}

/// One of those who explore.
struct Worker<'s, 'a, V> {
    shared: &'s Shared<'a, V>,
    is_first: bool,
    current: Option<Current<V>>,
}

/// What a worker explores.
struct Current<V> {
    key: Key,
    subtree: Subtree,
    visitor: V,
}

impl<V: Visitor + Send> Visitor for Worker<'_, '_, V> {
    fn visit(&mut self, leaf: &dyn Leaf) -> Control {
        match &mut self.current {
            Some(current) => current.visitor.visit(leaf),
            None => Control::Stop,
        }
    }
}

impl<V: Visitor + Send> Subtrees for Worker<'_, '_, V> {
    fn next(&mut self) -> Option<(Subtree, u64)> {
        let (key, subtree) = self.shared.next()?;
        let Task { budget, visitor, .. } = self.shared.task;
        let budget = if key.is_empty() { budget.first } else { budget.next };
        self.current = Some(Current { key, subtree: subtree.clone(), visitor: visitor() });
        Some((subtree, budget))
    }

    fn explored(&mut self, report: Report) {
        if let Some(current) = self.current.take() {
            self.shared.report(current, self.is_first, report);
        }
    }

    fn is_cancelled(&self) -> bool {
        let is_cut = |key: &Key| self.shared.lock().frontier.is_cut(key);
        self.shared.ended.load(Ordering::Relaxed)
            || self.current.as_ref().is_some_and(|current| is_cut(&current.key))
    }
}

impl<V> Drop for Worker<'_, '_, V> {
    /// Nobody waits for a worker that panics.
    fn drop(&mut self) {
        if self.current.is_some() && std::thread::panicking() {
            self.shared.give_up(Extent::Stopped);
        }
    }
}
