//! Vector clocks: how many ops of each thread happened before a point.
//!
//! Most tested programs have few threads, and almost every event copies or joins a clock. The counters of the first
//! [`INLINE`] threads are therefore stored in the clock itself and joined unconditionally; only further threads need a
//! heap-allocated vector.

use raddle_core::execution::ThreadId;

/// Number of threads whose counters are stored inline.
const INLINE: usize = 4;

/// Vector clock: op counts by thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    inline: [u32; INLINE],
    /// Counters of the threads from [`INLINE`] on. Missing entries are 0.
    spilled: Vec<u32>,
}

impl Clock {
    #[inline]
    pub(super) fn get(&self, thread: ThreadId) -> u32 {
        self.get_by_index(thread.index())
    }

    /// Like [`get`](Self::get), for loops over all threads.
    #[inline]
    pub(super) fn get_by_index(&self, thread: usize) -> u32 {
        match self.inline.get(thread) {
            Some(&ops) => ops,
            None => self.spilled.get(thread - INLINE).copied().unwrap_or(0),
        }
    }

    /// Increments the counter of a thread.
    #[inline]
    pub(super) fn tick(&mut self, thread: ThreadId) {
        match self.inline.get_mut(thread.index()) {
            Some(ops) => *ops += 1,
            None => self.tick_spilled(thread.index() - INLINE),
        }
    }

    fn tick_spilled(&mut self, at: usize) {
        if self.spilled.len() <= at {
            self.spilled.resize(at + 1, 0);
        }
        self.spilled[at] += 1;
    }

    /// Decrements the counter of a thread, which must be positive.
    #[inline]
    pub(super) fn untick(&mut self, thread: ThreadId) {
        match self.inline.get_mut(thread.index()) {
            Some(ops) => *ops -= 1,
            None => self.spilled[thread.index() - INLINE] -= 1,
        }
    }

    /// Takes the maximum of every counter.
    #[inline]
    pub(super) fn join(&mut self, other: &Clock) {
        for (own, &other) in self.inline.iter_mut().zip(&other.inline) {
            *own = (*own).max(other);
        }
        if !other.spilled.is_empty() {
            self.join_spilled(&other.spilled);
        }
    }

    fn join_spilled(&mut self, other: &[u32]) {
        if self.spilled.len() < other.len() {
            self.spilled.resize(other.len(), 0);
        }
        for (own, &other) in self.spilled.iter_mut().zip(other) {
            *own = (*own).max(other);
        }
    }

    /// Becomes a copy of `other`. Keeps the allocation, unlike `clone`.
    #[inline]
    pub(super) fn copy(&mut self, other: &Clock) {
        self.inline = other.inline;
        if !self.spilled.is_empty() || !other.spilled.is_empty() {
            self.spilled.clear();
            self.spilled.extend_from_slice(&other.spilled);
        }
    }

    /// Sets every counter to 0. Keeps the allocation.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.inline = [0; INLINE];
        self.spilled.clear();
    }

    /// Returns `true` if every counter is 0.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.inline == [0; INLINE] && self.spilled.is_empty()
    }
}
