//! Heap blocks, at addresses that imply their size.
//!
//! Blocks are never reused, so that every use of a freed block is found. Between blocks is a red zone.
//!
//! The address of a block depends on its thread, on its size, alignment and contents, and on how many such blocks the thread
//! has allocated before. Blocks of one size come from regions of their own, which stay for good: otherwise a block of one
//! history could overlap several of another, and a thread that frees a block of another thread would not know its size.

use std::collections::BTreeMap;

use raddle_core::program::PlaceId;
use raddle_cpu::memory::{Memory, RegionKind, State, Thread, Unmapped, layout};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// The least distance between blocks.
const GAP: u64 = 16;
/// Blocks per region.
const BLOCKS: u64 = 16;
/// Blocks of this size and above have a region each.
const LARGE: u64 = 1 << 16;
/// What fresh blocks are filled with, unless they are zeroed.
pub(crate) const FRESH: u8 = 0xab;
/// Only the first bytes of a block are filled; the rest is zero, as fresh pages are.
const FILLED: u64 = 1 << 16;
/// The heap of zeroed blocks starts in the middle of the heap of a thread.
const ZEROED: u64 = layout::HEAP_STRIDE / 2;

/// What the blocks of a region have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct BlockKind {
    pub(crate) size: u64,
    pub(crate) alignment: u64,
    pub(crate) is_zeroed: bool,
}

impl BlockKind {
    fn stride(self) -> Option<u64> {
        self.size.checked_add(GAP)?.checked_next_multiple_of(self.alignment.max(16))
    }

    fn blocks(self) -> u64 {
        if self.size >= LARGE { 1 } else { BLOCKS }
    }
}

/// A block that its thread has allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) size: u64,
    /// Where it was allocated.
    pub(crate) made: PlaceId,
    /// Where its own thread freed it.
    pub(crate) freed: Option<PlaceId>,
    /// How many blocks its thread allocated before.
    pub(crate) number: usize,
}

/// The blocks of a thread in one history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Heap {
    /// By address.
    pub(crate) blocks: BTreeMap<u64, Block>,
    counts: FxHashMap<BlockKind, u64>,
}

impl Heap {
    /// The address of the next block of this kind; `None` if there is no room.
    pub(crate) fn allocate(
        &mut self,
        regions: &mut HeapRegions,
        memory: &mut Memory,
        thread: Thread,
        kind: BlockKind,
        made: PlaceId,
    ) -> Option<u64> {
        let count = self.counts.get(&kind).copied().unwrap_or(0);
        let region = regions.region(memory, thread, kind, count / kind.blocks())?;
        let start = region + count % kind.blocks() * kind.stride()?;
        self.counts.insert(kind, count + 1);
        let block = Block { size: kind.size, made, freed: None, number: self.blocks.len() };
        self.blocks.insert(start, block);
        Some(start)
    }
}

impl Heap {
    /// The blocks that were allocated after the first ones and are not freed, in order: start and size.
    pub(crate) fn blocks_since(&self, first: usize) -> Vec<(u64, u64)> {
        let new = self.blocks.iter().filter(|(_, it)| it.number >= first && it.freed.is_none());
        let mut new: Vec<(usize, (u64, u64))> =
            new.map(|(&start, it)| (it.number, (start, it.size))).collect();
        new.sort_unstable();
        new.into_iter().map(|(_, block)| block).collect()
    }
}

/// The regions of all threads in all their histories.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct HeapRegions {
    /// Start of each region, by thread, kind and number.
    starts: Vec<((usize, BlockKind, u64), u64)>,
    #[serde(skip)]
    known: FxHashMap<(usize, BlockKind, u64), u64>,
    /// Where the next region goes, by heap.
    next: BTreeMap<u64, u64>,
    /// Sizes of the blocks of each region, by the start of the region: size, distance, number.
    sizes: BTreeMap<u64, (u64, u64, u64)>,
}

impl HeapRegions {
    /// The start of a region, which is mapped and filled; `None` if there is no room.
    fn region(
        &mut self,
        memory: &mut Memory,
        thread: Thread,
        kind: BlockKind,
        number: u64,
    ) -> Option<u64> {
        let key = (thread.index(), kind, number);
        if let Some(&start) = self.known.get(&key) {
            return Some(start);
        }
        let base = layout::heap(thread) + if kind.is_zeroed { ZEROED } else { 0 };
        let next = *self.next.entry(base).or_insert(base + GAP);
        let start = next.checked_next_multiple_of(kind.alignment.max(16))?;
        let (stride, blocks) = (kind.stride()?, kind.blocks());
        let end = start.checked_add(stride.checked_mul(blocks)?)?;
        if end > base + ZEROED {
            return None;
        }
        self.next.insert(base, end);
        self.add(memory, thread, key, start);
        Some(start)
    }

    fn add(
        &mut self,
        memory: &mut Memory,
        thread: Thread,
        key: (usize, BlockKind, u64),
        start: u64,
    ) {
        let kind = key.1;
        self.known.insert(key, start);
        self.starts.push((key, start));
        let stride = kind.stride().unwrap_or(GAP);
        self.sizes.insert(start, (kind.size, stride, kind.blocks()));
        map_heap(memory, thread);
        if kind.is_zeroed {
            return;
        }
        let filled = vec![FRESH; kind.size.min(FILLED) as usize];
        for block in 0..kind.blocks() {
            // The heap is mapped, so this cannot fail.
            let _ = memory.write_initial(start + block * stride, &filled);
        }
    }

    /// Replaces the regions by those of another process, and maps and fills these.
    pub(crate) fn replace(&mut self, other: &HeapRegions, memory: &mut Memory) {
        for (&base, &end) in &self.next {
            memory.set_state(base..end, State::Unmapped(Unmapped::HeapRedZone));
        }
        *self = HeapRegions { next: other.next.clone(), ..HeapRegions::default() };
        for &(key, start) in &other.starts {
            if let Some(thread) = Thread::new(key.0) {
                self.add(memory, thread, key, start);
            }
        }
    }

    /// The block that an address belongs to, or the nearest one before it in its region: its start and size.
    pub(crate) fn block_at(&self, address: u64) -> Option<(u64, u64)> {
        let (&start, &(size, stride, blocks)) = self.sizes.range(..=address).next_back()?;
        let number = ((address - start) / stride).min(blocks - 1);
        (address < start + stride * blocks).then_some((start + number * stride, size))
    }
}

/// Maps the heap of a thread, if it is not mapped yet.
fn map_heap(memory: &mut Memory, thread: Thread) {
    let base = layout::heap(thread);
    let zone = State::Unmapped(Unmapped::HeapRedZone);
    if memory.region(base).is_none() {
        let name = format!("heap of {thread}");
        let _ = memory.map(base..base + layout::HEAP_STRIDE, RegionKind::Heap, zone, &name);
    }
}

/// The thread in whose heap an address is.
pub(crate) fn heap_owner(address: u64) -> Option<usize> {
    let offset = address.checked_sub(layout::HEAPS)?;
    let index = (offset / layout::HEAP_STRIDE) as usize;
    (index < raddle_cpu::memory::MAX_THREADS).then_some(index)
}
