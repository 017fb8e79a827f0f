//! Fences.

use raddle_core::execution::MemoryOrder;

use super::{Thread, Views};

impl Views {
    /// A fence of the thread.
    pub(super) fn pass_fence(&mut self, thread: usize, order: MemoryOrder) {
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

    fn acquire_fence(&mut self, thread: usize) {
        let Thread { knows, pending, .. } = &mut self.threads[thread];
        knows.join(pending);
    }

    fn release_fence(&mut self, thread: usize) {
        let Thread { knows, released, .. } = &mut self.threads[thread];
        released.copy(knows);
    }

    /// A sequentially consistent fence, after it has acquired.
    fn sc_fence(&mut self, thread: usize) {
        let knows = &mut self.threads[thread].knows;
        if self.orders.fences_update_hidden_location() {
            knows.join(&self.fences);
            self.fences.copy(knows);
        } else if self.orders.has_psc() {
            self.time += 1;
            knows.fences.join(&self.fences.clock);
            (knows.time, knows.sc) = (self.time, self.time);
            self.fences.clock.join(&knows.clock);
            self.fences.time = self.time;
        }
    }
}
