//! How large is the tree? Knuth's estimator.
//!
//! A probe goes from the root to a leaf and takes a random child at every node. If each child is taken with a
//! known probability, one over the product of these probabilities, times what is found at the end, is on average the
//! number of leaves (Knuth, *Estimating the efficiency of backtrack programs*, 1975).
//!
//! The tree that is probed is the one without the dynamic skip, which has the same leaves: where the explorer would
//! skip the other threads of a node they lead to no leaf. Most of these dead ends are recognised: a read that may
//! observe only later writes, with nobody left who was ever seen to write there so late in its thread. Which of the threads of a node is
//! taken depends on how much was found below it so far at that depth; that keeps the estimate unbiased and makes it
//! steadier.
//!
//! *Cost.* A few microseconds for each probe.

use std::time::Instant;

use rustc_hash::FxHashMap;

use super::memo::Ask;
use super::state::{Explorer, INIT, MAIN, Stop, Thread};
use crate::driver::Restart;
use crate::event_set::EventSet;
use crate::model::IncrementalModel;
use raddle_core::outcome::Estimate;
use raddle_core::program::{End, HistoryStep, OpKind};
use raddle_core::random::Random;

/// Probes, and what they found.
pub(super) struct Probes {
    most: u64,
    random: Random,
    /// One over the probability of the current probe.
    weight: f64,
    /// The threads taken by the current probe: depth, which one, the weight before, the probability.
    taken: Vec<Taken>,
    /// By depth and number of the thread, how much was found below it, and how often it was taken.
    found: Vec<[(f64, f64); GROUPS]>,
    /// By location and thread, how many events the thread had done at most when it had written there.
    written: FxHashMap<(u32, u32), u32>,
    /// How many histories of the current probe have been looked at for that.
    looked_at: usize,
    sum: f64,
    squares: f64,
    count: u64,
    /// Whether the first probes, which do not count, are done: they find out who writes what.
    has_learned: bool,
}

/// How many probes do not count.
const LEARNING: u64 = 256;

/// The threads of a node that are told apart; all others count as the last.
const GROUPS: usize = 4;

struct Taken {
    depth: usize,
    group: usize,
    weight: f64,
    probability: f64,
}

impl Probes {
    pub(super) fn new(most: u64, seed: u64) -> Self {
        Probes {
            most,
            random: Random::new(seed),
            weight: 1.0,
            taken: vec![],
            found: vec![],
            written: FxHashMap::default(),
            looked_at: 0,
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

    /// A probe starts, if there are not enough.
    pub(super) fn starts(&mut self) -> bool {
        self.weight = 1.0;
        self.taken.clear();
        self.looked_at = 0;
        !self.has_learned || self.count < self.most
    }

    /// A probe has ended, and found so many classes.
    fn end(&mut self, classes: u64) {
        let value = self.weight * classes as f64;
        self.sum += value;
        self.squares += value * value;
        self.count += 1;
        for Taken { depth, group, weight, probability } in self.taken.drain(..) {
            if self.found.len() <= depth {
                self.found.resize(depth + 1, [(0.0, 0.0); GROUPS]);
            }
            let (found, times) = &mut self.found[depth][group];
            *found += value / weight * probability;
            *times += 1.0;
        }
        if self.count == LEARNING && !self.has_learned {
            (self.sum, self.squares, self.count, self.has_learned) = (0.0, 0.0, 0, true);
        }
    }

    /// Takes one of the threads of a node; the numbers are at most [`GROUPS`].
    fn take_thread(&mut self, depth: usize, threads: usize) -> usize {
        if threads == 1 {
            return 0;
        }
        let shares = self.shares(depth, threads);
        let all: f64 = shares.iter().sum();
        let mut drawn = self.random.unit() * all;
        let mut group = 0;
        while group + 1 < threads && drawn >= shares[group] {
            drawn -= shares[group];
            group += 1;
        }
        let probability = shares[group] / all;
        self.taken.push(Taken { depth, group, weight: self.weight, probability });
        self.weight /= probability;
        group
    }

    /// How much is found below each thread, with some room for surprises.
    fn shares(&self, depth: usize, threads: usize) -> [f64; GROUPS] {
        let mut shares = [0.0; GROUPS];
        let known = self.found.get(depth).copied().unwrap_or_default();
        for (share, (found, times)) in shares.iter_mut().zip(known).take(threads) {
            *share = if times < 8.0 { 1.0 } else { found / times };
        }
        let most = shares.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        for share in shares.iter_mut().take(threads) {
            *share = share.max(most * 0.05);
        }
        shares
    }
}

impl<R: EventSet, F: IncrementalModel<R>> Explorer<'_, '_, R, F> {
    /// Sends out probes until there are enough, or the time is up.
    pub(super) fn probe(&mut self) -> Result<(), Restart> {
        self.route.is_ahead = true;
        while self.outer.starts_probe() && !self.is_late() {
            let before = self.classes;
            let mark = self.begin(MAIN);
            self.descend();
            self.take_back(&mark);
            match self.stop {
                Some(Stop::Restart(why)) => return Err(why),
                Some(_) => return Ok(()),
                None => {}
            }
            let found = self.classes - before;
            if let Some(probes) = &mut self.outer.probes {
                probes.end(found);
            }
        }
        Ok(())
    }

    /// Whether the time is up.
    fn is_late(&self) -> bool {
        self.outer.limits.deadline.is_some_and(|end| Instant::now() >= end)
    }

    /// Notes who wrote what since the last node.
    fn look_at_writes(&mut self) {
        let Some(probes) = &mut self.outer.probes else { return };
        for &node in &self.past[probes.looked_at..] {
            let question = match self.histories.step(node) {
                HistoryStep::After(before, _) => match self.histories.end(before) {
                    End::Question(op) => Some(op),
                    _ => None,
                },
                HistoryStep::Start(..) => None,
            };
            for op in self.histories.effects(node).iter().chain(question) {
                let writes = matches!(
                    op.kind,
                    OpKind::Store { .. } | OpKind::Rmw { .. } | OpKind::CompareExchange { .. }
                );
                let Some(location) = op.kind.location().filter(|_| writes) else { continue };
                let key = (location.index() as u32, self.histories.thread(node).index() as u32);
                let latest = probes.written.entry(key).or_default();
                *latest = (*latest).max(self.histories.events(node));
            }
        }
        probes.looked_at = self.past.len();
    }

    /// Goes to a random child.
    #[cold]
    pub(super) fn probe_node(&mut self) {
        self.look_at_writes();
        let enabled = self.enabled();
        if enabled.is_empty() || !self.goes_on() {
            return self.leaf();
        }
        let choosing = enabled.iter().find(|&thread| self.threads[thread].ask == Ask::Choose);
        if let Some(thread) = choosing {
            let OpKind::Choose { options } = self.question(self.threads[thread].node).kind else {
                unreachable!("a thread that chooses asks for a choice")
            };
            let choice = self.draw(options as usize);
            return self.make_choice(thread, choice as u32);
        }
        self.probe_thread(enabled);
    }

    /// One of so many, each with the same probability.
    fn draw(&mut self, options: usize) -> usize {
        let Some(probes) = &mut self.outer.probes else { return 0 };
        probes.weight *= options as f64;
        if options == 0 { 0 } else { probes.random.below(options) }
    }

    /// Takes a thread, and a source for it.
    fn probe_thread(&mut self, enabled: R) {
        let threads = self.threads_to_try(enabled);
        let depth = self.past.len();
        let groups = threads.len().min(GROUPS);
        let Some(probes) = &mut self.outer.probes else { return };
        let mut taken = probes.take_thread(depth, groups);
        if taken + 1 == GROUPS {
            taken += self.draw(threads.len() - taken);
        }
        let thread = threads[taken];
        let base = self.floors.len();
        for &before in &threads[..taken] {
            self.was_tried(before);
        }
        if threads[..taken].iter().all(|&thread| self.may_be_written(thread)) {
            self.probe_source(thread);
        }
        self.permit(base);
    }

    /// The threads of a node in the order in which they are tried.
    fn threads_to_try(&self, enabled: R) -> Vec<usize> {
        let first = self.first_thread(enabled);
        let others = enabled.iter().filter(|&thread| Some(thread) != first);
        let mut threads: Vec<usize> = first.into_iter().chain(others).collect();
        let alone =
            |&thread: &usize| self.threads[thread].floor == 0 && !self.may_be_written(thread);
        if let Some(last) = threads.iter().position(alone) {
            threads.truncate(last + 1);
        }
        threads
    }

    /// Whether another thread may still write what the thread reads, or competes for it.
    fn may_be_written(&self, thread: usize) -> bool {
        let Thread { ask, location, .. } = self.threads[thread];
        let Some(probes) = &self.outer.probes else { return true };
        let may_write = |other: usize| {
            let done = self.histories.events(self.threads[other].node);
            let latest = probes.written.get(&(location, other as u32));
            other != thread && latest.is_some_and(|&latest| latest > done)
        };
        self.asking.iter().any(may_write)
            || (ask != Ask::Load && self.others_are_pending(thread, location))
    }

    fn probe_source(&mut self, thread: usize) {
        let sources = self.candidates(thread);
        let mut picks: Vec<(u32, bool)> = vec![];
        let initial = sources.initial.then_some(INIT);
        for source in initial.into_iter().chain(sources.writes.iter().map(|source| source as u32)) {
            picks.push((source, false));
            if self.may_fail(thread, source) {
                picks.push((source, true));
            }
        }
        if picks.is_empty() {
            return;
        }
        let (source, spurious) = picks[self.draw(picks.len())];
        match spurious {
            false => self.observe(thread, source),
            true => self.fail_spuriously(thread, source),
        }
    }
}
