//! Fences.

use raddle_core::execution::{MemoryOrder, ThreadId};

use super::{SampledViews, ViewMachine};

impl ViewMachine {
    /// Executes a fence of the thread.
    pub(super) fn execute_fence(&mut self, thread: ThreadId, order: MemoryOrder) {
        let strength = self.orders.fence(order);
        if strength.acquires {
            self.acquire_fence(thread);
        }
        if strength.sequential {
            self.sc_fence(thread);
        }
        if strength.releases {
            self.release_fence(thread);
        }
    }

    fn acquire_fence(&mut self, thread: ThreadId) {
        let SampledViews { current, acquire, .. } = &mut self.threads[thread.index()];
        current.join(acquire);
    }

    fn release_fence(&mut self, thread: ThreadId) {
        let SampledViews { current, release, .. } = &mut self.threads[thread.index()];
        release.copy(current);
    }

    /// Orders a sequentially consistent fence after all earlier ones. The fence must have acquired already.
    fn sc_fence(&mut self, thread: ThreadId) {
        let current = &mut self.threads[thread.index()].current;
        if self.orders.fences_update_hidden_location() {
            current.join(&self.fences);
            self.fences.copy(current);
        } else if self.orders.has_psc() {
            self.time += 1;
            current.fences.join(&self.fences.clock);
            (current.fence_time, current.sc_time) = (self.time, self.time);
            self.fences.clock.join(&current.clock);
            self.fences.fence_time = self.time;
        }
    }
}
