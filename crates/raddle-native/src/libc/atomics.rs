//! Hooks of `-fsanitize=thread`: atomic operations with their memory orders. Hooks of plain accesses are guest code that returns at
//! once, as the CPU sees the accesses themselves.

use raddle_core::execution::{MemoryOrder, Value};
use raddle_core::program::{OpKind, Update, UpdateKind};

use super::Names;
use crate::program::call::{Call, CompareOrders, Step};

/// The memory order that a number of the compiler's stands for.
pub(crate) fn order(number: u64) -> MemoryOrder {
    match number & 0xff {
        0 => MemoryOrder::Relaxed,
        1 | 2 => MemoryOrder::Acquire,
        3 => MemoryOrder::Release,
        4 => MemoryOrder::AcqRel,
        _ => MemoryOrder::SeqCst,
    }
}

/// Reads arguments one after the other; those of 16 bytes take two registers.
struct Arguments<'c, 'p> {
    call: &'c mut Call<'p>,
    next: usize,
    size: u64,
}

impl<'c, 'p> Arguments<'c, 'p> {
    fn new(call: &'c mut Call<'p>, size: u64) -> Self {
        Arguments { call, next: 0, size }
    }

    fn word(&mut self) -> Step<u64> {
        self.next += 1;
        self.call.argument(self.next - 1)
    }

    fn order(&mut self) -> Step<MemoryOrder> {
        self.word().map(order)
    }

    /// A value of the size of the access.
    fn value(&mut self) -> Step<Value> {
        let low = self.word()?;
        let mask = if self.size >= 8 { u64::MAX } else { (1 << (8 * self.size)) - 1 };
        let high = if self.size == 16 { self.word()? } else { 0 };
        Ok((u128::from(high) << 64 | u128::from(low & mask)) as Value)
    }
}

/// Returns a value of the size of the access.
fn give(call: &mut Call<'_>, size: u64, value: Value) -> u64 {
    if size == 16 {
        call.set_second_result((value as u128 >> 64) as u64);
    }
    value as u64
}

/// The names of hooks of atomic operations.
pub(super) fn hooks() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(name, _)| *name).filter(|name| name.starts_with("__tsan_atomic"))
}

/// The number of integer arguments of a hook. Those of 16 bytes take more.
pub(super) fn argument_count(name: &str) -> Option<usize> {
    let (size, operation) = name.strip_prefix("__tsan_atomic")?.split_once('_')?;
    Some(match operation {
        _ if size == "128" => return None,
        "load" => 2,
        "thread_fence" => 1,
        _ if operation.starts_with("compare_exchange") => 5,
        _ => 3,
    })
}

/// The arguments of a hook that are addresses, and the number of bytes that it accesses there.
pub(super) fn pointers(name: &str) -> Option<Vec<(usize, u64)>> {
    let (bits, operation) = name.strip_prefix("__tsan_atomic")?.split_once('_')?;
    if operation == "thread_fence" {
        return Some(vec![]);
    }
    let size = bits.parse::<u64>().ok()? / 8;
    let has_place = matches!(operation, "compare_exchange_strong" | "compare_exchange_weak");
    Some((0..=usize::from(has_place)).map(|argument| (argument, size)).collect())
}

fn load<const SIZE: u64>(call: &mut Call<'_>) -> Step<u64> {
    let mut arguments = Arguments::new(call, SIZE);
    let (address, order) = (arguments.word()?, arguments.order()?);
    let value = call.atomic_load(address, SIZE, order)?;
    Ok(give(call, SIZE, value))
}

fn store<const SIZE: u64>(call: &mut Call<'_>) -> Step<u64> {
    let mut arguments = Arguments::new(call, SIZE);
    let (address, value, order) = (arguments.word()?, arguments.value()?, arguments.order()?);
    call.atomic_store(address, SIZE, value, order)?;
    Ok(0)
}

fn update<const SIZE: u64>(call: &mut Call<'_>, kind: UpdateKind) -> Step<u64> {
    let mut arguments = Arguments::new(call, SIZE);
    let (address, operand, order) = (arguments.word()?, arguments.value()?, arguments.order()?);
    let bits = if kind == UpdateKind::Swap { 0 } else { 8 * SIZE as u8 };
    let update = Update { kind, operand, bits, signed: false, carries: false };
    let is_blind = call.is_result_dead(SIZE);
    let value = call.atomic_update(address, SIZE, update, order, is_blind)?;
    Ok(give(call, SIZE, value))
}

/// A compare-exchange that gets the address of the expected value and returns whether it succeeded.
fn compare<const SIZE: u64>(call: &mut Call<'_>, is_weak: bool) -> Step<u64> {
    let mut arguments = Arguments::new(call, SIZE);
    let (address, place, desired) = (arguments.word()?, arguments.word()?, arguments.value()?);
    let (success, failure) = (arguments.order()?, arguments.order()?);
    let mut bytes = [0; 16];
    call.load_bytes(place, &mut bytes[..SIZE as usize])?;
    let expected = u128::from_le_bytes(bytes) as Value;
    let orders = CompareOrders { success, failure, is_weak };
    let (read, is_done) = call.compare_exchange(address, SIZE, expected, desired, orders)?;
    if !is_done {
        call.store_bytes(place, &(read as u128).to_le_bytes()[..SIZE as usize])?;
    }
    Ok(is_done.into())
}

/// A compare-exchange that gets the expected value and returns the old one. The second result is whether it succeeded.
fn compare_value<const SIZE: u64>(call: &mut Call<'_>, is_weak: bool) -> Step<u64> {
    let mut arguments = Arguments::new(call, SIZE);
    let (address, expected, desired) = (arguments.word()?, arguments.value()?, arguments.value()?);
    let (success, failure) = (arguments.order()?, arguments.order()?);
    let orders = CompareOrders { success, failure, is_weak };
    let (read, is_done) = call.compare_exchange(address, SIZE, expected, desired, orders)?;
    call.set_second_result(is_done.into());
    Ok(read as u64)
}

fn fence(call: &mut Call<'_>) -> Step<u64> {
    let order = order(call.argument(0)?);
    call.effect(OpKind::Fence { order });
    Ok(0)
}

/// The mark before a plain load that the program means to be atomic.
fn mark_atomic_load<const SIZE: u64>(call: &mut Call<'_>) -> Step<u64> {
    let address = call.argument(0)?;
    call.mark_atomic_load(address, SIZE)?;
    Ok(0)
}

/// The hooks of one size.
macro_rules! sized {
    ($bits:literal, $size:literal) => {
        [
            (concat!("__tsan_atomic", $bits, "_load"), load::<$size> as super::Modelled),
            (concat!("__tsan_atomic", $bits, "_store"), store::<$size>),
            (concat!("__tsan_atomic", $bits, "_exchange"), |c| {
                update::<$size>(c, UpdateKind::Swap)
            }),
            (concat!("__tsan_atomic", $bits, "_fetch_add"), |c| {
                update::<$size>(c, UpdateKind::Add)
            }),
            (concat!("__tsan_atomic", $bits, "_fetch_sub"), |c| {
                update::<$size>(c, UpdateKind::Sub)
            }),
            (concat!("__tsan_atomic", $bits, "_fetch_and"), |c| {
                update::<$size>(c, UpdateKind::And)
            }),
            (concat!("__tsan_atomic", $bits, "_fetch_or"), |c| update::<$size>(c, UpdateKind::Or)),
            (concat!("__tsan_atomic", $bits, "_fetch_xor"), |c| {
                update::<$size>(c, UpdateKind::Xor)
            }),
            (concat!("__tsan_atomic", $bits, "_fetch_nand"), |c| {
                update::<$size>(c, UpdateKind::Nand)
            }),
            (concat!("__tsan_atomic", $bits, "_compare_exchange_strong"), |c| {
                compare::<$size>(c, false)
            }),
            (concat!("__tsan_atomic", $bits, "_compare_exchange_weak"), |c| {
                compare::<$size>(c, true)
            }),
            (concat!("__tsan_atomic", $bits, "_compare_exchange_val"), |c| {
                compare_value::<$size>(c, false)
            }),
            (concat!("__tsan_weak_compare_exchange", $bits), |c| compare_value::<$size>(c, true)),
            (concat!("__tsan_sc_read", $size), mark_atomic_load::<$size>),
        ]
    };
}

/// Concatenates the hooks of all sizes and the others.
const fn concatenate<const N: usize>(
    parts: &[&[(&'static str, super::Modelled)]],
) -> [(&'static str, super::Modelled); N] {
    let mut all = [("", fence as super::Modelled); N];
    let (mut at, mut part) = (0, 0);
    while part < parts.len() {
        let mut index = 0;
        while index < parts[part].len() {
            all[at] = parts[part][index];
            (at, index) = (at + 1, index + 1);
        }
        part += 1;
    }
    all
}

const FENCES: [(&str, super::Modelled); 1] = [("__tsan_atomic_thread_fence", fence)];

const ALL: [(&str, super::Modelled); 71] = concatenate(&[
    &sized!("8", 1),
    &sized!("16", 2),
    &sized!("32", 4),
    &sized!("64", 8),
    &sized!("128", 16),
    &FENCES,
]);

/// The hooks.
pub(super) const TABLE: Names = &ALL;
