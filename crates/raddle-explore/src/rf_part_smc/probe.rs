//! Estimating the size of the tree: Knuth's estimator.
//!
//! A probe goes from the root to a leaf and takes a random child at every node. If each child is taken with a known
//! probability, one over the product of these probabilities, times the number of classes found at the end, is on
//! average the number of classes (Knuth, *Estimating the efficiency of backtrack programs*, 1975).
//!
//! The tree that is probed is the one without the dynamic skip, which has the same leaves: if the explorer would skip
//! the other threads of a node, they lead to no leaf. Most of these dead ends are recognised: a read that may observe
//! only later writes, with no thread left that was ever seen to write there so late in its history. Which of the
//! threads of a node is taken depends on how much was found below it so far at that depth; that keeps the estimate
//! unbiased and reduces its variance.
//!
//! *Cost.* A few microseconds per probe.

use std::time::Instant;

use rustc_hash::FxHashMap;

use super::execution::SearchThread;
use super::history_cache::PendingKind;
use super::state::{PartSearch, SearchStop};
use super::thread_set::ThreadSet;
use crate::driver::Restart;
use crate::event_index::RfSource;
use crate::event_set::EventSet;
use crate::model::IncrementalModel;
use raddle_core::execution::{LocationId, ThreadId};
use raddle_core::outcome::Estimate;
use raddle_core::program::{End, HistoryStep, OpKind};
use raddle_core::random::Random;

/// Probes, and what they found.
pub(super) struct TreeProbes {
    most: u64,
    random: Random,
    /// One over the probability of the current probe.
    weight: f64,
    /// The threads taken by the current probe.
    taken: Vec<ProbeChoice>,
    /// By depth and group of threads: how much was found below it, and how often it was taken.
    found: Vec<[(f64, f64); GROUPS]>,
    /// By location and thread: the largest number of events that the thread had performed when it had written there.
    written: FxHashMap<(LocationId, ThreadId), u32>,
    /// How many histories of the current probe `written` includes.
    recorded: usize,
    sum: f64,
    squares: f64,
    count: u64,
    /// Whether the first probes, which do not count, are done: they only fill `written`.
    has_learned: bool,
}

/// The number of probes that do not count.
const LEARNING_PROBES: u64 = 256;

/// The number of threads of a node that are distinguished; all others belong to the last group.
const GROUPS: usize = 4;

/// A thread that a probe has taken.
struct ProbeChoice {
    depth: usize,
    group: usize,
    /// The weight before.
    weight: f64,
    probability: f64,
}

impl TreeProbes {
    /// At most `most` probes, whose random numbers follow from the seed.
    pub(super) fn new(most: u64, seed: u64) -> Self {
        TreeProbes {
            most,
            random: Random::new(seed),
            weight: 1.0,
            taken: vec![],
            found: vec![],
            written: FxHashMap::default(),
            recorded: 0,
            sum: 0.0,
            squares: 0.0,
            count: 0,
            has_learned: false,
        }
    }

    pub(super) fn estimate(&self) -> Estimate {
        let count = (self.count as f64).max(1.0);
        let mean = self.sum / count;
        let variance = (self.squares / count - mean * mean).max(0.0);
        Estimate { classes: mean, error: (variance / count).sqrt(), probes: self.count }
    }

    /// Begins a probe. Returns `false` if there are enough.
    pub(super) fn begin(&mut self) -> bool {
        self.weight = 1.0;
        self.taken.clear();
        self.recorded = 0;
        !self.has_learned || self.count < self.most
    }

    /// Ends a probe that has found so many classes.
    fn end(&mut self, classes: u64) {
        let value = self.weight * classes as f64;
        self.sum += value;
        self.squares += value * value;
        self.count += 1;
        for ProbeChoice { depth, group, weight, probability } in self.taken.drain(..) {
            if self.found.len() <= depth {
                self.found.resize(depth + 1, [(0.0, 0.0); GROUPS]);
            }
            let (found, times) = &mut self.found[depth][group];
            *found += value / weight * probability;
            *times += 1.0;
        }
        if self.count == LEARNING_PROBES && !self.has_learned {
            (self.sum, self.squares, self.count, self.has_learned) = (0.0, 0.0, 0, true);
        }
    }

    /// Takes one of at most [`GROUPS`] groups of threads of a node.
    fn take_group(&mut self, depth: usize, groups: usize) -> usize {
        if groups == 1 {
            return 0;
        }
        let shares = self.shares(depth, groups);
        let all: f64 = shares.iter().sum();
        let mut drawn = self.random.unit() * all;
        let mut group = 0;
        while group + 1 < groups && drawn >= shares[group] {
            drawn -= shares[group];
            group += 1;
        }
        let probability = shares[group] / all;
        self.taken.push(ProbeChoice { depth, group, weight: self.weight, probability });
        self.weight /= probability;
        group
    }

    /// How much is found below each group, with a lower bound.
    fn shares(&self, depth: usize, groups: usize) -> [f64; GROUPS] {
        let mut shares = [0.0; GROUPS];
        let known = self.found.get(depth).copied().unwrap_or_default();
        for (share, (found, times)) in shares.iter_mut().zip(known).take(groups) {
            *share = if times < 8.0 { 1.0 } else { found / times };
        }
        let most = shares.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        for share in shares.iter_mut().take(groups) {
            *share = share.max(most * 0.05);
        }
        shares
    }
}

impl<R: EventSet, M: IncrementalModel<R>> PartSearch<'_, '_, R, M> {
    /// Sends out probes until there are enough, or the time is up.
    pub(super) fn probe(&mut self) -> Result<(), Restart> {
        self.route.is_ahead = true;
        while self.exploration.begin_probe() && !self.is_late() {
            let before = self.classes;
            let mark = self.mark(ThreadId::new(0));
            self.explore_extensions();
            self.undo(mark);
            match self.stop {
                Some(SearchStop::Restart(why)) => return Err(why),
                Some(_) => return Ok(()),
                None => {}
            }
            let found = self.classes - before;
            if let Some(probes) = &mut self.exploration.probes {
                probes.end(found);
            }
        }
        Ok(())
    }

    /// Returns `true` if the time is up.
    fn is_late(&self) -> bool {
        self.exploration.limits.deadline.is_some_and(|end| Instant::now() >= end)
    }

    /// Records which threads wrote which locations since the last node.
    fn record_writes(&mut self) {
        let Some(probes) = &mut self.exploration.probes else { return };
        for &history in &self.past[probes.recorded..] {
            let question = match self.histories.step(history) {
                HistoryStep::After(before, _) => match self.histories.end(before) {
                    End::Question(op) => Some(op),
                    _ => None,
                },
                HistoryStep::Start(..) => None,
            };
            for op in self.histories.effects(history).iter().chain(question) {
                let writes = matches!(
                    op.kind,
                    OpKind::Store { .. } | OpKind::Rmw { .. } | OpKind::CompareExchange { .. }
                );
                let Some(location) = op.kind.location().filter(|_| writes) else { continue };
                let key = (location, self.histories.thread(history));
                let latest = probes.written.entry(key).or_default();
                *latest = (*latest).max(self.histories.events(history));
            }
        }
        probes.recorded = self.past.len();
    }

    /// Continues at a random child.
    #[cold]
    pub(super) fn probe_node(&mut self) {
        self.record_writes();
        let (enabled, choice) = self.enabled();
        if enabled.is_empty() || !self.continues() {
            return self.leaf();
        }
        if let Some(thread) = choice {
            let OpKind::Choose { options } = self.question(self.thread(thread).history).kind else {
                unreachable!("the pending op is a choice")
            };
            let choice = self.draw(options as usize);
            return self.make_choice(thread, choice as u32);
        }
        self.probe_thread(&enabled);
    }

    /// Draws one of `options` options with equal probabilities.
    fn draw(&mut self, options: usize) -> usize {
        let Some(probes) = &mut self.exploration.probes else { return 0 };
        probes.weight *= options as f64;
        if options == 0 { 0 } else { probes.random.below(options) }
    }

    /// Takes a thread, and a source for it.
    fn probe_thread(&mut self, enabled: &ThreadSet<R>) {
        let threads = self.threads_to_try(enabled);
        let depth = self.past.len();
        let groups = threads.len().min(GROUPS);
        let Some(probes) = &mut self.exploration.probes else { return };
        let mut taken = probes.take_group(depth, groups);
        if taken + 1 == GROUPS {
            taken += self.draw(threads.len() - taken);
        }
        let thread = threads[taken];
        for &before in &threads[..taken] {
            self.raise_floor(before);
        }
        if threads[..taken].iter().all(|&thread| self.may_be_written(thread)) {
            self.probe_source(thread);
        }
    }

    /// The threads of a node in the order in which they are tried, without those that lead to no leaf.
    fn threads_to_try(&self, enabled: &ThreadSet<R>) -> Vec<ThreadId> {
        let first = self.first_thread(enabled);
        let others = enabled.iter().filter(|&thread| Some(thread) != first);
        let mut threads: Vec<ThreadId> = first.into_iter().chain(others).collect();
        let is_alone = |&thread: &ThreadId| {
            self.thread(thread).causal_floor == 0 && !self.may_be_written(thread)
        };
        if let Some(last) = threads.iter().position(is_alone) {
            threads.truncate(last + 1);
        }
        threads
    }

    /// Returns `true` if another thread may still write what the thread reads, or competes for it.
    fn may_be_written(&self, thread: ThreadId) -> bool {
        let SearchThread { pending, target, .. } = *self.thread(thread);
        let Some(probes) = &self.exploration.probes else { return true };
        let may_write = |other: ThreadId| {
            let done = self.histories.events(self.thread(other).history);
            let latest = probes.written.get(&(target.location(), other));
            other != thread && latest.is_some_and(|&latest| latest > done)
        };
        self.waiting.iter().any(may_write)
            || (pending != PendingKind::Load && self.others_compete(thread, target.location()))
    }

    fn probe_source(&mut self, thread: ThreadId) {
        let sources = self.candidates(thread);
        let mut answers: Vec<(RfSource, bool)> = vec![];
        let initial = sources.initial.then_some(RfSource::INITIAL);
        for source in initial.into_iter().chain(sources.writes.iter().map(RfSource::from)) {
            answers.push((source, false));
            if self.may_fail_spuriously(thread, source) {
                answers.push((source, true));
            }
        }
        if answers.is_empty() {
            return;
        }
        let (source, spurious) = answers[self.draw(answers.len())];
        self.observe(thread, source, spurious);
    }
}
