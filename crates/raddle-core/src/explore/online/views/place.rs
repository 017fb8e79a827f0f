//! A location: the writes that may still be observed, and who has seen which.

use std::collections::VecDeque;

use crate::execution::Value;

use super::super::accesses::Accesses;
use super::super::clock::Clock;
use super::knowledge::Knowledge;

/// How far apart the keys of two writes are that follow each other.
const GAP: u64 = 1 << 20;

/// A write.
#[derive(Clone, Debug, Default)]
pub(super) struct Write {
    /// Keys grow with modification order; without one, with time.
    pub(super) key: u64,
    pub(super) value: Value,
    pub(super) carries: bool,
    pub(super) event: u32,
    /// Its thread, and how many ops that had done with it; 0 for the initial write.
    pub(super) thread: u32,
    pub(super) op: u32,
    /// Whether an update has observed it, so that nothing comes between the two.
    pub(super) taken: bool,
    /// What somebody learns who acquires it.
    pub(super) told: Knowledge,
    /// What happened before it, where there is no modification order.
    pub(super) before: Clock,
}

/// A thread has seen a write.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// How many ops it had done then.
    op: u32,
    key: u64,
    /// The last write of its own.
    written: u64,
}

/// What the threads have seen of a location, each in its order; keys grow.
type Sightings = Vec<VecDeque<Seen>>;

/// A location.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// In modification order.
    pub(super) writes: VecDeque<Write>,
    seen: Sightings,
    /// Sequentially consistent writes, by time.
    sc_writes: VecDeque<(u64, u64)>,
    /// By thread what its last release of the location told, where later writes of the thread tell it, too.
    pub(super) released: Vec<Knowledge>,
    pub(super) accesses: Accesses,
    /// When the location is looked at for writes that nobody can observe: if it has so many.
    pub(super) crowd: usize,
}

impl Place {
    /// Nothing has happened; what is allocated stays.
    pub(super) fn clear(&mut self) {
        self.seen.iter_mut().for_each(VecDeque::clear);
        self.sc_writes.clear();
        self.released.iter_mut().for_each(Knowledge::clear);
        self.accesses.clear();
    }

    /// The newest write that somebody knows of who knows this.
    #[inline]
    pub(super) fn known(&self, clock: &Clock) -> u64 {
        self.newest(clock, |seen| seen.key)
    }

    /// The same of writes that happened before.
    pub(super) fn written(&self, clock: &Clock) -> u64 {
        self.newest(clock, |seen| seen.written)
    }

    #[inline]
    fn newest(&self, clock: &Clock, key: impl Fn(&Seen) -> u64) -> u64 {
        let mut newest = 0;
        for (thread, seen) in self.seen.iter().enumerate() {
            if let Some(last) = last_seen(seen, clock.get(thread)) {
                newest = newest.max(key(last));
            }
        }
        newest
    }

    /// The last write of a thread that somebody knows of who knows this.
    #[inline]
    pub(super) fn last_of(&self, thread: usize, clock: &Clock) -> Option<&Write> {
        let key = last_seen(&self.seen[thread], clock.get(thread))?.key;
        let at = self.writes.partition_point(|write| write.key < key);
        self.writes.get(at).filter(|write| write.key == key)
    }

    /// How many threads may have seen something.
    pub(super) fn threads(&self) -> usize {
        self.seen.len()
    }

    /// The thread, with its op, sees the write with this key, or writes it.
    #[inline]
    pub(super) fn see(&mut self, thread: usize, op: u32, key: u64, writes: bool) {
        if self.seen.len() <= thread {
            self.seen.resize_with(thread + 1, VecDeque::new);
        }
        let seen = &mut self.seen[thread];
        let last = seen.back().map_or((0, 0), |last| (last.key, last.written));
        if last.0 < key || writes {
            let written = if writes { key } else { last.1 };
            seen.push_back(Seen { op, key, written });
        }
    }

    /// A sequentially consistent write.
    pub(super) fn note_sc(&mut self, time: u64, key: u64) {
        self.sc_writes.push_back((time, key));
    }

    /// The newest sequentially consistent write up to a time.
    #[inline]
    pub(super) fn sc_before(&self, time: u64) -> u64 {
        let later = self.sc_writes.iter().rev();
        later.into_iter().find(|&&(at, _)| at <= time).map_or(0, |&(_, key)| key)
    }

    /// The first write with at least this key.
    #[inline]
    pub(super) fn first(&self, key: u64) -> usize {
        let mut at = self.writes.len();
        while at > 1 && self.writes[at - 1].key > key {
            at -= 1;
        }
        at - 1
    }

    /// A key for a write that comes right after the one at this index; none if there is no room.
    #[inline]
    pub(super) fn key_after(&self, at: usize) -> Option<u64> {
        let key = self.writes[at].key;
        match self.writes.get(at + 1) {
            None => Some(key + GAP),
            Some(next) => (next.key - key > 1).then(|| key + (next.key - key) / 2),
        }
    }

    /// Forgets what was seen of writes that are gone.
    pub(super) fn forget_old(&mut self) {
        let first = self.writes[0].key;
        for seen in &mut self.seen {
            while seen.front().is_some_and(|it| it.key < first) {
                seen.pop_front();
            }
        }
        while self.sc_writes.front().is_some_and(|&(_, key)| key < first) {
            self.sc_writes.pop_front();
        }
    }
}

/// What a thread had seen last when it had done so many ops.
#[inline]
fn last_seen(seen: &VecDeque<Seen>, op: u32) -> Option<&Seen> {
    if let Some(last) = seen.back()
        && last.op <= op
    {
        return Some(last);
    }
    let after = seen.partition_point(|it| it.op <= op);
    after.checked_sub(1).and_then(|at| seen.get(at))
}
