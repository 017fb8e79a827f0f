//! Race detection for one location: the last accesses of each thread.
//!
//! *Idea.* If an access does not happen before a later one, neither do the accesses that follow it in its thread. So it
//! suffices to keep the last access of each kind (Flanagan, Freund, *FastTrack*, PLDI 2009, without its epochs for
//! reads: there are few threads).
//!
//! *Cost.* O(threads) per access of a location that has non-atomic accesses, O(1) otherwise.

use raddle_core::execution::ThreadId;

use super::clock::Clock;
use super::machine::{RaceAccess, RacingEvent};

/// Op counts of a thread at its last accesses of a location; 0 if there was none.
#[derive(Clone, Copy, Debug, Default)]
struct ThreadAccesses {
    read: u32,
    write: u32,
    plain_read: u32,
    plain_write: u32,
}

/// Accesses of one location.
#[derive(Clone, Debug, Default)]
pub(super) struct AccessHistory {
    /// By thread.
    last: Vec<ThreadAccesses>,
    /// Whether any access was non-atomic. Otherwise nothing can race.
    has_plain: bool,
}

impl AccessHistory {
    pub(super) fn clear(&mut self) {
        self.last.clear();
        self.has_plain = false;
    }

    /// Returns an event that races with the access, which is about to be performed by `thread`. `clock` is the clock of
    /// that thread and counts the access.
    #[inline]
    pub(super) fn find_race(
        &self,
        thread: ThreadId,
        access: RaceAccess,
        clock: &Clock,
    ) -> Option<RacingEvent> {
        if !self.has_plain && !access.is_plain {
            return None;
        }
        self.search_race(thread, access, clock)
    }

    fn search_race(
        &self,
        thread: ThreadId,
        access: RaceAccess,
        clock: &Clock,
    ) -> Option<RacingEvent> {
        let racing = |(other, last): (usize, &ThreadAccesses)| {
            let ops = match (access.is_plain, access.is_write) {
                (true, true) => last.read.max(last.write),
                (true, false) => last.write,
                (false, true) => last.plain_read.max(last.plain_write),
                (false, false) => last.plain_write,
            };
            (other != thread.index() && ops > clock.get_by_index(other))
                .then(|| RacingEvent { thread: ThreadId::new(other), ops })
        };
        self.last.iter().enumerate().find_map(racing)
    }

    /// Records an access; `ops` is the op count of its thread including the access.
    #[inline]
    pub(super) fn record(&mut self, thread: ThreadId, access: RaceAccess, ops: u32) {
        if self.last.len() <= thread.index() {
            self.last.resize(thread.index() + 1, ThreadAccesses::default());
        }
        let last = &mut self.last[thread.index()];
        match access.is_write {
            true => last.write = ops,
            false => last.read = ops,
        }
        if access.is_plain {
            self.has_plain = true;
            match access.is_write {
                true => last.plain_write = ops,
                false => last.plain_read = ops,
            }
        }
    }
}
