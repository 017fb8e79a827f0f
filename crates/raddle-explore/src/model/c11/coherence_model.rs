//! Models without search: WRA, RA, RC20, Relaxed, and RC11 and C20 as long as nothing is sequentially consistent.
//!
//! Under these models an execution is consistent if and only if the order that coherence forces has no cycle, and
//! [`CoherentExecution`] keeps that order. So the mask of candidate sources is exact: there is no witness to keep, and
//! nothing to search for.
//!
//! WRA has no modification order. There a write precedes another one if it happens before it, and a thread knows what
//! happened before; the rest is the same.
//!
//! Sequentially consistent fences (under RC11 and C20 also accesses) cannot be represented, except under Relaxed, where
//! they have no effect.

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId};

use crate::event_index::{EventIndex, RfSource};
use crate::event_set::EventSet;
use crate::model::{
    IncrementalModel, NewModel, NewRead, NewStore, NewUnlock, PendingRead, RfSources,
};

use super::coherence::{CoherentExecution, CoherentRead, CoherentStore};
use super::models::{Rules, access, fence};
use super::thread_view::CoherenceView;

/// The model `M`, which is not SRA, if coherence is all that it demands.
pub struct CoherenceModel<M, R: EventSet> {
    execution: CoherentExecution<M, R, CoherenceView<R>>,
    /// Whether something was sequentially consistent. Not undone.
    saw_sequential: bool,
}

impl<M: Rules, R: EventSet> CoherenceModel<M, R> {
    #[inline]
    fn coherent_read(&mut self, read: NewRead, source: RfSource) -> CoherentRead {
        let read = CoherentRead::new::<M>(read, source);
        self.saw_sequential |= read.strength.sequential;
        read
    }
}

impl<M: Rules, R: EventSet> NewModel for CoherenceModel<M, R> {
    fn new(threads: usize, locations: usize) -> Self {
        CoherenceModel {
            execution: CoherentExecution::new(threads, locations),
            saw_sequential: false,
        }
    }
}

impl<M: Rules, R: EventSet> IncrementalModel<R> for CoherenceModel<M, R> {
    #[inline]
    fn fences_are_events(&self) -> bool {
        false
    }

    #[inline]
    fn races_are_errors(&self) -> bool {
        true
    }

    #[inline(always)]
    fn push_store(&mut self, store: NewStore) {
        let NewStore { event, thread, location, order } = store;
        let strength = access::<M>(order);
        self.saw_sequential |= strength.sequential;
        self.execution.store(CoherentStore { event, thread, location, strength }, |_| ());
    }

    #[inline]
    fn push_unlock(&mut self, unlock: NewUnlock) {
        self.execution.unlock(&CoherentRead::unlock(unlock), |_| ());
    }

    #[inline]
    fn push_fence(&mut self, _event: EventIndex, thread: ThreadId, order: MemoryOrder) {
        let strength = fence::<M>(order);
        self.saw_sequential |= strength.sequential;
        self.execution.fence(None, thread, strength, |_| ());
    }

    #[inline]
    fn push_store_fence(&mut self, _event: EventIndex, thread: ThreadId) {
        let strength = fence::<M>(MemoryOrder::Release);
        self.execution.fence(None, thread, strength, |_| ());
    }

    fn push_cell_access(&mut self, event: EventIndex, thread: ThreadId) {
        self.execution.cell_access(event, thread);
    }

    fn push_spawn(&mut self, parent: ThreadId, child: ThreadId) {
        self.execution.synchronize(parent, child);
    }

    fn push_join(&mut self, parent: ThreadId, child: ThreadId) {
        self.execution.synchronize(child, parent);
    }

    #[inline]
    fn sources(&mut self, read: PendingRead) -> RfSources<R> {
        self.execution.sources(read.thread, read.location, read.kind)
    }

    #[inline(always)]
    fn try_read(&mut self, read: NewRead, source: RfSource) -> bool {
        let read = self.coherent_read(read, source);
        if !self.execution.admits(&read) {
            return false;
        }
        self.execution.push_level();
        self.execution.read(&read, |_| ());
        true
    }

    /// What coherence admits is admitted: the read need not be added to see that.
    #[inline]
    fn admits(&mut self, read: NewRead, source: RfSource) -> bool {
        let read = self.coherent_read(read, source);
        self.execution.admits(&read)
    }

    #[inline]
    fn push_level(&mut self, _thread: ThreadId) {
        self.execution.push_level();
    }

    #[inline]
    fn pop(&mut self) {
        self.execution.pop();
    }

    fn can_be_last(&mut self, last: &[(LocationId, RfSource)]) -> bool {
        let forced = &self.execution.forced;
        last.iter().all(|&(location, write)| forced.can_be_last(location, write))
    }

    fn happened_before(&self, thread: ThreadId) -> R {
        self.execution.happened_before(thread)
    }

    fn events_of(&self, thread: ThreadId) -> R {
        self.execution.events_of(thread)
    }

    fn needs_stronger_model(&self) -> bool {
        self.saw_sequential
    }
}
