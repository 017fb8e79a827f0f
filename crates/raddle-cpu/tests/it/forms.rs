//! Random instructions of every form that the decoder knows.

use crate::native::DATA;
use crate::random::Random;
use iced_x86::{
    Code, Decoder, DecoderOptions, Encoder, EncodingKind, FlowControl, Instruction, Mnemonic,
    OpCodeOperandKind as Kind, OpKind, Register,
};

/// A form: the code, whether an operand that may be in memory is, and the prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) code: Code,
    pub(crate) in_memory: bool,
    pub(crate) prefix: Prefix,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prefix {
    None,
    Lock,
    Rep,
    Repne,
}

/// All forms of legacy and VEX encodings in 64-bit mode that can be built.
pub(crate) fn all() -> Vec<Form> {
    let mut forms = Vec::new();
    let mut random = Random::new(1);
    for code in Code::values() {
        let info = code.op_code();
        let is_encoding = matches!(info.encoding(), EncodingKind::Legacy | EncodingKind::VEX);
        if !is_encoding || !info.mode64() || !info.is_instruction() || info.is_privileged() {
            continue;
        }
        for in_memory in [false, true] {
            for prefix in [Prefix::None, Prefix::Lock, Prefix::Rep, Prefix::Repne] {
                let is_allowed = match prefix {
                    Prefix::None => true,
                    Prefix::Lock => info.can_use_lock_prefix() && in_memory,
                    Prefix::Rep => info.can_use_rep_prefix(),
                    Prefix::Repne => info.can_use_repne_prefix() && is_comparing(code),
                };
                let form = Form { code, in_memory, prefix };
                let mut built = || form.build(&mut random, 0);
                if is_allowed && is_variant(&form) && built().is_some_and(|i| goes_on(&i)) {
                    forms.push(form);
                }
            }
        }
    }
    forms
}

/// Whether the instruction continues with the next one or always faults.
fn goes_on(instruction: &Instruction) -> bool {
    matches!(instruction.flow_control(), FlowControl::Next | FlowControl::Exception)
        || instruction.mnemonic() == Mnemonic::Int3
}

fn is_comparing(code: Code) -> bool {
    let name = format!("{code:?}");
    name.starts_with("Cmps") || name.starts_with("Scas")
}

/// Whether `in_memory` makes a difference, or is false.
fn is_variant(form: &Form) -> bool {
    !form.in_memory || form.code.op_code().op_kinds().iter().any(|kind| may_be_memory(*kind))
}

fn may_be_memory(kind: Kind) -> bool {
    use Kind::*;
    matches!(
        kind,
        mem | mem_offs
            | r8_or_mem
            | r16_or_mem
            | r32_or_mem
            | r64_or_mem
            | mm_or_mem
            | xmm_or_mem
            | ymm_or_mem
    )
}

impl Form {
    /// A random instruction of this form at `ip`.
    pub(crate) fn build(&self, random: &mut Random, ip: u64) -> Option<Instruction> {
        let mut instruction = Instruction::default();
        instruction.set_code(self.code);
        let kinds = self.code.op_code().op_kinds();
        let no_high = random.below(2) == 0;
        for (index, kind) in kinds.iter().enumerate() {
            self.operand(random, &mut instruction, index as u32, *kind, no_high)?;
        }
        match self.prefix {
            Prefix::None => {}
            Prefix::Lock => instruction.set_has_lock_prefix(true),
            Prefix::Rep => instruction.set_has_rep_prefix(true),
            Prefix::Repne => instruction.set_has_repne_prefix(true),
        }
        let mut encoder = Encoder::new(64);
        encoder.encode(&instruction, ip).ok()?;
        let bytes = encoder.take_buffer();
        let decoded = Decoder::with_ip(64, &bytes, ip, DecoderOptions::NONE).decode();
        (!decoded.is_invalid() && decoded.len() == bytes.len()).then_some(decoded)
    }

    fn operand(
        &self,
        random: &mut Random,
        instruction: &mut Instruction,
        index: u32,
        kind: Kind,
        no_high: bool,
    ) -> Option<()> {
        use Kind::*;
        if may_be_memory(kind) && (self.in_memory || kind == mem) {
            if kind == mem_offs || !self.in_memory {
                return Option::None;
            }
            instruction.set_op_kind(index, OpKind::Memory);
            set_address(random, instruction);
            return Some(());
        }
        let any =
            |random: &mut Random, first: Register, count: u64| first + random.below(count) as u32;
        let register = match kind {
            r8_or_mem | r8_reg | r8_opcode => low_register(random, no_high),
            r16_or_mem | r16_reg | r16_rm | r16_opcode => any(random, Register::AX, 16),
            r32_or_mem | r32_reg | r32_rm | r32_opcode | r32_vvvv => any(random, Register::EAX, 16),
            r64_or_mem | r64_reg | r64_rm | r64_opcode | r64_vvvv => any(random, Register::RAX, 16),
            mm_or_mem | mm_reg | mm_rm => any(random, Register::MM0, 8),
            xmm_or_mem | xmm_reg | xmm_rm | xmm_vvvv | xmm_is4 => any(random, Register::XMM0, 16),
            ymm_or_mem | ymm_reg | ymm_rm | ymm_vvvv | ymm_is4 => any(random, Register::YMM0, 16),
            st0 => Register::ST0,
            sti_opcode => any(random, Register::ST0, 8),
            al => Register::AL,
            cl => Register::CL,
            ax => Register::AX,
            dx => Register::DX,
            eax => Register::EAX,
            rax => Register::RAX,
            _ => return immediate(random, instruction, index, kind),
        };
        instruction.set_op_kind(index, OpKind::Register);
        instruction.set_op_register(index, register);
        Some(())
    }
}

fn low_register(random: &mut Random, no_high: bool) -> Register {
    if no_high {
        let first = [Register::AL, Register::SPL, Register::R8L][random.below(3) as usize];
        return first + random.below(if first == Register::R8L { 8 } else { 4 }) as u32;
    }
    Register::AL + random.below(8) as u32
}

fn immediate(
    random: &mut Random,
    instruction: &mut Instruction,
    index: u32,
    kind: Kind,
) -> Option<()> {
    use Kind::*;
    let value = if random.below(3) == 0 { random.below(70) } else { random.next() };
    let op_kind = match kind {
        imm8 => OpKind::Immediate8,
        imm16 => OpKind::Immediate16,
        imm32 => OpKind::Immediate32,
        imm32sex64 => OpKind::Immediate32to64,
        imm64 => OpKind::Immediate64,
        imm8sex16 => OpKind::Immediate8to16,
        imm8sex32 => OpKind::Immediate8to32,
        imm8sex64 => OpKind::Immediate8to64,
        imm8_const_1 => {
            instruction.set_op_kind(index, OpKind::Immediate8);
            instruction.set_immediate8(1);
            return Some(());
        }
        seg_rSI => OpKind::MemorySegRSI,
        es_rDI => OpKind::MemoryESRDI,
        seg_rDI => OpKind::MemorySegRDI,
        seg_rBX_al => {
            instruction.set_op_kind(index, OpKind::Memory);
            instruction.set_memory_base(Register::RBX);
            instruction.set_memory_index(Register::AL);
            return Some(());
        }
        _ => return Option::None,
    };
    instruction.set_op_kind(index, op_kind);
    match op_kind {
        OpKind::Immediate8 => instruction.set_immediate8(value as u8),
        OpKind::Immediate16 => instruction.set_immediate16(value as u16),
        OpKind::Immediate32 => instruction.set_immediate32(value as u32),
        OpKind::Immediate32to64 => instruction.set_immediate32to64(value as i32 as i64),
        OpKind::Immediate64 => instruction.set_immediate64(value),
        OpKind::Immediate8to16 => instruction.set_immediate8to16(value as i8 as i16),
        OpKind::Immediate8to32 => instruction.set_immediate8to32(value as i8 as i32),
        OpKind::Immediate8to64 => instruction.set_immediate8to64(value as i8 as i64),
        _ => {}
    }
    Some(())
}

fn set_address(random: &mut Random, instruction: &mut Instruction) {
    instruction.set_memory_displ_size(8);
    if random.below(8) == 0 {
        instruction.set_memory_base(Register::RIP);
        instruction.set_memory_displacement64(DATA + 2048 + 64 * random.below(8));
        return;
    }
    // Addresses of 32 bits cannot reach the data.
    instruction.set_memory_base(Register::RAX + random.below(16) as u32);
    if random.below(2) == 0 {
        let index = Register::RAX + random.below(16) as u32;
        if index != Register::RSP {
            instruction.set_memory_index(index);
            instruction.set_memory_index_scale(1 << random.below(4));
        }
    }
    let displacement = [0, 8, -64i64 as u64, 0x1234, -0x12345i64 as u64];
    instruction.set_memory_displacement64(random.one_of(&displacement));
}
