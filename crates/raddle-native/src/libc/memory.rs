//! Allocation.

use super::Names;
use super::blocks;
use super::errors::{EINVAL, ENOMEM};
use crate::program::call::{Call, Step};

/// Alignment of all blocks, at least.
const ALIGNMENT: u64 = 16;
const PAGE: u64 = 4096;

/// Memory that the library's own `malloc` manages. Constructors of libraries allocate there before the program starts.
const LIBRARY_HEAP: std::ops::Range<u64> = 0x4000_0000_0000..0x4001_0000_0000;

/// Allocates a block; sets `errno` if there is no room.
fn allocate(call: &mut Call<'_>, size: u64, alignment: u64, is_zeroed: bool) -> Step<u64> {
    let fails = may_fail(call)?;
    let block = if fails { 0 } else { call.allocate(size, alignment, is_zeroed)? };
    if block == 0 {
        call.set_errno(ENOMEM)?;
    }
    Ok(block)
}

/// Returns `true` if an allocation fails because allocations may.
fn may_fail(call: &mut Call<'_>) -> Step<bool> {
    Ok(call.program.settings.environment.malloc_may_fail && call.choose(2)? == 1)
}

fn malloc(call: &mut Call<'_>) -> Step<u64> {
    let size = call.argument(0)?;
    allocate(call, size, ALIGNMENT, false)
}

/// The product of a number of elements and their size; sets `errno` if it is too large.
fn product(call: &mut Call<'_>, count: u64, size: u64) -> Step<Option<u64>> {
    let product = count.checked_mul(size);
    if product.is_none() {
        call.set_errno(ENOMEM)?;
    }
    Ok(product)
}

/// `calloc(count, size)`.
fn calloc(call: &mut Call<'_>) -> Step<u64> {
    let (count, size) = (call.argument(0)?, call.argument(1)?);
    match product(call, count, size)? {
        Some(size) => allocate(call, size, ALIGNMENT, true),
        None => Ok(0),
    }
}

fn resize(call: &mut Call<'_>, block: u64, size: u64) -> Step<u64> {
    if block == 0 {
        return allocate(call, size, ALIGNMENT, false);
    }
    let old = call.block_size(block)?;
    let new = allocate(call, size, ALIGNMENT, false)?;
    if new != 0 {
        blocks::copy(call, new, block, old.min(size))?;
        call.free(block)?;
    }
    Ok(new)
}

/// `realloc(block, size)`.
fn realloc(call: &mut Call<'_>) -> Step<u64> {
    let (block, size) = (call.argument(0)?, call.argument(1)?);
    if LIBRARY_HEAP.contains(&block) {
        return Err(call.run_library_code());
    }
    resize(call, block, size)
}

/// `reallocarray(block, count, size)`.
fn reallocarray(call: &mut Call<'_>) -> Step<u64> {
    let (block, count, size) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
    match product(call, count, size)? {
        Some(size) => resize(call, block, size),
        None => Ok(0),
    }
}

/// `aligned_alloc(alignment, size)`.
fn aligned_alloc(call: &mut Call<'_>) -> Step<u64> {
    let (alignment, size) = (call.argument(0)?, call.argument(1)?);
    if !alignment.is_power_of_two() {
        call.set_errno(EINVAL)?;
        return Ok(0);
    }
    allocate(call, size, alignment.max(ALIGNMENT), false)
}

/// `posix_memalign(block, alignment, size)`.
fn posix_memalign(call: &mut Call<'_>) -> Step<u64> {
    let (block, alignment, size) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
    if !alignment.is_power_of_two() || alignment < 8 {
        return Ok(EINVAL as u64);
    }
    let fails = may_fail(call)?;
    let new = if fails { 0 } else { call.allocate(size, alignment.max(ALIGNMENT), false)? };
    if new == 0 {
        return Ok(ENOMEM as u64);
    }
    call.store(block, 8, new)?;
    Ok(0)
}

fn valloc(call: &mut Call<'_>) -> Step<u64> {
    let size = call.argument(0)?;
    allocate(call, size, PAGE, false)
}

fn usable_size(call: &mut Call<'_>) -> Step<u64> {
    let block = call.argument(0)?;
    if block == 0 { Ok(0) } else { call.block_size(block) }
}

fn free(call: &mut Call<'_>) -> Step<u64> {
    let address = call.argument(0)?;
    if LIBRARY_HEAP.contains(&address) {
        return Err(call.run_library_code());
    }
    call.free(address)?;
    Ok(0)
}

fn duplicate(call: &mut Call<'_>, text: u64, most: u64) -> Step<u64> {
    let length = call.string_length(text, most)?;
    let new = allocate(call, length + 1, ALIGNMENT, false)?;
    if new != 0 {
        blocks::copy(call, new, text, length)?;
        call.store(new + length, 1, 0)?;
    }
    Ok(new)
}

fn strdup(call: &mut Call<'_>) -> Step<u64> {
    let text = call.argument(0)?;
    duplicate(call, text, u64::MAX)
}

/// `strndup(text, most)`.
fn strndup(call: &mut Call<'_>) -> Step<u64> {
    let (text, most) = (call.argument(0)?, call.argument(1)?);
    duplicate(call, text, most)
}

pub(super) const TABLE: Names = &[
    ("malloc", malloc),
    ("calloc", calloc),
    ("realloc", realloc),
    ("reallocarray", reallocarray),
    ("aligned_alloc", aligned_alloc),
    ("memalign", aligned_alloc),
    ("posix_memalign", posix_memalign),
    ("valloc", valloc),
    ("malloc_usable_size", usable_size),
    ("free", free),
    ("strdup", strdup),
    ("__strdup", strdup),
    ("strndup", strndup),
    ("__strndup", strndup),
];
