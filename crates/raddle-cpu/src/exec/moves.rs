//! Moves, extensions, addresses, stack operations, conditional moves.

use super::{Destination, Source};
use crate::cpu::{CONTINUE, Cpu, Op, Word, get};
use crate::memory::Memory;
use crate::registers::Register;

pub(crate) fn mov<D: Destination, S: Source, T: Word>(
    cpu: &mut Cpu,
    memory: &mut Memory,
    op: &Op,
) -> u32 {
    let value = get!(S::get::<T>(cpu, memory, op));
    get!(D::put(cpu, memory, op, value));
    CONTINUE
}

/// Extends an operand of type `T` to register `a` of type `U`.
pub(crate) fn extend<S: Source, T: Word, U: Word, const SIGNED: bool>(
    cpu: &mut Cpu,
    memory: &mut Memory,
    op: &Op,
) -> u32 {
    let value = get!(S::get::<T>(cpu, memory, op));
    let value = if SIGNED { value.sign_extended() as u64 } else { value.zero_extended() };
    cpu.set_register(op.a, U::truncate(value).merge(cpu.register(op.a)));
    CONTINUE
}

pub(crate) fn lea<T: Word>(cpu: &mut Cpu, _: &mut Memory, op: &Op) -> u32 {
    let address = cpu.address(op);
    cpu.set_register(op.a, T::truncate(address).merge(cpu.register(op.a)));
    CONTINUE
}

/// Computes the address that the next micro-operation uses. `w`: 1 if addresses have 32 bits, 2 if fs is added.
pub(crate) fn prepare_address(cpu: &mut Cpu, _: &mut Memory, op: &Op) -> u32 {
    let mut address = cpu.address(op);
    if op.w & 1 != 0 {
        address &= 0xffff_ffff;
    }
    if op.w & 2 != 0 {
        address = address.wrapping_add(cpu.register(Register::FsBase));
    }
    cpu.set_register(Register::Address, address);
    CONTINUE
}

pub(crate) fn nop(_: &mut Cpu, _: &mut Memory, _: &Op) -> u32 {
    CONTINUE
}

pub(crate) fn push<S: Source, T: Word>(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let value = get!(S::get::<T>(cpu, memory, op));
    let pointer = cpu.register(Register::Rsp).wrapping_sub(T::SIZE as u64);
    get!(cpu.store(memory, pointer, value));
    cpu.set_register(Register::Rsp, pointer);
    CONTINUE
}

pub(crate) fn pop<T: Word>(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let pointer = cpu.register(Register::Rsp);
    let value = get!(cpu.load::<T>(memory, pointer));
    cpu.set_register(Register::Rsp, pointer.wrapping_add(T::SIZE as u64));
    cpu.set_register(op.a, value.merge(cpu.register(op.a)));
    CONTINUE
}

/// `pop` to memory. An address based on rsp is computed with the incremented one.
pub(crate) fn pop_memory<T: Word>(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let pointer = cpu.register(Register::Rsp);
    let value = get!(cpu.load::<T>(memory, pointer));
    let mut address = cpu.address(op);
    if op.base == Register::Rsp {
        address = address.wrapping_add(T::SIZE as u64);
    }
    get!(cpu.store(memory, address, value));
    cpu.set_register(Register::Rsp, pointer.wrapping_add(T::SIZE as u64));
    CONTINUE
}

pub(crate) fn leave<T: Word>(cpu: &mut Cpu, memory: &mut Memory, _: &Op) -> u32 {
    let frame = cpu.register(Register::Rbp);
    let caller = get!(cpu.load::<T>(memory, frame));
    cpu.set_register(Register::Rbp, caller.merge(frame));
    cpu.set_register(Register::Rsp, frame.wrapping_add(T::SIZE as u64));
    CONTINUE
}

/// `setcc`; the condition is in `w`.
pub(crate) fn set_condition<D: Destination>(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let value = u8::from(cpu.condition(op.w));
    get!(D::put(cpu, memory, op, value));
    CONTINUE
}

/// `cmovcc`; the condition is in `w`. A source in memory is read in any case.
pub(crate) fn conditional<S: Source, T: Word>(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let value = get!(S::get::<T>(cpu, memory, op));
    let old = cpu.register(op.a);
    let value = if cpu.condition(op.w) { value } else { T::truncate(old) };
    cpu.set_register(op.a, value.merge(old));
    CONTINUE
}

/// `cbw`, `cwde`, `cdqe`: extends the lower half of rax.
pub(crate) fn extend_rax<T: Word, U: Word>(cpu: &mut Cpu, _: &mut Memory, _: &Op) -> u32 {
    let rax = cpu.register(Register::Rax);
    let value = U::truncate(T::truncate(rax).sign_extended() as u64);
    cpu.set_register(Register::Rax, value.merge(rax));
    CONTINUE
}

/// `cwd`, `cdq`, `cqo`: fills rdx with the sign of rax.
pub(crate) fn sign_to_rdx<T: Word>(cpu: &mut Cpu, _: &mut Memory, _: &Op) -> u32 {
    let sign = T::truncate(cpu.register(Register::Rax)).sign_extended() >> 63;
    let value = T::truncate(sign as u64);
    cpu.set_register(Register::Rdx, value.merge(cpu.register(Register::Rdx)));
    CONTINUE
}

/// `xchg` of two registers.
pub(crate) fn exchange<T: Word>(cpu: &mut Cpu, _: &mut Memory, op: &Op) -> u32 {
    let (a, b) = (cpu.register(op.a), cpu.register(op.b));
    cpu.set_register(op.a, T::truncate(b).merge(a));
    cpu.set_register(op.b, T::truncate(a).merge(b));
    CONTINUE
}
