//! Vector clocks: how many ops of each thread happened before.
//!
//! Most programs that are tested have few threads, and a clock is copied or joined at almost every event. So the first
//! threads have their numbers in the clock itself, all of which are joined without asking how many there are; only the
//! others have a vector.

/// So many threads have their numbers in the clock itself.
const FEW: usize = 4;

/// A clock.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    few: [u32; FEW],
    /// Of the other threads. What is beyond its end is 0.
    more: Vec<u32>,
}

impl Clock {
    #[inline]
    pub(super) fn get(&self, thread: usize) -> u32 {
        match self.few.get(thread) {
            Some(&ops) => ops,
            None => self.more.get(thread - FEW).copied().unwrap_or(0),
        }
    }

    /// One more op of the thread.
    #[inline]
    pub(super) fn tick(&mut self, thread: usize) {
        match self.few.get_mut(thread) {
            Some(ops) => *ops += 1,
            None => self.tick_more(thread - FEW),
        }
    }

    fn tick_more(&mut self, thread: usize) {
        if self.more.len() <= thread {
            self.more.resize(thread + 1, 0);
        }
        self.more[thread] += 1;
    }

    /// One op less of the thread, of which there was one.
    #[inline]
    pub(super) fn untick(&mut self, thread: usize) {
        match self.few.get_mut(thread) {
            Some(ops) => *ops -= 1,
            None => self.more[thread - FEW] -= 1,
        }
    }

    #[inline]
    pub(super) fn join(&mut self, other: &Clock) {
        for (own, &other) in self.few.iter_mut().zip(&other.few) {
            *own = (*own).max(other);
        }
        if !other.more.is_empty() {
            self.join_more(&other.more);
        }
    }

    fn join_more(&mut self, other: &[u32]) {
        if self.more.len() < other.len() {
            self.more.resize(other.len(), 0);
        }
        for (own, &other) in self.more.iter_mut().zip(other) {
            *own = (*own).max(other);
        }
    }

    #[inline]
    pub(super) fn copy(&mut self, other: &Clock) {
        self.few = other.few;
        if !self.more.is_empty() || !other.more.is_empty() {
            self.more.clear();
            self.more.extend_from_slice(&other.more);
        }
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.few = [0; FEW];
        self.more.clear();
    }

    /// Whether nothing happened before.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.few == [0; FEW] && self.more.is_empty()
    }
}
