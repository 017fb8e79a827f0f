//! The threads, events and locations of the execution that the search extends and shrinks.

use super::history_cache::{PendingKind, PendingTarget, ValueId};
use super::stamps::Stamp;
use super::thread_set::ThreadSet;
use crate::event_index::RfSource;
use crate::model::ReadEffect;
use raddle_core::execution::{LocationId, MemoryOrder, ThreadId};
use raddle_core::program::{Answer, HistoryId, Origin};

/// A thread of the execution.
#[derive(Clone, Copy)]
pub(super) struct SearchThread {
    /// Its history so far.
    pub(super) history: HistoryId,
    /// The op at the end of its history, which it waits to perform.
    pub(super) pending: PendingKind,
    pub(super) target: PendingTarget,
    /// Its causal map: 0 if its pending read was not tried before, otherwise one more than the index of the first event
    /// that it may observe.
    pub(super) causal_floor: u32,
    /// What its last read observed.
    pub(super) observed: RfSource,
    /// How many threads it was the first to join.
    pub(super) joins: u32,
}

/// What an event does to its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventRole {
    Read,
    Write,
    Update,
    /// A fence, which has no location.
    Fence,
    ReadCell,
    WriteCell,
}

/// An event of the execution.
#[derive(Clone, Copy)]
pub(super) struct SearchEvent {
    pub(super) location: LocationId,
    /// What it observes, if it reads.
    pub(super) source: RfSource,
    pub(super) role: EventRole,
    /// Whether its value is a pointer.
    pub(super) carries: bool,
    /// The value that it writes.
    pub(super) value: ValueId,
    pub(super) origin: Origin,
}

/// A location of the execution.
#[derive(Clone)]
pub(super) struct SearchLocation<R> {
    pub(super) writes: R,
    /// Reads that do not write.
    pub(super) reads: R,
    /// Non-atomic accesses, or accesses of the cell.
    pub(super) plain: R,
    /// Whether an update has read the initial write.
    pub(super) init_taken: bool,
    /// The last update of a lock or another synchronization object.
    pub(super) last_update: RfSource,
    pub(super) initial: ValueId,
    /// When it was last written.
    pub(super) written: Stamp,
    /// When an update of it was last pending.
    pub(super) pending: Stamp,
    /// The threads that ever wrote it.
    pub(super) writers: ThreadSet<R>,
}

/// A change to undo.
pub(super) enum SearchUndo {
    /// The thread went on in a level of its own.
    Step(ThreadId, SearchThread),
    LastUpdate(LocationId, RfSource),
}

/// What a thread learns from an answer.
#[derive(Clone, Copy)]
pub(super) enum ThreadAnswer {
    /// This value, or nothing.
    Value(ValueId),
    /// Anything else.
    Full(Answer),
}

impl ThreadAnswer {
    /// Returns `true` if a compare-exchange fails spuriously.
    #[inline]
    pub(super) fn is_spurious(self) -> bool {
        matches!(self, ThreadAnswer::Full(Answer::Spurious(_) | Answer::SpuriousFrom(_)))
    }
}

/// A read whose value is known.
#[derive(Clone, Copy)]
pub(super) struct ResolvedRead {
    pub(super) effect: ReadEffect,
    pub(super) order: MemoryOrder,
    /// The value that it writes, if it does.
    pub(super) written: ValueId,
    /// Whether that is a pointer.
    pub(super) carries: bool,
    /// How the thread continues, if that is known.
    pub(super) next: Option<HistoryId>,
}

impl ResolvedRead {
    #[inline]
    pub(super) fn writes(&self) -> bool {
        self.written != ValueId::NONE
    }
}
