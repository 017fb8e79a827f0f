//! Memory that can be named.
//!
//! Two runs of a program get different addresses from the system, but histories must not depend on
//! them. So every block that a thread of the program allocates gets a name that is a function of the
//! thread's history: the thread, the size, and how many blocks of that size the thread allocated before.
//! (Counting by size keeps the names apart from what a collection of the test's author does, which
//! grows from run to run.)
//!
//! Nothing that a thread frees is given back before the run ends. So no address means two things in
//! one run, and a stale pointer still points to what it pointed to.
//!
//! Cost: an allocation in a thread of the program takes one look-up in a hash table; everywhere else
//! one read of a thread-local.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::mem;
use std::ptr;

use raddle_core::outcome::FindingKind;
use rustc_hash::FxHashMap;

use crate::{entry, trap, unwind};

thread_local! {
    /// Where allocations are recorded; null outside of the program's own code.
    static RECORDER: Cell<*const Heap> = const { Cell::new(ptr::null()) };
}

/// The allocator of every program that links this crate: the system's, which can be told to remember.
#[derive(Debug)]
pub struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// A name of a block that does not depend on addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BlockName {
    pub(crate) thread: u32,
    pub(crate) size: usize,
    /// How many blocks of this size the thread allocated before.
    pub(crate) count: u32,
}

struct Block {
    base: usize,
    name: BlockName,
    is_freed: bool,
}

/// Up to so many blocks are searched one by one.
const FEW: usize = 16;

#[derive(Default)]
struct Blocks {
    all: Vec<Block>,
    counts: FxHashMap<(u32, usize), u32>,
    /// Blocks by address, as far as `indexed`.
    by_address: BTreeMap<usize, usize>,
    indexed: usize,
}

/// The blocks of a run.
#[derive(Default)]
pub(crate) struct Heap {
    /// Whose code runs.
    thread: Cell<u32>,
    /// Whether new blocks get names; in the end of a run they do not.
    naming: Cell<bool>,
    blocks: RefCell<Blocks>,
    freed: RefCell<Vec<(usize, Layout)>>,
}

/// Restores what was recorded before.
pub(crate) struct Restore(*const Heap);

impl Drop for Restore {
    #[inline]
    fn drop(&mut self) {
        RECORDER.set(self.0);
    }
}

/// From here on nothing is recorded, until the result is dropped: code of this crate runs.
#[inline]
pub(crate) fn quiet() -> Restore {
    Restore(RECORDER.replace(ptr::null()))
}

/// From here on blocks are recorded in the heap, which must outlive this.
#[inline]
pub(crate) fn record(heap: *const Heap) {
    RECORDER.set(heap);
}

impl Heap {
    /// Says whose code runs next.
    #[inline]
    pub(crate) fn set_thread(&self, thread: u32) {
        self.thread.set(thread);
    }

    /// Forgets all blocks and gives back what was freed.
    pub(crate) fn end_run(&self) {
        let blocks = &mut *self.blocks.borrow_mut();
        blocks.all.clear();
        blocks.counts.clear();
        blocks.by_address.clear();
        blocks.indexed = 0;
        let freed = &mut *self.freed.borrow_mut();
        freed.sort_unstable_by_key(|&(address, _)| address);
        freed.dedup_by_key(|&mut (address, _)| address);
        for (address, layout) in freed.drain(..) {
            // SAFETY: the block came from the system's allocator with this layout (or one byte more,
            // which that allocator does not look at), its owner gave it up, and it is freed once.
            unsafe { System.dealloc(address as *mut u8, layout) };
        }
    }

    /// Whether new blocks get names.
    pub(crate) fn set_naming(&self, naming: bool) {
        self.naming.set(naming);
    }

    /// The block in which (or just behind which) the address is: its base and name.
    #[inline]
    pub(crate) fn find(&self, address: usize) -> Option<(usize, BlockName)> {
        self.blocks.borrow_mut().find(address).map(|block| (block.base, block.name))
    }

    /// The block is freed. Says whether it was before.
    fn mark_freed(&self, base: usize) -> bool {
        match self.blocks.borrow_mut().find(base) {
            Some(block) if block.base == base => mem::replace(&mut block.is_freed, true),
            _ => false,
        }
    }

    /// All blocks: their addresses and sizes.
    pub(crate) fn for_each(&self, mut f: impl FnMut(usize, usize)) {
        for block in &self.blocks.borrow().all {
            f(block.base, block.name.size);
        }
    }

    /// All blocks but those of the thread from the block `private` on.
    pub(crate) fn for_each_but(
        &self,
        thread: u32,
        private: usize,
        mut f: impl FnMut(usize, usize),
    ) {
        for (at, block) in self.blocks.borrow().all.iter().enumerate() {
            if at < private || block.name.thread != thread {
                f(block.base, block.name.size);
            }
        }
    }

    /// How many blocks there are, and how many are freed.
    pub(crate) fn lengths(&self) -> (usize, usize) {
        (self.len(), self.freed.borrow().len())
    }

    /// Whether all blocks that were allocated since have been freed, and no others but one.
    pub(crate) fn leaves_nothing(&self, since: (usize, usize), but: usize) -> bool {
        let (blocks, freed) = (self.blocks.borrow(), self.freed.borrow());
        let (blocks, freed) = (&blocks.all[since.0..], &freed[since.1..]);
        let is_new = |address: usize| blocks.iter().any(|block| block.base == address);
        let is_freed = |base: usize| freed.iter().any(|&(address, _)| address == base);
        blocks.iter().all(|block| is_freed(block.base))
            && freed.iter().all(|&(address, _)| address == but || is_new(address))
    }

    /// Gives back all blocks that were allocated since, which are all the thread has, and all freed. What was
    /// freed otherwise is not.
    pub(crate) fn rewind(&self, since: (usize, usize), thread: u32) {
        let blocks = &mut *self.blocks.borrow_mut();
        for (address, layout) in self.freed.borrow_mut().drain(since.1..) {
            if blocks.all[since.0..].iter().any(|block| block.base == address) {
                // SAFETY: as in `end_run`.
                unsafe { System.dealloc(address as *mut u8, layout) };
            } else if let Some(block) = blocks.find(address) {
                block.is_freed = false;
            }
        }
        if blocks.all.len() > since.0 {
            blocks.all.truncate(since.0);
            blocks.counts.retain(|&(of, _), _| of != thread);
            blocks.by_address.clear();
            blocks.indexed = 0;
        }
    }

    /// How many blocks there are.
    pub(crate) fn len(&self) -> usize {
        self.blocks.borrow().all.len()
    }

    fn add(&self, base: usize, size: usize) {
        if !self.naming.get() {
            return;
        }
        let blocks = &mut *self.blocks.borrow_mut();
        let thread = self.thread.get();
        let next = blocks.counts.entry((thread, size)).or_insert(0);
        let name = BlockName { thread, size, count: *next };
        *next += 1;
        blocks.all.push(Block { base, name, is_freed: false });
    }
}

impl Blocks {
    #[inline]
    fn find(&mut self, address: usize) -> Option<&mut Block> {
        if self.all.len() <= FEW {
            return self.all.iter_mut().find(|block| block.contains(address));
        }
        for (at, block) in self.all.iter().enumerate().skip(self.indexed) {
            self.by_address.insert(block.base, at);
        }
        self.indexed = self.all.len();
        let (_, &at) = self.by_address.range(..=address).next_back()?;
        let block = &mut self.all[at];
        block.contains(address).then_some(block)
    }
}

impl Block {
    fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(self.base) <= self.name.size
    }
}

/// A layout with room for one byte more, so that the address just behind a block is in no other.
fn padded(layout: Layout) -> Layout {
    Layout::from_size_align(layout.size() + 1, layout.align()).unwrap_or(layout)
}

/// Allocates and records. The block is zero: what was there before is different from run to run.
#[inline(never)]
fn allocate(heap: *const Heap, layout: Layout) -> *mut u8 {
    trap::overflow_now_rather_than_later();
    let _quiet = quiet();
    let padded = padded(layout);
    // SAFETY: the padded layout is not empty.
    let block = unsafe { System.alloc_zeroed(padded) };
    unwind::note_block(block, layout.size());
    if !block.is_null() {
        // SAFETY: `record` promises that the heap lives.
        unsafe { (*heap).add(block as usize, layout.size()) };
    }
    block
}

// SAFETY: everything is forwarded to the system's allocator. Blocks that are freed in a run are given
// back later; a reallocation in a run is an allocation, a copy and a free.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let heap = RECORDER.get();
        if heap.is_null() {
            // SAFETY: the caller's promise.
            return unsafe { System.alloc(layout) };
        }
        allocate(heap, layout)
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let heap = RECORDER.get();
        if heap.is_null() {
            // SAFETY: the caller's promise.
            return unsafe { System.alloc_zeroed(layout) };
        }
        allocate(heap, layout)
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let heap = RECORDER.get();
        if heap.is_null() {
            // SAFETY: the caller's promise.
            return unsafe { System.dealloc(block, layout) };
        }
        let _quiet = quiet();
        unwind::note_free(block);
        // SAFETY: `record` promises that the heap lives.
        let heap = unsafe { &*heap };
        if heap.mark_freed(block as usize) {
            entry::fail_for_good(
                FindingKind::UseAfterDrop,
                "memory is freed that was freed before",
            );
        }
        heap.freed.borrow_mut().push((block as usize, layout));
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let heap = RECORDER.get();
        if heap.is_null() {
            // SAFETY: the caller's promise.
            return unsafe { System.realloc(block, layout, size) };
        }
        let Ok(wanted) = Layout::from_size_align(size, layout.align()) else {
            return ptr::null_mut();
        };
        let copy = allocate(heap, wanted);
        if !copy.is_null() {
            // SAFETY: both blocks are at least that long, and they are different.
            unsafe { ptr::copy_nonoverlapping(block, copy, layout.size().min(size)) };
            // SAFETY: the caller gives the block up.
            unsafe { self.dealloc(block, layout) };
        }
        copy
    }
}
