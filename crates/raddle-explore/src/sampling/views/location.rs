//! State of a location: the writes that may still be observed, and which of them each thread has seen.

use raddle_core::execution::{ThreadId, Value};

use super::super::accesses::AccessHistory;
use super::super::clock::Clock;
use super::super::event::RunEvent;
use super::super::machine::ReadSource;
use super::release_view::ReleaseViewId;
use super::view::View;

/// Distance between the keys of consecutive writes, which leaves room for later insertions.
const KEY_GAP: u64 = 1 << 20;

/// Write to a location.
#[derive(Clone, Copy, Debug)]
pub(super) struct ViewWrite {
    pub(super) value: Value,
    /// Keys increase along modification order; without one, in the order of execution.
    pub(super) key: u64,
    pub(super) event: RunEvent,
    /// The main thread for the initial write.
    pub(super) thread: ThreadId,
    /// Number of ops of the thread up to and including the write; 0 for the initial write.
    pub(super) op: u32,
    pub(super) release_view: ReleaseViewId,
    pub(super) carries: bool,
    /// Whether a read-modify-write observes it, so that no other write may follow it immediately.
    pub(super) is_taken: bool,
}

impl ViewWrite {
    /// Returns the initial write of a location.
    pub(super) fn initial(value: Value) -> Self {
        ViewWrite {
            value,
            key: 1,
            event: RunEvent::INITIAL,
            thread: ThreadId::new(0),
            op: 0,
            release_view: ReleaseViewId::EMPTY,
            carries: false,
            is_taken: false,
        }
    }

    /// Returns the write as the source of a read.
    #[inline]
    pub(super) fn source(&self, is_newest: bool) -> ReadSource {
        let &ViewWrite { value, carries, event, .. } = self;
        ReadSource { value, carries, event, is_newest }
    }
}

/// Newest writes that a thread had seen at one of its ops.
#[derive(Clone, Copy, Debug)]
struct SeenWrites {
    /// Number of ops of the thread up to and including that op.
    op: u32,
    /// Key of the newest write that the thread had read or written.
    key: u64,
    /// Key of the newest write of the thread itself.
    own_key: u64,
}

/// State of a location.
#[derive(Debug, Default)]
pub(super) struct LocationState {
    /// In modification order; without one, in the order of execution. Never empty.
    pub(super) writes: Vec<ViewWrite>,
    /// By thread; op counts and keys increase.
    seen: Vec<Vec<SeenWrites>>,
    /// Time and key of sequentially consistent writes; both increase.
    sc_writes: Vec<(u64, u64)>,
    /// By thread: view of its last release write to the location, if later writes of the thread continue its release
    /// sequence.
    released: Vec<View>,
    pub(super) accesses: AccessHistory,
    /// Number of writes from which on the location is pruned.
    pub(super) prune_at: usize,
}

impl LocationState {
    /// Returns to the state before [`add_location`](super::ViewMachine). Keeps the allocations.
    pub(super) fn clear(&mut self) {
        self.writes.clear();
        self.seen.iter_mut().for_each(Vec::clear);
        self.sc_writes.clear();
        self.released.iter_mut().for_each(View::clear);
        self.accesses.clear();
    }

    /// Returns `true` if the thread has seen the newest write.
    #[inline]
    pub(super) fn has_seen_newest(&self, thread: ThreadId) -> bool {
        let newest = self.writes[self.writes.len() - 1].key;
        let seen = self.seen.get(thread.index()).and_then(|seen| seen.last());
        seen.is_some_and(|seen| seen.key == newest)
    }

    /// Returns the key of the newest write that an event within the clock has read or written; 0 if there is none.
    #[inline]
    pub(super) fn newest_seen(&self, clock: &Clock) -> u64 {
        self.newest(clock, |seen| seen.key)
    }

    /// Returns the key of the newest write within the clock; 0 if there is none.
    #[inline]
    pub(super) fn newest_written(&self, clock: &Clock) -> u64 {
        self.newest(clock, |seen| seen.own_key)
    }

    #[inline]
    fn newest(&self, clock: &Clock, key: impl Fn(&SeenWrites) -> u64) -> u64 {
        let mut newest = 0;
        for (thread, seen) in self.seen.iter().enumerate() {
            if let Some(last) = last_seen(seen, clock.get_by_index(thread)) {
                newest = newest.max(key(last));
            }
        }
        newest
    }

    /// Returns the last write of each thread within the clock, if it is still kept.
    #[inline]
    pub(super) fn last_writes(&self, clock: &Clock) -> impl Iterator<Item = &ViewWrite> {
        self.seen.iter().enumerate().filter_map(|(thread, seen)| {
            let key = last_seen(seen, clock.get_by_index(thread))?.key;
            let at = self.writes.partition_point(|write| write.key < key);
            self.writes.get(at).filter(|write| write.key == key)
        })
    }

    /// Notes that the thread, with the op of this number, reads (or writes, if `writes`) the write with this key.
    #[inline]
    pub(super) fn record_seen(&mut self, thread: ThreadId, op: u32, key: u64, writes: bool) {
        if self.seen.len() <= thread.index() {
            self.seen.resize_with(thread.index() + 1, Vec::new);
        }
        let seen = &mut self.seen[thread.index()];
        let last = seen.last().map_or((0, 0), |last| (last.key, last.own_key));
        if last.0 < key || writes {
            let own_key = if writes { key } else { last.1 };
            seen.push(SeenWrites { op, key, own_key });
        }
    }

    /// Notes a sequentially consistent write.
    pub(super) fn record_sc_write(&mut self, time: u64, key: u64) {
        self.sc_writes.push((time, key));
    }

    /// Returns the key of the last sequentially consistent write up to a time; 0 if there is none.
    #[inline]
    pub(super) fn last_sc_write(&self, time: u64) -> u64 {
        match self.sc_writes.last() {
            Some(&(at, key)) if at <= time => key,
            _ => {
                let later = self.sc_writes.partition_point(|&(at, _)| at <= time);
                later.checked_sub(1).map_or(0, |at| self.sc_writes[at].1)
            }
        }
    }

    /// Returns the index of the last write whose key is at most `key`, or 0. Searches from the newest write on.
    #[inline]
    pub(super) fn index_of(&self, key: u64) -> usize {
        let mut at = self.writes.len();
        while at > 1 && self.writes[at - 1].key > key {
            at -= 1;
        }
        at - 1
    }

    /// Returns a key for a write immediately after the one at the index; `None` if the gap is used up.
    #[inline]
    pub(super) fn key_after(&self, at: usize) -> Option<u64> {
        let key = self.writes[at].key;
        match self.writes.get(at + 1) {
            None => Some(key + KEY_GAP),
            Some(next) => (next.key - key > 1).then(|| key + (next.key - key) / 2),
        }
    }

    /// Removes entries about writes that were dropped.
    pub(super) fn prune_seen(&mut self) {
        let first = self.writes[0].key;
        for seen in &mut self.seen {
            let dropped = seen.partition_point(|it| it.key < first);
            seen.drain(..dropped);
        }
        let dropped = self.sc_writes.partition_point(|&(_, key)| key < first);
        self.sc_writes.drain(..dropped);
    }

    /// Returns the view of the thread's last release write, if its later writes continue the release sequence.
    #[inline]
    pub(super) fn released(&self, thread: ThreadId) -> Option<&View> {
        self.released.get(thread.index()).filter(|view| !view.is_empty())
    }

    /// Notes a release write, whose release sequence later writes of the thread continue.
    pub(super) fn set_released(&mut self, thread: ThreadId, view: &View) {
        if self.released.len() <= thread.index() {
            self.released.resize_with(thread.index() + 1, View::default);
        }
        self.released[thread.index()].copy(view);
    }
}

/// Returns the last entry of a thread among its first `ops` ops.
#[inline]
fn last_seen(seen: &[SeenWrites], ops: u32) -> Option<&SeenWrites> {
    let last = seen.last()?;
    if last.op <= ops {
        return Some(last);
    }
    let after = seen.partition_point(|it| it.op <= ops);
    after.checked_sub(1).map(|at| &seen[at])
}
