//! Moves of vector registers, which are frequent in integer code. All other vector instructions run in stubs.

use crate::cpu::{CONTINUE, Cpu, Exit, Op, Word, get};
use crate::memory::Memory;

/// Vector registers are in `a` and `b`, by number.
#[inline(always)]
fn number(register: crate::registers::Register) -> usize {
    register as usize % 16
}

/// Loads 4 or 8 bytes and clears the rest of the lower half.
pub(crate) fn load<T: Word>(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let value = get!(cpu.load::<T>(memory, cpu.address(op)));
    let vector = &mut cpu.context.vectors[number(op.a)];
    [vector[0], vector[1]] = [value.zero_extended(), 0];
    CONTINUE
}

pub(crate) fn store<T: Word>(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let value = T::truncate(cpu.context.vectors[number(op.b)][0]);
    get!(cpu.store(memory, cpu.address(op), value));
    CONTINUE
}

/// Loads 16 bytes. `ALIGNED`: the address must be a multiple of 16.
pub(crate) fn load16<const ALIGNED: bool>(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let address = cpu.address(op);
    if ALIGNED && !address.is_multiple_of(16) {
        cpu.target = address;
        return cpu.stop(Exit::Misaligned { size: 16, write: false });
    }
    let value = get!(cpu.load16(memory, address));
    let vector = &mut cpu.context.vectors[number(op.a)];
    [vector[0], vector[1]] = value;
    CONTINUE
}

pub(crate) fn store16<const ALIGNED: bool>(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let address = cpu.address(op);
    if ALIGNED && !address.is_multiple_of(16) {
        cpu.target = address;
        return cpu.stop(Exit::Misaligned { size: 16, write: true });
    }
    let vector = cpu.context.vectors[number(op.b)];
    get!(cpu.store16(memory, address, [vector[0], vector[1]]));
    CONTINUE
}

pub(crate) fn mov16(cpu: &mut Cpu, _: &mut Memory, op: &Op) -> u32 {
    let source = cpu.context.vectors[number(op.b)];
    let vector = &mut cpu.context.vectors[number(op.a)];
    [vector[0], vector[1]] = [source[0], source[1]];
    CONTINUE
}

pub(crate) fn xor16(cpu: &mut Cpu, _: &mut Memory, op: &Op) -> u32 {
    let source = cpu.context.vectors[number(op.b)];
    let vector = &mut cpu.context.vectors[number(op.a)];
    vector[0] ^= source[0];
    vector[1] ^= source[1];
    CONTINUE
}

/// General-purpose register `b` to vector register `a`.
pub(crate) fn from_general<T: Word>(cpu: &mut Cpu, _: &mut Memory, op: &Op) -> u32 {
    let value = T::truncate(cpu.register(op.b)).zero_extended();
    let vector = &mut cpu.context.vectors[number(op.a)];
    [vector[0], vector[1]] = [value, 0];
    CONTINUE
}

/// Vector register `b` to general-purpose register `a`.
pub(crate) fn to_general<T: Word>(cpu: &mut Cpu, _: &mut Memory, op: &Op) -> u32 {
    let value = T::truncate(cpu.context.vectors[number(op.b)][0]);
    cpu.set_register(op.a, value.merge(cpu.register(op.a)));
    CONTINUE
}
