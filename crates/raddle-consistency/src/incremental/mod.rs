//! Consistency of a growing execution: add an event, ask which writes a read may observe, undo.
//!
//! *Problem.* An exploration or an online test extends a consistent execution event by event. Before each read it asks
//! which writes the read may observe such that the execution stays consistent. Checking from scratch costs the length of
//! the execution each time.
//!
//! *Idea.* Under `ra`, `rc20` and `relaxed` an execution is consistent if and only if the modification orders that
//! coherence forces have no cycle (minimal coherence), and these can be maintained. A thread *knows* a write if it wrote
//! it, read it, or if such an event happened before. Then
//!
//! - a write is after all writes that its thread knows;
//! - the write that a read observes is the last one that its thread knows from then on: all other known writes precede it;
//! - an update directly follows the write that it reads, so the order is one of whole chains of updates;
//! - a read may observe exactly the writes that do not precede one that its thread knows, and an update those of them that
//!   no update has read.
//!
//! `wra` has no modification order: a write precedes another one if it happens before it, and a thread knows the writes
//! that happened before.
//!
//! All sets are vector clocks: what happened before (`views.rs`), what is known of a location, one write for each thread
//! (`history.rs`), and what precedes a write (`chains.rs`).
//!
//! *Paper.* Tunç, Abdulla, Chakraborty, Krishna, Mathur, Pavlogiannis, *Optimal Reads-From Consistency Checking for
//! C11-Style Memory Models*, PLDI 2023, section 5.2 and algorithm 5 (`hbmo`).
//!
//! *Where we differ.* Algorithm 5 is for `ra`, leaves its clocks unclosed, closes them for each question, and answers about
//! one write at a time. We keep the clocks closed, so that an answer is a maximum of k clocks and the set of all sources
//! takes one pass; we support relaxed accesses, fences, `wra` and undo, and refuse before anything has changed.
//!
//! *Cost.* With k threads, O(k²) for each event and O(k² + answers) for each question (for an update also the candidates
//! that an update has read), plus a logarithm for looking far back, plus the changes that a read of an old write causes
//! (`chains.rs`). A write takes one clock, and another one if it releases; a read takes 8 bytes if its thread did not know
//! the write, otherwise nothing.
//!
//! ```
//! use raddle_core::execution::{LocationId, MemoryOrder::{Acquire, Relaxed, Release}, ThreadId};
//! use raddle_consistency::incremental::{AccessKind, Incremental, WriteId};
//! use raddle_core::model::Model;
//!
//! let (writer, reader) = (ThreadId::new(0), ThreadId::new(1));
//! let (data, flag) = (LocationId::new(0), LocationId::new(1));
//! let mut execution = Incremental::new(Model::Rc20)?;
//! let message = execution.write(writer, data, Relaxed);
//! let ready = execution.write(writer, flag, Release);
//! let mut sources = vec![];
//!
//! let before = execution.mark();
//! execution.read(reader, flag, ready, Acquire)?;
//! execution.sources(reader, data, AccessKind::Read, &mut sources);
//! assert_eq!(sources, [message]);
//!
//! execution.undo_to(before);
//! execution.read(reader, flag, ready, Relaxed)?;
//! execution.sources(reader, data, AccessKind::Read, &mut sources);
//! assert_eq!(sources, [message, WriteId::INIT]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod chains;
mod clocks;
mod history;
mod ids;
mod steps;
mod undo;
mod views;

use std::fmt;

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId};
use raddle_core::model::Model;
use raddle_core::model::orders::{C11Orders, ModificationOrder, ReleaseSequence, SeqCst, Strength};

use chains::{WriteRecord, Writes};
use clocks::LANES;
use history::LocationHistory;
use ids::{INIT, Index, NO_MESSAGE};
use undo::UndoLog;
use views::ThreadViews;

pub use undo::UndoMark;

/// A write or update that was added, or an initial write. Indices count from 0; undo frees them for reuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WriteId(Index);

impl WriteId {
    /// The initial write of the location in question.
    pub const INIT: WriteId = WriteId(INIT);

    /// The index of an added write; `None` for an initial write.
    #[must_use]
    pub fn index(self) -> Option<usize> {
        (self != WriteId::INIT).then_some(self.0 as usize)
    }
}

/// How an event accesses the write that it observes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// It only reads.
    Read,
    /// It reads and writes atomically.
    Update,
}

/// Why an event cannot observe a write. The execution is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refused {
    /// There is no such write of this location.
    NoSuchWrite,
    /// The thread knows a later write.
    Overwritten,
    /// Another update has read it.
    Taken,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refused::NoSuchWrite => "there is no such write of this location",
            Refused::Overwritten => "the thread knows a write that overwrote this one",
            Refused::Taken => "another update has read this write",
        })
    }
}

impl std::error::Error for Refused {}

/// A model that clocks cannot follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UnsupportedModel(Model);

impl fmt::Display for UnsupportedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnsupportedModel(model) = self;
        let names: Vec<&str> = Model::ALL
            .into_iter()
            .filter(|&model| supported(model).is_some())
            .map(Model::name)
            .collect();
        write!(f, "no incremental checker for {model}: expected one of {}", names.join(", "))
    }
}

impl std::error::Error for UnsupportedModel {}

/// The row of a model that clocks can follow: `None` if it has `psc`, one common order of all modification orders, or
/// release sequences that own writes continue.
fn supported(model: Model) -> Option<C11Orders> {
    let orders = model.c11_orders()?;
    let is_supported = match (orders.modification_order, orders.seq_cst, orders.release_sequence) {
        (ModificationOrder::Strong, _, _)
        | (_, SeqCst::Psc, _)
        | (_, _, ReleaseSequence::UpdatesAndOwnWrites) => false,
        (
            ModificationOrder::None | ModificationOrder::PerLocation,
            SeqCst::Unordered | SeqCst::HiddenLocation,
            ReleaseSequence::Updates,
        ) => true,
    };
    is_supported.then_some(orders)
}

/// A consistent execution that grows and shrinks. Threads and locations need no declaration.
#[derive(Clone, Debug)]
pub struct Incremental {
    orders: C11Orders,
    /// The number of threads that the clocks have room for.
    width: usize,
    views: ThreadViews,
    writes: Writes,
    locations: Vec<LocationHistory>,
    log: UndoLog,
    /// The frontier of the thread at the location in `question`: at most one write for each thread.
    frontier: Vec<Index>,
    /// The thread and the location that `frontier` is about, until something changes. Callers often ask for the sources
    /// first and then add the read.
    question: Option<(usize, usize)>,
    /// Scratch: a set of writes of the location in `question`.
    clock: Vec<u32>,
}

impl Incremental {
    /// An execution without events under `wra`, `ra`, `rc20` or `relaxed`.
    pub fn new(model: Model) -> Result<Self, UnsupportedModel> {
        Self::with_log(model, true)
    }

    /// As [`Incremental::new`], for executions that only grow: without a log and without undo.
    pub fn without_undo(model: Model) -> Result<Self, UnsupportedModel> {
        Self::with_log(model, false)
    }

    fn with_log(model: Model, recording: bool) -> Result<Self, UnsupportedModel> {
        Ok(Incremental {
            orders: supported(model).ok_or(UnsupportedModel(model))?,
            width: LANES,
            views: ThreadViews::new(LANES),
            writes: Writes::new(LANES),
            locations: vec![],
            log: UndoLog::new(recording),
            frontier: vec![],
            question: None,
            clock: vec![0; LANES],
        })
    }

    /// Adds a write. It can always be the last one of its location.
    pub fn write(&mut self, thread: ThreadId, location: LocationId, order: MemoryOrder) -> WriteId {
        let (thread, location) = self.begin(thread, location);
        self.find_frontier(thread, location);
        self.start();
        self.clock.fill(0);
        if self.orders.has_modification_order() {
            for &known in &self.frontier {
                if self.writes.get(known).top != INIT {
                    self.writes.add_chain(known, &mut self.clock);
                }
            }
        } else {
            self.clock.copy_from_slice(self.views.clock(thread));
        }
        let own = self.writes.next();
        self.add_write(thread, location, own, self.orders.access(order), NO_MESSAGE)
    }

    /// Adds a fence. Sequentially consistent fences are ordered as they are added.
    pub fn fence(&mut self, thread: ThreadId, order: MemoryOrder) {
        let thread = self.grow_threads(thread);
        self.start();
        self.views.fence(thread, self.orders.fence(order), &mut self.log);
    }

    /// Orders all events of `parent` so far before all later events of `child`.
    pub fn spawn(&mut self, parent: ThreadId, child: ThreadId) {
        let (parent, child) = (self.grow_threads(parent), self.grow_threads(child));
        self.start();
        self.views.synchronize(parent, child, &mut self.log);
    }

    /// Orders all events of `child` so far before all later events of `parent`.
    pub fn join(&mut self, parent: ThreadId, child: ThreadId) {
        self.spawn(child, parent);
    }

    /// Collects exactly the writes that the next event of a thread may observe if it accesses this location: for each
    /// thread from the last write to the first, then the initial write. The memory order of the event does not matter.
    pub fn sources(
        &mut self,
        thread: ThreadId,
        location: LocationId,
        access: AccessKind,
        out: &mut Vec<WriteId>,
    ) {
        let (thread, location) = self.begin(thread, location);
        out.clear();
        self.find_frontier(thread, location);
        self.find_overwritten(location);
        let free = |write| access == AccessKind::Read || !self.is_taken(location, write);
        for (accesses, &overwritten) in self.locations[location].threads.iter().zip(&self.clock) {
            for &write in accesses.writes.iter().rev() {
                if self.writes.get(write).position < overwritten {
                    break;
                }
                if free(write) {
                    out.push(WriteId(write));
                }
            }
        }
        if self.frontier.is_empty() && free(INIT) {
            out.push(WriteId::INIT);
        }
    }

    /// Adds a read that observes a write.
    pub fn read(
        &mut self,
        thread: ThreadId,
        location: LocationId,
        source: WriteId,
        order: MemoryOrder,
    ) -> Result<(), Refused> {
        let (thread, location) = self.begin(thread, location);
        self.admit(thread, location, source.0, AccessKind::Read)?;
        self.start();
        if source == WriteId::INIT {
            return Ok(());
        }
        let WriteRecord { top, message, .. } = *self.writes.get(source.0);
        if self.find_news(source.0) {
            self.writes.raise(top, &self.clock, &mut self.log);
            self.writes.raise_after(&self.locations[location], top, &self.clock, &mut self.log);
        }
        self.receive(thread, message, self.orders.access(order));
        if self.orders.has_modification_order() {
            self.see(thread, location, source.0);
        }
        Ok(())
    }

    /// Adds an update, a read-modify-write, that observes a write.
    pub fn update(
        &mut self,
        thread: ThreadId,
        location: LocationId,
        source: WriteId,
        order: MemoryOrder,
    ) -> Result<WriteId, Refused> {
        self.add_update(thread, location, source, self.orders.access(order))
    }

    /// Acquires a lock: an update that reads the initial state or an [`Incremental::unlock`]. Unlike other updates it
    /// synchronizes under every model. The caller must know that the lock is free: to the checker, an acquire is a write
    /// that the next update may observe.
    pub fn lock(
        &mut self,
        thread: ThreadId,
        lock: LocationId,
        source: WriteId,
    ) -> Result<WriteId, Refused> {
        self.add_update(thread, lock, source, Strength::LOCK)
    }

    /// Releases a lock: an update that reads the thread's own [`Incremental::lock`].
    pub fn unlock(
        &mut self,
        thread: ThreadId,
        lock: LocationId,
        source: WriteId,
    ) -> Result<WriteId, Refused> {
        self.add_update(thread, lock, source, Strength::UNLOCK)
    }

    fn add_update(
        &mut self,
        thread: ThreadId,
        location: LocationId,
        source: WriteId,
        strength: Strength,
    ) -> Result<WriteId, Refused> {
        let (thread, location) = self.begin(thread, location);
        self.admit(thread, location, source.0, AccessKind::Update)?;
        self.start();
        let own = self.writes.next();
        let (top, message) = self.chain_and_message(source.0);
        self.extend_chain(thread, location, source.0, own);
        self.receive(thread, message, strength);
        if !self.orders.has_modification_order() {
            self.clock.copy_from_slice(self.views.clock(thread));
            return Ok(self.add_write(thread, location, own, strength, message));
        }
        self.clock.fill(0);
        if source != WriteId::INIT {
            self.writes.add_up_to(source.0, &mut self.clock);
        }
        Ok(self.add_write(thread, location, top, strength, message))
    }
}
