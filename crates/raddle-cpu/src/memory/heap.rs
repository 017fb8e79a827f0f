//! Heap blocks: a bump allocator per thread whose addresses depend only on the thread's own allocations.
//!
//! Blocks are never reused, so an access to a freed block is always found. Gaps between blocks are red zones whose size grows with
//! the block (a quarter of it, from 16 to 2048 bytes). Untouched pages have no frames; a freed block keeps those it has.

use super::layout::{self, HEAP_STRIDE};
use super::object::{GuestObject, ObjectKind};
use super::region::RegionKind;
use super::state::{State, Thread, Unmapped};
use super::undo::Extra;
use super::{Denied, FaultKind, Memory};
use std::fmt;

/// The heap of one thread.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Heap {
    /// End of the last block; 0 before the first allocation.
    end: u64,
    blocks: u32,
}

/// A heap has no room for a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapFull {
    /// The size that was asked for.
    pub size: u64,
}

impl fmt::Display for HeapFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no room for a heap block of {} bytes", self.size)
    }
}

impl std::error::Error for HeapFull {}

/// Why a block cannot be freed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FreeError {
    /// No block starts at the address.
    NotABlock(u64),
    /// The block was freed before.
    DoubleFree(GuestObject),
}

impl fmt::Display for FreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FreeError::NotABlock(address) => write!(f, "free of {address:#x}: no heap block"),
            FreeError::DoubleFree(block) => write!(f, "double free of {block}"),
        }
    }
}

impl std::error::Error for FreeError {}

impl Memory {
    /// Allocates a block of `size` bytes that reads as zeros on behalf of `thread`. `alignment` is a power of two; blocks are always
    /// aligned to 16. Undone when the thread goes back.
    pub fn allocate(
        &mut self,
        thread: Thread,
        size: u64,
        alignment: u64,
        state: State,
    ) -> Result<u64, HeapFull> {
        let index = thread.index();
        let base = layout::heap(thread);
        if self.heaps.len() <= index {
            self.heaps.resize(index + 1, Heap::default());
        }
        if self.heaps[index].end == 0 {
            let zone = State::Unmapped(Unmapped::HeapRedZone);
            let name = format!("heap of {thread}");
            // The range is ours alone: mapping it again after going back fails and is not needed.
            let _ = self.map(base..base + HEAP_STRIDE, RegionKind::Heap, zone, &name);
        }
        let heap = self.heaps[index];
        let full = HeapFull { size };
        let gap = (size / 4).clamp(16, 2048);
        let start = (heap.end.max(base) + gap)
            .checked_next_multiple_of(alignment.max(16))
            .filter(|start| *start < base + HEAP_STRIDE)
            .ok_or(full)?;
        let end = start.checked_add(size.max(1)).ok_or(full)?;
        if end.saturating_add(4096) > base + HEAP_STRIDE {
            return Err(full);
        }
        self.select(thread);
        self.view.log.push_extra(Extra::Allocated(start, heap.end));
        self.heaps[index] = Heap { end, blocks: heap.blocks + 1 };
        self.set_state(start..start + size, state);
        let kind = ObjectKind::HeapBlock { thread, index: heap.blocks, freed: false };
        self.objects.add(GuestObject { start, size, kind });
        Ok(start)
    }

    /// Number of blocks that `thread` has allocated; the index of its next block.
    pub fn allocations(&self, thread: Thread) -> u32 {
        self.heaps.get(thread.index()).map_or(0, |heap| heap.blocks)
    }

    /// The heap block that starts at `address`, freed or not.
    pub fn heap_block(&self, address: u64) -> Option<&GuestObject> {
        self.objects
            .starting_at(address)
            .filter(|object| matches!(object.kind, ObjectKind::HeapBlock { .. }))
    }

    /// Frees the block that starts at `address` on behalf of `thread`. Undone when the thread goes back.
    pub fn free(&mut self, thread: Thread, address: u64) -> Result<(), FreeError> {
        let block = self.heap_block(address).ok_or(FreeError::NotABlock(address))?.clone();
        if matches!(block.kind, ObjectKind::HeapBlock { freed: true, .. }) {
            return Err(FreeError::DoubleFree(block));
        }
        let freed = State::Unmapped(Unmapped::Freed);
        self.set_state_logged(thread, block.start..block.start + block.size, freed);
        self.view.log.push_extra(Extra::Freed(address));
        self.objects.set_freed(address, true);
        Ok(())
    }

    /// Undoes the allocation of the block at `address`; `end` is the end of the heap before it.
    pub(super) fn restore_heap(&mut self, address: u64, end: u64) {
        let Some(block) = self.objects.starting_at(address) else { return };
        let (thread, range) = match block.kind {
            ObjectKind::HeapBlock { thread, .. } => (thread, address..address + block.size),
            _ => return,
        };
        self.objects.remove(address);
        self.set_state(range, State::Unmapped(Unmapped::HeapRedZone));
        let heap = &mut self.heaps[thread.index()];
        *heap = Heap { end, blocks: heap.blocks - 1 };
    }

    /// The error of an access to unmapped memory.
    pub(super) fn unmapped(
        &self,
        reason: Unmapped,
        address: u64,
        size: u64,
        write: bool,
    ) -> Denied {
        Denied::Fault(self.fault(FaultKind::Unmapped(reason), address, size, write))
    }
}
