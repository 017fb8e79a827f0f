//! Locations of a run: initial values, and the state of locks and other synchronization objects.
//!
//! Synchronization objects behave alike under all models; the machine only learns the order of their updates.

use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::program::OpKind;

use super::super::decider::Decider;
use super::super::event::RunEvent;
use super::super::log::EventValues;
use super::super::machine::MemoryMachine;
use super::super::threads::{OpResult, ThreadRunner};
use super::SampleRun;

/// State of a lock or another synchronization object; for a cell, its last write.
#[derive(Clone, Copy)]
pub(super) struct SyncObject {
    pub(super) value: Value,
    /// Last update.
    pub(super) event: RunEvent,
}

impl<M: MemoryMachine, T: ThreadRunner + ?Sized, D: Decider + ?Sized> SampleRun<'_, M, T, D> {
    /// Returns the state of the object at a location.
    pub(super) fn object(&mut self, location: LocationId) -> SyncObject {
        self.ensure_location(location);
        if self.objects.len() <= location.index() {
            self.objects.resize(location.index() + 1, None);
        }
        let value = self.initial[location.index()].unwrap_or(0);
        let initial = SyncObject { value, event: RunEvent::INITIAL };
        *self.objects[location.index()].get_or_insert(initial)
    }

    /// Adds the location with the program's initial value, unless it exists.
    #[inline]
    pub(super) fn ensure_location(&mut self, location: LocationId) {
        if self.initial.get(location.index()).is_none_or(Option::is_none) {
            let value = self.runner.program().initial_value(location);
            self.add_location(location, value);
        }
    }

    #[cold]
    pub(super) fn add_location(&mut self, location: LocationId, initial: Value) {
        if self.initial.len() <= location.index() {
            self.initial.resize(location.index() + 1, None);
        }
        self.initial[location.index()] = Some(initial);
        self.machine.add_location(location, initial);
    }

    /// Executes the current op of the thread, an update of a lock or another synchronization object.
    pub(super) fn synchronize(
        &mut self,
        thread: ThreadId,
        location: LocationId,
        update: impl FnOnce(Value) -> Value,
    ) -> OpResult {
        let SyncObject { value, event: source } = self.object(location);
        let written = update(value);
        let event = RunEvent::new(self.events);
        self.objects[location.index()] = Some(SyncObject { value: written, event });
        self.machine.synchronize(thread, location);
        if written != value {
            self.note_change();
        }
        let kind = self.threads[thread.index()].op.kind;
        let observed = kind.is_question().then(|| source.observed());
        let values = match kind {
            OpKind::Sync { .. } => {
                EventValues { observed, read: Some(value), written: Some(written) }
            }
            _ => EventValues { observed, ..EventValues::default() },
        };
        self.add_event(thread, values);
        if written != value && !self.waiting.is_empty() {
            self.wake();
        }
        OpResult { value, source, ..OpResult::default() }
    }
}
