//! What modelled functions keep per thread.

use std::ops::Range;

use raddle_core::execution::Value;
use rustc_hash::FxHashMap;

use super::heap::Heap;
use super::kinds::Purpose;

/// What a thread has stored since it last emptied its store buffer, if the program has sections and the model has buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StoredSince {
    /// A store that may be in the buffer.
    pub(super) buffered: bool,
    /// A store that was a section of its own, so it is not in the buffer, though it could be.
    pub(super) early: bool,
}

/// An atomic load for which a plain load follows (`marks`).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AtomicLoadMark {
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) value: Value,
    /// The instructions for which it holds.
    pub(super) code: Range<u64>,
}

/// What modelled functions keep per thread. Shared by snapshots and copied on the first change.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bookkeeping {
    /// The number of threads that it has spawned.
    pub(crate) spawned: u32,
    /// The number of blocks that it had allocated when it spawned the last one.
    pub(crate) blocks_at_spawn: usize,
    /// Addresses of the locks that it holds.
    pub(crate) held: Vec<u64>,
    /// Numbers that modelled functions remember, by purpose and key.
    pub(crate) remembered: FxHashMap<(u32, u64), u64>,
    /// Its heap blocks.
    pub(crate) heap: Heap,
    /// How many atomic sections it is in.
    pub(crate) section_depth: u32,
    /// What it has stored since it last emptied its store buffer.
    pub(super) stored: StoredSince,
    /// The last atomic load for which a plain load follows.
    pub(crate) mark: Option<AtomicLoadMark>,
}

impl Bookkeeping {
    /// Returns `true` if modelled functions keep the same numbers as at an earlier time. The time itself counts only if the thread has
    /// read its clock since then: otherwise a thread that sleeps while it waits would never be in the same state again.
    pub(crate) fn remembers_same(&self, earlier: &Bookkeeping) -> bool {
        const TIME: [u32; 2] = [Purpose::Clock as u32, Purpose::ClockReadings as u32];
        let numbers = |it: &Bookkeeping| -> FxHashMap<(u32, u64), u64> {
            it.remembered.clone().into_iter().filter(|(key, _)| !TIME.contains(&key.0)).collect()
        };
        let is_same =
            |purpose| self.remembered.get(&(purpose, 0)) == earlier.remembered.get(&(purpose, 0));
        TIME.into_iter().any(is_same)
            && (self.remembered == earlier.remembered || numbers(self) == numbers(earlier))
    }
}
