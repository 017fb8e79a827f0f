//! Instructions without ordinary operands.

use super::Readings;
use crate::cpu::{Exec, Op};
use crate::exec::{atomic, fpu, moves, string, system};
use crate::registers::{CF, DF};
use iced_x86::{Code, Instruction, Mnemonic, OpKind};

/// Index of the reason that readings are refused.
const REFUSED_READING: u64 = 10;

pub(super) fn select(instruction: &Instruction, op: &mut Op, readings: Readings) -> Option<Exec> {
    plain(instruction)
        .or_else(|| strings(instruction, op))
        .or_else(|| flags(instruction, op))
        .or_else(|| reading(instruction, op, readings))
        .or_else(|| wide(instruction, op))
}

fn plain(instruction: &Instruction) -> Option<Exec> {
    use Mnemonic as M;
    Some(match instruction.mnemonic() {
        // Without shadow stacks, instructions for them do nothing.
        M::Nop | M::Endbr64 | M::Endbr32 | M::Rdsspq | M::Rdsspd => moves::nop,
        M::Reservednop if !is_prefetch(instruction.code()) => moves::nop,
        M::Prefetcht0 | M::Prefetcht1 | M::Prefetcht2 | M::Prefetchnta | M::Prefetchw => moves::nop,
        M::Wait | M::Fnop => moves::nop,
        M::Pause => system::pause,
        M::Mfence => system::full_fence,
        M::Sfence => system::store_fence,
        M::Lfence => system::load_fence,
        M::Leave if instruction.code() == Code::Leavew => moves::leave::<u16>,
        M::Leave => moves::leave::<u64>,
        M::Cbw => moves::extend_rax::<u8, u16>,
        M::Cwde => moves::extend_rax::<u16, u32>,
        M::Cdqe => moves::extend_rax::<u32, u64>,
        M::Cwd => moves::sign_to_rdx::<u16>,
        M::Cdq => moves::sign_to_rdx::<u32>,
        M::Cqo => moves::sign_to_rdx::<u64>,
        M::Cpuid => system::cpuid,
        M::Stmxcsr | M::Vstmxcsr => system::store_mxcsr,
        M::Ldmxcsr | M::Vldmxcsr => system::load_mxcsr,
        M::Fxsave | M::Fxsave64 => fpu::save,
        M::Fxrstor | M::Fxrstor64 => fpu::restore,
        M::Fnstenv if has_long_environment(instruction) => fpu::store_environment,
        M::Fldenv if has_long_environment(instruction) => fpu::load_environment,
        M::Lahf => system::load_ah,
        M::Sahf => system::store_ah,
        M::Pushfq => system::push_flags,
        M::Popfq => system::pop_flags,
        M::Hlt | M::Cli | M::Sti | M::In | M::Out => system::privileged,
        _ => return None,
    })
}

/// Prefetch instructions with a register: some processors have them as `nop`, others fault.
fn is_prefetch(code: Code) -> bool {
    matches!(
        code,
        Code::Reservednop_rm16_r16_0F0D
            | Code::Reservednop_rm32_r32_0F0D
            | Code::Reservednop_rm64_r64_0F0D
    )
}

/// Whether an x87 environment has 28 bytes, not 14.
fn has_long_environment(instruction: &Instruction) -> bool {
    instruction.memory_size().size() == 28
}

fn strings(instruction: &Instruction, op: &mut Op) -> Option<Exec> {
    use Mnemonic as M;
    if !instruction.is_string_instruction() || has_other_segment(instruction) {
        return None;
    }
    op.w = if instruction.has_repne_prefix() {
        string::WHILE_NOT_EQUAL
    } else if instruction.has_rep_prefix() {
        string::WHILE_EQUAL
    } else {
        string::ONCE
    };
    Some(match instruction.mnemonic() {
        M::Stosb => string::stos::<u8>,
        M::Stosw => string::stos::<u16>,
        M::Stosd => string::stos::<u32>,
        M::Stosq => string::stos::<u64>,
        M::Lodsb => string::lods::<u8>,
        M::Lodsw => string::lods::<u16>,
        M::Lodsd => string::lods::<u32>,
        M::Lodsq => string::lods::<u64>,
        M::Movsb => string::movs::<u8>,
        M::Movsw => string::movs::<u16>,
        M::Movsd => string::movs::<u32>,
        M::Movsq => string::movs::<u64>,
        M::Cmpsb => string::cmps::<u8, false>,
        M::Cmpsw => string::cmps::<u16, false>,
        M::Cmpsd => string::cmps::<u32, false>,
        M::Cmpsq => string::cmps::<u64, false>,
        M::Scasb => string::cmps::<u8, true>,
        M::Scasw => string::cmps::<u16, true>,
        M::Scasd => string::cmps::<u32, true>,
        M::Scasq => string::cmps::<u64, true>,
        _ => return None,
    })
}

/// Whether a string instruction has a segment prefix or addresses of 32 bits.
fn has_other_segment(instruction: &Instruction) -> bool {
    instruction.segment_prefix() != iced_x86::Register::None
        || instruction.op_kinds().any(|kind| {
            matches!(kind, OpKind::MemorySegESI | OpKind::MemoryESEDI | OpKind::MemorySegEDI)
        })
}

fn flags(instruction: &Instruction, op: &mut Op) -> Option<Exec> {
    use Mnemonic as M;
    let (kept, toggled) = match instruction.mnemonic() {
        M::Clc => (!CF, 0),
        M::Stc => (!CF, CF),
        M::Cmc => (!0, CF),
        M::Cld => (!DF, 0),
        M::Std => (!DF, DF),
        _ => return None,
    };
    [op.imm, op.disp] = [kept, toggled];
    Some(system::change_flags)
}

fn reading(instruction: &Instruction, op: &mut Op, readings: Readings) -> Option<Exec> {
    use Mnemonic as M;
    let mnemonic = instruction.mnemonic();
    if !matches!(mnemonic, M::Rdtsc | M::Rdtscp | M::Rdrand | M::Rdseed) {
        return None;
    }
    if readings == Readings::Refused {
        op.imm = REFUSED_READING;
        return Some(system::refused);
    }
    if matches!(mnemonic, M::Rdtsc | M::Rdtscp) {
        op.w = u8::from(mnemonic == M::Rdtscp);
        return Some(system::time_stamp);
    }
    op.a = super::address::general(instruction.op0_register());
    Some(match instruction.op0_register().size() {
        2 => system::random::<u16>,
        4 => system::random::<u32>,
        _ => system::random::<u64>,
    })
}

fn wide(instruction: &Instruction, op: &mut Op) -> Option<Exec> {
    op.w = match instruction.mnemonic() {
        Mnemonic::Cmpxchg8b => 8,
        Mnemonic::Cmpxchg16b => 16,
        _ => return None,
    };
    Some(atomic::compare_exchange_pair)
}
