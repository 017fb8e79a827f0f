//! Fences.

use raddle_core::execution::MemoryOrder;

use super::{Thread, Views};

impl Views {
    /// A fence of the thread.
    pub(super) fn pass_fence(&mut self, thread: usize, order: MemoryOrder) {
        if !self.orders.has_fences() {
            return;
        }
        if order.is_acquire() {
            self.acquire_fence(thread);
        }
        if order == MemoryOrder::SeqCst {
            self.sc_fence(thread);
        }
        if order.is_release() {
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
        if self.orders.has_hidden {
            knows.join(&self.fences);
            self.fences.copy(knows);
        } else if self.orders.has_sc {
            self.time += 1;
            knows.fences.join(&self.fences.clock);
            (knows.time, knows.sc) = (self.time, self.time);
            self.fences.clock.join(&knows.clock);
            self.fences.time = self.time;
        }
    }
}
