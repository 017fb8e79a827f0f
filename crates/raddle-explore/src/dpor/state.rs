//! Machine that the explorers step: threads, store buffers, memory, and undo information.
//!
//! A *process* is a thread, or a flusher, which moves stores from a store buffer to memory: one per thread under TSO,
//! one per thread and location under PSO, none under SC. A *step* of a thread is one visible op, followed by all
//! invisible ops up to the next visible one: stores that enter the buffer, fences that have nothing to wait for,
//! spawns. Every step is an event; its id is its position in the execution.
//!
//! Happens-before is represented by one event set per event instead of vector clocks: joining two is an `or`, and
//! testing whether an event depends on another one is a test of one bit.

use super::footprint::{Footprint, NONE};
use crate::event_set::EventSet;
use raddle_core::execution::{LocationId, Value};
use raddle_core::model::Model;
use raddle_core::model::orders::StoreBuffers;
use raddle_core::program::{End, HistoryId, LocalHistories, Op, Origin, Program};

/// Next visible step of a thread, by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextAction {
    /// None: the thread was not started.
    NotStarted,
    /// None: the thread has ended.
    Ended,
    /// A store that reaches memory at once.
    Write,
    /// The release of a lock.
    Unlock,
    /// A fence or a spawn, which wait for an empty store buffer.
    Drain,
    Load,
    /// An atomic read-modify-write other than a compare-exchange.
    Rmw,
    CompareExchange,
    Lock,
    /// An update of another synchronization object.
    Sync,
    Join,
    /// A choice of the program.
    Choose,
}

/// Thread of the current execution.
#[derive(Clone, Copy)]
pub(super) struct DporThread<R> {
    /// Local history so far.
    pub(super) node: HistoryId,
    /// Number of effects of the last segment that are done.
    pub(super) effect: u32,
    pub(super) action: NextAction,
    /// Location of the next visible step; for a join the index of the thread.
    pub(super) location: u32,
    /// Number of ops so far.
    pub(super) ops: u32,
    /// Index of the last op in the log.
    pub(super) last_op: u32,
    /// Number of stores that entered the buffer.
    pub(super) stores: u32,
    /// Number of stores that entered the buffer before the thread last waited for an empty one.
    pub(super) drained: u32,
    /// Index of the oldest store that is still in the buffer; `stores` if there is none.
    pub(super) head: u32,
    /// Number of store fences so far, given to the next store. Only stores of the lowest epoch may leave the buffer.
    pub(super) epoch: u32,
    /// Events that happen before the next event of the thread.
    pub(super) hb: R,
    /// Flushes of the thread's stores, and the events that happen before them.
    pub(super) flushes_hb: R,
}

/// Store that entered a buffer.
#[derive(Clone, Copy)]
pub(super) struct DporStore<R> {
    pub(super) location: u32,
    pub(super) epoch: u32,
    /// Index of the op in the log.
    pub(super) log_index: u32,
    /// Event that flushed it; [`NONE`] while it is in the buffer.
    pub(super) flushed_by: u32,
    /// Events that happen before it.
    pub(super) hb: R,
    /// Loads that observed it in the buffer.
    pub(super) readers: R,
}

/// Location of the current execution.
#[derive(Clone, Copy)]
pub(super) struct DporLocation<R> {
    pub(super) initial: Value,
    /// Last event that wrote it.
    pub(super) last: u32,
    /// Events that have read what `last` wrote.
    pub(super) readers: R,
    /// All events that accessed it.
    pub(super) accesses: R,
    /// All events that wrote it.
    pub(super) writes: R,
}

/// Thread or flusher.
#[derive(Clone, Copy)]
pub(super) struct Process<R> {
    pub(super) thread: u32,
    /// For a flusher: the location whose stores it flushes, or [`NONE`] for all. `None` for a thread.
    pub(super) flushes: Option<u32>,
    pub(super) events: R,
    /// Last event, and the events that happen before it.
    pub(super) hb: R,
}

/// Step that was taken.
#[derive(Clone, Copy)]
pub(super) struct DporEvent<R> {
    pub(super) footprint: Footprint,
    pub(super) action: NextAction,
    /// Number of alternatives.
    pub(super) options: u32,
    /// Events that happen before it, and the event itself.
    pub(super) before: R,
    /// Events that happen before it whatever other processes do in the meantime.
    pub(super) base: R,
    /// Events that it races with.
    pub(super) races: R,
    /// Index of the op in the log; for a flush that of the store.
    pub(super) log_index: u32,
    /// For a write: the event that wrote the location before.
    pub(super) previous: u32,
    /// For a write: the events that had read what `previous` wrote.
    pub(super) readers: R,
    /// Whether it is a load that observed a store in the buffer.
    pub(super) is_forwarded: bool,
    /// [`Process::hb`] before the event, for undo.
    pub(super) process_hb: R,
    /// Lengths of the log, the past and the undo stack before the event.
    pub(super) log_len: u32,
    pub(super) past_len: u32,
    pub(super) undo_len: u32,
}

/// Op of the current execution.
#[derive(Clone, Copy)]
pub(super) struct LoggedOp {
    pub(super) thread: u32,
    /// Index within the thread.
    pub(super) position: u32,
    pub(super) origin: Origin,
    /// What it observed: the log index of an op, the number of a choice, or [`NONE`].
    pub(super) source: u32,
    /// Value that it wrote, if any.
    pub(super) written: Option<Value>,
    /// Whether that value is a pointer to memory that is not accessed through ops.
    pub(super) carries: bool,
}

/// Why an execution ends although its threads could continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EarlyEnd {
    /// The ops at these log indices race.
    Race(u32, u32),
    /// There are too many events; this thread would execute the next one.
    Events(u32),
    /// The program did something that has no meaning, such as unlocking a lock it does not hold.
    Malformed,
}

/// Current execution.
pub(super) struct DporState<'a, R> {
    pub(super) program: &'a mut dyn Program,
    pub(super) histories: LocalHistories,
    pub(super) buffers: StoreBuffers,
    pub(super) shares_memory: bool,
    pub(super) threads: Vec<DporThread<R>>,
    /// By thread: the stores that entered its buffer, flushed ones included.
    pub(super) stores: Vec<Vec<DporStore<R>>>,
    pub(super) locations: Vec<DporLocation<R>>,
    pub(super) processes: Vec<Process<R>>,
    /// By thread: its process, followed by its flushers.
    pub(super) of_thread: Vec<Vec<u32>>,
    pub(super) events: Vec<DporEvent<R>>,
    /// Events with more than one alternative.
    pub(super) choices: R,
    pub(super) log: Vec<LoggedOp>,
    /// Local histories in the order in which the execution reached them.
    pub(super) past: Vec<HistoryId>,
    /// Former states of threads, by index, for undo.
    pub(super) undo: Vec<(u32, DporThread<R>)>,
    /// How many events an execution may have, unless the event sets have room for fewer.
    pub(super) bound: usize,
    pub(super) early_end: Option<EarlyEnd>,
}

impl<'a, R: EventSet> DporState<'a, R> {
    /// Creates the initial state: the main thread is at its first visible op. The model must have store buffers.
    pub(super) fn new(
        program: &'a mut dyn Program,
        histories: LocalHistories,
        model: Model,
        bound: usize,
    ) -> Self {
        let shares_memory = program.shares_memory();
        let mut state = DporState {
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
            bound,
            early_end: None,
        };
        state.start(0, None, R::default());
        state
    }

    /// Adds the threads and locations that the local histories mention.
    pub(super) fn grow(&mut self) {
        let (threads, locations) = self.histories.sizes();
        while self.threads.len() < threads {
            let process = self.processes.len() as u32;
            let thread = self.threads.len() as u32;
            self.threads.push(DporThread::not_started());
            self.stores.push(vec![]);
            self.of_thread.push(vec![process]);
            self.processes.push(Process::new(thread, None));
        }
        while self.locations.len() < locations {
            let id = LocationId::new(self.locations.len());
            let initial = self.program.initial_value(id);
            let (readers, accesses, writes) = (R::default(), R::default(), R::default());
            self.locations.push(DporLocation { initial, last: NONE, readers, accesses, writes });
        }
    }

    /// Returns the process that flushes stores of a thread to a location. Creates it if there is none.
    pub(super) fn flusher(&mut self, thread: u32, location: u32) -> u32 {
        let flushes = if self.buffers.reorders_stores() { location } else { NONE };
        let mut known = self.of_thread[thread as usize].iter();
        let is_it = |&&it: &&u32| self.processes[it as usize].flushes == Some(flushes);
        if let Some(&process) = known.find(is_it) {
            return process;
        }
        let process = self.processes.len() as u32;
        self.processes.push(Process::new(thread, Some(flushes)));
        self.of_thread[thread as usize].push(process);
        process
    }

    /// Returns the question at the end of a history, which must have one.
    pub(super) fn question(&self, node: HistoryId) -> Op {
        match self.histories.end(node) {
            End::Question(op) => *op,
            end => unreachable!("the history ends with a question, not {end:?}"),
        }
    }
}

impl<R: EventSet> DporThread<R> {
    fn not_started() -> Self {
        DporThread {
            node: HistoryId(0),
            effect: 0,
            action: NextAction::NotStarted,
            location: 0,
            ops: 0,
            last_op: NONE,
            stores: 0,
            drained: 0,
            head: 0,
            epoch: 0,
            hb: R::default(),
            flushes_hb: R::default(),
        }
    }
}

impl<R: EventSet> Process<R> {
    fn new(thread: u32, flushes: Option<u32>) -> Self {
        Process { thread, flushes, events: R::default(), hb: R::default() }
    }
}
