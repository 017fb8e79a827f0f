//! Which write a read observes, if the model has modification orders.

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId};

use super::super::decider::{ChoiceKind, Decider};
use super::super::machine::{LoadRequest, ReadSource, RmwRequest, StepContext, StoredValue};
use super::ViewMachine;

/// Source of a read-modify-write, and what it writes.
pub(super) struct RmwChoice {
    /// Index of the write that it observes.
    pub(super) source: usize,
    /// `None` if it fails.
    pub(super) written: Option<StoredValue>,
    pub(super) is_spurious: bool,
}

impl ViewMachine {
    /// Returns the index of the oldest write that the next access of the thread may observe, or that a write may
    /// follow. `sc_time` is the time of a sequentially consistent access in the order of such events.
    #[inline]
    pub(super) fn floor(
        &self,
        thread: ThreadId,
        location: LocationId,
        sc_time: Option<u64>,
    ) -> usize {
        let state = &self.locations[location.index()];
        if state.has_seen_newest(thread) {
            return state.writes.len() - 1;
        }
        let current = &self.threads[thread.index()].current;
        let mut key = state.newest_seen(&current.clock);
        if self.orders.has_psc() {
            if current.fence_time > 0 {
                key = key.max(state.newest_seen(&current.fences));
                key = key.max(state.last_sc_write(current.fence_time));
            }
            if let Some(time) = sc_time {
                key = key.max(state.last_sc_write(time));
                if self.fences.fence_time > 0 {
                    key = key.max(state.newest_written(&self.fences.clock));
                }
            }
        }
        state.index_of(key)
    }

    /// Returns the time of a load in the order of sequentially consistent events, if it is one: that of the last such
    /// event that happens before it.
    #[inline]
    fn sc_time_of_load(&self, thread: ThreadId, order: MemoryOrder) -> Option<u64> {
        self.orders.access(order).sequential.then(|| self.threads[thread.index()].current.sc_time)
    }

    /// Returns the time of a write in the order of sequentially consistent events, if it is one: the end.
    #[inline]
    pub(super) fn sc_time_of_write(&self, order: MemoryOrder) -> Option<u64> {
        self.orders.access(order).sequential.then_some(self.time)
    }

    /// Chooses the write that a load observes, and returns its index.
    #[inline]
    pub(super) fn choose_source<D: Decider + ?Sized>(
        &mut self,
        context: &mut StepContext<'_, D>,
        LoadRequest { location, order }: LoadRequest,
    ) -> usize {
        if !self.orders.has_modification_order() {
            return self.choose_causal(context, location, |_| true);
        }
        let sc_time = self.sc_time_of_load(context.thread(), order);
        let floor = self.floor(context.thread(), location, sc_time);
        let last = self.locations[location.index()].writes.len() - 1;
        last - context.choose(ChoiceKind::ReadFrom, last - floor + 1)
    }

    /// Chooses the write that a read-modify-write observes.
    #[inline]
    pub(super) fn choose_rmw<D: Decider + ?Sized>(
        &mut self,
        context: &mut StepContext<'_, D>,
        request: &RmwRequest,
    ) -> RmwChoice {
        let &RmwRequest { location, ref op, success, failure } = request;
        let mut at = if self.orders.has_modification_order() {
            self.choose_source(context, LoadRequest { location, order: failure })
        } else {
            self.choose_causal(context, location, |write| {
                !write.is_taken || op.is_weak() || op.apply(&write.source(false)).is_none()
            })
        };
        // If it fails, it may observe an older write than if it writes.
        let floor_to_write = match self.sc_time_of_write(success) {
            Some(time) => self.floor(context.thread(), location, Some(time)),
            None => 0,
        };
        loop {
            let written = op.apply(&self.source(location, at));
            let can_write =
                written.is_none() || at >= floor_to_write && self.can_follow(location, at);
            let is_spurious = written.is_some()
                && op.is_weak()
                && (!can_write || context.choose(ChoiceKind::SpuriousFailure, 2) == 1);
            if is_spurious || can_write {
                let written = written.filter(|_| !is_spurious);
                return RmwChoice { source: at, written, is_spurious };
            }
            at += 1;
        }
    }

    /// Returns the write at the index as the source of a read.
    #[inline]
    pub(super) fn source(&self, location: LocationId, at: usize) -> ReadSource {
        let writes = &self.locations[location.index()].writes;
        writes[at].source(at + 1 == writes.len())
    }

    /// Returns `true` if a read-modify-write may immediately follow the write at the index.
    #[inline]
    fn can_follow(&self, location: LocationId, at: usize) -> bool {
        let state = &self.locations[location.index()];
        let is_last = at + 1 == state.writes.len();
        if !self.orders.has_modification_order() {
            return !state.writes[at].is_taken;
        }
        let is_free = !state.writes[at].is_taken && state.key_after(at).is_some();
        is_last || !self.orders.is_strong() && is_free
    }
}
