//! What a run knows of locations: their initial values, and the values of locks and other synchronization objects.
//!
//! Such objects are the same under all models; the machine only learns who comes after whom.

use raddle_core::execution::{LocationId, Value};
use raddle_core::program::OpKind;

use super::super::decide::Decide;
use super::super::log::observed;
use super::super::machine::Machine;
use super::super::threads::{NONE, Threads, Told};
use super::Run;

/// A lock or another synchronization object.
#[derive(Clone, Copy)]
pub(super) struct Object {
    pub(super) value: Value,
    /// Its last update.
    pub(super) event: u32,
}

impl<M: Machine, T: Threads, D: Decide + ?Sized> Run<'_, M, T, D> {
    /// The object at a location.
    pub(super) fn object(&mut self, location: LocationId) -> Object {
        let location = self.locate(location);
        if self.objects.len() <= location {
            self.objects.resize(location + 1, None);
        }
        let value = self.initial[location].unwrap_or(0);
        *self.objects[location].get_or_insert(Object { value, event: NONE })
    }

    /// The index of a location, which is known from now on.
    #[inline]
    pub(super) fn locate(&mut self, location: LocationId) -> usize {
        let index = location.index();
        if self.initial.get(index).is_none_or(Option::is_none) {
            let value = self.threads.program().initial_value(location);
            self.know(index, value);
        }
        index
    }

    #[cold]
    pub(super) fn know(&mut self, location: usize, initial: Value) {
        if self.initial.len() <= location {
            self.initial.resize(location + 1, None);
        }
        self.initial[location] = Some(initial);
        self.machine.add_location(location, initial);
    }

    /// The thread updates a lock or another synchronization object.
    pub(super) fn synchronize(
        &mut self,
        thread: usize,
        location: LocationId,
        update: impl FnOnce(Value) -> Value,
    ) -> Told {
        let Object { value, event: source } = self.object(location);
        let written = update(value);
        self.objects[location.index()] = Some(Object { value: written, event: self.events });
        self.machine.synchronize(thread, location.index());
        if written != value {
            self.changed();
        }
        let kind = self.states[thread].op.kind;
        let asks = kind.is_question().then(|| observed(source));
        match kind {
            OpKind::Sync { .. } => self.done(thread, asks, Some(value), Some(written)),
            _ => self.done(thread, asks, None, None),
        }
        if written != value && !self.waiting.is_empty() {
            self.wake();
        }
        Told { value, spurious: false, carries: false, source }
    }
}
