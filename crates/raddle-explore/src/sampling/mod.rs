//! Random testing: samples executions, one run at a time, where exhaustive exploration is out of reach.
//!
//! *Problem.* A program with 10^30 execution classes cannot be explored, but it can be run. A run should cost no more
//! than its events, use memory independent of its length, and still behave as the memory model allows, not as the
//! machine below happens to.
//!
//! *Idea.* Threads execute forwards only ([`Live`](raddle_core::program::Live)). An operational machine of the model
//! (`machine`) offers what a read may observe, and a decider chooses. [`Strategy::Random`] chooses randomly;
//! [`Strategy::Pct`] uses thread priorities that change at few points, and lets few reads observe stale writes (`pct`).
//! Every execution produced is one of the model. Every execution of a small program is produced with positive
//! probability, except for the limits that `views` and `store_buffers` document.
//!
//! A failing run is repeated with its seed and recorded; then it is shrunk (`shrink`) and reported as a trace like
//! those of the exhaustive explorers. If no run fails, nothing is proved: the extent is [`Extent::Sampled`], never
//! `All`.
//!
//! *Paper.* Section 5.2 of Tunç, Abdulla, Chakraborty, Krishna, Mathur, Pavlogiannis, PLDI 2023, in the setting of
//! C11Tester (Luo, Demsky, ASPLOS 2021). *Difference:* a write is placed in modification order when it is executed.
//!
//! *Fairness.* Random scheduling is fair. If nothing has changed for a while, reads observe the newest writes. If
//! nothing changes for longer, the run is repeated and recorded: it is a livelock if every thread repeats a loop that
//! only reads, with the newest writes. Otherwise the run continues with more patience, and is cut in the end.

mod accesses;
mod clock;
mod decider;
mod event;
mod log;
mod machine;
mod pct;
mod run;
mod shrink;
mod store_buffers;
mod threads;
mod unordered_sc;
mod views;

use std::time::Instant;

use crate::driver::{self, Restart};
use crate::{Control, Extent, Leaf, Limits, Summary, Visitor};
use decider::{Decider, Deviation, DeviationReplay, RandomDecider, RecordingDecider};
use log::EventLog;
use machine::MemoryMachine;
use pct::PctDecider;
use raddle_core::execution::ThreadId;
use raddle_core::model::Model;
use raddle_core::outcome::FindingKind;
use raddle_core::program::{Failure, LocalHistories, PlaceId, Program};
use raddle_core::trace::{Ending, Trace};
use run::{RunLimits, RunStop, SampleRun};
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};
use shrink::{Sample, shrink};
use store_buffers::StoreBufferMachine;
use threads::{HistoryThreads, LiveThreads, ThreadRunner};
use unordered_sc::UnorderedScPolicy;
use views::ViewMachine;

/// Maximal number of events of a run that is recorded. A longer failing run is reported without a trace.
pub const MAX_RECORDED_EVENTS: u32 = 100_000;

/// Number of steps without a change after which a livelock is suspected: at the first attempt, and at the second.
const PATIENCE: [u64; 2] = [20_000, 2_000_000];

/// How the choices of a run are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Randomly.
    Random,
    /// By random thread priorities that change at few points.
    Pct,
}

/// Options of random testing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Sampling {
    /// Maximal number of runs.
    pub iterations: u64,
    /// Seed of the first run. The seeds of further runs are derived from it.
    pub seed: u64,
    /// Bug depth of [`Strategy::Pct`]: the number of ordering constraints that a bug needs, at most.
    pub depth: u32,
    /// Maximal number of events of a run.
    pub max_events: u32,
    /// Whether the visitor sees every run; then every run is recorded. Otherwise it sees only those with a bug.
    pub visit_all: bool,
}

impl Default for Sampling {
    fn default() -> Self {
        Sampling {
            iterations: 10_000,
            seed: 0,
            depth: 3,
            max_events: u32::MAX - 1,
            visit_all: false,
        }
    }
}

impl Sampling {
    /// Returns the seed of a run, counted from 0.
    #[must_use]
    pub fn seed_of(&self, run: u64) -> u64 {
        // The factor is odd, so the seeds are distinct.
        self.seed.wrapping_add(run.wrapping_mul(0xd134_2543_de82_ef95))
    }

    /// Returns the options that repeat a single run.
    #[must_use]
    pub fn only(&self, run: u64) -> Self {
        Sampling { seed: self.seed_of(run), iterations: 1, ..*self }
    }
}

/// Samples executions of a program under a model. The summary counts runs instead of execution classes.
pub fn explore(
    program: &mut dyn Program,
    model: Model,
    strategy: Strategy,
    sampling: &Sampling,
    limits: &Limits,
    visitor: &mut dyn Visitor,
) -> Summary {
    if model.has_store_buffers() {
        Sampler::<StoreBufferMachine>::new(program, model, strategy, sampling, limits)
            .explore(visitor)
    } else {
        Sampler::<ViewMachine>::new(program, model, strategy, sampling, limits).explore(visitor)
    }
}

/// Sample, as the visitor sees it.
struct SampleLeaf<'a>(&'a Sample);

impl Leaf for SampleLeaf<'_> {
    fn ending(&self) -> &Ending {
        &self.0.ending
    }

    fn trace(&self) -> Trace {
        self.0.trace.clone()
    }
}

/// Run with what was recorded of it.
struct RecordedRun {
    stop: RunStop,
    /// Empty if the run was not recorded.
    sample: Sample,
    deviations: Vec<Deviation>,
    /// Whether it left sequentially consistent events unordered.
    is_sc_unordered: bool,
}

impl RecordedRun {
    fn new(stop: RunStop, sample: Sample) -> Self {
        RecordedRun { stop, sample, deviations: vec![], is_sc_unordered: false }
    }
}

struct Sampler<'a, M> {
    program: &'a mut dyn Program,
    /// Local histories of the recorded runs.
    histories: LocalHistories,
    machine: M,
    model: Model,
    strategy: Strategy,
    sampling: Sampling,
    limits: Limits,
    unordered_sc: UnorderedScPolicy,
    summary: Summary,
}

impl<'a, M: MemoryMachine> Sampler<'a, M> {
    fn new(
        program: &'a mut dyn Program,
        model: Model,
        strategy: Strategy,
        sampling: &Sampling,
        limits: &Limits,
    ) -> Self {
        Sampler {
            program,
            histories: LocalHistories::new(),
            machine: M::new(model),
            model,
            strategy,
            sampling: *sampling,
            limits: *limits,
            unordered_sc: UnorderedScPolicy::default(),
            summary: Summary {
                symmetry: None,
                extent: Extent::Sampled,
                classes: 0,
                blocked: 0,
                histories: 0,
                cut: None,
            },
        }
    }

    fn explore(mut self, visitor: &mut dyn Visitor) -> Summary {
        for run in 0..self.sampling.iterations {
            if let Some(extent) = self.iterate(run, visitor) {
                self.summary.extent = extent;
                break;
            }
            if self.limits.classes.is_some_and(|most| self.summary.classes >= most) {
                self.summary.extent = Extent::Classes;
                break;
            }
        }
        self.summary.histories = self.histories.len() as u64;
        self.summary
    }

    /// Performs one run. Returns the extent if it is the last one.
    fn iterate(&mut self, run: u64, visitor: &mut dyn Visitor) -> Option<Extent> {
        if self.limits.deadline.is_some_and(|end| Instant::now() >= end) {
            return Some(Extent::Deadline);
        }
        let seed = self.sampling.seed_of(run);
        let run = self.record_unordered(seed).unwrap_or_else(|| self.run_ordinary(seed));
        if self.program.needs_restart() {
            return Some(Extent::Stopped);
        }
        match run.stop {
            RunStop::Deadline => return Some(Extent::Deadline),
            RunStop::Unsupported(why) => return Some(Extent::Unsupported(why)),
            RunStop::Ending(Ending::Blocked) => self.summary.blocked += 1,
            RunStop::Ending(_) | RunStop::SuspectedLivelock => self.summary.classes += 1,
        }
        match run.stop {
            RunStop::Ending(ref ending) if self.sampling.visit_all || ending.is_bug() => {
                self.visit(run, visitor)
            }
            _ => None,
        }
    }

    /// Performs the run with this seed, and records it if it has a bug or if all runs are visited.
    fn run_ordinary(&mut self, seed: u64) -> RecordedRun {
        if self.sampling.visit_all || self.program.live().is_none() {
            let run = self.record(seed, PATIENCE[1], MAX_RECORDED_EVENTS);
            self.unordered_sc.record_ordinary_run(run.sample.trace.events.len() as u32);
            return run;
        }
        let (stop, events) = self.run_live(seed);
        self.unordered_sc.record_ordinary_run(events);
        match stop {
            RunStop::Ending(ending) if ending.is_bug() => self.record_bug(seed, ending, events),
            stop => RecordedRun::new(stop, Sample::default()),
        }
    }

    /// Shows a run to the visitor. If the visitor stops at a bug, the run is shrunk and the result shown.
    fn visit(&mut self, run: RecordedRun, visitor: &mut dyn Visitor) -> Option<Extent> {
        let RecordedRun { sample, deviations, is_sc_unordered, .. } = run;
        if visitor.visit(&SampleLeaf(&sample)) == Control::Continue {
            return None;
        }
        if sample.ending.is_bug() && !deviations.is_empty() {
            let mut replay = |some: &[Deviation]| self.replay(some, is_sc_unordered);
            let smaller = shrink(deviations, sample.clone(), &mut replay);
            if smaller.trace != sample.trace {
                visitor.visit(&SampleLeaf(&smaller));
            }
        }
        Some(Extent::Stopped)
    }

    /// Creates the decider of the run with this seed.
    fn decider(&self, seed: u64) -> Box<dyn Decider> {
        match self.strategy {
            Strategy::Random => Box::new(RandomDecider::new(seed)),
            Strategy::Pct => Box::new(PctDecider::new(seed, self.sampling.depth)),
        }
    }

    fn run_limits(&self, patience: u64, events: u32) -> RunLimits {
        let events = events.min(self.sampling.max_events);
        RunLimits { events, patience, deadline: self.limits.deadline }
    }

    /// Performs the run with this seed without recording it. Returns why it stopped, and its number of events. A
    /// suspected livelock is confirmed by a recorded run.
    fn run_live(&mut self, seed: u64) -> (RunStop, u32) {
        let mut result = (RunStop::SuspectedLivelock, 0);
        for patience in PATIENCE {
            let limits = self.run_limits(patience, u32::MAX);
            result = self.run_live_within(limits, seed);
            if result.0 != RunStop::SuspectedLivelock {
                return result;
            }
            if result.1 < MAX_RECORDED_EVENTS {
                let recorded = self.record(seed, patience, MAX_RECORDED_EVENTS);
                if recorded.sample.ending.is_bug() {
                    return (recorded.stop, result.1);
                }
            }
        }
        result
    }

    /// The loop is compiled for each decider, except in builds without optimization.
    fn run_live_within(&mut self, limits: RunLimits, seed: u64) -> (RunStop, u32) {
        if cfg!(unoptimized) {
            return driver::drive(|_| {
                let mut decider = self.decider(seed);
                let live = self.program.live().expect("the caller has checked that there is one");
                let threads: &mut dyn ThreadRunner = &mut LiveThreads { live };
                run_once(threads, &mut self.machine, &mut *decider, limits)
            });
        }
        match self.strategy {
            Strategy::Random => self.run_live_with(limits, || RandomDecider::new(seed)),
            Strategy::Pct => {
                let depth = self.sampling.depth;
                self.run_live_with(limits, || PctDecider::new(seed, depth))
            }
        }
    }

    fn run_live_with<D: Decider>(
        &mut self,
        limits: RunLimits,
        decider: impl Fn() -> D,
    ) -> (RunStop, u32) {
        driver::drive(|_| {
            let live = self.program.live().expect("the caller has checked that there is one");
            run_once(&mut LiveThreads { live }, &mut self.machine, &mut decider(), limits)
        })
    }

    /// Performs and records the run with this seed, up to a number of events.
    fn record(&mut self, seed: u64, patience: u64, events: u32) -> RecordedRun {
        driver::drive(|_| {
            let mut decider = self.decider(seed);
            let mut recording = RecordingDecider { inner: &mut *decider, deviations: vec![] };
            let limits = self.run_limits(patience, events);
            let (stop, sample, _) = self.record_with(&mut recording, limits)?;
            let deviations = recording.deviations;
            Ok(RecordedRun { deviations, ..RecordedRun::new(stop, sample) })
        })
    }

    /// Performs the run with these deviations from the default schedule. Returns the sample, if the run comes to an end
    /// that the model allows, and the number of events.
    fn replay(&mut self, deviations: &[Deviation], is_sc_unordered: bool) -> (Option<Sample>, u32) {
        let limits = self.run_limits(PATIENCE[0], MAX_RECORDED_EVENTS);
        self.machine.set_sc_unordered(is_sc_unordered);
        let recorded = self.record_with(&mut DeviationReplay::new(deviations), limits);
        self.machine.set_sc_unordered(false);
        match recorded {
            Ok((RunStop::Ending(_), sample, events)) => {
                let is_allowed = !is_sc_unordered || self.is_allowed(&sample.trace);
                (is_allowed.then_some(sample), events)
            }
            Ok((_, _, events)) => (None, events),
            Err(_) => (None, MAX_RECORDED_EVENTS),
        }
    }

    /// Performs and records a run. Returns why it stopped, the sample and the number of events. Fails if the machine
    /// must repeat the run.
    fn record_with(
        &mut self,
        decider: &mut dyn Decider,
        limits: RunLimits,
    ) -> Result<(RunStop, Sample, u32), Restart> {
        let mut threads = HistoryThreads::new(&mut *self.program, &mut self.histories);
        let log = Some(EventLog::default());
        let threads = &mut threads;
        #[cfg(unoptimized)]
        let threads: &mut dyn ThreadRunner = threads;
        let mut run = SampleRun::new(threads, &mut self.machine, decider, limits, log);
        let stop = run.run()?;
        let ending = match &stop {
            RunStop::Ending(ending) => ending.clone(),
            _ => Ending::Limit(ThreadId::new(0)),
        };
        let (ending, trace) = run.trace(ending);
        let events = run.events;
        Ok((stop, Sample { ending, trace }, events))
    }

    /// Repeats and records the run with this seed, which had a bug, unless it is too long.
    fn record_bug(&mut self, seed: u64, ending: Ending, events: u32) -> RecordedRun {
        if events > MAX_RECORDED_EVENTS {
            let told = without_trace(ending.clone(), events);
            let sample = Sample { ending: told, trace: Trace::default() };
            return RecordedRun::new(RunStop::Ending(ending), sample);
        }
        let run = self.record(seed, PATIENCE[1], MAX_RECORDED_EVENTS);
        if run.sample.ending.is_bug() || run.stop == RunStop::Deadline {
            return run;
        }
        let message = "a run failed, but did not when it was repeated with the same seed: \
                       the program depends on something other than what its threads read \
                       (time, randomness, uninitialised memory); make it deterministic";
        let sample = Sample {
            ending: failure(FindingKind::Nondeterminism, message.to_owned()),
            trace: run.sample.trace,
        };
        RecordedRun::new(RunStop::Ending(sample.ending.clone()), sample)
    }
}

/// Performs a run that is not recorded. Returns why it stopped, and its number of events.
fn run_once<M: MemoryMachine, T: ThreadRunner + ?Sized, D: Decider + ?Sized>(
    threads: &mut T,
    machine: &mut M,
    decider: &mut D,
    limits: RunLimits,
) -> Result<(RunStop, u32), Restart> {
    let mut run = SampleRun::new(threads, machine, decider, limits, None);
    let stop = run.run()?;
    Ok((stop, run.events))
}

/// Returns the ending to report for a run that is too long to be recorded: as a message, since its events are unknown.
fn without_trace(ending: Ending, events: u32) -> Ending {
    let (kind, what) = match ending {
        Ending::Failed(..) => return ending,
        Ending::Race(..) => (FindingKind::Race, "data race"),
        Ending::Deadlock(_) => (FindingKind::Deadlock, "deadlock"),
        _ => (FindingKind::Livelock, "livelock"),
    };
    let message = format!(
        "{what} in a run of {events} events, which is too long to show (at most \
         {MAX_RECORDED_EVENTS} events are recorded); reproduce it with a smaller test"
    );
    failure(kind, message)
}

fn failure(kind: FindingKind, message: String) -> Ending {
    Ending::Failed(ThreadId::new(0), Failure { kind, message, place: PlaceId::default() })
}
