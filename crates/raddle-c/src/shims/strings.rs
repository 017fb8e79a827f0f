//! Functions that read and write memory: `memcpy`, `strlen` and the like.
//!
//! Every byte that they look at is read, and every byte that they write is stored, as if the program had done
//! that itself.

use std::cmp::Ordering;
use std::ffi::c_int;

use crate::ops;

/// So much of a range is looked at at once, from one multiple of it to the next.
const PIECE: usize = 1024;

/// Copies as if through a buffer.
pub(super) fn copy(to: usize, from: usize, size: usize) {
    ops::read_bytes(from, size);
    ops::write_bytes(to, size);
    // SAFETY: the program asked for it; if the addresses are wrong, that is a crash of the program.
    unsafe { std::ptr::copy(from as *const u8, to as *mut u8, size) };
}

pub(super) extern "C" fn memcpy(to: usize, from: usize, size: usize) -> usize {
    copy(to, from, size);
    to
}

pub(super) use memcpy as memmove;

pub(super) extern "C" fn mempcpy(to: usize, from: usize, size: usize) -> usize {
    copy(to, from, size);
    to + size
}

pub(super) extern "C" fn memset(to: usize, byte: c_int, size: usize) -> usize {
    ops::write_bytes(to, size);
    // SAFETY: as for copying.
    unsafe { std::ptr::write_bytes(to as *mut u8, byte as u8, size) };
    to
}

pub(super) extern "C" fn bzero(to: usize, size: usize) {
    memset(to, 0, size);
}

fn byte(address: usize) -> u8 {
    ops::get_number(address, 1) as u8
}

/// A piece of a range.
fn piece(address: usize, size: usize) -> ([u8; PIECE], usize) {
    let length = size.min(PIECE - address % PIECE);
    let mut bytes = [0; PIECE];
    ops::read_bytes(address, length);
    // SAFETY: as for copying.
    unsafe { std::ptr::copy(address as *const u8, bytes.as_mut_ptr(), length) };
    (bytes, length)
}

fn number(ordering: Ordering) -> c_int {
    ordering as c_int
}

pub(super) extern "C" fn memcmp(one: usize, other: usize, size: usize) -> c_int {
    let mut at = 0;
    while at < size {
        let (first, length) = piece(one + at, size - at);
        let (second, length) = piece(other + at, length);
        match first[..length].cmp(&second[..length]) {
            Ordering::Equal => at += length,
            different => return number(different),
        }
    }
    0
}

pub(super) use memcmp as bcmp;

pub(super) extern "C" fn memchr(range: usize, wanted: c_int, size: usize) -> usize {
    (range..range + size).find(|&at| byte(at) == wanted as u8).unwrap_or(0)
}

pub(super) extern "C" fn strnlen(text: usize, most: usize) -> usize {
    (0..most).find(|&at| byte(text + at) == 0).unwrap_or(most)
}

pub(super) extern "C" fn strlen(text: usize) -> usize {
    strnlen(text, usize::MAX)
}

pub(super) extern "C" fn strcpy(to: usize, from: usize) -> usize {
    let length = strlen(from);
    copy(to, from, length + 1);
    to
}

pub(super) extern "C" fn stpcpy(to: usize, from: usize) -> usize {
    let length = strlen(from);
    copy(to, from, length + 1);
    to + length
}

pub(super) extern "C" fn strncpy(to: usize, from: usize, size: usize) -> usize {
    let length = strnlen(from, size);
    copy(to, from, length);
    memset(to + length, 0, size - length);
    to
}

pub(super) extern "C" fn strcat(to: usize, from: usize) -> usize {
    strcpy(to + strlen(to), from);
    to
}

pub(super) extern "C" fn strncat(to: usize, from: usize, most: usize) -> usize {
    let (end, length) = (to + strlen(to), strnlen(from, most));
    copy(end, from, length);
    ops::put_number(end + length, 1, 0);
    to
}

fn compare(one: usize, other: usize, most: usize, fold: fn(u8) -> u8) -> c_int {
    for at in 0..most {
        let first = fold(byte(one + at));
        let second = fold(byte(other + at));
        if first != second || first == 0 {
            return c_int::from(first) - c_int::from(second);
        }
    }
    0
}

fn same(byte: u8) -> u8 {
    byte
}

fn lower(byte: u8) -> u8 {
    byte.to_ascii_lowercase()
}

pub(super) extern "C" fn strncmp(one: usize, other: usize, most: usize) -> c_int {
    compare(one, other, most, same)
}

pub(super) extern "C" fn strcmp(one: usize, other: usize) -> c_int {
    compare(one, other, usize::MAX, same)
}

pub(super) extern "C" fn strncasecmp(one: usize, other: usize, most: usize) -> c_int {
    compare(one, other, most, lower)
}

pub(super) extern "C" fn strcasecmp(one: usize, other: usize) -> c_int {
    compare(one, other, usize::MAX, lower)
}

pub(super) extern "C" fn strchr(text: usize, wanted: c_int) -> usize {
    for at in text.. {
        match byte(at) {
            found if found == wanted as u8 => return at,
            0 => break,
            _ => {}
        }
    }
    0
}

pub(super) extern "C" fn strrchr(text: usize, wanted: c_int) -> usize {
    let end = text + strlen(text);
    (text..=end).rev().find(|&at| byte(at) == wanted as u8).unwrap_or(0)
}

pub(super) extern "C" fn strstr(text: usize, wanted: usize) -> usize {
    let length = strlen(wanted);
    let last = strlen(text).checked_sub(length);
    let last = last.map_or(text, |last| text + last + 1);
    (text..last).find(|&at| memcmp(at, wanted, length) == 0).unwrap_or(0)
}

/// How many bytes of a string are (`wanted`) or are not among others.
fn span(text: usize, others: usize, wanted: bool) -> usize {
    let is_among = |found: u8| found != 0 && strchr(others, found.into()) != 0;
    let mut length = 0;
    loop {
        let found = byte(text + length);
        if found == 0 || is_among(found) != wanted {
            return length;
        }
        length += 1;
    }
}

pub(super) extern "C" fn strspn(text: usize, others: usize) -> usize {
    span(text, others, true)
}

pub(super) extern "C" fn strcspn(text: usize, others: usize) -> usize {
    span(text, others, false)
}

pub(super) extern "C" fn strpbrk(text: usize, others: usize) -> usize {
    let at = text + strcspn(text, others);
    if byte(at) == 0 { 0 } else { at }
}
