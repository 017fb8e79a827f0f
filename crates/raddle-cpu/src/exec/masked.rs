//! Moves of those elements of a vector that a mask selects. Elements that are not selected are not accessed.
//!
//! Refused on shared memory: which of the elements form one access is not specified.

use super::system::{NON_TEMPORAL, REASONS};
use crate::cpu::{CONTINUE, Cpu, Exit, Op};
use crate::memory::{Denied, Memory};
use crate::registers::Register;

/// Stores the selected elements of vector register `a`. The mask is in `b`, the size of an element in `imm`, that of the vector in
/// `w`.
pub(crate) fn store(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let address = cpu.address(op);
    let (element, value) = (op.imm as usize, bytes(cpu, op.a));
    let selected = selected(cpu, op);
    for &offset in &selected {
        if let Err(denied) = memory.check_write(address.wrapping_add(offset as u64), op.imm) {
            return deny(cpu, address, denied);
        }
    }
    for offset in selected {
        let at = address.wrapping_add(offset as u64);
        if let Err(denied) = memory.store_slow(at, &value[offset..offset + element]) {
            return deny(cpu, address, denied);
        }
    }
    CONTINUE
}

/// Loads the selected elements into vector register `a` and clears all others.
pub(crate) fn load(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let address = cpu.address(op);
    let element = op.imm as usize;
    let mut value = [0; 32];
    for offset in selected(cpu, op) {
        let at = address.wrapping_add(offset as u64);
        if let Err(denied) = memory.load_slow(at, &mut value[offset..offset + element]) {
            return deny(cpu, address, denied);
        }
    }
    set(cpu, op.a, value);
    CONTINUE
}

/// Loads the `w` selected elements of `ELEMENT` bytes into vector register `a`, each at an index of `INDEX` bytes in the vector register
/// whose number is in `imm`. Others keep their value. Clears the mask in `b`.
pub(crate) fn gather<const ELEMENT: usize, const INDEX: usize>(
    cpu: &mut Cpu,
    memory: &mut Memory,
    op: &Op,
) -> u32 {
    let base = cpu.address(op);
    let indices = bytes(cpu, Register::GENERAL[op.imm as usize % 16]);
    let (mut value, mask) = (bytes(cpu, op.a), bytes(cpu, op.b));
    let (elements, rest) = value.split_at_mut(usize::from(op.w) * ELEMENT);
    rest.fill(0);
    let masks = mask.chunks_exact(ELEMENT);
    let places = elements.chunks_exact_mut(ELEMENT).zip(indices.chunks_exact(INDEX));
    for ((place, index), mask) in places.zip(masks) {
        if mask[ELEMENT - 1] & 0x80 == 0 {
            continue;
        }
        let sign = if index[INDEX - 1] & 0x80 == 0 { 0 } else { u64::MAX };
        let index = index.iter().rev().fold(sign, |index, byte| index << 8 | u64::from(*byte));
        let at = base.wrapping_add(index << (op.scale & 3));
        if let Err(denied) = memory.load_slow(at, place) {
            return deny(cpu, at, denied);
        }
    }
    set(cpu, op.a, value);
    set(cpu, op.b, [0; 32]);
    CONTINUE
}

/// Writes a whole vector register.
fn set(cpu: &mut Cpu, register: Register, value: [u8; 32]) {
    for (word, place) in cpu.context.vectors[number(register)].iter_mut().zip(value.chunks_exact(8))
    {
        *word = place.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    }
    cpu.upper_used = true;
}

fn number(register: Register) -> usize {
    register as usize % 16
}

fn bytes(cpu: &Cpu, register: Register) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (place, word) in bytes.chunks_exact_mut(8).zip(cpu.context.vectors[number(register)]) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// The offsets of the elements whose mask has its highest bit set.
fn selected(cpu: &Cpu, op: &Op) -> Vec<usize> {
    let (mask, element) = (bytes(cpu, op.b), op.imm as usize);
    (0..usize::from(op.w))
        .step_by(element)
        .filter(|offset| mask[offset + element - 1] & 0x80 != 0)
        .collect()
}

/// Leaves an instruction whose access failed.
pub(crate) fn deny(cpu: &mut Cpu, address: u64, denied: Denied) -> u32 {
    if denied == Denied::Shared {
        return cpu.stop(Exit::Refused(REASONS[NON_TEMPORAL]));
    }
    cpu.target = address;
    cpu.denied = Some(denied);
    cpu.stop(Exit::Denied)
}
