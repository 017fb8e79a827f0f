//! Numbers that look random. Every thread has its own, which are the same in every execution.

use std::ffi::{c_int, c_uint};

use crate::ops;

/// The state of a thread: its last number, and whether it has one.
const STATE: u32 = 10;
const FIRST: u64 = 1;

/// Steele and Vigna's constant for a linear congruential generator (Software: Practice and Experience, 2021).
const FACTOR: u64 = 0xd134_2543_de82_ef95;

fn next(state: u64) -> u64 {
    state.wrapping_mul(FACTOR).wrapping_add(1)
}

fn positive(state: u64) -> c_int {
    (state >> 33) as c_int
}

pub(super) extern "C" fn rand() -> c_int {
    let state = next(ops::recall(STATE, 0).wrapping_add(FIRST));
    ops::remember(STATE, 0, state);
    positive(state)
}

pub(super) extern "C" fn random() -> i64 {
    rand().into()
}

pub(super) extern "C" fn srand(seed: c_uint) {
    ops::remember(STATE, 0, seed.into());
}

pub(super) use srand as srandom;

pub(super) extern "C" fn rand_r(seed: usize) -> c_int {
    let state = next(ops::get_number(seed, 4));
    ops::put_number(seed, 4, state >> 32);
    positive(state)
}
