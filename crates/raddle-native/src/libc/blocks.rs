//! Functions of blocks of memory: `memcpy`, `memset`, `memcmp`.
//!
//! Every byte of a block is loaded or stored once, in pieces of eight bytes from one multiple of eight to the next. Library code
//! would access vectors that overlap each other, and divide variables differently for every size of a block.

use std::cmp::Ordering;

use super::Names;
use crate::program::call::{Call, Step};
use raddle_core::outcome::FindingKind;

/// The largest part of a range that is compared at once, from one multiple of it to the next.
const PIECE: u64 = 1024;
/// A larger range cannot be mapped.
const LARGEST: u64 = 1 << 40;

/// Loads a range of any size.
fn load(call: &mut Call<'_>, from: u64, size: u64) -> Step<Vec<u8>> {
    if size > LARGEST {
        let message = format!("a function accesses {size} bytes, more than there is memory");
        return Err(call.fail(FindingKind::Crash, &message));
    }
    // A range that is not mapped is a fault of its first byte, found before memory is allocated for it.
    if size > PIECE {
        call.load(from + size - 1, 1)?;
    }
    let mut bytes = vec![0; size as usize];
    call.load_bytes(from, &mut bytes)?;
    Ok(bytes)
}

/// Copies as if through a buffer.
pub(super) fn copy(call: &mut Call<'_>, to: u64, from: u64, size: u64) -> Step<()> {
    let bytes = load(call, from, size)?;
    call.store_bytes(to, &bytes)
}

fn fill(call: &mut Call<'_>, to: u64, byte: u64, size: u64) -> Step<()> {
    if size > LARGEST {
        let message = format!("a function accesses {size} bytes, more than there is memory");
        return Err(call.fail(FindingKind::Crash, &message));
    }
    let piece = [byte as u8; PIECE as usize];
    if size <= PIECE {
        return call.store_bytes(to, &piece[..size as usize]);
    }
    call.store_bytes(to, &vec![byte as u8; size as usize])
}

/// `memcpy(to, from, size)`.
fn memcpy(call: &mut Call<'_>) -> Step<u64> {
    let (to, from, size) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
    copy(call, to, from, size)?;
    Ok(to)
}

fn mempcpy(call: &mut Call<'_>) -> Step<u64> {
    let size = call.argument(2)?;
    Ok(memcpy(call)? + size)
}

/// `memset(to, byte, size)`.
fn memset(call: &mut Call<'_>) -> Step<u64> {
    let (to, byte, size) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
    fill(call, to, byte, size)?;
    Ok(to)
}

/// `bzero(to, size)`.
fn bzero(call: &mut Call<'_>) -> Step<u64> {
    let (to, size) = (call.argument(0)?, call.argument(1)?);
    fill(call, to, 0, size)?;
    Ok(0)
}

/// A function that checks first that the size, argument 2, is at most argument 3, the room.
fn checked(call: &mut Call<'_>, function: super::Modelled) -> Step<u64> {
    let (size, room) = (call.argument(2)?, call.argument(3)?);
    if size > room {
        return Err(call.fail(FindingKind::Crash, "a function overflows a buffer"));
    }
    function(call)
}

/// Loads the part of a range up to a multiple of [`PIECE`].
fn piece(call: &mut Call<'_>, address: u64, size: u64) -> Step<Vec<u8>> {
    let length = size.min(PIECE - address % PIECE);
    let mut bytes = vec![0; length as usize];
    call.load_bytes(address, &mut bytes)?;
    Ok(bytes)
}

fn compare_ranges(call: &mut Call<'_>, one: u64, other: u64, size: u64) -> Step<Ordering> {
    let mut at = 0;
    while at < size {
        let first = piece(call, one + at, size - at)?;
        let second = piece(call, other + at, first.len() as u64)?;
        match first[..second.len()].cmp(&second) {
            Ordering::Equal => at += second.len() as u64,
            different => return Ok(different),
        }
    }
    Ok(Ordering::Equal)
}

/// `memcmp(one, other, size)`.
fn memcmp(call: &mut Call<'_>) -> Step<u64> {
    let (one, other, size) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
    Ok(compare_ranges(call, one, other, size)? as i64 as u64)
}

pub(super) const TABLE: Names = &[
    ("memcpy", memcpy),
    ("memmove", memcpy),
    ("__tsan_memcpy", memcpy),
    ("__tsan_memmove", memcpy),
    ("__memcpy_chk", |call| checked(call, memcpy)),
    ("__memmove_chk", |call| checked(call, memcpy)),
    ("mempcpy", mempcpy),
    ("__mempcpy", mempcpy),
    ("__mempcpy_chk", |call| checked(call, mempcpy)),
    ("memset", memset),
    ("__tsan_memset", memset),
    ("__memset_chk", |call| checked(call, memset)),
    ("bzero", bzero),
    ("memcmp", memcmp),
    ("bcmp", memcmp),
    ("__memcmpeq", memcmp),
];
