//! Memory of the program.

use std::ffi::c_int;

use super::{errno, strings};
use crate::ops;

/// The alignment of everything that is not asked for more.
const ALIGNMENT: usize = 16;

pub(super) extern "C" fn malloc(size: usize) -> usize {
    ops::allocate(size, ALIGNMENT, false)
}

pub(super) extern "C" fn calloc(count: usize, size: usize) -> usize {
    count.checked_mul(size).map_or(0, |size| ops::allocate(size, ALIGNMENT, true))
}

pub(super) extern "C" fn realloc(block: usize, size: usize) -> usize {
    if block == 0 {
        return malloc(size);
    }
    let old = ops::block_size(block);
    let new = malloc(size);
    if new != 0 {
        strings::copy(new, block, old.min(size));
        ops::free(block);
    }
    new
}

pub(super) extern "C" fn reallocarray(block: usize, count: usize, size: usize) -> usize {
    count.checked_mul(size).map_or(0, |size| realloc(block, size))
}

pub(super) extern "C" fn aligned_alloc(alignment: usize, size: usize) -> usize {
    if !alignment.is_power_of_two() {
        errno::fail(libc::EINVAL);
        return 0;
    }
    ops::allocate(size, alignment.max(ALIGNMENT), false)
}

pub(super) use aligned_alloc as memalign;

pub(super) extern "C" fn posix_memalign(block: usize, alignment: usize, size: usize) -> c_int {
    if !alignment.is_power_of_two() || alignment < 8 {
        return libc::EINVAL;
    }
    let new = aligned_alloc(alignment, size);
    if new == 0 {
        return libc::ENOMEM;
    }
    ops::put_number(block, 8, new as u64);
    0
}

pub(super) extern "C" fn malloc_usable_size(block: usize) -> usize {
    if block == 0 { 0 } else { ops::block_size(block) }
}

pub(super) extern "C" fn free(block: usize) {
    ops::free(block);
}

pub(super) extern "C" fn strdup(text: usize) -> usize {
    duplicate(text, strings::strlen(text))
}

pub(super) extern "C" fn strndup(text: usize, most: usize) -> usize {
    duplicate(text, strings::strnlen(text, most))
}

fn duplicate(text: usize, length: usize) -> usize {
    let new = malloc(length + 1);
    if new != 0 {
        strings::copy(new, text, length);
        ops::put_number(new + length, 1, 0);
    }
    new
}
