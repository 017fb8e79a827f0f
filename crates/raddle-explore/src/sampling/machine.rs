//! Interface between a run and a memory model.
//!
//! A machine is an operational memory model: it executes one event after the other and keeps exactly what reads may
//! still observe. The run (`run`) implements locks, synchronization objects and thread creation; a machine only learns
//! which happens-before edges they create.

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId, Value};
use raddle_core::model::Model;
use raddle_core::program::{OpKind, Update, UpdateKind};

use super::decider::{ChoiceKind, Decider, StepId};
use super::event::RunEvent;
use crate::driver::Restart;

/// Step of a thread that is being executed.
pub(super) struct StepContext<'a, D: ?Sized> {
    pub(super) decider: &'a mut D,
    pub(super) step: StepId,
    /// Whether every choice gets its default, without asking the decider.
    pub(super) forces_default: bool,
    /// Event that the step adds.
    pub(super) event: RunEvent,
}

impl<D: Decider + ?Sized> StepContext<'_, D> {
    /// Thread that takes the step.
    #[inline]
    pub(super) fn thread(&self) -> ThreadId {
        self.step.thread
    }

    /// Returns the index of the option that is taken. 0 is the default, and the result if there is only one option.
    #[inline]
    pub(super) fn choose(&mut self, kind: ChoiceKind, options: usize) -> usize {
        if options < 2 || self.forces_default {
            return 0;
        }
        self.decider.choose(self.step, kind, options)
    }
}

/// Write that a read observes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadSource {
    pub(super) value: Value,
    /// Whether the value is a pointer to memory that is not accessed through ops.
    pub(super) carries: bool,
    /// Event that wrote the value.
    pub(super) event: RunEvent,
    /// Whether it is the newest write of its location.
    pub(super) is_newest: bool,
}

/// Load of a location.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoadRequest {
    pub(super) location: LocationId,
    pub(super) order: MemoryOrder,
}

/// Store to a location.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoreRequest {
    pub(super) location: LocationId,
    pub(super) value: StoredValue,
    pub(super) order: MemoryOrder,
}

/// Value that an event writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredValue {
    pub(super) value: Value,
    /// Whether the value is a pointer to memory that is not accessed through ops.
    pub(super) carries: bool,
}

/// Atomic read-modify-write of a location.
#[derive(Clone, Copy, Debug)]
pub(super) struct RmwRequest {
    pub(super) location: LocationId,
    pub(super) op: RmwOp,
    /// Memory order if it writes.
    pub(super) success: MemoryOrder,
    /// Memory order if it does not.
    pub(super) failure: MemoryOrder,
}

impl RmwRequest {
    /// Memory order of the event, depending on whether it writes.
    #[inline]
    pub(super) fn order(&self, writes: bool) -> MemoryOrder {
        if writes { self.success } else { self.failure }
    }
}

/// Operation of a read-modify-write.
#[derive(Clone, Copy, Debug)]
pub(super) enum RmwOp {
    Update(Update),
    CompareExchange { expected: Value, desired: StoredValue, weak: bool },
}

impl RmwOp {
    /// Returns what is written after observing `source`; `None` if the comparison fails.
    #[inline]
    pub(super) fn apply(&self, source: &ReadSource) -> Option<StoredValue> {
        match *self {
            RmwOp::Update(update) => {
                let keeps_pointer = source.carries && update.kind != UpdateKind::Swap;
                let value = update.apply(source.value);
                Some(StoredValue { value, carries: update.carries || keeps_pointer })
            }
            RmwOp::CompareExchange { expected, desired, .. } => {
                (source.value == expected).then_some(desired)
            }
        }
    }

    /// Returns `true` if it may fail spuriously.
    pub(super) fn is_weak(&self) -> bool {
        matches!(self, RmwOp::CompareExchange { weak: true, .. })
    }
}

/// Result of a read-modify-write.
#[derive(Clone, Copy, Debug)]
pub(super) struct RmwResult {
    pub(super) source: ReadSource,
    /// `None` if it failed.
    pub(super) written: Option<StoredValue>,
    /// Whether it failed although the comparison succeeded.
    pub(super) is_spurious: bool,
}

/// Event of another thread that races with the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RacingEvent {
    pub(super) thread: ThreadId,
    /// Number of ops of that thread up to and including the event.
    pub(super) ops: u32,
}

/// Access that is checked for data races.
#[derive(Clone, Copy, Debug)]
pub(super) struct RaceAccess {
    pub(super) location: LocationId,
    pub(super) is_write: bool,
    /// Whether it is non-atomic.
    pub(super) is_plain: bool,
}

/// Operational memory model.
pub(super) trait MemoryMachine {
    /// A machine of a model that it supports, in its initial state.
    fn new(model: Model) -> Self;

    /// In the runs that follow, does not order (`true`) or orders (`false`) sequentially consistent events beyond
    /// acquire and release. Returns `false` if the model has no such order, so that the call has no effect.
    fn set_sc_unordered(&mut self, _is_unordered: bool) -> bool {
        false
    }

    /// Returns to the initial state. Keeps allocations.
    fn restart(&mut self);

    /// Adds a location with its initial value. Called once per run, before the first access.
    fn add_location(&mut self, location: LocationId, initial: Value);

    /// Starts a thread; `parent` is the thread that spawns it, `None` for the main thread.
    fn start(&mut self, thread: ThreadId, parent: Option<ThreadId>);

    /// Begins the next op of a thread. Called once per event, before the methods that execute it.
    fn begin(&mut self, thread: ThreadId);

    /// Ends a thread, whose buffer is drained.
    fn end(&mut self, _thread: ThreadId) {}

    /// Notes whether a thread waits in a join, so that it reads nothing until the other thread has ended.
    fn set_joining(&mut self, _thread: ThreadId, _is_joining: bool) {}

    /// Executes a store. It may stay in the buffer of its thread, which must not be full.
    fn store<D: Decider + ?Sized>(
        &mut self,
        context: &mut StepContext<'_, D>,
        request: &StoreRequest,
    );

    /// Executes a load. The decider chooses among the writes that the model lets it observe; the default is the newest.
    fn load<D: Decider + ?Sized>(
        &mut self,
        context: &mut StepContext<'_, D>,
        request: LoadRequest,
    ) -> ReadSource;

    /// Executes a read-modify-write: no other write comes between the observed one and its own. The buffer of the thread
    /// must be drained if [`needs_drained_buffer`](MemoryMachine::needs_drained_buffer) says so.
    fn rmw<D: Decider + ?Sized>(
        &mut self,
        context: &mut StepContext<'_, D>,
        request: &RmwRequest,
    ) -> RmwResult;

    /// Executes a fence. As for [`rmw`](MemoryMachine::rmw), the buffer of the thread may have to be drained before.
    fn fence(&mut self, thread: ThreadId, order: MemoryOrder);

    /// Executes a store-store fence: later stores of the thread reach memory after earlier ones.
    fn store_fence(&mut self, thread: ThreadId);

    /// Acquires what the last update of the synchronization object released, and releases.
    fn synchronize(&mut self, thread: ThreadId, object: LocationId);

    /// Joins `child`, which has ended: its events happen before the next ones of `thread`.
    fn join(&mut self, thread: ThreadId, child: ThreadId);

    /// Returns an event that races with the access, and records the access. Fails if the machine did not keep what is
    /// needed to decide that; it does from then on, and the run must be repeated.
    fn check_race(
        &mut self,
        thread: ThreadId,
        access: RaceAccess,
    ) -> Result<Option<RacingEvent>, Restart>;

    /// Returns `true` if races between loads and stores are errors, not only those between accesses of cells.
    fn has_races(&self) -> bool;

    /// Returns `true` if the store buffer of the thread is empty.
    fn is_drained(&self, _thread: ThreadId) -> bool {
        true
    }

    /// Returns `true` if the op waits until all stores of its thread have reached memory.
    fn needs_drained_buffer(&self, _op: &OpKind) -> bool {
        false
    }

    /// Moves one store from the buffer of the thread to memory.
    fn flush<D: Decider + ?Sized>(&mut self, _context: &mut StepContext<'_, D>) {}

    /// Returns `true` if the store buffer of the thread has no room, so that a store has to leave it first.
    fn is_full(&self, _thread: ThreadId) -> bool {
        false
    }
}
