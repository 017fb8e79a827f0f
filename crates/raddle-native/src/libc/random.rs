//! Pseudorandom numbers. Every thread has its own, which are the same in every execution.

use super::{Names, Purpose};
use crate::program::call::{Call, Step};

/// Added to the state before the first number.
const FIRST: u64 = 1;
/// Steele and Vigna's constant for a linear congruential generator (Software: Practice and Experience, 2021).
const FACTOR: u64 = 0xd134_2543_de82_ef95;
/// The largest number of random bytes of one call.
const MOST: u64 = 1 << 20;

fn next(state: u64) -> u64 {
    state.wrapping_mul(FACTOR).wrapping_add(1)
}

fn positive(state: u64) -> u64 {
    state >> 33
}

fn step(call: &mut Call<'_>) -> u64 {
    let state = next(call.recall(Purpose::Random, 0).wrapping_add(FIRST));
    call.remember(Purpose::Random, 0, state);
    state
}

fn rand(call: &mut Call<'_>) -> Step<u64> {
    Ok(positive(step(call)))
}

fn srand(call: &mut Call<'_>) -> Step<u64> {
    let seed = call.argument(0)? & 0xffff_ffff;
    call.remember(Purpose::Random, 0, seed);
    Ok(0)
}

fn rand_r(call: &mut Call<'_>) -> Step<u64> {
    let seed = call.argument(0)?;
    let state = next(call.load(seed, 4)?);
    call.store(seed, 4, state >> 32)?;
    Ok(positive(state))
}

/// `getrandom(buffer, size, flags)`.
fn getrandom(call: &mut Call<'_>) -> Step<u64> {
    let (buffer, size) = (call.argument(0)?, call.argument(1)?.min(MOST));
    let mut bytes = vec![0; size as usize];
    for chunk in bytes.chunks_mut(4) {
        let number = (step(call) >> 32) as u32;
        chunk.copy_from_slice(&number.to_le_bytes()[..chunk.len()]);
    }
    call.store_bytes(buffer, &bytes)?;
    Ok(size)
}

fn getentropy(call: &mut Call<'_>) -> Step<u64> {
    getrandom(call)?;
    Ok(0)
}

fn arc4random(call: &mut Call<'_>) -> Step<u64> {
    Ok(step(call) >> 32)
}

pub(super) const TABLE: Names = &[
    ("rand", rand),
    ("random", rand),
    ("srand", srand),
    ("srandom", srand),
    ("rand_r", rand_r),
    ("getrandom", getrandom),
    ("getentropy", getentropy),
    ("arc4random", arc4random),
];
