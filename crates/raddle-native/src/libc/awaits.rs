//! Annotations of other checkers: Nidhugg's functions that wait, and marks of loops that wait.
//!
//! `__VERIFIER_load_await_T(address, condition, operand, mode)` waits until the value of an atomic variable satisfies a condition, and
//! returns it. `__VERIFIER_xchg_await_T(address, value, condition, operand, mode)` exchanges it in the same step. A thread
//! whose condition does not hold calls the function once more, which is a round of a waiting loop.
//!
//! GenMC, libvsync and Dartagnan mark such loops, so that a round that fails can be discarded. Raddle recognises these rounds, so
//! the marks do nothing.

use raddle_core::execution::{MemoryOrder, Value};
use raddle_cpu::memory::layout;

use super::{Names, nothing, threads};
use crate::program::call::{Call, CompareOrders, Step, Suspend};

/// The bits of a condition: which comparisons hold, and whether numbers are signed.
const GREATER: u64 = 1;
const EQUAL: u64 = 2;
const LESS: u64 = 4;
const SIGNED: u64 = 8;

/// A call of a function that waits.
struct Await {
    address: u64,
    condition: u64,
    operand: u64,
    mode: u64,
}

/// The functions of type `int` have no mode: they are sequentially consistent.
const NO_MODE: u64 = 2;

impl Await {
    /// The arguments, of which `first` is the condition.
    fn of(call: &mut Call<'_>, first: usize, has_mode: bool) -> Step<Self> {
        Ok(Await {
            address: call.argument(0)?,
            condition: call.argument(first)? & 0xff,
            operand: call.argument(first + 1)?,
            mode: if has_mode { call.argument(first + 2)? & 0xff } else { NO_MODE },
        })
    }

    /// Returns `true` if a value of this size satisfies the condition.
    fn holds(&self, value: u64, size: u64) -> bool {
        let unused = 64 - 8 * size as u32;
        let order = match self.condition & SIGNED {
            0 => (value << unused).cmp(&(self.operand << unused)),
            _ => ((value << unused) as i64).cmp(&((self.operand << unused) as i64)),
        };
        let bit = match order {
            std::cmp::Ordering::Less => LESS,
            std::cmp::Ordering::Equal => EQUAL,
            std::cmp::Ordering::Greater => GREATER,
        };
        self.condition & bit != 0
    }

    /// The memory orders of loads and exchanges.
    fn orders(&self) -> (MemoryOrder, MemoryOrder) {
        match self.mode {
            0 => (MemoryOrder::Relaxed, MemoryOrder::Relaxed),
            1 => (MemoryOrder::Acquire, MemoryOrder::AcqRel),
            _ => (MemoryOrder::SeqCst, MemoryOrder::SeqCst),
        }
    }
}

/// Calls the function once more.
fn again(call: &mut Call<'_>) -> Suspend {
    let address = call.program.cpu().ip();
    if layout::host_function_at(address).is_none() {
        return call.refuse("calls a function in a way that Raddle does not model");
    }
    call.program.cpu_mut().jump(address);
    Suspend::Jumped
}

fn load<const SIZE: u64, const HAS_MODE: bool>(call: &mut Call<'_>) -> Step<u64> {
    let wanted = Await::of(call, 1, HAS_MODE)?;
    let value = call.atomic_load(wanted.address, SIZE, wanted.orders().0)? as u64;
    if wanted.holds(value, SIZE) { Ok(value) } else { Err(again(call)) }
}

fn exchange<const SIZE: u64, const HAS_MODE: bool>(call: &mut Call<'_>) -> Step<u64> {
    let wanted = Await::of(call, 2, HAS_MODE)?;
    let value = call.argument(1)? & (u64::MAX >> (64 - 8 * SIZE));
    let (failure, success) = wanted.orders();
    let old = call.atomic_load(wanted.address, SIZE, failure)? as u64;
    if !wanted.holds(old, SIZE) {
        return Err(again(call));
    }
    let orders = CompareOrders { success, failure, is_weak: false };
    let (expected, value) = (Value::from(old), Value::from(value));
    match call.compare_exchange(wanted.address, SIZE, expected, value, orders)? {
        (_, true) => Ok(old),
        (_, false) => Err(again(call)),
    }
}

pub(super) const TABLE: Names = &[
    ("__VERIFIER_loop_begin", nothing),
    ("__VERIFIER_loop_bound", nothing),
    ("__VERIFIER_spin_start", nothing),
    ("__VERIFIER_spin_end", nothing),
    ("__VERIFIER_tid", threads::current),
    ("__VERIFIER_load_await_aint", load::<4, false>),
    ("__VERIFIER_load_await_i8", load::<1, true>),
    ("__VERIFIER_load_await_i16", load::<2, true>),
    ("__VERIFIER_load_await_i32", load::<4, true>),
    ("__VERIFIER_load_await_i64", load::<8, true>),
    ("__VERIFIER_xchg_await_aint", exchange::<4, false>),
    ("__VERIFIER_xchg_await_i8", exchange::<1, true>),
    ("__VERIFIER_xchg_await_i16", exchange::<2, true>),
    ("__VERIFIER_xchg_await_i32", exchange::<4, true>),
    ("__VERIFIER_xchg_await_i64", exchange::<8, true>),
];
