//! The last accesses of quiet locations, and whether the next one is ordered after them.
//!
//! *Problem.* Most locations of a program are accessed by one thread, or handed over: by a spawn or a join, under a
//! lock, behind a flag. All their conflicting accesses are ordered by happens-before, so a read observes the last write,
//! and nothing is to be decided. As long as that is so, such a location is *quiet*: its accesses are not events.
//!
//! *Idea.* For each location keep its last write and the reads since, each with its thread and its *time*. Events,
//! spawns and joins have times, too. A thread knows the accesses of another one up to some time ([`KnownTimes`]); an
//! access is in order if the thread knows the last write, and for a write also all reads since. Reads that are ordered
//! replace each other, so a location rarely needs more than one.
//!
//! *Blind updates* do not use what they read, and some of them have the same result in either order: `x += 1` of several
//! threads. As long as everybody who reads the location or writes it otherwise is ordered before or after all of them,
//! they need not be ordered among each other. They form a *group*: each of its updates is ordered after the last access
//! before the group, and an access after the group must know all of its updates. Who starts another group must know
//! the whole group before.
//!
//! *Paper.* Flanagan, Freund, *FastTrack: Efficient and Precise Dynamic Race Detection*, PLDI 2009.
//!
//! *Cost.* A few comparisons per access. What changes is logged and undone.

use std::num::NonZeroU32;

use super::history_cache::ValueId;
use raddle_core::execution::{LocationId, ThreadId};
use raddle_core::program::{Origin, Update};

/// A logical time: it grows with every event, spawn and join, and is not undone.
pub(super) type Time = u64;

/// By thread: up to which time its accesses happen before the next access of some thread.
pub(super) type KnownTimes = [Time];

/// The last write of a quiet location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QuietWrite {
    pub(super) value: ValueId,
    /// Whether the value is a pointer.
    pub(super) carries: bool,
    pub(super) origin: Origin,
}

/// An access of a quiet location.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuietAccess<'k> {
    pub(super) thread: ThreadId,
    pub(super) time: Time,
    /// What its thread knows of the others. Empty if that was not computed: if [`QuietTable::needs_order`] says so.
    pub(super) known: &'k KnownTimes,
}

impl QuietAccess<'_> {
    #[inline]
    fn knows(&self, thread: u32, time: Time) -> bool {
        thread as usize == self.thread.index()
            || self.known.get(thread as usize).is_some_and(|&known| time <= known)
    }
}

/// The reads of a location since its last write.
#[derive(Clone, Copy, Debug)]
enum Readers {
    None,
    /// All are ordered before this one.
    One {
        thread: u32,
        time: Time,
    },
    /// By thread, its last read: from this index of [`QuietTable::times`] on.
    Several(u32),
}

/// The last accesses of a location.
#[derive(Clone, Copy, Debug)]
struct QuietEntry {
    /// The last write with its thread and time.
    write: Option<(QuietWrite, u32, Time)>,
    readers: Readers,
    /// The group of blind updates that has written last: an index of [`QuietTable::groups`].
    group: Option<NonZeroU32>,
}

impl QuietEntry {
    const UNTOUCHED: QuietEntry = QuietEntry { write: None, readers: Readers::None, group: None };
}

/// Blind updates of a location that are not ordered among each other.
#[derive(Clone, Copy, Debug)]
struct BlindGroup {
    /// The last accesses before.
    before: QuietEntry,
    /// One of the updates.
    update: Update,
    /// Who has updated the location.
    updaters: Readers,
}

/// A state of the table, to return to.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuietMark {
    log: u32,
    times: u32,
    groups: u32,
    shared: u32,
}

impl QuietMark {
    /// No location was accessed.
    pub(super) const INITIAL: QuietMark = QuietMark { log: 0, times: 0, groups: 0, shared: 0 };
}

/// The last accesses of all quiet locations.
pub(super) struct QuietTable {
    entries: Vec<QuietEntry>,
    /// Earlier entries.
    log: Vec<(LocationId, QuietEntry)>,
    /// The vectors of [`Readers::Several`], each with one time per thread.
    times: Vec<Time>,
    /// All groups of blind updates: one more for each update.
    groups: Vec<BlindGroup>,
    /// The locations that threads have updated blindly in no order.
    shared: Vec<LocationId>,
    threads: usize,
}

impl QuietTable {
    pub(super) fn new(threads: usize, locations: usize) -> Self {
        let entries = vec![QuietEntry::UNTOUCHED; locations];
        let (log, times, groups, shared) = (vec![], vec![], vec![], vec![]);
        QuietTable { entries, log, times, groups, shared, threads }
    }

    #[inline]
    pub(super) fn mark(&self) -> QuietMark {
        QuietMark {
            log: self.log.len() as u32,
            times: self.times.len() as u32,
            groups: self.groups.len() as u32,
            shared: self.shared.len() as u32,
        }
    }

    /// Undoes everything since the mark.
    #[inline]
    pub(super) fn undo_to(&mut self, mark: QuietMark) {
        while self.log.len() > mark.log as usize {
            if let Some((location, old)) = self.log.pop() {
                self.entries[location.index()] = old;
            }
        }
        self.times.truncate(mark.times as usize);
        self.groups.truncate(mark.groups as usize);
        self.shared.truncate(mark.shared as usize);
    }

    /// The last write of a location; `None` if that is the initial one.
    #[inline]
    pub(super) fn last_write(&self, location: LocationId) -> Option<QuietWrite> {
        self.entries[location.index()].write.map(|(write, ..)| write)
    }

    /// The thread that wrote a location last.
    #[inline]
    pub(super) fn last_writer(&self, location: LocationId) -> Option<ThreadId> {
        self.entries[location.index()].write.map(|(_, writer, _)| ThreadId::new(writer as usize))
    }

    /// Returns `true` if what a thread knows decides whether its next access is in order: if another thread has written
    /// the location last or, if the access `writes`, has read it since.
    #[inline]
    pub(super) fn needs_order(&self, location: LocationId, thread: ThreadId, writes: bool) -> bool {
        let entry = &self.entries[location.index()];
        let is_other = |other: u32| other as usize != thread.index();
        let is_read = || match entry.readers {
            Readers::None => false,
            Readers::One { thread: reader, .. } => is_other(reader),
            Readers::Several(_) => true,
        };
        let is_written = entry.write.is_some_and(|(_, writer, _)| is_other(writer));
        is_written || entry.group.is_some() || writes && is_read()
    }

    fn set(&mut self, location: LocationId, new: QuietEntry) {
        let old = std::mem::replace(&mut self.entries[location.index()], new);
        self.log.push((location, old));
    }

    fn group(&self, entry: &QuietEntry) -> Option<&BlindGroup> {
        entry.group.and_then(|number| self.groups.get(number.get() as usize - 1))
    }

    fn is_after_write(&self, entry: &QuietEntry, access: QuietAccess<'_>) -> bool {
        match self.group(entry) {
            Some(group) => self.is_after_readers(group.updaters, access),
            None => entry.write.is_none_or(|(_, thread, time)| access.knows(thread, time)),
        }
    }

    /// Adds a read. Returns `false` if it is not ordered after the last write.
    pub(super) fn read(&mut self, location: LocationId, access: QuietAccess<'_>) -> bool {
        let entry = self.entries[location.index()];
        if let Some(readers) = self.with_reader(entry.readers, access) {
            self.set(location, QuietEntry { readers, ..entry });
        }
        self.is_after_write(&entry, access)
    }

    /// The readers with another one; `None` if it is one of them already.
    fn with_reader(&mut self, readers: Readers, access: QuietAccess<'_>) -> Option<Readers> {
        let (thread, time) = (access.thread.index() as u32, access.time);
        match readers {
            Readers::One { thread: last, time: at } if last == thread && at == time => None,
            Readers::None => Some(Readers::One { thread, time }),
            Readers::One { thread: last, time: at } if access.knows(last, at) => {
                Some(Readers::One { thread, time })
            }
            Readers::One { thread: last, time: at } => {
                let first = self.times.len();
                self.times.resize(first + self.threads, 0);
                self.times[first + last as usize] = at;
                self.times[first + thread as usize] = time;
                Some(Readers::Several(first as u32))
            }
            Readers::Several(old) => {
                let (old, first) = (old as usize, self.times.len());
                (self.times[old + thread as usize] != time).then(|| {
                    self.times.extend_from_within(old..old + self.threads);
                    self.times[first + thread as usize] = time;
                    Readers::Several(first as u32)
                })
            }
        }
    }

    /// Returns `true` if the access is ordered after the last write, and after all reads since if it `writes`.
    pub(super) fn is_in_order(
        &self,
        location: LocationId,
        access: QuietAccess<'_>,
        writes: bool,
    ) -> bool {
        let entry = &self.entries[location.index()];
        self.is_after_write(entry, access)
            && (!writes || self.is_after_readers(entry.readers, access))
    }

    /// Returns `true` if the access is ordered after everything but the group that `update` belongs to.
    pub(super) fn is_blind_in_order(
        &self,
        location: LocationId,
        access: QuietAccess<'_>,
        update: &Update,
    ) -> bool {
        let before = self.before_group(location, update);
        self.is_after_write(&before, access) && self.is_after_readers(before.readers, access)
    }

    /// The last write before the group that a blind update belongs to; `None` if that is the initial one.
    pub(super) fn write_before_group(
        &self,
        location: LocationId,
        update: &Update,
    ) -> Option<QuietWrite> {
        self.before_group(location, update).write.map(|(write, ..)| write)
    }

    /// The last accesses before the group that a blind update belongs to, which may be a new one.
    fn before_group(&self, location: LocationId, update: &Update) -> QuietEntry {
        let entry = self.entries[location.index()];
        self.joined_group(&entry, update).map_or(entry, |group| group.before)
    }

    /// The group that a blind update belongs to, if there is one.
    fn joined_group(&self, entry: &QuietEntry, update: &Update) -> Option<BlindGroup> {
        let group = self.group(entry).filter(|group| group.update.commutes_with(update))?;
        matches!(entry.readers, Readers::None).then_some(*group)
    }

    /// Adds a blind update that is [in order](QuietTable::is_blind_in_order). After it the location has the value of `write`.
    pub(super) fn update_blindly(
        &mut self,
        location: LocationId,
        access: QuietAccess<'_>,
        update: Update,
        write: QuietWrite,
    ) {
        let entry = self.entries[location.index()];
        let joined = self.joined_group(&entry, &update);
        let mut group =
            joined.unwrap_or(BlindGroup { before: entry, update, updaters: Readers::None });
        if let Some(updaters) = self.with_reader(group.updaters, access) {
            group.updaters = updaters;
        }
        if matches!(group.updaters, Readers::Several(_)) {
            self.shared.push(location);
        }
        self.groups.push(group);
        let number = NonZeroU32::new(self.groups.len() as u32);
        let written = Some((write, access.thread.index() as u32, access.time));
        self.set(location, QuietEntry { write: written, readers: Readers::None, group: number });
    }

    /// The locations that threads have updated blindly in no order.
    pub(super) fn shared(&self) -> &[LocationId] {
        &self.shared
    }

    fn is_after_readers(&self, readers: Readers, access: QuietAccess<'_>) -> bool {
        match readers {
            Readers::None => true,
            Readers::One { thread, time } => access.knows(thread, time),
            Readers::Several(first) => {
                let times = &self.times[first as usize..][..self.threads];
                times.iter().enumerate().all(|(thread, &at)| access.knows(thread as u32, at))
            }
        }
    }

    /// Adds a write, or an update. Returns `false` if it is not ordered after the last write and all reads since.
    pub(super) fn write(
        &mut self,
        location: LocationId,
        access: QuietAccess<'_>,
        write: QuietWrite,
    ) -> bool {
        let entry = self.entries[location.index()];
        let thread = access.thread.index() as u32;
        let written = Some((write, thread, access.time));
        self.set(location, QuietEntry { write: written, readers: Readers::None, group: None });
        self.is_after_write(&entry, access) && self.is_after_readers(entry.readers, access)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_core::program::HistoryId;

    fn x() -> LocationId {
        LocationId::new(0)
    }

    fn access(thread: usize, time: Time, known: &KnownTimes) -> QuietAccess<'_> {
        QuietAccess { thread: ThreadId::new(thread), time, known }
    }

    fn write(value: ValueId) -> QuietWrite {
        QuietWrite { value, carries: false, origin: Origin { node: HistoryId(0), index: 1 } }
    }

    #[test]
    fn accesses_of_one_thread_are_ordered() {
        let mut table = QuietTable::new(2, 1);
        assert!(table.write(x(), access(0, 1, &[0, 0]), write(ValueId::ONE)));
        assert!(table.read(x(), access(0, 1, &[0, 0])));
        assert!(table.write(x(), access(0, 2, &[0, 0]), write(ValueId::ZERO)));
        assert_eq!(table.last_write(x()), Some(write(ValueId::ZERO)));
    }

    #[test]
    fn a_read_must_know_the_last_write() {
        let mut table = QuietTable::new(2, 1);
        assert!(table.write(x(), access(0, 5, &[0, 0]), write(ValueId::ONE)));
        let mark = table.mark();
        assert!(!table.read(x(), access(1, 6, &[4, 0])));
        table.undo_to(mark);
        assert!(table.read(x(), access(1, 6, &[5, 0])));
    }

    #[test]
    fn a_write_must_know_all_reads_since_the_last_write() {
        for missing in 0..3 {
            let mut table = QuietTable::new(4, 1);
            for thread in 0..3 {
                assert!(table.read(x(), access(thread, 7, &[0; 4])));
            }
            let mut known = [7; 4];
            known[missing] = 6;
            assert!(!table.write(x(), access(3, 9, &known), write(ValueId::ONE)), "{missing}");
        }
        let mut table = QuietTable::new(4, 1);
        assert!((0..3).all(|thread| table.read(x(), access(thread, 7, &[0; 4]))));
        assert!(table.write(x(), access(3, 9, &[7; 4]), write(ValueId::ONE)));
    }

    #[test]
    fn what_is_undone_is_forgotten() {
        let mut table = QuietTable::new(2, 1);
        let mark = table.mark();
        assert!(table.write(x(), access(0, 5, &[0, 0]), write(ValueId::ONE)));
        assert!(table.read(x(), access(0, 6, &[0, 0])));
        table.undo_to(mark);
        assert_eq!(table.last_write(x()), None);
        assert!(table.write(x(), access(1, 7, &[0, 0]), write(ValueId::ONE)));
    }
}
