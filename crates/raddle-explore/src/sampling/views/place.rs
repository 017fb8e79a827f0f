//! A location: the writes that may still be observed, and who has seen which.

use raddle_core::execution::Value;

use super::super::accesses::Accesses;
use super::super::clock::Clock;
use super::super::machine::Source;
use super::view::View;

/// How far apart the keys of two writes are that follow each other.
const GAP: u64 = 1 << 20;

/// A write.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Write {
    pub(super) value: Value,
    /// Keys grow with modification order; without one, with time.
    pub(super) key: u64,
    pub(super) event: u32,
    /// Its thread, and how many ops that had done with it; 0 for the initial write.
    pub(super) thread: u32,
    pub(super) op: u32,
    /// What it tells: the number in the table.
    pub(super) tale: u32,
    pub(super) carries: bool,
    /// Whether an update has observed it, so that nothing comes between the two.
    pub(super) taken: bool,
}

impl Write {
    /// What somebody observes who observes it.
    #[inline]
    pub(super) fn source(&self, newest: bool) -> Source {
        let &Write { value, carries, event, .. } = self;
        Source { value, carries, event, newest }
    }
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
type Sightings = Vec<Vec<Seen>>;

/// A location.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// In modification order.
    pub(super) writes: Vec<Write>,
    seen: Sightings,
    /// Sequentially consistent writes, by time; keys grow.
    sc_writes: Vec<(u64, u64)>,
    /// By thread what its last release of the location told, where later writes of the thread tell it, too.
    released: Vec<View>,
    pub(super) accesses: Accesses,
    /// When the location is looked at for writes that nobody can observe: if it has so many.
    pub(super) crowd: usize,
}

impl Place {
    /// Nothing has happened; what is allocated stays.
    pub(super) fn clear(&mut self) {
        self.writes.clear();
        self.seen.iter_mut().for_each(Vec::clear);
        self.sc_writes.clear();
        self.released.iter_mut().for_each(View::clear);
        self.accesses.clear();
    }

    /// Whether the thread has seen the newest write.
    #[inline]
    pub(super) fn has_seen_all(&self, thread: usize) -> bool {
        let newest = self.writes[self.writes.len() - 1].key;
        let seen = self.seen.get(thread).and_then(|seen| seen.last());
        seen.is_some_and(|seen| seen.key == newest)
    }

    /// The newest write that somebody knows of who knows this.
    #[inline]
    pub(super) fn known(&self, clock: &Clock) -> u64 {
        self.newest(clock, |seen| seen.key)
    }

    /// The same of writes that happened before.
    #[inline]
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
            self.seen.resize_with(thread + 1, Vec::new);
        }
        let seen = &mut self.seen[thread];
        let last = seen.last().map_or((0, 0), |last| (last.key, last.written));
        if last.0 < key || writes {
            let written = if writes { key } else { last.1 };
            seen.push(Seen { op, key, written });
        }
    }

    /// A sequentially consistent write.
    pub(super) fn note_sc(&mut self, time: u64, key: u64) {
        self.sc_writes.push((time, key));
    }

    /// The newest sequentially consistent write up to a time.
    #[inline]
    pub(super) fn sc_before(&self, time: u64) -> u64 {
        match self.sc_writes.last() {
            Some(&(at, key)) if at <= time => key,
            _ => {
                let later = self.sc_writes.partition_point(|&(at, _)| at <= time);
                later.checked_sub(1).map_or(0, |at| self.sc_writes[at].1)
            }
        }
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
            let gone = seen.partition_point(|it| it.key < first);
            seen.drain(..gone);
        }
        let gone = self.sc_writes.partition_point(|&(_, key)| key < first);
        self.sc_writes.drain(..gone);
    }

    /// What the thread told when it last released the location, if it did and its later writes tell it, too.
    #[inline]
    pub(super) fn released(&self, thread: usize) -> Option<&View> {
        self.released.get(thread).filter(|it| !it.is_empty())
    }

    /// The thread releases the location.
    pub(super) fn release(&mut self, thread: usize, knows: &View) {
        if self.released.len() <= thread {
            self.released.resize_with(thread + 1, View::default);
        }
        self.released[thread].copy(knows);
    }
}

/// What a thread had seen last when it had done so many ops.
#[inline]
fn last_seen(seen: &[Seen], op: u32) -> Option<&Seen> {
    let last = seen.last()?;
    if last.op <= op {
        return Some(last);
    }
    let after = seen.partition_point(|it| it.op <= op);
    after.checked_sub(1).map(|at| &seen[at])
}
