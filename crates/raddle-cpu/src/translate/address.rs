//! Memory operands.

use super::bare;
use crate::cpu::Op;
use crate::exec::moves;
use crate::memory::Memory;
use crate::registers::Register;
use iced_x86::{Instruction, Mnemonic, Register as R};

/// Index of the reason "it uses the segment gs".
const GS: usize = 8;

/// Sets base, index, scale and displacement. An unusual address is computed by a micro-operation that comes first.
pub(super) fn set(instruction: &Instruction, op: &mut Op) -> Result<Option<Op>, usize> {
    let (base, index) = (instruction.memory_base(), instruction.memory_index());
    let is_short = [base, index].iter().any(|register| register.is_gpr32() || *register == R::EIP);
    if matches!(base, R::RIP | R::EIP) {
        op.disp = instruction.ip_rel_memory_address();
    } else {
        op.disp = instruction.memory_displacement64();
        if base != R::None {
            op.base = general(base);
        }
    }
    if index != R::None {
        if !index.is_gpr() {
            // A vector of indices: only refused once it is executed.
            return Ok(None);
        }
        op.index = general(index);
        op.scale = instruction.memory_index_scale().trailing_zeros() as u8;
    }
    let segment = match instruction.memory_segment() {
        _ if instruction.mnemonic() == Mnemonic::Lea => R::None,
        R::GS => return Err(GS),
        segment => segment,
    };
    let has_fs = segment == R::FS;
    match () {
        () if !is_short && !has_fs => return Ok(None),
        () if !is_short && op.base == Register::Zero => op.base = Register::FsBase,
        () if !is_short && op.index == Register::Zero => op.index = Register::FsBase,
        () => {
            let w = u8::from(is_short) | u8::from(has_fs) << 1;
            let first = Op {
                base: op.base,
                index: op.index,
                scale: op.scale,
                disp: op.disp,
                w,
                ..bare(moves::prepare_address, instruction.ip())
            };
            [op.base, op.index] = [Register::Address, Register::Zero];
            op.disp = 0;
            return Ok(Some(first));
        }
    }
    Ok(None)
}

/// The general-purpose register that contains a register.
pub(super) fn general(register: R) -> Register {
    Register::GENERAL[register.full_register().number() % 16]
}

/// The value at a fixed address in read-only memory.
pub(super) fn constant(memory: &Memory, op: &Op, size: usize) -> Option<u64> {
    let is_fixed = op.base == Register::Zero && op.index == Register::Zero;
    if !is_fixed || !memory.is_constant(op.disp, size as u64) {
        return None;
    }
    let mut bytes = [0; 8];
    memory.read(op.disp, &mut bytes[..size]).ok()?;
    Some(u64::from_le_bytes(bytes))
}
