//! The undo log of a thread: what its private writes replaced since its oldest open snapshot.
//!
//! **Problem.** An explorer goes back to a question thousands of times per second, and most segments between two questions write
//! a handful of words. **Idea.** Log the old value of each write (16 bytes); going back undoes the log. Nothing is logged
//! below the stack pointer of *every* open snapshot (less the 128 bytes of the red zone), where memory is dead at each of them:
//! hence the minimum over the open snapshots, not the limit of the newest one. Changes of states and heap blocks are entries
//! of the same log, so `malloc` and `free` are undone in order with everything else.
//!
//! **Bounded memory.** Once a segment has logged [`PAGE_MODE`] entries, the log switches to pages: the first write to a page copies
//! it, later ones cost nothing. The next snapshot switches back. A segment thus needs at most 64 KiB plus the pages it writes.
//!
//! **Rejected.** Copying the live stack at each snapshot (11 to 18 ns more at 1 KiB, growing with depth) and copying its pages
//! (48 to 65 ns more), both measured against 6 to 10 ns of the log.

use rustc_hash::FxHashSet;

/// Entries since the newest snapshot from which on pages are copied instead.
pub(crate) const PAGE_MODE: usize = 4096;

/// The largest number of writes that states are compared by. A thread may write forever, and be compared after each write.
const MAX_COMPARED: usize = 4 * PAGE_MODE;

/// Bytes of the largest write that is logged by its first byte.
const MAX_WRITE: u64 = 16;

/// The size in the top byte of `place` that marks an entry of `extras`.
const EXTRA: u64 = 0xff << 56;
const ADDRESS: u64 = (1 << 56) - 1;

/// A write: address with the size in bytes in the top byte, and the value that it replaced.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Entry {
    place: u64,
    old: u64,
}

impl Entry {
    /// A write of at most 8 bytes within one page.
    #[inline(always)]
    pub(crate) fn write(address: u64, size: usize, old: u64) -> Entry {
        Entry { place: address | (size as u64) << 56, old }
    }
}

/// Anything but a small write.
#[derive(Clone, Debug)]
pub(crate) enum Extra {
    /// The contents of a page before its first write in page mode; empty if it was never written.
    Page(u64, Box<[u8]>),
    /// Runs of states (start, length, code) that were replaced.
    States(Vec<(u64, u64, u8)>),
    /// A heap block was allocated at this address; the second field is the end of the heap before.
    Allocated(u64, u64),
    /// The heap block at this address was freed.
    Freed(u64),
}

/// What undoing one entry means.
#[derive(Debug)]
pub(crate) enum Undo {
    /// Write `old` of `size` bytes to `address`.
    Write {
        address: u64,
        size: usize,
        old: u64,
    },
    Extra(Extra),
}

/// A position in the log to which it can be undone, and the limit of logging that holds there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    position: usize,
    limit: u64,
}

/// The undo log of one thread.
#[derive(Clone, Debug)]
pub(crate) struct UndoLog {
    /// First address of the thread's own stack.
    pub(crate) stack_start: u64,
    /// Offsets from `stack_start` at which logging of single writes starts (`u64::MAX`: nothing is logged). Offsets
    /// of addresses below the stack wrap to large ones.
    pub(crate) log_from: u64,
    /// Entries; those from `len` on are free.
    pub(crate) entries: Vec<Entry>,
    /// Number of entries.
    pub(crate) len: usize,
    extras: Vec<Extra>,
    /// Limit of the open snapshots; `u64::MAX` if none is open.
    limit: u64,
    /// Position of the newest snapshot.
    newest: usize,
    /// Pages copied since the newest snapshot; `None` if single writes are logged.
    copied: Option<FxHashSet<u64>>,
}

impl UndoLog {
    pub(crate) fn new(stack_start: u64) -> UndoLog {
        UndoLog {
            stack_start,
            log_from: u64::MAX,
            entries: Vec::new(),
            len: 0,
            extras: Vec::new(),
            limit: u64::MAX,
            newest: 0,
            copied: None,
        }
    }

    /// Whether a snapshot is open, so that changes must be logged.
    pub(crate) fn is_open(&self) -> bool {
        self.limit != u64::MAX
    }

    /// Opens a snapshot for which nothing in the own stack below `live` is needed.
    pub(crate) fn mark(&mut self, live: u64) -> Mark {
        // A write is logged by its first byte; one that starts below may reach beyond.
        let offset = live.saturating_sub(self.stack_start).saturating_sub(MAX_WRITE - 1);
        self.limit = self.limit.min(offset);
        self.start_segment();
        Mark { position: self.len, limit: self.limit }
    }

    /// Forgets all snapshots and the log.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
        self.extras.clear();
        self.limit = u64::MAX;
        self.start_segment();
    }

    fn start_segment(&mut self) {
        self.newest = self.len;
        self.copied = None;
        self.log_from = self.limit;
    }

    /// Returns the last entry after `mark`, or closes all snapshots after `mark` and returns `None`.
    pub(crate) fn pop(&mut self, mark: Mark) -> Option<Undo> {
        if self.len <= mark.position {
            self.limit = mark.limit;
            self.start_segment();
            return None;
        }
        self.len -= 1;
        let Entry { place, old } = self.entries[self.len];
        if place == EXTRA {
            return self.extras.pop().map(Undo::Extra);
        }
        Some(Undo::Write { address: place & ADDRESS, size: (place >> 56) as usize, old })
    }

    /// Address, size and replaced value of each write since `mark`, oldest first; `None` if there were other changes, or
    /// more than [`MAX_COMPARED`] writes.
    pub(crate) fn writes_since(
        &self,
        mark: Mark,
    ) -> Option<impl Iterator<Item = (u64, usize, u64)> + '_> {
        let entries = self.entries.get(mark.position..self.len).unwrap_or(&[]);
        let is_write = |entry: &Entry| entry.place != EXTRA;
        (entries.len() <= MAX_COMPARED && entries.iter().all(is_write)).then(|| {
            entries
                .iter()
                .map(|entry| (entry.place & ADDRESS, (entry.place >> 56) as usize, entry.old))
        })
    }

    /// Number of bytes that the log occupies.
    pub(crate) fn bytes(&self) -> usize {
        let pages = self.extras.iter().map(|extra| match extra {
            Extra::Page(_, contents) => contents.len(),
            Extra::States(runs) => size_of_val(runs.as_slice()),
            Extra::Allocated(..) | Extra::Freed(_) => 0,
        });
        let extras = self.extras.len() * size_of::<Extra>() + pages.sum::<usize>();
        self.len * size_of::<Entry>() + extras
    }

    /// Adds an entry if a snapshot is open.
    pub(crate) fn push_extra(&mut self, extra: Extra) {
        if self.is_open() {
            self.extras.push(extra);
            self.push(Entry { place: EXTRA, old: 0 });
        }
    }

    /// Adds an entry; grows the log where necessary.
    pub(crate) fn push(&mut self, entry: Entry) {
        if self.len == self.entries.len() {
            self.grow();
        }
        self.entries[self.len] = entry;
        self.len += 1;
    }

    fn grow(&mut self) {
        self.entries.resize((self.len * 2).max(256), Entry::default());
    }

    /// Makes room for single writes, or switches to pages if this segment has logged many. Returns whether it switched.
    pub(crate) fn make_room(&mut self) -> bool {
        if self.len < self.entries.len() || self.log_from == u64::MAX {
            return false;
        }
        if self.len - self.newest >= PAGE_MODE {
            self.copied = Some(FxHashSet::default());
            self.log_from = u64::MAX;
            return true;
        }
        self.grow();
        // Room until the switch at most, so that the next check is in time.
        self.entries.truncate((self.newest + PAGE_MODE).max(self.len + 1));
        false
    }

    /// Whether the page must be copied before it is written; notes that it was.
    pub(crate) fn must_copy(&mut self, page: u64) -> bool {
        self.copied.as_mut().is_some_and(|copied| copied.insert(page))
    }

    /// Whether pages are copied instead of single writes.
    pub(crate) fn is_copying(&self) -> bool {
        self.copied.is_some()
    }
}
