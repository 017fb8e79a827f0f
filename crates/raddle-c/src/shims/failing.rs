//! Assertions, and other ways to say that something is wrong.

#![allow(non_snake_case, reason = "the names are given")]

use std::ffi::c_int;

use super::strings;
use crate::ops::{self, FindingKind};

/// At most so much is told.
const LONGEST: usize = 400;

/// A message with a string of the program in it.
fn fail(bug: FindingKind, before: &str, text: usize, after: &str) -> ! {
    let length = if text == 0 { 0 } else { strings::strnlen(text, LONGEST) };
    let mut buffer = [0; LONGEST + 100];
    let mut used = 0;
    let mut add = |bytes: &[u8]| {
        let length = bytes.len().min(buffer.len() - used);
        buffer[used..used + length].copy_from_slice(&bytes[..length]);
        used += length;
    };
    add(before.as_bytes());
    if length > 0 {
        ops::read_bytes(text, length);
        // SAFETY: the program has a string of this length there.
        add(unsafe { std::slice::from_raw_parts(text as *const u8, length) });
    }
    add(after.as_bytes());
    ops::fail(bug, &String::from_utf8_lossy(&buffer[..used]))
}

pub(super) extern "C" fn __assert_fail(
    condition: usize,
    _file: usize,
    _line: u32,
    _function: usize,
) -> ! {
    fail(FindingKind::Assertion, "assertion failed: ", condition, "")
}

pub(super) extern "C" fn abort() -> ! {
    ops::fail(FindingKind::Abort, "the program calls abort")
}

pub(super) extern "C" fn __cxa_pure_virtual() -> ! {
    ops::fail(FindingKind::Abort, "a pure virtual function is called")
}

pub(super) extern "C" fn __stack_chk_fail() -> ! {
    ops::fail(FindingKind::Crash, "an array on the stack overflowed")
}

/// The competition on software verification's names for errors.
pub(super) extern "C" fn reach_error() -> ! {
    ops::fail(FindingKind::Assertion, "reach_error is called")
}

pub(super) extern "C" fn __VERIFIER_error() -> ! {
    ops::fail(FindingKind::Assertion, "__VERIFIER_error is called")
}

pub(super) extern "C" fn __VERIFIER_assert(condition: c_int) {
    if condition == 0 {
        ops::fail(FindingKind::Assertion, "__VERIFIER_assert fails");
    }
}
