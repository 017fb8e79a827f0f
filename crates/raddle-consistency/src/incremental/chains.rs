//! The forced order of the writes of a location: *chains* of updates, and what precedes them.
//!
//! An update follows directly the write that it reads. So a write, the update that reads it, the update that reads that
//! one, and so on, are adjacent in every modification order: a chain. What is forced is an order of whole chains. For each
//! chain we keep the writes before it, closed under the order, as a clock: for each thread, the position before which all
//! its writes of that location are in the set. Clocks suffice because the writes of a thread to a location are ordered by
//! program order. A write inside a chain has a second, immutable clock: the writes of the chain before it. The chain of the
//! initial write precedes all others, which is not stored.
//!
//! When writes are put before a chain, they are also before all chains after it. These are the last chains of each thread,
//! and their clocks grow along the thread; so a search from the end finds the first of them, and propagation stops at the
//! first clock that already includes the writes. Cost: O(k) for each chain whose clock changes, plus O(k log n). That is a
//! few steps if reads observe recent writes, and at worst linear in the number of writes that the thread that is read from
//! has done since.

use super::clocks::{ClockTable, includes, join};
use super::history::LocationHistory;
use super::ids::{INIT, Index, Message};
use super::undo::{UndoLog, UndoStep};

/// A write or an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WriteRecord {
    pub(super) thread: u32,
    pub(super) location: u32,
    /// Its position among the accesses of its thread.
    pub(super) position: u32,
    /// The first write of its chain.
    pub(super) top: Index,
    /// For the first write of a chain: the last one. Without modification orders there are no chains: then the update
    /// that reads this write, or the write itself.
    pub(super) last: Index,
    /// The message for acquires that read it.
    pub(super) message: Message,
}

/// All writes, and what precedes them.
#[derive(Clone, Debug)]
pub(super) struct Writes {
    pub(super) records: Vec<WriteRecord>,
    /// By write. For the first of a chain: what is before the chain. For the others: what is before
    /// them in their chain.
    pub(super) before: ClockTable,
}

impl Writes {
    pub(super) fn new(width: usize) -> Writes {
        Writes { records: vec![], before: ClockTable::new(width) }
    }

    #[inline]
    pub(super) fn get(&self, write: Index) -> &WriteRecord {
        &self.records[write as usize]
    }

    /// The number of the next write.
    pub(super) fn next(&self) -> Index {
        let next = Index::try_from(self.records.len()).ok().filter(|&next| next != INIT);
        next.expect("there are fewer than 2^32 - 1 writes")
    }

    /// Adds a write and the clock of what precedes it.
    pub(super) fn push(&mut self, write: WriteRecord, before: &[u32], log: &mut UndoLog) {
        self.records.push(write);
        self.before.push(before);
        log.push(UndoStep::Write);
    }

    /// Drops the last write.
    pub(super) fn pop(&mut self) -> Option<WriteRecord> {
        self.before.pop();
        self.records.pop()
    }

    /// Returns `true` if one write is forced to precede another one. Neither is initial.
    #[inline]
    pub(super) fn precedes(&self, earlier: Index, later: Index) -> bool {
        let (a, b) = (self.get(earlier), self.get(later));
        if a.top == INIT && b.top != INIT {
            return true;
        }
        let thread = a.thread as usize;
        let in_chain = self.before.row(later as usize)[thread];
        let of_chain = if b.top == INIT { 0 } else { self.before.row(b.top as usize)[thread] };
        a.position < in_chain.max(of_chain)
    }

    /// Adds to a clock all writes that are before a write, except those that are before all chains.
    #[inline]
    pub(super) fn add_before(&self, write: Index, clock: &mut [u32]) {
        let top = self.get(write).top;
        join(clock, self.before.row(write as usize));
        if top != INIT && top != write {
            join(clock, self.before.row(top as usize));
        }
    }

    /// Adds to a clock all writes of a chain up to and including a write.
    #[inline]
    pub(super) fn add_up_to(&self, write: Index, clock: &mut [u32]) {
        let WriteRecord { thread, position, .. } = *self.get(write);
        join(clock, self.before.row(write as usize));
        let entry = &mut clock[thread as usize];
        *entry = (*entry).max(position + 1);
    }

    /// Adds to a clock the whole chain of a write and everything before it. The chain must not be that of the initial
    /// write.
    #[inline]
    pub(super) fn add_chain(&self, write: Index, clock: &mut [u32]) {
        let top = self.get(write).top;
        join(clock, self.before.row(top as usize));
        self.add_up_to(self.get(top).last, clock);
    }

    /// Puts writes before a chain.
    pub(super) fn raise(&mut self, top: Index, clock: &[u32], log: &mut UndoLog) {
        self.before.join(top as usize, clock, log.clock(UndoStep::Before, top as usize));
    }

    /// Puts writes before all chains that are after a chain.
    pub(super) fn raise_after(
        &mut self,
        location: &LocationHistory,
        top: Index,
        clock: &[u32],
        log: &mut UndoLog,
    ) {
        for accesses in &location.threads {
            let count = count_last(&accesses.writes, |write| self.is_after(write, top));
            self.raise_thread(&accesses.writes[accesses.writes.len() - count..], clock, log);
        }
    }

    /// Returns `true` if a write is in a chain that is after the one with this first write.
    #[inline]
    fn is_after(&self, write: Index, top: Index) -> bool {
        let first = self.get(write).top;
        let WriteRecord { thread, position, .. } = *self.get(top);
        first != INIT && self.before.row(first as usize)[thread as usize] > position
    }

    /// Puts writes before the chains that start in a part of a thread. Chains that start in other threads are handled
    /// there; they must not stop the propagation, because they may have been raised just now.
    fn raise_thread(&mut self, writes: &[Index], clock: &[u32], log: &mut UndoLog) {
        for &write in writes {
            if self.get(write).top != write {
                continue;
            }
            if includes(self.before.row(write as usize), clock) {
                return;
            }
            self.raise(write, clock, log);
        }
    }
}

/// Counts the writes with a property that exactly the last ones have, by a galloping search from the end.
#[inline]
fn count_last(writes: &[Index], has: impl Fn(Index) -> bool) -> usize {
    let (mut count, mut step) = (0, 1);
    while count + step <= writes.len() && has(writes[writes.len() - count - step]) {
        count += step;
        step *= 2;
    }
    let (end, low) = (writes.len() - count, writes.len().saturating_sub(count + step));
    count + end - low - writes[low..end].partition_point(|&write| !has(write))
}

#[cfg(test)]
mod tests {
    use super::count_last;

    #[test]
    fn the_search_from_the_end_counts_any_number() {
        for len in 0..40 {
            let writes: Vec<u32> = (0..len).collect();
            for first in 0..=len {
                let count = count_last(&writes, |write| write >= first);
                assert_eq!(count, (len - first) as usize);
            }
        }
    }
}
