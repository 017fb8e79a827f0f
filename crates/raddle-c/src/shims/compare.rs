//! A compare-exchange whose expected value is in memory that threads share: it is read by a plain load before, and
//! if the exchange fails written by a plain store afterwards.

use raddle_core::execution::Value;

use crate::hooks;
use crate::ops::{self, Orders};

/// What the hook of such a compare-exchange becomes.
pub(crate) type Compare = extern "C" fn(usize, usize, u64, usize, usize) -> bool;

/// The function for so many bytes, at most 8.
pub(crate) fn function(size: usize, is_weak: bool) -> Compare {
    match (size, is_weak) {
        (1, false) => compare::<1, false>,
        (1, true) => compare::<1, true>,
        (2, false) => compare::<2, false>,
        (2, true) => compare::<2, true>,
        (4, false) => compare::<4, false>,
        (4, true) => compare::<4, true>,
        (_, false) => compare::<8, false>,
        (_, true) => compare::<8, true>,
    }
}

extern "C" fn compare<const SIZE: usize, const WEAK: bool>(
    address: usize,
    expected_at: usize,
    desired: u64,
    success: usize,
    failure: usize,
) -> bool {
    let expected = Value::from(ops::get_number(expected_at, SIZE));
    let desired = Value::from(desired << (64 - 8 * SIZE) >> (64 - 8 * SIZE));
    let (success, failure) = (hooks::order(success), hooks::order(failure));
    let orders = Orders { success, failure, is_weak: WEAK };
    let (read, has_succeeded) = ops::cas(address, SIZE, expected, desired, orders);
    if !has_succeeded {
        ops::put_number(expected_at, SIZE, read as u64);
    }
    has_succeeded
}
