//! Probabilistic concurrency testing (PCT): random thread priorities that change at few points.
//!
//! *Problem.* Most bugs depend on the order of few events, but uniformly random scheduling seldom lets one thread get
//! far ahead of another.
//!
//! *Idea.* Threads have random priorities, and the ready thread with the highest priority runs. At `depth - 1` random
//! steps of the run the running thread drops to the lowest priority. A bug that needs `d` ordering constraints is then
//! found with probability at least 1/(n k^(d-1)) for n threads and k steps. Under weak memory the same holds for what
//! reads observe: the newest write, except for `depth - 1` random reads, which observe any other. With store buffers:
//! from such a point on, the stores of the thread stay in its buffer, except for some, and after each flush other
//! threads run first.
//!
//! *Papers.* Burckhardt, Kothari, Musuvathi, Nagarakatte, *A Randomized Scheduler with Probabilistic Guarantees of
//! Finding Bugs*, ASPLOS 2010; for weak memory Gao, Chakraborty, Ozkan, *Probabilistic Concurrency Testing for Weak
//! Memory Programs*, ASPLOS 2023. *Difference:* the papers learn k from earlier runs; here each run draws k as a power
//! of two, so that a run is a function of its seed. That costs a factor of log k in the probability.
//!
//! *Fairness.* A thread that has only read for [`READING_STEPS`] steps drops to the lowest priority: it may be waiting
//! for another thread.

use super::decider::{ChoiceKind, Decider, StepId, decorrelated};
use raddle_core::execution::ThreadId;
use raddle_core::random::Random;

/// Number of quiet steps after which a thread is assumed to wait for another one.
const READING_STEPS: u64 = 48;

/// Scheduler with random priorities.
pub(super) struct PctDecider {
    random: Random,
    /// By thread; the highest runs first. Drawn priorities are positive, lowered ones negative.
    priorities: Vec<i64>,
    /// Lowest priority assigned so far.
    lowest: i64,
    /// Steps at which the running thread drops to the lowest priority, in descending order.
    change_points: Vec<u64>,
    /// Reads that observe a stale write, in descending order.
    stale_reads: Vec<u64>,
    steps: u64,
    reads: u64,
    /// By thread: whether its stores stay in the buffer.
    delays_flushes: Vec<bool>,
    /// Whether the running thread drops to the lowest priority before the next step.
    must_yield: bool,
}

impl PctDecider {
    pub(super) fn new(seed: u64, depth: u32) -> Self {
        let mut random = decorrelated(seed);
        let exponents = if random.below(4) > 0 { 6 } else { 17 };
        let length = 1 << (3 + random.below(exponents));
        let points = |random: &mut Random| {
            let mut points: Vec<u64> =
                (1..depth.max(1)).map(|_| random.below(length) as u64).collect();
            points.sort_unstable_by(|one, other| other.cmp(one));
            points
        };
        let (change_points, stale_reads) = (points(&mut random), points(&mut random));
        PctDecider {
            random,
            priorities: vec![],
            lowest: 0,
            change_points,
            stale_reads,
            steps: 0,
            reads: 0,
            delays_flushes: vec![],
            must_yield: false,
        }
    }

    /// Returns the priority of a thread, which is drawn at the first call.
    fn priority(&mut self, thread: ThreadId) -> i64 {
        while self.priorities.len() <= thread.index() {
            self.priorities.push((self.random.bits() >> 1) as i64);
        }
        self.priorities[thread.index()]
    }

    fn drop_to_lowest(&mut self, thread: ThreadId) {
        self.lowest -= 1;
        self.priority(thread);
        self.priorities[thread.index()] = self.lowest;
    }

    fn highest(&mut self, ready: &[ThreadId]) -> ThreadId {
        let mut best = ready[0];
        for &thread in ready {
            if self.priority(thread) > self.priority(best) {
                best = thread;
            }
        }
        best
    }

    /// Counts a read and returns `true` if it is one of the stale ones.
    fn count_read(&mut self) -> bool {
        self.reads += 1;
        let is_stale = self.stale_reads.last() == Some(&(self.reads - 1));
        while self.stale_reads.last().is_some_and(|&at| at < self.reads) {
            self.stale_reads.pop();
        }
        is_stale
    }

    /// Returns `true` if the thread executes its op before its buffered stores reach memory.
    fn delays_flush(&mut self, thread: ThreadId) -> bool {
        let thread = thread.index();
        if self.delays_flushes.len() <= thread {
            self.delays_flushes.resize(thread + 1, false);
        }
        self.delays_flushes[thread] |= self.count_read();
        let flushes = self.random.below(4) == 0;
        self.must_yield |= flushes && self.delays_flushes[thread];
        self.delays_flushes[thread] && !flushes
    }
}

impl Decider for PctDecider {
    fn next_thread(&mut self, last: StepId, ready: &[ThreadId], quiet: u64) -> ThreadId {
        self.steps += 1;
        let may_be_waiting = quiet % READING_STEPS == READING_STEPS - 1;
        if may_be_waiting || std::mem::take(&mut self.must_yield) {
            self.drop_to_lowest(last.thread);
        }
        while self.change_points.last().is_some_and(|&at| at < self.steps) {
            self.change_points.pop();
            let highest = self.highest(ready);
            self.drop_to_lowest(highest);
        }
        self.highest(ready)
    }

    fn choose(&mut self, step: StepId, kind: ChoiceKind, options: usize) -> usize {
        match kind {
            ChoiceKind::Thread | ChoiceKind::ProgramChoice | ChoiceKind::FlushOrder => {
                self.random.below(options)
            }
            ChoiceKind::DelayFlush => usize::from(self.delays_flush(step.thread)),
            ChoiceKind::ReadFrom | ChoiceKind::InsertWrite | ChoiceKind::SpuriousFailure => {
                match self.count_read() {
                    true => 1 + self.random.below(options - 1),
                    false => 0,
                }
            }
        }
    }
}
