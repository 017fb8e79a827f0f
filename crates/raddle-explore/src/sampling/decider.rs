//! Nondeterministic choices of a run: which thread takes the next step, which write a read observes, and so on.
//!
//! Every choice has a *default*: the same thread continues, a read observes the newest write, a write becomes the last
//! of its location, a store reaches memory at once, no compare-exchange fails spuriously, the program takes its first
//! alternative. Any other decision is a [`Deviation`], identified by the step in which it is made. A run is determined
//! by its deviations, so it can be replayed, and shrunk by leaving deviations out.

use rustc_hash::FxHashMap;

use raddle_core::execution::ThreadId;
use raddle_core::random::Random;

/// Kind of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ChoiceKind {
    /// Thread that takes the next step.
    Thread,
    /// Write that a read observes: the number of newer ones that it may observe, too.
    ReadFrom,
    /// Position of a write in modification order: the number of existing writes it is placed before.
    InsertWrite,
    /// 1 if a weak compare-exchange fails although the value matches.
    SpuriousFailure,
    /// Alternative that the program takes.
    ProgramChoice,
    /// 0 if a buffered store of the thread reaches memory first; 1 if the thread executes its op with the store
    /// pending.
    DelayFlush,
    /// Which of the stores that may leave the buffer does.
    FlushOrder,
}

/// Step of a run in which a choice is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StepId {
    pub(super) thread: ThreadId,
    /// Number of steps the thread has taken so far.
    pub(super) index: u32,
}

/// Decision that differs from the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deviation {
    pub(super) step: StepId,
    pub(super) kind: ChoiceKind,
    /// Index of the thread for [`ChoiceKind::Thread`], otherwise index of the option.
    pub(super) decision: u32,
}

/// Policy that resolves the choices of a run.
pub(super) trait Decider {
    /// Returns the thread that takes the next step, out of at least two. `last` is the previous step; its thread may or
    /// may not be ready. `quiet` is the number of steps since anything changed.
    fn next_thread(&mut self, last: StepId, ready: &[ThreadId], quiet: u64) -> ThreadId;

    /// Returns the index of one of `options` options; `options` is at least 2, and 0 is the default.
    fn choose(&mut self, step: StepId, kind: ChoiceKind, options: usize) -> usize;
}

/// Default decision for [`ChoiceKind::Thread`]: the first ready thread in cyclic order from `last` on.
pub(super) fn default_thread(last: u32, ready: &[ThreadId]) -> ThreadId {
    let distance = |thread: &ThreadId| (thread.index() as u32).wrapping_sub(last);
    ready.iter().copied().min_by_key(distance).expect("a thread is ready")
}

/// Returns a generator whose numbers are not correlated with those of neighbouring seeds.
pub(super) fn decorrelated(seed: u64) -> Random {
    Random::new(Random::new(seed).bits())
}

/// Makes every choice randomly.
pub(super) struct RandomDecider {
    random: Random,
    /// Probability, in 256ths, of continuing with the same thread without drawing one.
    stay: u64,
    /// Probability, in 256ths, of delaying a flush.
    delay_flush: u64,
}

impl RandomDecider {
    /// Draws the switching rate and the buffer delay, which differ between seeds so that runs cover fast and slow
    /// interleavings.
    pub(super) fn new(seed: u64) -> Self {
        let mut random = decorrelated(seed);
        let stay = [0, 0, 128, 224][random.below(4)];
        let delay_flush = [64, 128, 224, 248][random.below(4)];
        RandomDecider { random, stay, delay_flush }
    }

    #[inline]
    fn below(&mut self, bound: usize) -> usize {
        ((u64::from(self.random.bits() as u32) * bound as u64) >> 32) as usize
    }

    /// Returns `true` with a probability in 256ths.
    #[inline]
    fn happens(&mut self, of_256: u64) -> bool {
        self.random.bits() & 255 < of_256
    }
}

impl Decider for RandomDecider {
    #[inline]
    fn next_thread(&mut self, last: StepId, ready: &[ThreadId], _: u64) -> ThreadId {
        if self.stay > 0 && self.happens(self.stay) && ready.contains(&last.thread) {
            return last.thread;
        }
        ready[self.below(ready.len())]
    }

    #[inline]
    fn choose(&mut self, _: StepId, kind: ChoiceKind, options: usize) -> usize {
        let default_of_256 = match kind {
            ChoiceKind::DelayFlush => return usize::from(self.happens(self.delay_flush)),
            ChoiceKind::ReadFrom => 96,
            ChoiceKind::InsertWrite => 192,
            ChoiceKind::SpuriousFailure => 208,
            ChoiceKind::Thread | ChoiceKind::ProgramChoice | ChoiceKind::FlushOrder => 0,
        };
        if default_of_256 > 0 && self.happens(default_of_256) { 0 } else { self.below(options) }
    }
}

/// Delegates every choice and records the deviations.
pub(super) struct RecordingDecider<'a> {
    pub(super) inner: &'a mut dyn Decider,
    pub(super) deviations: Vec<Deviation>,
}

impl Decider for RecordingDecider<'_> {
    fn next_thread(&mut self, last: StepId, ready: &[ThreadId], quiet: u64) -> ThreadId {
        let thread = self.inner.next_thread(last, ready, quiet);
        if thread != default_thread(last.thread.index() as u32, ready) {
            let decision = thread.index() as u32;
            self.deviations.push(Deviation { step: last, kind: ChoiceKind::Thread, decision });
        }
        thread
    }

    fn choose(&mut self, step: StepId, kind: ChoiceKind, options: usize) -> usize {
        let option = self.inner.choose(step, kind, options);
        if option != 0 {
            self.deviations.push(Deviation { step, kind, decision: option as u32 });
        }
        option
    }
}

/// Makes the default choice everywhere except for the given deviations.
pub(super) struct DeviationReplay(FxHashMap<(StepId, ChoiceKind), u32>);

impl DeviationReplay {
    /// Number of quiet steps after which the next thread gets its turn by default: a thread that only reads for long
    /// may be waiting for another one.
    const PATIENCE: u64 = 64;

    pub(super) fn new(deviations: &[Deviation]) -> Self {
        let entry = |it: &Deviation| ((it.step, it.kind), it.decision);
        DeviationReplay(deviations.iter().map(entry).collect())
    }
}

impl Decider for DeviationReplay {
    fn next_thread(&mut self, last: StepId, ready: &[ThreadId], quiet: u64) -> ThreadId {
        let wanted = self.0.get(&(last, ChoiceKind::Thread));
        let wanted = wanted.map(|&thread| ThreadId::new(thread as usize));
        let previous = last.thread.index() as u32;
        match wanted.filter(|thread| ready.contains(thread)) {
            Some(thread) => thread,
            None if quiet % Self::PATIENCE == Self::PATIENCE - 1 => {
                default_thread(previous.wrapping_add(1), ready)
            }
            None => default_thread(previous, ready),
        }
    }

    fn choose(&mut self, step: StepId, kind: ChoiceKind, options: usize) -> usize {
        self.0.get(&(step, kind)).map_or(0, |&option| (option as usize).min(options - 1))
    }
}
