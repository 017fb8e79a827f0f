//! String instructions. Every element is an access of its own, and the registers advance with each.
//!
//! After [`BATCH`] elements the budget is charged and the micro-operation starts again, so that a huge count is interrupted.

use crate::cpu::{CONTINUE, Cpu, Exit, Op, STOP, Word, get};
use crate::memory::Memory;
use crate::registers::{DF, FlagSource, Register};

const BATCH: u32 = 1024;
/// Repeat prefixes in `w`.
pub(crate) const ONCE: u8 = 0;
pub(crate) const WHILE_EQUAL: u8 = 1;
pub(crate) const WHILE_NOT_EQUAL: u8 = 2;

/// Advances a pointer register by one element.
#[inline(always)]
fn advance<T: Word>(cpu: &mut Cpu, register: Register) {
    let size = T::SIZE as u64;
    let step = if cpu.context.flags & DF == 0 { size } else { size.wrapping_neg() };
    cpu.set_register(register, cpu.register(register).wrapping_add(step));
}

/// Repeats `element`, which returns whether to go on, as the prefix says.
#[inline(always)]
fn repeat(
    cpu: &mut Cpu,
    memory: &mut Memory,
    op: &Op,
    element: impl Fn(&mut Cpu, &mut Memory) -> Option<bool>,
) -> u32 {
    if op.w == ONCE {
        get!(element(cpu, memory));
        return CONTINUE;
    }
    for _ in 0..BATCH {
        let count = cpu.register(Register::Rcx);
        if count == 0 {
            return CONTINUE;
        }
        let goes_on = get!(element(cpu, memory));
        cpu.set_register(Register::Rcx, count - 1);
        if cpu.pending.len > 0 {
            // What was answered belongs to this element only: leave the careful mode.
            return if goes_on { op.taken.get() } else { CONTINUE };
        }
        if !goes_on {
            return CONTINUE;
        }
    }
    cpu.budget -= i64::from(BATCH);
    if cpu.budget < 0 {
        cpu.next = op.taken.get();
        cpu.exit = Exit::Budget;
        return STOP;
    }
    op.taken.get()
}

pub(crate) fn stos<T: Word>(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    repeat(cpu, memory, op, |cpu, memory| {
        let value = T::truncate(cpu.register(Register::Rax));
        cpu.store(memory, cpu.register(Register::Rdi), value)?;
        advance::<T>(cpu, Register::Rdi);
        Some(true)
    })
}

pub(crate) fn lods<T: Word>(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    repeat(cpu, memory, op, |cpu, memory| {
        let value = cpu.load::<T>(memory, cpu.register(Register::Rsi))?;
        cpu.set_register(Register::Rax, value.merge(cpu.register(Register::Rax)));
        advance::<T>(cpu, Register::Rsi);
        Some(true)
    })
}

pub(crate) fn movs<T: Word>(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    repeat(cpu, memory, op, |cpu, memory| {
        let value = cpu.load::<T>(memory, cpu.register(Register::Rsi))?;
        cpu.store(memory, cpu.register(Register::Rdi), value)?;
        advance::<T>(cpu, Register::Rsi);
        advance::<T>(cpu, Register::Rdi);
        Some(true)
    })
}

/// `cmps`, and `scas` if `SCAN`.
pub(crate) fn cmps<T: Word, const SCAN: bool>(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let kind = op.w;
    repeat(cpu, memory, op, |cpu, memory| {
        let a = if SCAN {
            T::truncate(cpu.register(Register::Rax))
        } else {
            cpu.load::<T>(memory, cpu.register(Register::Rsi))?
        };
        let b = cpu.load::<T>(memory, cpu.register(Register::Rdi))?;
        if !SCAN {
            advance::<T>(cpu, Register::Rsi);
        }
        advance::<T>(cpu, Register::Rdi);
        let (x, y) = (a.zero_extended(), b.zero_extended());
        cpu.set_lazy(FlagSource::Sub, T::SIZE, x, y, x.wrapping_sub(y));
        Some((a == b) == (kind == WHILE_EQUAL))
    })
}
