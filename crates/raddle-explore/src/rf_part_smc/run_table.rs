//! The runs of threads between two questions that need a decision (`runs.rs`).

use rustc_hash::FxHashMap;

use super::history_cache::ValueId;
use super::quiet_table::QuietWrite;
use crate::model::QuietStep;
use raddle_core::execution::LocationId;
use raddle_core::model::orders::{StoreBuffers, StoreEffect};
use raddle_core::program::{HistoryId, Origin};

/// The values of quiet locations that a thread knows.
pub(super) type KnownValues = FxHashMap<LocationId, ValueId>;

/// A step of a run.
#[derive(Clone, Copy)]
pub(super) enum RunStep {
    /// An effect that is performed as it is: an index of the effects of the history cache.
    Effect(u32, Origin),
    /// Reads a quiet location, without asking.
    Read(LocationId),
    /// Writes a quiet location.
    Write(LocationId, QuietWrite),
    /// What accesses of quiet locations mean for the model.
    Model(QuietStep),
    /// All stores so far reach memory before later ones.
    Flush,
}

/// A run, in the tables of [`RunTable`].
#[derive(Clone, Copy)]
pub(super) struct QuietRun {
    /// The range of its steps.
    pub(super) steps: (u32, u32),
    /// The range of its histories.
    pub(super) histories: (u32, u32),
    /// How many events it has at most.
    pub(super) events: u32,
    /// How many ops it has.
    pub(super) ops: u32,
    /// The history that follows, if its segment is not part of the run.
    pub(super) next: Option<HistoryId>,
}

/// A history of a run, and how many events of the run come before it.
pub(super) type RunHistory = (HistoryId, u32);

/// A run that is being made.
#[derive(Default)]
pub(super) struct RunBuilder {
    pub(super) steps: Vec<RunStep>,
    pub(super) histories: Vec<RunHistory>,
    pub(super) events: u32,
    pub(super) ops: u32,
    pub(super) known: KnownValues,
    /// Since the last event: the accesses.
    accesses: AccessList,
    /// Since the last flush after the last event, if there was one: the accesses, which are not steps yet.
    later: Option<AccessList>,
    /// Since the last event: the step for the model.
    for_model: Option<usize>,
}

/// Accesses of quiet locations, at most one of each.
#[derive(Default)]
struct AccessList {
    steps: Vec<RunStep>,
    /// By location: the step that accesses it.
    at: FxHashMap<LocationId, usize>,
}

impl AccessList {
    /// Adds a read or a write. Of several accesses of a location, the last write remains, or else a read.
    fn add(&mut self, location: LocationId, step: RunStep) {
        match self.at.get(&location) {
            Some(&at) if matches!(step, RunStep::Write(..)) => self.steps[at] = step,
            Some(_) => {}
            None => {
                self.at.insert(location, self.steps.len());
                self.steps.push(step);
            }
        }
    }

    /// Adds all accesses of another list, which come later, and empties that.
    fn add_all(&mut self, later: &mut AccessList) {
        for step in later.steps.drain(..) {
            if let RunStep::Read(location) | RunStep::Write(location, _) = step {
                self.add(location, step);
            }
        }
        later.at.clear();
    }
}

/// Whether one step for the model includes the other: the larger one does.
fn strength(step: QuietStep) -> u8 {
    match step {
        QuietStep::Load => 0,
        QuietStep::Store(order) => match StoreBuffers::PerLocation.store(order) {
            StoreEffect::Buffered => 1,
            StoreEffect::BufferedBehindFence => 2,
            StoreEffect::AtOnce => 3,
        },
        QuietStep::Update => 3,
    }
}

impl RunBuilder {
    /// Begins a run of a thread that knows these values.
    pub(super) fn with_known(known: KnownValues) -> Self {
        RunBuilder { known, ..RunBuilder::default() }
    }

    /// What follows is not merged with what comes before.
    pub(super) fn separate(&mut self) {
        self.steps.append(&mut self.accesses.steps);
        self.accesses.at.clear();
        if let Some(mut later) = self.later.take() {
            self.steps.push(RunStep::Flush);
            self.steps.append(&mut later.steps);
        }
        self.for_model = None;
    }

    pub(super) fn push_model_step(&mut self, step: QuietStep) {
        match self.for_model {
            None => {
                self.for_model = Some(self.steps.len());
                self.steps.push(RunStep::Model(step));
            }
            Some(at) => {
                if let RunStep::Model(old) = &mut self.steps[at]
                    && strength(*old) < strength(step)
                {
                    *old = step;
                }
            }
        }
    }

    pub(super) fn read(&mut self, location: LocationId) {
        self.add(location, RunStep::Read(location));
    }

    fn add(&mut self, location: LocationId, step: RunStep) {
        self.later.as_mut().unwrap_or(&mut self.accesses).add(location, step);
    }

    pub(super) fn write(&mut self, location: LocationId, write: QuietWrite) {
        self.add(location, RunStep::Write(location, write));
        if write.carries {
            self.known.remove(&location);
        } else {
            self.known.insert(location, write.value);
        }
    }

    /// The accesses so far reach memory before later ones.
    pub(super) fn flush(&mut self) {
        self.accesses.add_all(self.later.get_or_insert_default());
    }
}

/// All runs that were made.
#[derive(Default)]
pub(super) struct RunTable {
    /// By the history with which they begin.
    runs: FxHashMap<HistoryId, QuietRun>,
    /// The steps of all runs.
    pub(super) steps: Vec<RunStep>,
    /// The histories of all runs.
    pub(super) histories: Vec<RunHistory>,
}

impl RunTable {
    /// The run that begins with a history, if it was made.
    #[inline]
    pub(super) fn get(&self, history: HistoryId) -> Option<QuietRun> {
        self.runs.get(&history).copied()
    }

    /// Adds the run that begins with a history.
    pub(super) fn add(
        &mut self,
        history: HistoryId,
        builder: &RunBuilder,
        next: Option<HistoryId>,
    ) -> QuietRun {
        let first = (self.steps.len() as u32, self.histories.len() as u32);
        self.steps.extend_from_slice(&builder.steps);
        self.histories.extend_from_slice(&builder.histories);
        let last = (self.steps.len() as u32, self.histories.len() as u32);
        let (steps, histories) = ((first.0, last.0), (first.1, last.1));
        let RunBuilder { events, ops, .. } = *builder;
        let run = QuietRun { steps, histories, events, ops, next };
        self.runs.insert(history, run);
        run
    }
}
