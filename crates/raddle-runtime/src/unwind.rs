//! Cleaning up fibers.
//!
//! A fiber that has to go is unwound, so that it gives up what it has. A destructor that then asks a
//! question gets stuck, and the fiber is abandoned in the middle of a panic, which the standard library
//! still counts: from then on the thread of the system would be said to be panicking. So the panic is
//! raised once more where nothing is in its way, and caught.
//!
//! For that the exception must be known. It is what `resume_unwind` allocates, and we are the allocator.
//! As the program may catch a panic and raise it again, all blocks of that size are watched from then on;
//! one that has not been freed and has the class of Rust's exceptions is the one.

use std::cell::Cell;
use std::panic::{catch_unwind, resume_unwind};
use std::ptr;

/// What is raised to clean up a fiber.
pub(crate) struct Unwind;

/// At most so many blocks are watched.
const WATCHED: usize = 8;

thread_local! {
    /// The size of an exception; 0 if no fiber is being unwound.
    static SIZE: Cell<usize> = const { Cell::new(0) };
    static BLOCKS: Cell<[*mut u64; WATCHED]> = const { Cell::new([ptr::null_mut(); WATCHED]) };
}

/// The size of an exception if it is not known, because the next block is one.
const UNKNOWN: usize = usize::MAX;

/// The class of Rust's exceptions.
const RUST: [u8; 8] = *b"MOZ\0RUST";

unsafe extern "C-unwind" {
    fn _Unwind_RaiseException(exception: *mut u64) -> i32;
}

/// Unwinds the current fiber.
pub(crate) fn start() -> ! {
    if SIZE.get() == 0 {
        SIZE.set(UNKNOWN);
    }
    resume_unwind(Box::new(Unwind))
}

/// A block was allocated.
#[inline]
pub(crate) fn note_block(block: *mut u8, size: usize) {
    if SIZE.get() == UNKNOWN {
        SIZE.set(size);
    }
    if SIZE.get() == size && !block.is_null() {
        replace(ptr::null_mut(), block.cast());
    }
}

/// A block was freed.
#[inline]
pub(crate) fn note_free(block: *mut u8) {
    if SIZE.get() != 0 {
        replace(block.cast(), ptr::null_mut());
    }
}

/// Puts a block where another one was watched.
fn replace(old: *mut u64, new: *mut u64) {
    let mut blocks = BLOCKS.get();
    if let Some(place) = blocks.iter_mut().find(|block| **block == old) {
        *place = new;
        BLOCKS.set(blocks);
    }
}

/// The fiber that was unwound last is through: there is no exception any more.
pub(crate) fn is_through() {
    SIZE.set(0);
    BLOCKS.set([ptr::null_mut(); WATCHED]);
}

/// The fiber that was unwound last is abandoned: ends its panic.
pub(crate) fn is_abandoned() {
    let blocks = BLOCKS.get();
    is_through();
    for exception in blocks.into_iter().filter(|block| !block.is_null()) {
        // SAFETY: the block has not been freed, and is as long as an exception, which begins with its
        // class.
        if unsafe { exception.read() } == u64::from_ne_bytes(RUST) {
            // SAFETY: it is an exception of Rust that nobody handles any more, as its fiber never runs
            // again. It is caught here, which frees it.
            drop(catch_unwind(|| unsafe { _Unwind_RaiseException(exception) }));
        }
    }
}
