//! The heap of one thread.
//!
//! Blocks are never used again, so that whoever uses one that was freed is found. Between blocks is a gap that
//! no access may touch.
//!
//! The address of a block implies its size: blocks of one size come from regions of their own, which stay for
//! good. Otherwise a block of one history could overlap several of another, and who only has an address, such as
//! a thread that frees a block of another thread, would not know what it has.

use std::collections::BTreeMap;

use raddle_core::program::PlaceId;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::slots::Slot;

/// Blocks are so far apart, at least.
const GAP: usize = 16;
/// So many blocks are in a region.
const BLOCKS: usize = 16;
/// Blocks of this size and above have a region each.
const LARGE: usize = 1 << 16;

/// A block of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) start: usize,
    pub(crate) size: usize,
    /// Where it was allocated.
    pub(crate) made: PlaceId,
    /// Where it was freed, if this thread has done that: the address of the code.
    pub(crate) freed: Option<usize>,
}

/// What is wrong with an address in a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// It is in no block. The nearest block below is this one.
    Outside(Option<Block>),
    /// It is in a block that was freed.
    Freed(Block),
}

/// What blocks of a region have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Sort {
    pub(crate) size: usize,
    pub(crate) alignment: usize,
    /// Whether they are zero in the beginning.
    pub(crate) is_zeroed: bool,
}

impl Sort {
    fn stride(self) -> usize {
        (self.size + GAP).next_multiple_of(self.alignment.max(16))
    }

    fn blocks(self) -> usize {
        if self.size >= LARGE { 1 } else { BLOCKS }
    }
}

/// Where the regions of all threads are, in all their histories.
#[derive(Debug, Default)]
pub(crate) struct Regions {
    /// For each heap, sort, and number of the region.
    pub(crate) starts: FxHashMap<(usize, Sort, usize), usize>,
    /// For each heap where its next region goes.
    pub(crate) next: FxHashMap<usize, usize>,
}

impl Regions {
    /// Where a region is; `None` if there is no room.
    fn region(&mut self, slot: Slot, sort: Sort, number: usize) -> Option<usize> {
        let (heap, end) = slot.heap(sort.is_zeroed);
        if let Some(&start) = self.starts.get(&(heap, sort, number)) {
            return Some(start);
        }
        let next = self.next.entry(heap).or_insert(heap + GAP);
        let start = next.next_multiple_of(sort.alignment.max(16));
        let length = sort.stride().checked_mul(sort.blocks())?;
        let behind = start.checked_add(length)?;
        if behind > end {
            return None;
        }
        *next = behind;
        self.starts.insert((heap, sort, number), start);
        Some(start)
    }
}

/// The blocks of a thread in one history, by address: those that are zero in the beginning, and others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heap {
    blocks: [BTreeMap<usize, Block>; 2],
    /// How many blocks of each sort there are.
    counts: FxHashMap<Sort, usize>,
}

impl Heap {
    /// A new block; `None` if there is no room.
    pub(crate) fn allocate(
        &mut self,
        regions: &mut Regions,
        slot: Slot,
        sort: Sort,
        made: PlaceId,
    ) -> Option<Block> {
        let size = sort.size;
        // Larger than any heap: its stride would not even be a number.
        size.checked_add(sort.alignment)?.checked_add(1 << 20)?;
        let count = self.counts.entry(sort).or_insert(0);
        let region = regions.region(slot, sort, *count / sort.blocks())?;
        let start = region + *count % sort.blocks() * sort.stride();
        *count += 1;
        let block = Block { start, size, made, freed: None };
        self.blocks[usize::from(sort.is_zeroed)].insert(start, block);
        Some(block)
    }

    /// The block that has the whole range.
    pub(crate) fn block(
        &self,
        is_zeroed: bool,
        address: usize,
        size: usize,
    ) -> Result<Block, Wrong> {
        let blocks = &self.blocks[usize::from(is_zeroed)];
        match blocks.range(..=address).next_back().map(|(_, &block)| block) {
            Some(block) if address + size <= block.start + block.size => match block.freed {
                None => Ok(block),
                Some(_) => Err(Wrong::Freed(block)),
            },
            block => Err(Wrong::Outside(block)),
        }
    }

    /// The blocks that this thread has not freed: where they start, how large they are, and where they were allocated.
    pub(crate) fn live(&self) -> impl Iterator<Item = (usize, usize, PlaceId)> + '_ {
        let all = self.blocks.iter().flat_map(BTreeMap::values);
        all.filter(|block| block.freed.is_none()).map(|block| (block.start, block.size, block.made))
    }

    /// Notes that the block was freed.
    pub(crate) fn free(&mut self, is_zeroed: bool, address: usize, by: usize) {
        if let Some(block) = self.blocks[usize::from(is_zeroed)].get_mut(&address) {
            block.freed = Some(by);
        }
    }
}
