//! Generates stubs. Safe code: the result is bytes.

use super::allowed::{self, Reason};
use super::properties::{
    ALIGNED, CONTROL_WORD, FLAGS, FLOAT, FPU, PRIVATE_ONLY, READS, UPPER, WRITES,
};
use super::{Stub, install};
use crate::registers::Context;
use iced_x86::{
    Code, CpuidFeature, Encoder, EncodingKind, IcedError, Instruction, InstructionInfoFactory,
    MemoryOperand, OpAccess, OpKind, Register,
};
use std::mem::offset_of;

/// A stub and what its micro-operation must know.
pub(crate) struct Built {
    pub(crate) stub: Stub,
    /// Bytes of the memory operand; 0 if there is none.
    pub(crate) size: u8,
    /// Properties: see [`super::properties`].
    pub(crate) properties: u64,
}

const GENERAL: [Register; 16] = {
    use Register::*;
    [RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15]
};

/// Registers that an instruction uses.
#[derive(Default)]
struct Uses {
    general: u32,
    vectors: u32,
    is_wide: bool,
    has_fpu: bool,
}

/// Makes a stub of an instruction, or says why it cannot run natively.
pub(crate) fn build(
    info: &mut InstructionInfoFactory,
    instruction: &Instruction,
) -> Result<Built, Reason> {
    allowed::check(instruction)?;
    let uses = uses(info, instruction)?;
    let (size, mut properties) = memory_operand(info, instruction)?;
    if properties & WRITES != 0 && writes_registers(info, instruction) {
        // If the store asks, what the stub changed is taken back; registers are not.
        return Err(Reason::SeveralAccesses);
    }
    if instruction.rflags_read() != 0 || instruction.rflags_modified() != 0 {
        properties |= FLAGS;
    }
    let set = |condition, property| if condition { property } else { 0 };
    properties |= set(allowed::is_float(instruction) && !uses.has_fpu, FLOAT)
        | set(uses.has_fpu, FPU)
        | set(uses.is_wide, UPPER)
        | set(size > 0 && allowed::is_aligned(instruction), ALIGNED)
        | set(allowed::is_non_temporal(instruction), PRIVATE_ONLY)
        | set(allowed::is_control_word(instruction), CONTROL_WORD);
    let code = encode(instruction, &uses, properties).map_err(|_| Reason::Encoding)?;
    let code = code.ok_or(Reason::NoRegister)?;
    let stub = install(code).ok_or(Reason::HostLacks)?;
    Ok(Built { stub, size, properties })
}

/// Whether the instruction changes general-purpose or vector registers.
fn writes_registers(info: &mut InstructionInfoFactory, instruction: &Instruction) -> bool {
    info.info(instruction).used_registers().iter().any(|used| {
        let register = used.register();
        let is_read = matches!(used.access(), OpAccess::Read | OpAccess::CondRead);
        (register.is_gpr() || register.is_vector_register()) && !is_read
    })
}

fn uses(info: &mut InstructionInfoFactory, instruction: &Instruction) -> Result<Uses, Reason> {
    let mut uses = Uses::default();
    let explicit: Vec<Register> = allowed::explicit_registers(instruction).collect();
    let has_memory = instruction.op_kinds().any(|kind| kind == OpKind::Memory);
    let address = [instruction.memory_base(), instruction.memory_index()];
    for used in info.info(instruction).used_registers() {
        let register = used.register();
        let full = register.full_register();
        // Registers that only form the address are ours.
        let is_address = has_memory
            && address.iter().any(|a| *a != Register::None && a.full_register() == full)
            && used.access() == OpAccess::Read
            && !explicit.iter().any(|e| e.full_register() == full)
            && !is_implicit(instruction, full);
        if is_address {
            continue;
        }
        if register.is_gpr() {
            uses.general |= 1 << full.number();
        } else if register.is_vector_register() {
            if register.number() > 15 {
                return Err(Reason::Avx512);
            }
            uses.is_wide |= register.is_ymm() || register.is_zmm();
            uses.vectors |= 1 << register.number();
        } else if register.is_st() || register.is_mm() {
            uses.has_fpu = true;
        } else if !register.is_segment_register() {
            return Err(Reason::System);
        }
    }
    uses.is_wide |= instruction.encoding() != EncodingKind::Legacy && uses.vectors != 0;
    uses.has_fpu |= instruction.cpuid_features().iter().any(|feature| {
        use CpuidFeature as F;
        matches!(feature, F::FPU | F::FPU287 | F::FPU387 | F::MMX)
    });
    if uses.general & 1 << 4 != 0 {
        return Err(Reason::StackPointer);
    }
    Ok(uses)
}

/// Whether the instruction uses the register although no operand names it. Conservative for instructions with such registers.
fn is_implicit(instruction: &Instruction, register: Register) -> bool {
    use iced_x86::Mnemonic as M;
    match instruction.mnemonic() {
        M::Mul | M::Imul => {
            instruction.op_count() == 1 && matches!(register, Register::RAX | Register::RDX)
        }
        M::Mulx => register == Register::RDX,
        M::Cmpxchg => register == Register::RAX,
        M::Shl | M::Shr | M::Sar | M::Rol | M::Ror | M::Rcl | M::Rcr | M::Shld | M::Shrd => {
            register == Register::RCX
        }
        M::Pcmpestri
        | M::Pcmpestrm
        | M::Vpcmpestri
        | M::Vpcmpestrm
        | M::Pcmpestri64
        | M::Pcmpestrm64
        | M::Vpcmpestri64
        | M::Vpcmpestrm64 => {
            matches!(register, Register::RAX | Register::RDX)
        }
        _ => false,
    }
}

/// Size and accesses of the memory operand.
fn memory_operand(
    info: &mut InstructionInfoFactory,
    instruction: &Instruction,
) -> Result<(u8, u64), Reason> {
    let is_explicit = instruction.op_kinds().any(|kind| kind == OpKind::Memory);
    match info.info(instruction).used_memory() {
        [] if is_explicit => Err(Reason::System),
        [] => Ok((0, 0)),
        [memory] if is_explicit => {
            let properties = match memory.access() {
                OpAccess::Read => READS,
                OpAccess::Write => WRITES,
                OpAccess::ReadWrite => READS | WRITES,
                _ => return Err(Reason::Conditional),
            };
            match memory.memory_size().size() {
                size @ 1..=32 => Ok((size as u8, properties)),
                _ => Err(Reason::TooLarge),
            }
        }
        _ => Err(Reason::SeveralAccesses),
    }
}

/// The code of a stub; `None` if no register is free for the address of the context.
fn encode(
    instruction: &Instruction,
    uses: &Uses,
    properties: u64,
) -> Result<Option<Vec<u8>>, IcedError> {
    let Some(pointer) = free_register(instruction, uses) else { return Ok(None) };
    let context = GENERAL[pointer as usize];
    let at = |offset: usize| MemoryOperand::with_base_displ(context, offset as i64);
    let saved: Vec<Register> = [3u32, 5, 12, 13, 14, 15]
        .into_iter()
        .filter(|register| *register == pointer || uses.general & 1 << register != 0)
        .map(|register| GENERAL[register as usize])
        .collect();
    let mut out = Vec::new();
    for register in &saved {
        out.push(Instruction::with1(Code::Push_r64, *register)?);
    }
    out.push(Instruction::with2(Code::Mov_r64_rm64, context, Register::RDI)?);
    let fpu = at(offset_of!(Context, fpu));
    if properties & FPU != 0 {
        out.push(Instruction::with1(Code::Fxrstor64_m512byte, fpu)?);
    }
    for (register, place) in vectors(uses) {
        out.push(Instruction::with2(load_vector(uses), register, at(place))?);
    }
    let flags = at(offset_of!(Context, flags));
    if properties & FLAGS != 0 {
        out.push(Instruction::with1(Code::Push_rm64, flags)?);
        out.push(Instruction::with(Code::Popfq));
    }
    for (register, place) in general(uses) {
        out.push(Instruction::with2(Code::Mov_r64_rm64, register, at(place))?);
    }
    out.push(with_scratch(instruction, context));
    for (register, place) in general(uses) {
        out.push(Instruction::with2(Code::Mov_rm64_r64, at(place), register)?);
    }
    if properties & FLAGS != 0 {
        out.push(Instruction::with(Code::Pushfq));
        out.push(Instruction::with1(Code::Pop_rm64, flags)?);
    }
    for (register, place) in vectors(uses) {
        out.push(Instruction::with2(store_vector(uses), at(place), register)?);
    }
    if properties & FPU != 0 {
        out.push(Instruction::with1(Code::Fxsave64_m512byte, fpu)?);
        // `fninit` would take longer than all the rest.
        out.push(Instruction::with(Code::Emms));
        out.push(Instruction::with1(Code::Fldcw_m2byte, at(offset_of!(Context, host_control)))?);
    }
    if uses.is_wide {
        out.push(Instruction::with(Code::VEX_Vzeroupper));
    }
    for register in saved.iter().rev() {
        out.push(Instruction::with1(Code::Pop_r64, *register)?);
    }
    out.push(Instruction::with(Code::Retnq));
    let mut encoder = Encoder::new(64);
    for instruction in &out {
        encoder.encode(instruction, 0)?;
    }
    Ok(Some(encoder.take_buffer()))
}

/// A register that the instruction does not use. The registers ah to dh cannot be encoded together with r8 to r15.
fn free_register(instruction: &Instruction, uses: &Uses) -> Option<u32> {
    use Register::{AH, BH, CH, DH};
    let has_high = allowed::explicit_registers(instruction).any(|r| matches!(r, AH | BH | CH | DH));
    let choices: &[u32] =
        if has_high { &[3, 5, 6, 7, 1, 2, 0] } else { &[15, 14, 13, 12, 3, 5, 11, 10, 9, 8] };
    choices.iter().copied().find(|register| uses.general & 1 << register == 0)
}

/// The instruction with the scratch buffer as its memory operand.
fn with_scratch(instruction: &Instruction, context: Register) -> Instruction {
    let mut body = *instruction;
    if instruction.op_kinds().any(|kind| kind == OpKind::Memory) {
        body.set_memory_base(context);
        body.set_memory_index(Register::None);
        body.set_memory_index_scale(1);
        body.set_memory_displacement64(offset_of!(Context, scratch) as u64);
        body.set_memory_displ_size(8);
        body.set_segment_prefix(Register::None);
    }
    body
}

fn general(uses: &Uses) -> impl Iterator<Item = (Register, usize)> + use<> {
    let mask = uses.general;
    (0..16)
        .filter(move |index| mask & 1 << index != 0)
        .map(|index| (GENERAL[index], offset_of!(Context, registers) + index * 8))
}

fn vectors(uses: &Uses) -> impl Iterator<Item = (Register, usize)> + use<> {
    let mask = uses.vectors;
    let first = if uses.is_wide { Register::YMM0 } else { Register::XMM0 };
    (0..16)
        .filter(move |index| mask & 1 << index != 0)
        .map(move |index| (first + index as u32, offset_of!(Context, vectors) + index * 32))
}

fn load_vector(uses: &Uses) -> Code {
    if uses.is_wide { Code::VEX_Vmovups_ymm_ymmm256 } else { Code::Movups_xmm_xmmm128 }
}

fn store_vector(uses: &Uses) -> Code {
    if uses.is_wide { Code::VEX_Vmovups_ymmm256_ymm } else { Code::Movups_xmmm128_xmm }
}
