//! Faces without search: WRA, RA, RC20, Relaxed, and RC11 and C20 as long as nothing is sequentially
//! consistent.
//!
//! Under these models an execution is consistent if and only if no order that coherence forces has a
//! cycle, and [`Coherent`] keeps that order. So the mask of candidate sources is exact: there is no
//! witness to keep and nothing to search for.
//!
//! WRA has no modification order. There a write is before another one if it happens before it, and a
//! thread knows what happened before; the rest is the same.
//!
//! Sequentially consistent fences (under RC11 and C20 also accesses) are beyond this face, except under
//! Relaxed, where they do nothing. It says so ([`IncrementalModel::needs_stronger_model`]), and an explorer starts again with
//! another face.

use crate::event_set::EventSet;
use crate::model::{Effect, IncrementalModel, Reads, Sources};
use raddle_core::execution::MemoryOrder;

use super::coherent::{Coherent, Read};
use super::models::{Rules, Strength, access, fence};
use super::view::Narrow;

/// A face of the model `M`, which is not SRA.
pub struct Views<M, R: EventSet> {
    execution: Coherent<M, R, Narrow<R>>,
    /// Whether something was sequentially consistent. This is not undone.
    lost: bool,
}

impl<M: Rules, R: EventSet> IncrementalModel<R> for Views<M, R> {
    const FENCES_ARE_EVENTS: bool = false;
    const RACES: bool = true;

    fn new(threads: usize, locations: usize) -> Self {
        Views { execution: Coherent::new(threads, locations), lost: false }
    }

    #[inline]
    fn push_store(&mut self, event: usize, thread: usize, location: usize, order: MemoryOrder) {
        let strength = access::<M>(order);
        self.lost |= strength.sequential;
        self.execution.store(event, thread, location, strength, |_| ());
    }

    #[inline]
    fn push_unlock(&mut self, event: usize, thread: usize, location: usize, acquire: usize) {
        let (source, effect, strength) = (Some(acquire), Effect::Sync, Strength::OBJECT);
        let read = Read { event, thread, location, source, effect, strength };
        self.execution.unlock(&read, |_| ());
    }

    #[inline]
    fn push_fence(&mut self, _event: usize, thread: usize, order: MemoryOrder) {
        let strength = fence::<M>(order);
        self.lost |= strength.sequential;
        self.execution.fence(None, thread, strength, |_| ());
    }

    #[inline]
    fn push_store_fence(&mut self, _event: usize, thread: usize) {
        let strength = fence::<M>(MemoryOrder::Release);
        self.execution.fence(None, thread, strength, |_| ());
    }

    fn push_access(&mut self, event: usize, thread: usize) {
        self.execution.access(event, thread);
    }

    fn push_spawn(&mut self, parent: usize, child: usize) {
        self.execution.synchronize(parent, child);
    }

    fn push_join(&mut self, parent: usize, child: usize) {
        self.execution.synchronize(child, parent);
    }

    #[inline]
    fn sources(
        &mut self,
        thread: usize,
        location: usize,
        reads: Reads,
        _order: MemoryOrder,
    ) -> Sources<R> {
        self.execution.sources(thread, location, reads)
    }

    #[inline]
    fn try_read(
        &mut self,
        event: usize,
        thread: usize,
        location: usize,
        source: Option<usize>,
        effect: Effect,
        order: MemoryOrder,
    ) -> bool {
        let read = Read::new::<M>(event, thread, location, source, effect, order);
        self.lost |= read.strength.sequential;
        if !self.execution.admits(&read) {
            return false;
        }
        self.execution.push_level();
        self.execution.read(&read, |_| ());
        true
    }

    /// What coherence admits is admitted: the read need not be added to see that.
    #[inline]
    fn admits(
        &mut self,
        event: usize,
        thread: usize,
        location: usize,
        source: Option<usize>,
        effect: Effect,
        order: MemoryOrder,
    ) -> bool {
        let read = Read::new::<M>(event, thread, location, source, effect, order);
        self.lost |= read.strength.sequential;
        self.execution.admits(&read)
    }

    #[inline]
    fn push_level(&mut self, _thread: usize) {
        self.execution.push_level();
    }

    #[inline]
    fn pop(&mut self) {
        self.execution.pop();
    }

    fn can_be_last(&mut self, last: &[(usize, Option<usize>)]) -> bool {
        let forced = &self.execution.forced;
        last.iter().all(|&(location, write)| forced.can_be_last(location, write))
    }

    fn happened_before(&self, thread: usize) -> R {
        self.execution.happened_before(thread)
    }

    fn needs_stronger_model(&self) -> bool {
        self.lost
    }
}
