//! Functions of the competition on software verification (SV-COMP).
//!
//! Any boolean or byte is any of its values. Of other numbers only small ones are chosen, and so an exploration in
//! which one was chosen is never called complete.

#![allow(non_snake_case, reason = "the names are given")]

use std::ffi::c_int;

use raddle_core::execution::Value;
use raddle_core::program::Guard;

use crate::ops::{self, Kind};

pub(super) extern "C" fn __VERIFIER_assume(condition: c_int) {
    ops::assume(condition != 0);
}

pub(super) use __VERIFIER_assume as assume_abort_if_not;

pub(super) extern "C" fn __VERIFIER_nondet_bool() -> c_int {
    ops::choose(2) as c_int
}

pub(super) extern "C" fn __VERIFIER_nondet_char() -> c_int {
    c_int::from(ops::choose(256) as u8 as i8)
}

pub(super) extern "C" fn __VERIFIER_nondet_uchar() -> c_int {
    ops::choose(256) as c_int
}

/// So many numbers are tried: 0, 1, 2, ... and if they have signs also -1.
const NUMBERS: u32 = 4;

pub(super) extern "C" fn __VERIFIER_nondet_int() -> i64 {
    ops::note_bound("numbers of __VERIFIER_nondet_int and the like are chosen from -1 to 3 only");
    i64::from(ops::choose(NUMBERS + 1)) - 1
}

pub(super) extern "C" fn __VERIFIER_nondet_uint() -> u64 {
    ops::note_bound("numbers of __VERIFIER_nondet_uint and the like are chosen from 0 to 3 only");
    ops::choose(NUMBERS).into()
}

pub(super) use __VERIFIER_nondet_int as __VERIFIER_nondet_long;
pub(super) use __VERIFIER_nondet_int as __VERIFIER_nondet_longlong;
pub(super) use __VERIFIER_nondet_int as __VERIFIER_nondet_short;
pub(super) use __VERIFIER_nondet_uint as __VERIFIER_nondet_size_t;
pub(super) use __VERIFIER_nondet_uint as __VERIFIER_nondet_uint32_t;
pub(super) use __VERIFIER_nondet_uint as __VERIFIER_nondet_ulong;
pub(super) use __VERIFIER_nondet_uint as __VERIFIER_nondet_ulonglong;
pub(super) use __VERIFIER_nondet_uint as __VERIFIER_nondet_unsigned;
pub(super) use __VERIFIER_nondet_uint as __VERIFIER_nondet_unsigned_int;
pub(super) use __VERIFIER_nondet_uint as __VERIFIER_nondet_ushort;

/// The object that all atomic sections lock. There is nothing at this address.
const SECTIONS: usize = 0;

/// Nothing of another such section comes in between. What is in no section may.
pub(super) extern "C" fn __VERIFIER_atomic_begin() {
    ops::sync(SECTIONS, Kind::Section, Guard::Equal(0), ops::set_to(1));
}

pub(super) extern "C" fn __VERIFIER_atomic_end() {
    const OPEN: Value = 0;
    ops::sync(SECTIONS, Kind::Section, Guard::Always, ops::set_to(OPEN));
}
