//! Online testing: one run after the other, by chance, where exploring everything is too much.
//!
//! *Problem.* A program with 10^30 classes is not explored; but it can be run. A run should cost what its events cost, and no
//! more memory at its end than in its beginning, and still behave as the memory model allows, not as the machine of
//! the day does.
//!
//! *Idea.* Threads run forwards only ([`Live`](raddle_core::program::Live)); a machine of the model says what a read may
//! observe; somebody decides. [`Strategy::Random`] decides by chance; [`Strategy::Pct`] gives threads priorities that change at
//! few moments, and lets few reads observe old writes (`pct.rs`). Every execution that is produced is one of the model.
//! All of a small program are produced sooner or later, but for what `views` and `buffers` say.
//!
//! A run that goes wrong is made again from its seed, this time remembering what happens; it is shrunk, and becomes a
//! trace like any that explorers find. If no run goes wrong, that proves nothing: the extent is
//! [`Extent::Sampled`], never `All`.
//!
//! *Paper.* Section 5.2 of Tunç, Abdulla, Chakraborty, Krishna, Mathur, Pavlogiannis, PLDI 2023; the setting is that of
//! C11Tester (Luo, Demsky, ASPLOS 2021). We differ in that a write is placed in modification order at once.
//!
//! *Fairness.* Chance is fair. If nothing has changed for long, reads observe the newest writes. If nothing
//! changes for longer, the run is made again, remembered: where every thread goes round in a loop that only reads, with the
//! newest writes, it is a livelock; otherwise the run goes on with more patience, and in the end is cut.

mod accesses;
mod buffers;
mod clock;
mod decide;
mod log;
mod machine;
mod open;
mod pct;
mod run;
mod shrink;
mod threads;
mod views;

use std::time::Instant;

use super::{Control, Extent, Leaf, Limits, Summary, Visitor};
use buffers::Buffers;
use decide::{Chance, Decide, Departing, Departure, Recording};
use machine::Machine;
use open::Opens;
use pct::Pct;
use raddle_core::execution::ThreadId;
use raddle_core::model::Model;
use raddle_core::outcome::FindingKind;
use raddle_core::program::{Failure, LocalHistories, PlaceId, Program};
use raddle_core::trace::{Ending, Trace};
use run::{Reach, Run, Stop};
use shrink::{Wrong, shrink};
use threads::{Forward, Remembered};
use views::Views;

/// Runs with more events are not remembered: it is only said that they go wrong.
pub const KEPT: u32 = 100_000;

/// For how many steps nothing may change before threads are suspected of going round for ever: the first time, and
/// the last.
const PATIENCE: [u64; 2] = [20_000, 2_000_000];

/// How runs differ from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Everything by chance.
    Random,
    /// Priorities that change at few moments.
    Pct,
}

/// How many runs, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sampling {
    /// At most so many runs.
    pub iterations: u64,
    /// The first run has this seed, the next one another that follows from it.
    pub seed: u64,
    /// For [`Strategy::Pct`]: how many things must come together for an error, at most.
    pub depth: u32,
    /// At most so many events in a run.
    pub events: u32,
    /// Whether the visitor is shown all runs. Otherwise only those that go wrong, and runs remember nothing.
    pub shows_all: bool,
}

impl Default for Sampling {
    fn default() -> Self {
        Sampling { iterations: 10_000, seed: 0, depth: 3, events: u32::MAX - 1, shows_all: false }
    }
}

impl Sampling {
    /// The seed of a run.
    #[must_use]
    pub fn seed_of(&self, run: u64) -> u64 {
        // Odd, so all are different.
        self.seed.wrapping_add(run.wrapping_mul(0xd134_2543_de82_ef95))
    }

    /// The sampling whose first run is this run.
    #[must_use]
    pub fn only(&self, run: u64) -> Self {
        Sampling { seed: self.seed_of(run), iterations: 1, ..*self }
    }
}

/// Runs a program again and again.
pub fn explore(
    program: &mut dyn Program,
    model: Model,
    strategy: Strategy,
    sampling: &Sampling,
    limits: &Limits,
    visitor: &mut dyn Visitor,
) -> Summary {
    if model.has_store_buffers() {
        Sampler::<Buffers>::new(program, model, strategy, sampling, limits).explore(visitor)
    } else {
        Sampler::<Views>::new(program, model, strategy, sampling, limits).explore(visitor)
    }
}

/// A run that is told.
struct Told<'a>(&'a Wrong);

impl Leaf for Told<'_> {
    fn ending(&self) -> &Ending {
        &self.0.ending
    }

    fn trace(&self) -> Trace {
        self.0.trace.clone()
    }
}

/// A run that was remembered.
struct Kept {
    stop: Stop,
    wrong: Wrong,
    departures: Vec<Departure>,
    /// Whether it left the order of sequentially consistent events open.
    is_open: bool,
}

impl Kept {
    fn new(stop: Stop, wrong: Wrong) -> Self {
        Kept { stop, wrong, departures: vec![], is_open: false }
    }
}

struct Sampler<'a, M> {
    program: &'a mut dyn Program,
    /// Of the runs that were remembered.
    histories: LocalHistories,
    machine: M,
    model: Model,
    strategy: Strategy,
    sampling: Sampling,
    limits: Limits,
    /// When the order of sequentially consistent events is left open.
    opens: Opens,
    summary: Summary,
}

impl<'a, M: Machine> Sampler<'a, M> {
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
            opens: Opens::default(),
            summary: Summary { extent: Extent::Sampled, classes: 0, blocked: 0, histories: 0 },
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

    /// One run. Why it is the last one, if it is.
    fn iterate(&mut self, run: u64, visitor: &mut dyn Visitor) -> Option<Extent> {
        if self.limits.deadline.is_some_and(|end| Instant::now() >= end) {
            return Some(Extent::Deadline);
        }
        let seed = self.sampling.seed_of(run);
        let kept = self.keep_open(seed).unwrap_or_else(|| self.run_usual(seed));
        if self.program.must_restart() {
            return Some(Extent::Stopped);
        }
        match kept.stop {
            Stop::Deadline => return Some(Extent::Deadline),
            Stop::Unsupported(why) => return Some(Extent::Unsupported(why)),
            Stop::Ending(Ending::Blocked) => self.summary.blocked += 1,
            Stop::Ending(_) | Stop::Suspicion => self.summary.classes += 1,
        }
        match kept.stop {
            Stop::Ending(ref ending) if self.sampling.shows_all || ending.is_bug() => {
                self.tell(kept, visitor)
            }
            _ => None,
        }
    }

    /// The run with this seed.
    fn run_usual(&mut self, seed: u64) -> Kept {
        if self.sampling.shows_all || self.program.live().is_none() {
            let kept = self.keep(seed, PATIENCE[1], KEPT);
            self.opens.note_usual(kept.wrong.trace.events.len() as u32);
            return kept;
        }
        let (stop, events) = self.run_forward(seed);
        self.opens.note_usual(events);
        match stop {
            Stop::Ending(ending) if ending.is_bug() => self.keep_wrong(seed, ending, events),
            stop => Kept::new(stop, Wrong::default()),
        }
    }

    /// Shows a run to the visitor. If that wants no other one, it is shrunk and shown again.
    fn tell(&mut self, kept: Kept, visitor: &mut dyn Visitor) -> Option<Extent> {
        let Kept { wrong, departures, is_open, .. } = kept;
        if visitor.visit(&Told(&wrong)) == Control::Continue {
            return None;
        }
        if wrong.ending.is_bug() && !departures.is_empty() {
            let mut again = |some: &[Departure]| self.run_again(some, is_open);
            let smaller = shrink(departures, wrong.clone(), &mut again);
            if smaller.trace != wrong.trace {
                visitor.visit(&Told(&smaller));
            }
        }
        Some(Extent::Stopped)
    }

    /// Whoever decides in the run with this seed.
    fn decider(&self, seed: u64) -> Box<dyn Decide> {
        match self.strategy {
            Strategy::Random => Box::new(Chance::new(seed)),
            Strategy::Pct => Box::new(Pct::new(seed, self.sampling.depth)),
        }
    }

    fn reach(&self, patience: u64, events: u32) -> Reach {
        let events = events.min(self.sampling.events);
        Reach { events, patience, deadline: self.limits.deadline }
    }

    /// The run with this seed, forwards. How it ended, and how many events it has.
    fn run_forward(&mut self, seed: u64) -> (Stop, u32) {
        let mut ran = (Stop::Suspicion, 0);
        for patience in PATIENCE {
            let reach = self.reach(patience, u32::MAX);
            ran = match self.strategy {
                Strategy::Random => self.forward(reach, || Chance::new(seed)),
                Strategy::Pct => {
                    let depth = self.sampling.depth;
                    self.forward(reach, || Pct::new(seed, depth))
                }
            };
            if ran.0 != Stop::Suspicion {
                return ran;
            }
            if ran.1 < KEPT {
                let again = self.keep(seed, patience, KEPT);
                if again.wrong.ending.is_bug() {
                    return (again.stop, ran.1);
                }
            }
        }
        ran
    }

    /// The run that somebody decides, forwards.
    fn forward<D: Decide>(&mut self, reach: Reach, decider: impl Fn() -> D) -> (Stop, u32) {
        loop {
            let live = self.program.live().expect("it was asked before");
            let (mut threads, mut decider) = (Forward { live }, decider());
            let mut run = Run::new(&mut threads, &mut self.machine, &mut decider, reach, false);
            if let Some(stop) = run.run() {
                return (stop, run.events);
            }
        }
    }

    /// The run with this seed, remembered; at most so many events of it.
    fn keep(&mut self, seed: u64, patience: u64, events: u32) -> Kept {
        let mut decider = self.decider(seed);
        loop {
            let mut recording = Recording { by: &mut *decider, departures: vec![] };
            let reach = self.reach(patience, events);
            if let Some((stop, wrong, _)) = self.run_remembered(&mut recording, reach) {
                let departures = recording.departures;
                return Kept { departures, ..Kept::new(stop, wrong) };
            }
            decider = self.decider(seed);
        }
    }

    /// A run that is the default but for some departures, if it comes to an end; and how many events it took.
    fn run_again(&mut self, departures: &[Departure], is_open: bool) -> (Option<Wrong>, u32) {
        let reach = self.reach(PATIENCE[0], KEPT);
        self.machine.set_open(is_open);
        let ran = self.run_remembered(&mut Departing::new(departures), reach);
        self.machine.set_open(false);
        match ran {
            Some((Stop::Ending(_), wrong, events)) => {
                let is_allowed = !is_open || self.is_allowed(&wrong.trace);
                (is_allowed.then_some(wrong), events)
            }
            Some((_, _, events)) => (None, events),
            None => (None, KEPT),
        }
    }

    /// A run that is remembered. None: the machine has to start again.
    fn run_remembered(
        &mut self,
        decide: &mut dyn Decide,
        reach: Reach,
    ) -> Option<(Stop, Wrong, u32)> {
        let mut threads = Remembered::new(&mut *self.program, &mut self.histories);
        let mut run = Run::new(&mut threads, &mut self.machine, decide, reach, true);
        let stop = run.run()?;
        let ending = match &stop {
            Stop::Ending(ending) => ending.clone(),
            _ => Ending::Limit(ThreadId::new(0)),
        };
        let (ending, trace) = run.trace(ending);
        let events = run.events;
        Some((stop, Wrong { ending, trace }, events))
    }

    /// The run with this seed, which ended so after so many events, remembered if it is not too long.
    fn keep_wrong(&mut self, seed: u64, ending: Ending, events: u32) -> Kept {
        if events > KEPT {
            let wrong = Wrong { ending: too_long(ending.clone(), events), trace: Trace::default() };
            return Kept::new(Stop::Ending(ending), wrong);
        }
        let kept = self.keep(seed, PATIENCE[1], KEPT);
        if kept.wrong.ending.is_bug() || kept.stop == Stop::Deadline {
            return kept;
        }
        let message = "the run went wrong, and did not when it was made again with the same seed: \
                       the program does not only depend on what its threads read";
        let wrong = Wrong {
            ending: failure(FindingKind::Nondeterminism, message.to_owned()),
            trace: kept.wrong.trace,
        };
        Kept::new(Stop::Ending(wrong.ending.clone()), wrong)
    }
}

/// The ending of a run that is too long to be kept, without references to its trace.
fn too_long(ending: Ending, events: u32) -> Ending {
    let (kind, what) = match ending {
        Ending::Failed(..) => return ending,
        Ending::Race(..) => (FindingKind::Race, "a data race"),
        Ending::Deadlock(_) => (FindingKind::Deadlock, "a deadlock"),
        _ => (FindingKind::Livelock, "a livelock"),
    };
    let message = format!("{what}, in a run of {events} events: too many to be shown");
    failure(kind, message)
}

fn failure(kind: FindingKind, message: String) -> Ending {
    Ending::Failed(ThreadId::new(0), Failure { kind, message, place: PlaceId::default() })
}
