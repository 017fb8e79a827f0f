//! Instructions with a `lock` prefix, and exchanges: one question each.
//!
//! The question contains the operation as data, so that the caller can compute its effect. On private memory the operation is a load
//! and a store, and a fence for those who want to know ([`Cpu::report_locked`]). Instructions that could have a `lock` prefix but have none make a load and a store of their own.

use super::alu::add_with_carry;
use crate::cpu::{CONTINUE, Cpu, Exit, Op, Word, get};
use crate::memory::Memory;
use crate::registers::{CF, FlagSource, Register, STATUS, ZF, flag};
use crate::stop::{Fence, Operation};

/// What a locked instruction does, in `w`; [`IMMEDIATE`] is added if the operand is `imm` instead of register `b`.
pub(crate) const ADD: u8 = 0;
pub(crate) const SUB: u8 = 1;
pub(crate) const AND: u8 = 2;
pub(crate) const OR: u8 = 3;
pub(crate) const XOR: u8 = 4;
pub(crate) const ADC: u8 = 5;
pub(crate) const SBB: u8 = 6;
pub(crate) const INC: u8 = 7;
pub(crate) const DEC: u8 = 8;
pub(crate) const NEG: u8 = 9;
pub(crate) const NOT: u8 = 10;
pub(crate) const XADD: u8 = 11;
pub(crate) const XCHG: u8 = 12;
pub(crate) const BTS: u8 = 13;
pub(crate) const BTR: u8 = 14;
pub(crate) const BTC: u8 = 15;
pub(crate) const IMMEDIATE: u8 = 16;

/// A locked instruction with one or two operands, or a plain `xchg` or `xadd` with memory if not `LOCK`.
pub(crate) fn locked<T: Word, const LOCK: bool>(
    cpu: &mut Cpu,
    memory: &mut Memory,
    op: &Op,
) -> u32 {
    let kind = op.w % IMMEDIATE;
    let is_immediate = op.w >= IMMEDIATE;
    let operand = if is_immediate { op.imm } else { cpu.register(op.b) };
    let mut address = cpu.address(op);
    let mut value = T::truncate(operand).zero_extended();
    let carry = cpu.flags() & CF;
    if matches!(kind, BTS | BTR | BTC) {
        let offset = T::truncate(operand).sign_extended();
        if !is_immediate {
            let words = offset >> T::BITS.trailing_zeros();
            address = address.wrapping_add((words * T::SIZE as i64) as u64);
        }
        value = 1 << (offset as u32 % T::BITS);
    }
    let operation = match kind {
        ADD | XADD => Operation::Add(value),
        SUB => Operation::Add(value.wrapping_neg()),
        ADC => Operation::Add(value.wrapping_add(carry)),
        SBB => Operation::Add(value.wrapping_add(carry).wrapping_neg()),
        INC => Operation::Add(1),
        DEC => Operation::Add(u64::MAX),
        AND => Operation::And(value),
        BTR => Operation::And(!value),
        OR | BTS => Operation::Or(value),
        XOR | BTC => Operation::Xor(value),
        NOT => Operation::Xor(u64::MAX),
        NEG => Operation::Negate,
        _ => Operation::Exchange(value),
    };
    let old = if LOCK {
        T::truncate(get!(cpu.load_atomic(memory, address, T::SIZE as u8, operation))[0])
    } else {
        get!(cpu.load::<T>(memory, address))
    };
    let old = old.zero_extended();
    let new = T::truncate(operation.apply(old.into(), T::SIZE as u8) as u64);
    get!(cpu.store(memory, address, new));
    set_flags::<T>(cpu, kind, old, value, carry);
    if matches!(kind, XADD | XCHG) {
        cpu.set_register(op.b, T::truncate(old).merge(cpu.register(op.b)));
    }
    if LOCK { end_locked(cpu) } else { CONTINUE }
}

/// Ends a locked instruction. If it was no question, it is a fence for those who want to know.
fn end_locked(cpu: &mut Cpu) -> u32 {
    let was_asked = std::mem::take(&mut cpu.was_asked);
    if was_asked || !cpu.reports_locked { CONTINUE } else { cpu.stop(Exit::Fence(Fence::Implied)) }
}

fn set_flags<T: Word>(cpu: &mut Cpu, kind: u8, old: u64, value: u64, carry: u64) {
    let logic = |cpu: &mut Cpu, result| cpu.set_lazy(FlagSource::Logic, T::SIZE, 0, 0, result);
    match kind {
        ADD | XADD => cpu.set_lazy(FlagSource::Add, T::SIZE, old, value, old.wrapping_add(value)),
        SUB => cpu.set_lazy(FlagSource::Sub, T::SIZE, old, value, old.wrapping_sub(value)),
        NEG => cpu.set_lazy(FlagSource::Sub, T::SIZE, 0, old, old.wrapping_neg()),
        AND => logic(cpu, old & value),
        OR => logic(cpu, old | value),
        XOR => logic(cpu, old ^ value),
        ADC | SBB => {
            let flags = add_with_carry::<T>(old, value, carry, kind == SBB).1;
            cpu.store_flags();
            cpu.context.flags = cpu.context.flags & !STATUS | flags;
        }
        INC | DEC => {
            let source = if kind == INC { FlagSource::Add } else { FlagSource::Sub };
            let result = if kind == INC { old.wrapping_add(1) } else { old.wrapping_sub(1) };
            cpu.set_lazy(source, T::SIZE, old, 1, result);
            cpu.store_flags();
            cpu.context.flags = cpu.context.flags & !CF | carry;
        }
        BTS | BTR | BTC => {
            cpu.store_flags();
            cpu.context.flags = cpu.context.flags & !CF | flag(old & value != 0, CF);
        }
        _ => {}
    }
}

/// `cmpxchg` with memory. The memory is written in any case.
pub(crate) fn compare_exchange<T: Word, const LOCK: bool>(
    cpu: &mut Cpu,
    memory: &mut Memory,
    op: &Op,
) -> u32 {
    let address = cpu.address(op);
    let rax = cpu.register(Register::Rax);
    let expected = T::truncate(rax);
    let new = T::truncate(cpu.register(op.b));
    let operation = Operation::CompareExchange {
        expected: expected.zero_extended().into(),
        new: new.zero_extended().into(),
    };
    let old = if LOCK {
        T::truncate(get!(cpu.load_atomic(memory, address, T::SIZE as u8, operation))[0])
    } else {
        get!(cpu.load::<T>(memory, address))
    };
    let is_equal = old == expected;
    get!(cpu.store(memory, address, if is_equal { new } else { old }));
    let (a, b) = (expected.zero_extended(), old.zero_extended());
    cpu.set_lazy(FlagSource::Sub, T::SIZE, a, b, a.wrapping_sub(b));
    if !is_equal {
        cpu.set_register(Register::Rax, old.merge(rax));
    }
    if LOCK { end_locked(cpu) } else { CONTINUE }
}

/// `xadd` of registers: `a` becomes the sum, `b` the old `a`.
pub(crate) fn exchange_add_register<T: Word>(cpu: &mut Cpu, _: &mut Memory, op: &Op) -> u32 {
    let (a, b) = (cpu.register(op.a), cpu.register(op.b));
    let (x, y) = (T::truncate(a).zero_extended(), T::truncate(b).zero_extended());
    let sum = x.wrapping_add(y);
    cpu.set_register(op.b, T::truncate(a).merge(b));
    cpu.set_register(op.a, T::truncate(sum).merge(cpu.register(op.a)));
    cpu.set_lazy(FlagSource::Add, T::SIZE, x, y, sum);
    CONTINUE
}

/// `cmpxchg8b` (`w` 8) and `cmpxchg16b` (`w` 16): one question even without `lock`, as compilers never omit it.
pub(crate) fn compare_exchange_pair(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let address = cpu.address(op);
    let half = u32::from(op.w) * 4;
    if op.w == 16 && !address.is_multiple_of(16) {
        cpu.target = address;
        return cpu.stop(Exit::Misaligned { size: 16, write: true });
    }
    let mask = u128::MAX >> (128 - half);
    let pair = |low: u64, high: u64| u128::from(low) & mask | (u128::from(high) & mask) << half;
    let expected = pair(cpu.register(Register::Rax), cpu.register(Register::Rdx));
    let new = pair(cpu.register(Register::Rbx), cpu.register(Register::Rcx));
    let operation = Operation::CompareExchange { expected, new };
    let old = get!(cpu.load_atomic(memory, address, op.w, operation));
    let old = u128::from(old[0]) | u128::from(old[1]) << 64;
    let stored = if old == expected { new } else { old };
    if op.w == 16 {
        get!(cpu.store16(memory, address, [stored as u64, (stored >> 64) as u64]));
    } else {
        get!(cpu.store(memory, address, stored as u64));
    }
    if old != expected {
        cpu.set_register(Register::Rax, (old & mask) as u64);
        cpu.set_register(Register::Rdx, (old >> half & mask) as u64);
    }
    cpu.store_flags();
    cpu.context.flags = cpu.context.flags & !ZF | flag(old == expected, ZF);
    end_locked(cpu)
}
