//! Moves of vector registers.

use crate::cpu::{Exec, Op};
use crate::exec::{masked, vector};
use crate::registers::Register;
use iced_x86::{EncodingKind, Instruction, Mnemonic, OpKind};

pub(super) fn select(instruction: &Instruction, op: &mut Op) -> Option<Exec> {
    masked(instruction, op).or_else(|| gather(instruction, op)).or_else(|| moves(instruction, op))
}

/// Loads of elements at a vector of indices. Addresses of 32 bits and segments are left to be refused.
fn gather(instruction: &Instruction, op: &mut Op) -> Option<Exec> {
    use Mnemonic as M;
    let (exec, element, index): (Exec, usize, usize) = match instruction.mnemonic() {
        M::Vpgatherdd | M::Vgatherdps => (masked::gather::<4, 4>, 4, 4),
        M::Vpgatherdq | M::Vgatherdpd => (masked::gather::<8, 4>, 8, 4),
        M::Vpgatherqd | M::Vgatherqps => (masked::gather::<4, 8>, 4, 8),
        M::Vpgatherqq | M::Vgatherqpd => (masked::gather::<8, 8>, 8, 8),
        _ => return None,
    };
    let (base, indices) = (instruction.memory_base(), instruction.memory_index());
    if instruction.encoding() != EncodingKind::VEX
        || instruction.segment_prefix() != iced_x86::Register::None
        || base.is_gpr32()
    {
        return None;
    }
    let register = |operand| Register::GENERAL[instruction.op_register(operand).number() % 16];
    [op.a, op.b] = [register(0), register(2)];
    op.imm = indices.number() as u64;
    op.scale = instruction.memory_index_scale().trailing_zeros() as u8;
    op.w = (instruction.op0_register().size() / element).min(indices.size() / index) as u8;
    Some(exec)
}

/// Moves under a mask. Their sources and masks are vector registers.
fn masked(instruction: &Instruction, op: &mut Op) -> Option<Exec> {
    use Mnemonic as M;
    let element = match instruction.mnemonic() {
        M::Maskmovdqu | M::Vmaskmovdqu => 1,
        M::Vmaskmovps | M::Vpmaskmovd => 4,
        M::Vmaskmovpd | M::Vpmaskmovq => 8,
        _ => return None,
    };
    let register = |operand| Register::GENERAL[instruction.op_register(operand).number() % 16];
    op.imm = element;
    op.w = instruction.op_register(1).size() as u8;
    op.b = register(1);
    if element == 1 {
        if instruction.op0_kind() != OpKind::MemorySegRDI
            || instruction.segment_prefix() != iced_x86::Register::None
        {
            return None;
        }
        // The address is in rdi; the vector comes before the mask.
        [op.a, op.b] = [register(1), register(2)];
        [op.base, op.index] = [Register::Rdi, Register::Zero];
        return Some(masked::store);
    }
    if instruction.op0_kind() == OpKind::Memory {
        op.a = register(2);
        return Some(masked::store);
    }
    op.a = register(0);
    Some(masked::load)
}

fn moves(instruction: &Instruction, op: &mut Op) -> Option<Exec> {
    use Mnemonic as M;
    use OpKind::{Memory, Register as Reg};
    if instruction.op_count() != 2 || instruction.encoding() != EncodingKind::Legacy {
        return None;
    }
    let kinds = [instruction.op0_kind(), instruction.op1_kind()];
    let registers = [instruction.op0_register(), instruction.op1_register()];
    let is_vector = [0, 1].map(|index| kinds[index] == Reg && registers[index].is_xmm());
    let is_general = [0, 1].map(|index| kinds[index] == Reg && registers[index].is_gpr());
    if !is_vector[0] && !is_vector[1] {
        return None;
    }
    let number = |index: usize| {
        if kinds[index] != Reg {
            return Register::Zero;
        }
        Register::GENERAL[registers[index].full_register().number() % 16]
    };
    [op.a, op.b] = [number(0), number(1)];
    let mnemonic = instruction.mnemonic();
    let is_aligned = matches!(mnemonic, M::Movaps | M::Movdqa | M::Movapd);
    Some(match mnemonic {
        M::Movaps | M::Movups | M::Movdqa | M::Movdqu | M::Movapd | M::Movupd => match kinds {
            [Memory, _] if is_aligned => vector::store16::<true>,
            [Memory, _] => vector::store16::<false>,
            [_, Memory] if is_aligned => vector::load16::<true>,
            [_, Memory] => vector::load16::<false>,
            _ => vector::mov16,
        },
        M::Movss | M::Movd if kinds[1] == Memory => vector::load::<u32>,
        M::Movsd | M::Movq if kinds[1] == Memory => vector::load::<u64>,
        M::Movss | M::Movd if kinds[0] == Memory => vector::store::<u32>,
        M::Movsd | M::Movq if kinds[0] == Memory => vector::store::<u64>,
        M::Movd if is_general[1] => vector::from_general::<u32>,
        M::Movd if is_general[0] => vector::to_general::<u32>,
        M::Movq if is_general[1] => vector::from_general::<u64>,
        M::Movq if is_general[0] => vector::to_general::<u64>,
        M::Pxor | M::Xorps | M::Xorpd if kinds[1] == Reg => vector::xor16,
        _ => return None,
    })
}
