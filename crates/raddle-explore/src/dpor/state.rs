//! The machine that an explorer steps: threads, store buffers, memory, and how to take a step back.
//!
//! A *process* is a thread, or what moves stores from a store buffer to memory: one for each thread under
//! TSO, one for each thread and location under PSO, none under SC. A *step* of a thread is one op that
//! somebody may notice, and then all that nobody notices: stores that enter the buffer, fences that have
//! nothing to wait for, spawns. Every step is an event; its id is its position in the execution.
//!
//! Happens-before is kept as rows of bits, one for each event, instead of vector clocks: joining two
//! clocks is an `or`, and which events do not depend on another one is a test of one bit each.

use super::footprint::{Footprint, NONE};
use crate::event_set::EventSet;
use raddle_core::execution::{LocationId, Value};
use raddle_core::model::Model;
use raddle_core::model::orders::StoreBuffers;
use raddle_core::program::{End, HistoryId, LocalHistories, Op, Origin, Program};

/// What a thread does next, as far as others notice it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// It was not started.
    Absent,
    /// It has come to its end.
    Ended,
    /// A store that is in memory at once.
    Write,
    /// The release of a lock.
    Unlock,
    /// A fence or a spawn, which wait for an empty store buffer.
    Drain,
    /// A load.
    Load,
    /// An update.
    Update,
    /// A compare-exchange.
    Compare,
    /// An acquire.
    Lock,
    /// An update of another synchronization object.
    Sync,
    /// Waits for the end of a thread.
    Join,
    /// A choice.
    Choose,
}

/// A thread of the execution.
#[derive(Clone, Copy)]
pub(super) struct Thread<R> {
    /// Its history so far, and how many effects of its last segment it has done.
    pub(super) node: HistoryId,
    pub(super) effect: u32,
    pub(super) ask: Ask,
    /// The location of what it does next; for a join the thread.
    pub(super) location: u32,
    /// How many ops it has done, and the last of them in the log.
    pub(super) ops: u32,
    pub(super) last_op: u32,
    /// How many stores entered its buffer, how many of them before it last waited for an empty one, and
    /// the first one that is still in it.
    pub(super) stores: u32,
    pub(super) drained: u32,
    pub(super) head: u32,
    /// The rank of its next store: only stores of the lowest rank may leave the buffer.
    pub(super) rank: u32,
    /// What happened before its next event.
    pub(super) row: R,
    /// What happened before its stores reached memory, and these updates.
    pub(super) updates: R,
}

/// A store that entered a buffer.
#[derive(Clone, Copy)]
pub(super) struct Store<R> {
    pub(super) location: u32,
    pub(super) rank: u32,
    /// The op in the log.
    pub(super) log: u32,
    /// The event with which it reached memory.
    pub(super) reached: u32,
    /// What happened before it.
    pub(super) row: R,
    /// The loads that observed it in the buffer.
    pub(super) readers: R,
}

/// A location.
#[derive(Clone, Copy)]
pub(super) struct Location<R> {
    pub(super) initial: Value,
    /// The last event that wrote it.
    pub(super) last: u32,
    /// The events that have read what that wrote.
    pub(super) readers: R,
    /// All events that accessed it, and those of them that wrote it.
    pub(super) accesses: R,
    pub(super) writes: R,
}

/// Who takes steps.
#[derive(Clone, Copy)]
pub(super) struct Process<R> {
    pub(super) thread: u32,
    /// Whether it moves stores to memory: of this location ([`NONE`]: of all).
    pub(super) moves: Option<u32>,
    /// Its events.
    pub(super) events: R,
    /// What happened before the last of them, and that.
    pub(super) row: R,
}

/// A step that was taken.
#[derive(Clone, Copy)]
pub(super) struct Event<R> {
    pub(super) foot: Footprint,
    pub(super) ask: Ask,
    /// In how many ways it could be done.
    pub(super) options: u32,
    /// All events that happened before it, and itself.
    pub(super) before: R,
    /// Those of them that happened before it whatever others do meanwhile.
    pub(super) base: R,
    /// The events that it races with.
    pub(super) races: R,
    /// The op in the log: for an update the store.
    pub(super) log: u32,
    /// For a write: the event that wrote the location before, and who had read that.
    pub(super) previous: u32,
    pub(super) readers: R,
    /// Whether it observed a store in the buffer.
    pub(super) forwarded: bool,
    /// What its process was before.
    pub(super) row: R,
    /// How much there was before it.
    pub(super) log_len: u32,
    pub(super) past_len: u32,
    pub(super) undo_len: u32,
}

/// One op of the execution.
#[derive(Clone, Copy)]
pub(super) struct Logged {
    pub(super) thread: u32,
    pub(super) position: u32,
    pub(super) origin: Origin,
    /// What it observed: an op of the log, the number of a choice, or [`NONE`].
    pub(super) source: u32,
    /// What it wrote, if it did.
    pub(super) written: Option<Value>,
    /// Whether that is a pointer.
    pub(super) carries: bool,
}

/// Why an execution does not go on although its threads could.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// These ops of the log race.
    Race(u32, u32),
    /// There are too many events: this thread would have the next one.
    Events(u32),
    /// The program does what makes no sense.
    Malformed,
}

/// The state of an execution.
pub(super) struct State<'a, R> {
    pub(super) program: &'a mut dyn Program,
    pub(super) histories: LocalHistories,
    pub(super) buffers: StoreBuffers,
    pub(super) shares_memory: bool,
    pub(super) threads: Vec<Thread<R>>,
    /// By thread, the stores that entered its buffer.
    pub(super) stores: Vec<Vec<Store<R>>>,
    pub(super) locations: Vec<Location<R>>,
    pub(super) processes: Vec<Process<R>>,
    /// By thread, its process and then those that empty its buffer.
    pub(super) of_thread: Vec<Vec<u32>>,
    pub(super) events: Vec<Event<R>>,
    /// The events that could be done in several ways.
    pub(super) choices: R,
    pub(super) log: Vec<Logged>,
    pub(super) past: Vec<HistoryId>,
    /// Threads as they were, to be put back.
    pub(super) undo: Vec<(u32, Thread<R>)>,
    pub(super) cut: Option<Cut>,
}

impl<'a, R: EventSet> State<'a, R> {
    /// The main thread is at its first op that others notice.
    pub(super) fn new(
        program: &'a mut dyn Program,
        histories: LocalHistories,
        model: Model,
    ) -> Self {
        let shares_memory = program.shares_memory();
        let mut state = State {
            program,
            histories,
            buffers: model.store_buffers().expect("the model has store buffers"),
            shares_memory,
            threads: vec![],
            stores: vec![],
            locations: vec![],
            processes: vec![],
            of_thread: vec![],
            events: vec![],
            choices: R::default(),
            log: vec![],
            past: vec![],
            undo: vec![],
            cut: None,
        };
        state.start(0, None, R::default());
        state
    }

    /// Makes room for what the histories mention.
    pub(super) fn grow(&mut self) {
        let (threads, locations) = self.histories.sizes();
        while self.threads.len() < threads {
            let process = self.processes.len() as u32;
            let thread = self.threads.len() as u32;
            self.threads.push(Thread::absent());
            self.stores.push(vec![]);
            self.of_thread.push(vec![process]);
            self.processes.push(Process::new(thread, None));
        }
        while self.locations.len() < locations {
            let id = LocationId::new(self.locations.len());
            let initial = self.program.initial_value(id);
            let (readers, accesses, writes) = (R::default(), R::default(), R::default());
            self.locations.push(Location { initial, last: NONE, readers, accesses, writes });
        }
    }

    /// The process that moves stores of a thread to a location to memory.
    pub(super) fn mover(&mut self, thread: u32, location: u32) -> u32 {
        let moves = if self.buffers.reorders_stores() { location } else { NONE };
        let known = self.of_thread[thread as usize].iter();
        let mut movers = known.filter(|&&it| self.processes[it as usize].moves == Some(moves));
        if let Some(&process) = movers.next() {
            return process;
        }
        let process = self.processes.len() as u32;
        self.processes.push(Process::new(thread, Some(moves)));
        self.of_thread[thread as usize].push(process);
        process
    }

    /// The question at the end of a history.
    pub(super) fn question(&self, node: HistoryId) -> Op {
        match self.histories.end(node) {
            End::Question(op) => *op,
            end => unreachable!("a thread that asks has a question, not {end:?}"),
        }
    }
}

impl<R: EventSet> Thread<R> {
    fn absent() -> Self {
        Thread {
            node: HistoryId(0),
            effect: 0,
            ask: Ask::Absent,
            location: 0,
            ops: 0,
            last_op: NONE,
            stores: 0,
            drained: 0,
            head: 0,
            rank: 0,
            row: R::default(),
            updates: R::default(),
        }
    }
}

impl<R: EventSet> Process<R> {
    fn new(thread: u32, moves: Option<u32>) -> Self {
        Process { thread, moves, events: R::default(), row: R::default() }
    }
}
