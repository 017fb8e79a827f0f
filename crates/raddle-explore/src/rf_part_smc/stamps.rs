//! When a thread other than a given one last did something to a location.

/// The last two times, by different threads.
#[derive(Clone, Copy, Default)]
pub(super) struct Stamp {
    time: u64,
    thread: usize,
    /// The last time that another thread than `thread` did it.
    other: u64,
}

impl Stamp {
    /// The thread does it now.
    #[inline]
    pub(super) fn set(&mut self, thread: usize, now: u64) {
        if self.thread != thread {
            self.other = self.time;
            self.thread = thread;
        }
        self.time = now;
    }

    /// When another thread did it last.
    #[inline]
    pub(super) fn by_other_than(&self, thread: usize) -> u64 {
        if self.thread == thread { self.other } else { self.time }
    }
}
