//! When another thread than a given one last did something to a location.

use raddle_core::execution::ThreadId;

/// The last two times at which different threads did something. Times are positive.
#[derive(Clone, Copy)]
pub(super) struct Stamp {
    time: u64,
    thread: ThreadId,
    /// The last time at which another thread than `thread` did it.
    other: u64,
}

impl Default for Stamp {
    /// Nobody has done it.
    fn default() -> Self {
        Stamp { time: 0, thread: ThreadId::new(0), other: 0 }
    }
}

impl Stamp {
    /// Records that the thread does it now.
    #[inline]
    pub(super) fn set(&mut self, thread: ThreadId, now: u64) {
        if self.thread != thread {
            self.other = self.time;
            self.thread = thread;
        }
        self.time = now;
    }

    /// The last time at which another thread did it; 0 if none did.
    #[inline]
    pub(super) fn by_other_than(&self, thread: ThreadId) -> u64 {
        if self.thread == thread { self.other } else { self.time }
    }
}
