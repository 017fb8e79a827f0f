//! Shifts, rotations, and bit tests by a register.

use super::{Destination, Source};
use crate::cpu::{CONTINUE, Cpu, Op, Word, get};
use crate::memory::Memory;
use crate::registers::{CF, FlagSource, OF, STATUS, flag};

pub(crate) const LEFT: u8 = 0;
pub(crate) const RIGHT: u8 = 1;
pub(crate) const RIGHT_SIGNED: u8 = 2;

/// `shl`, `shr`, `sar` by `KIND`. `F`: whether the flags are needed.
pub(crate) fn shift<D: Destination, S: Source, T: Word, const KIND: u8, const F: bool>(
    cpu: &mut Cpu,
    memory: &mut Memory,
    op: &Op,
) -> u32 {
    let count = get!(S::get::<u8>(cpu, memory, op));
    let count = u32::from(count) & if T::BITS == 64 { 63 } else { 31 };
    let a = get!(D::get::<T>(cpu, memory, op));
    if count == 0 {
        // The operand is written all the same: 32 bits clear the upper half.
        get!(D::put(cpu, memory, op, a));
        return CONTINUE;
    }
    let (zero, sign) = (a.zero_extended(), a.sign_extended());
    let result = match KIND {
        LEFT => zero << count,
        RIGHT => zero >> count,
        _ => (sign >> count) as u64,
    };
    get!(D::put(cpu, memory, op, T::truncate(result)));
    if F {
        let (carries, overflows) = match KIND {
            LEFT => {
                let carries = count <= T::BITS && zero >> (T::BITS - count) & 1 == 1;
                (carries, (result & T::TOP != 0) != carries)
            }
            RIGHT => (zero >> (count - 1) & 1 == 1, zero & T::TOP != 0),
            _ => (sign >> (count - 1) & 1 == 1, false),
        };
        cpu.context.flags &= !STATUS;
        cpu.set_lazy(FlagSource::Logic, T::SIZE, 0, 0, result);
        cpu.store_flags();
        cpu.context.flags |= flag(carries, CF) | flag(overflows, OF);
    }
    CONTINUE
}

/// `rol`, and `ror` if `RIGHT`. Only CF and OF change.
pub(crate) fn rotate<D: Destination, S: Source, T: Word, const RIGHT: bool, const F: bool>(
    cpu: &mut Cpu,
    memory: &mut Memory,
    op: &Op,
) -> u32 {
    let count = get!(S::get::<u8>(cpu, memory, op));
    let masked = u32::from(count) & if T::BITS == 64 { 63 } else { 31 };
    let a = get!(D::get::<T>(cpu, memory, op)).zero_extended();
    let count = masked % T::BITS;
    let left = if RIGHT { (T::BITS - count) % T::BITS } else { count };
    let result = if left == 0 { a } else { a << left | a >> (T::BITS - left) };
    let result = T::truncate(result).zero_extended();
    get!(D::put(cpu, memory, op, T::truncate(result)));
    if F && masked != 0 {
        let top = result & T::TOP != 0;
        let (carries, overflows) = if RIGHT {
            (top, top != (result & T::TOP >> 1 != 0))
        } else {
            (result & 1 == 1, top != (result & 1 == 1))
        };
        cpu.store_flags();
        cpu.context.flags =
            cpu.context.flags & !(CF | OF) | flag(carries, CF) | flag(overflows, OF);
    }
    CONTINUE
}

/// `bt`, `bts`, `btr`, `btc` (`w` 0 to 3) on memory with a bit offset in register `b`, which may point beyond the operand.
pub(crate) fn bit_string<T: Word>(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let offset = T::truncate(cpu.register(op.b)).sign_extended();
    let words = offset >> T::BITS.trailing_zeros();
    let address = cpu.address(op).wrapping_add((words * T::SIZE as i64) as u64);
    let bit = 1u64 << (offset as u32 % T::BITS);
    let old = get!(cpu.load::<T>(memory, address)).zero_extended();
    if op.w != 0 {
        get!(cpu.store(memory, address, T::truncate(changed_bit(op.w, old, bit))));
    }
    cpu.store_flags();
    cpu.context.flags = cpu.context.flags & !CF | flag(old & bit != 0, CF);
    CONTINUE
}

/// What `bts`, `btr`, `btc` (1 to 3) make of `old`.
pub(crate) fn changed_bit(kind: u8, old: u64, bit: u64) -> u64 {
    match kind {
        1 => old | bit,
        2 => old & !bit,
        _ => old ^ bit,
    }
}
