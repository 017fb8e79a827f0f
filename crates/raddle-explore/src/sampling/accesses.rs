//! The accesses of a location that a later one may race with: of each thread the last ones.
//!
//! *Idea.* If an access does not happen before a later one, neither do the accesses that follow it in its thread. So
//! the last of each kind is all that has to be kept (Flanagan, Freund, *FastTrack*, PLDI 2009, without its epochs for
//! reads: there are few threads).

use super::clock::Clock;
use super::machine::{Access, Racing};

/// When a thread last read and wrote, and when it did so without being atomic. 0: never.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    read: u32,
    write: u32,
    plain_read: u32,
    plain_write: u32,
}

/// The accesses of a location.
#[derive(Clone, Debug, Default)]
pub(super) struct Accesses {
    threads: Vec<Last>,
    /// Whether any was not atomic.
    has_plain: bool,
}

impl Accesses {
    pub(super) fn clear(&mut self) {
        self.threads.clear();
        self.has_plain = false;
    }

    /// What an access races with that comes now: `clock` is that of its thread, with the access.
    #[inline]
    pub(super) fn race(&self, thread: usize, access: Access, clock: &Clock) -> Option<Racing> {
        if !self.has_plain && !access.plain {
            return None;
        }
        let racing = |(other, last): (usize, &Last)| {
            let ops = match (access.plain, access.writes) {
                (true, true) => last.read.max(last.write),
                (true, false) => last.write,
                (false, true) => last.plain_read.max(last.plain_write),
                (false, false) => last.plain_write,
            };
            (other != thread && ops > clock.get(other)).then_some(Racing { thread: other, ops })
        };
        self.threads.iter().enumerate().find_map(racing)
    }

    /// Notes an access, which is the op of its thread with this number.
    #[inline]
    pub(super) fn note(&mut self, thread: usize, access: Access, op: u32) {
        if self.threads.len() <= thread {
            self.threads.resize(thread + 1, Last::default());
        }
        let last = &mut self.threads[thread];
        match access.writes {
            true => last.write = op,
            false => last.read = op,
        }
        if access.plain {
            self.has_plain = true;
            match access.writes {
                true => last.plain_write = op,
                false => last.plain_read = op,
            }
        }
    }
}
