//! Probabilistic concurrency testing: priorities that change at few moments.
//!
//! *Problem.* Most errors need few things to come together in an order, and everything by chance seldom gets threads far apart.
//!
//! *Idea.* Threads have random priorities, and the highest one that can go on does. At `depth - 1` moments of the run the
//! thread that goes gets the lowest one. An error for which `d` things must be ordered is then found with a
//! probability of 1/(n k^(d-1)) for n threads and k steps. On weak memory, the same for what reads observe: the newest
//! writes, but for `depth - 1` of the reads, which observe any other. For store buffers: from such a moment on the stores of the
//! thread stay there, but for some, after each of which others go first.
//!
//! *Papers.* Burckhardt, Kothari, Musuvathi, Nagarakatte, *A Randomized Scheduler with Probabilistic Guarantees of Finding
//! Bugs*, ASPLOS 2010; for weak memory Gao, Chakraborty, Ozkan, *Probabilistic Concurrency Testing for Weak Memory
//! Programs*, ASPLOS 2023. Where we differ: these know k from earlier runs; here it is drawn for each run, a power of
//! two, so that a run is a function of its seed. That costs a logarithm of k in the probability.
//!
//! *Fairness.* A thread that has only read for some time gets the lowest priority: it may wait for another one.

use super::decide::{Decide, Kind, Moment, scattered};
use raddle_core::random::Random;

/// A thread that has only read for so many steps may be waiting.
const WAITS: u64 = 48;

/// Priorities, and moments at which they change.
pub(super) struct Pct {
    random: Random,
    /// By thread; higher ones go first. Those that are drawn are positive.
    priorities: Vec<i64>,
    lowest: i64,
    /// Steps at which a priority changes, and reads that observe something old: all sorted, the next one last.
    changes: Vec<u64>,
    old_reads: Vec<u64>,
    steps: u64,
    reads: u64,
    /// The threads whose stores stay in their buffers.
    keeps: Vec<bool>,
    /// Whether the thread that goes gets the lowest priority before the next step.
    steps_back: bool,
}

impl Pct {
    pub(super) fn new(seed: u64, depth: u32) -> Self {
        let mut random = scattered(seed);
        let exponents = if random.below(4) > 0 { 6 } else { 17 };
        let length = 1 << (3 + random.below(exponents));
        let points = |random: &mut Random| {
            let mut points: Vec<u64> =
                (1..depth.max(1)).map(|_| random.below(length) as u64).collect();
            points.sort_unstable_by(|one, other| other.cmp(one));
            points
        };
        let (changes, old_reads) = (points(&mut random), points(&mut random));
        let (priorities, keeps) = (vec![], vec![]);
        let (lowest, steps, reads, steps_back) = (0, 0, 0, false);
        Pct { random, priorities, lowest, changes, old_reads, steps, reads, keeps, steps_back }
    }

    fn priority(&mut self, thread: u32) -> i64 {
        while self.priorities.len() <= thread as usize {
            self.priorities.push((self.random.bits() >> 1) as i64);
        }
        self.priorities[thread as usize]
    }

    fn lower(&mut self, thread: u32) {
        self.lowest -= 1;
        self.priority(thread);
        self.priorities[thread as usize] = self.lowest;
    }

    fn highest(&mut self, ready: &[u32]) -> u32 {
        let mut best = ready[0];
        for &thread in ready {
            if self.priority(thread) > self.priority(best) {
                best = thread;
            }
        }
        best
    }

    /// Whether the next read is one that observes something old.
    fn is_old_read(&mut self) -> bool {
        self.reads += 1;
        let is_it = self.old_reads.last() == Some(&(self.reads - 1));
        while self.old_reads.last().is_some_and(|&at| at < self.reads) {
            self.old_reads.pop();
        }
        is_it
    }
}

impl Decide for Pct {
    fn thread(&mut self, moment: Moment, ready: &[u32], quiet: u64) -> u32 {
        self.steps += 1;
        if quiet % WAITS == WAITS - 1 || std::mem::take(&mut self.steps_back) {
            self.lower(moment.thread);
        }
        while self.changes.last().is_some_and(|&at| at < self.steps) {
            self.changes.pop();
            let highest = self.highest(ready);
            self.lower(highest);
        }
        self.highest(ready)
    }

    fn pick(&mut self, moment: Moment, kind: Kind, options: usize) -> usize {
        match kind {
            Kind::Thread | Kind::Choose | Kind::Leave => self.random.below(options),
            Kind::Keep => {
                let thread = moment.thread as usize;
                if self.keeps.len() <= thread {
                    self.keeps.resize(thread + 1, false);
                }
                self.keeps[thread] |= self.is_old_read();
                let leaves = self.random.below(4) == 0;
                self.steps_back |= leaves && self.keeps[thread];
                usize::from(self.keeps[thread] && !leaves)
            }
            Kind::Read | Kind::Insert | Kind::Fail => match self.is_old_read() {
                true => 1 + self.random.below(options - 1),
                false => 0,
            },
        }
    }
}
