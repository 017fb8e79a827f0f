//! Branches, calls, returns.
//!
//! A branch is the last micro-operation of a block. It counts the instructions of the block, checks the budget, and returns the index
//! of the next block from its links. A link that is not resolved yet leads to [`resolve`].

use super::alu::Binary;
use super::{Destination, Source};
use crate::cpu::{CONTINUE, Cpu, Exit, JUMPS, Op, STOP, Word, get};
use crate::memory::Memory;
use crate::registers::{FlagSource, Register, condition};

#[inline(always)]
fn branch(cpu: &mut Cpu, op: &Op, is_taken: bool) -> u32 {
    let next = if is_taken { op.taken.get() } else { op.other.get() };
    cpu.budget -= i64::from(op.count);
    if cpu.budget < 0 {
        cpu.next = next;
        return cpu.stop(Exit::Budget);
    }
    next
}

/// Continues at an address.
#[inline(always)]
fn go(cpu: &mut Cpu, op: &Op, target: u64) -> u32 {
    cpu.budget -= i64::from(op.count);
    let (address, index) = cpu.jumps[jump_slot(target)];
    if address == target && cpu.budget >= 0 {
        return index;
    }
    cpu.target = target;
    cpu.stop(Exit::Lookup)
}

/// The entry of the jump cache for an address.
#[inline(always)]
pub(crate) fn jump_slot(target: u64) -> usize {
    (target ^ target >> 10) as usize % JUMPS
}

/// A comparison fused with the conditional jump after it. `CODE` is the condition.
pub(crate) fn compare_and_jump<O: Binary, D: Destination, S: Source, T: Word, const CODE: u8>(
    cpu: &mut Cpu,
    memory: &mut Memory,
    op: &Op,
) -> u32 {
    let a = get!(D::get::<T>(cpu, memory, op));
    let b = get!(S::get::<T>(cpu, memory, op));
    let (x, y) = (a.zero_extended(), b.zero_extended());
    let result = O::compute(x, y);
    cpu.set_lazy(O::FLAGS, T::SIZE, x, y, result);
    let is_negative = T::truncate(result).sign_extended() < 0;
    let is_zero = T::truncate(result).zero_extended() == 0;
    let is_subtraction = matches!(O::FLAGS, FlagSource::Sub);
    let holds = match (CODE >> 1, is_subtraction) {
        (1, true) => x < y,
        (3, true) => x <= y,
        (6, true) => a.sign_extended() < b.sign_extended(),
        (7, true) => a.sign_extended() <= b.sign_extended(),
        (0 | 1, false) => false,
        (2, _) | (3, false) => is_zero,
        (4, _) | (6, false) => is_negative,
        (7, false) => is_negative || is_zero,
        _ => condition(cpu.flags(), CODE & !1),
    };
    branch(cpu, op, holds != (CODE & 1 == 1))
}

/// `jcc`. `CODE` is the condition.
pub(crate) fn jump_if<const CODE: u8>(cpu: &mut Cpu, _: &mut Memory, op: &Op) -> u32 {
    let holds = cpu.condition(CODE);
    branch(cpu, op, holds)
}

/// `jrcxz`, `jecxz`.
pub(crate) fn jump_if_no_count<T: Word>(cpu: &mut Cpu, _: &mut Memory, op: &Op) -> u32 {
    let is_taken = T::truncate(cpu.register(Register::Rcx)).zero_extended() == 0;
    branch(cpu, op, is_taken)
}

/// `loop`, and `loopne` and `loope` if `ZERO` is what the zero flag must be, 0 or 1. `T` is the width of the count.
pub(crate) fn count_down<T: Word, const ZERO: u8>(cpu: &mut Cpu, _: &mut Memory, op: &Op) -> u32 {
    let rcx = cpu.register(Register::Rcx);
    let count = T::truncate(rcx.wrapping_sub(1));
    let is_taken = count.zero_extended() != 0 && (ZERO > 1 || cpu.condition(4) == (ZERO == 1));
    cpu.set_register(Register::Rcx, count.merge(rcx));
    branch(cpu, op, is_taken)
}

pub(crate) fn jump(cpu: &mut Cpu, _: &mut Memory, op: &Op) -> u32 {
    branch(cpu, op, true)
}

pub(crate) fn jump_to<S: Source>(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let target = get!(S::get::<u64>(cpu, memory, op));
    go(cpu, op, target)
}

/// `call`. The return address is in `disp`.
pub(crate) fn call(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let pointer = cpu.register(Register::Rsp).wrapping_sub(8);
    get!(cpu.store(memory, pointer, op.disp));
    cpu.set_register(Register::Rsp, pointer);
    branch(cpu, op, true)
}

/// An indirect call. The return address is in `imm`.
pub(crate) fn call_to<S: Source>(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let target = get!(S::get::<u64>(cpu, memory, op));
    let pointer = cpu.register(Register::Rsp).wrapping_sub(8);
    get!(cpu.store(memory, pointer, op.imm));
    cpu.set_register(Register::Rsp, pointer);
    go(cpu, op, target)
}

/// `ret`; `imm` more bytes are popped.
pub(crate) fn ret(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let pointer = cpu.register(Register::Rsp);
    let target = get!(cpu.load::<u64>(memory, pointer));
    cpu.set_register(Register::Rsp, pointer.wrapping_add(8 + op.imm));
    go(cpu, op, target)
}

/// `ret` of code whose rounds are limited.
pub(crate) fn leave_loops(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    cpu.leave_frames(cpu.register(Register::Rsp).wrapping_add(1));
    ret(cpu, memory, op)
}

/// A jump backwards, to `imm`: the next micro-operation is the jump. The loop may have `disp` rounds.
pub(crate) fn begin_round(cpu: &mut Cpu, _: &mut Memory, op: &Op) -> u32 {
    if u64::from(cpu.note_round(op.imm, op.ip)) > op.disp {
        cpu.stop(Exit::Rounds)
    } else {
        CONTINUE
    }
}

/// Follows a branch that is not linked: the target is in `imm`, the branch in `taken`, `w` says which link.
pub(crate) fn resolve(cpu: &mut Cpu, _: &mut Memory, _: &Op) -> u32 {
    cpu.exit = Exit::Resolve;
    STOP
}
