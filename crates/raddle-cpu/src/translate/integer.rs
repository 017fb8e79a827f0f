//! Selects the functions of integer instructions.

use super::address::{constant, general};
use super::bind::{Form, coded, is_immediate, operands, place, sized, source, three_sizes, truth};
use super::flags::condition;
use crate::cpu::{Exec, Op};
use crate::exec::alu::{Add, And, Cmp, Or, Sub, Test, Xor};
use crate::exec::{A, B, Based, Cl, Imm, Indexed};
use crate::exec::{alu, atomic, control, moves, muldiv, shift, system};
use crate::memory::Memory;
use crate::registers::Register;
use iced_x86::{Code, Instruction, Mnemonic, OpKind, Register as R};

/// Whether all register operands are general-purpose and none of ah, bh, ch, dh.
fn has_plain_registers(instruction: &Instruction) -> bool {
    (0..instruction.op_count()).all(|operand| {
        let register = instruction.op_register(operand);
        instruction.op_kind(operand) != OpKind::Register
            || (register.is_gpr() && !matches!(register, R::AH | R::BH | R::CH | R::DH))
    })
}

fn size(instruction: &Instruction, operand: u32) -> usize {
    match instruction.op_kind(operand) {
        OpKind::Register => instruction.op_register(operand).size(),
        OpKind::Memory => instruction.memory_size().size(),
        _ => 0,
    }
}

pub(super) fn select(
    memory: &Memory,
    instruction: &Instruction,
    op: &mut Op,
    needs_flags: bool,
) -> Option<Exec> {
    use Mnemonic as M;
    let count = instruction.op_count();
    if !has_plain_registers(instruction) || (count == 0 && instruction.mnemonic() != M::Xlatb) {
        return None;
    }
    if instruction.mnemonic() == M::Xlatb {
        return translate_byte(instruction, op);
    }
    set_registers(instruction, op);
    let width = size(instruction, 0);
    let in_memory = [0, 1].map(|k| k < count && instruction.op_kind(k) == OpKind::Memory);
    if in_memory[0]
        && let Some(exec) = read_modify_write(instruction, op, width)
    {
        return Some(exec);
    }
    if instruction.has_lock_prefix() {
        return None;
    }
    match count {
        1 => unary(instruction, op, needs_flags, width, in_memory[0]),
        2 => binary(memory, instruction, op, needs_flags)
            .or_else(|| two_operands(instruction, op, needs_flags, width, in_memory)),
        3 if instruction.mnemonic() == M::Imul => {
            op.imm = instruction.immediate(2);
            Some(truth!(needs_flags, |F| sized!(width, |T| source!(in_memory[1], |S| {
                muldiv::imul::<S, Imm, T, F>
            }))))
        }
        _ => None,
    }
}

fn set_registers(instruction: &Instruction, op: &mut Op) {
    let count = instruction.op_count();
    if instruction.op0_kind() == OpKind::Register {
        op.a = general(instruction.op0_register());
        op.b = op.a;
    }
    if count > 1 && instruction.op1_kind() == OpKind::Register {
        op.b = general(instruction.op1_register());
    }
    if let Some(last) = (0..count).find(|operand| is_immediate(instruction, *operand))
        && !matches!(instruction.op_kind(last), OpKind::NearBranch64)
    {
        op.imm = instruction.try_immediate(last).unwrap_or(0);
    }
}

fn binary(
    memory: &Memory,
    instruction: &Instruction,
    op: &mut Op,
    needs_flags: bool,
) -> Option<Exec> {
    use Mnemonic as M;
    let width = size(instruction, 0);
    let mut form = Form::of(instruction, op.index == Register::Zero);
    let mnemonic = instruction.mnemonic();
    if mnemonic == M::Mov
        && form == Form::RegisterBased
        && let Some(value) = constant(memory, op, width)
    {
        op.imm = value;
        form = Form::RegisterImm;
    }
    macro_rules! alu {
        ($operation:ty) => {
            truth!(needs_flags, |F| sized!(width, |T| operands!(form, |D, S| {
                alu::binary::<$operation, D, S, T, F>
            })))
        };
    }
    Some(match mnemonic {
        M::Mov => sized!(width, |T| operands!(form, |D, S| moves::mov::<D, S, T>)),
        M::Add => alu!(Add),
        M::Sub => alu!(Sub),
        M::Cmp => alu!(Cmp),
        M::And => alu!(And),
        M::Test => alu!(Test),
        M::Or => alu!(Or),
        M::Xor => alu!(Xor),
        M::Adc => sized!(width, |T| operands!(form, |D, S| alu::with_carry::<D, S, T, false>)),
        M::Sbb => sized!(width, |T| operands!(form, |D, S| alu::with_carry::<D, S, T, true>)),
        _ => return None,
    })
}

fn unary(
    instruction: &Instruction,
    op: &mut Op,
    needs_flags: bool,
    width: usize,
    in_memory: bool,
) -> Option<Exec> {
    use Mnemonic as M;
    let mnemonic = instruction.mnemonic();
    Some(match mnemonic {
        M::Inc => truth!(needs_flags, |F| sized!(width, |T| place!(in_memory, |D| {
            alu::increment::<D, T, false, F>
        }))),
        M::Dec => truth!(needs_flags, |F| sized!(width, |T| place!(in_memory, |D| {
            alu::increment::<D, T, true, F>
        }))),
        M::Neg => sized!(width, |T| place!(in_memory, |D| alu::negate::<D, T>)),
        M::Not => sized!(width, |T| place!(in_memory, |D| alu::not::<D, T>)),
        M::Mul | M::Imul => truth!(mnemonic == M::Imul, |SIGNED| sized!(width, |T| {
            source!(in_memory, |S| muldiv::multiply::<S, T, SIGNED>)
        })),
        M::Div | M::Idiv => truth!(mnemonic == M::Idiv, |SIGNED| sized!(width, |T| {
            source!(in_memory, |S| muldiv::divide::<S, T, SIGNED>)
        })),
        M::Push if is_immediate(instruction, 0) => match instruction.code() {
            iced_x86::Code::Push_imm16 | iced_x86::Code::Pushw_imm8 => moves::push::<Imm, u16>,
            _ => moves::push::<Imm, u64>,
        },
        M::Push if width == 2 => source!(in_memory, |S| moves::push::<S, u16>),
        M::Push if width == 8 => source!(in_memory, |S| moves::push::<S, u64>),
        M::Pop if in_memory && op.index == Register::Rsp => return None,
        M::Pop if width == 2 && in_memory => moves::pop_memory::<u16>,
        M::Pop if width == 8 && in_memory => moves::pop_memory::<u64>,
        M::Pop if width == 2 => moves::pop::<u16>,
        M::Pop if width == 8 => moves::pop::<u64>,
        _ if format!("{mnemonic:?}").starts_with("Set") => {
            op.w = condition(instruction.condition_code())?;
            place!(in_memory, |D| moves::set_condition::<D>)
        }
        _ => return None,
    })
}

fn two_operands(
    instruction: &Instruction,
    op: &mut Op,
    needs_flags: bool,
    width: usize,
    in_memory: [bool; 2],
) -> Option<Exec> {
    use Mnemonic as M;
    let mnemonic = instruction.mnemonic();
    macro_rules! shifts {
        ($function:ident, $kind:tt) => {
            if instruction.op1_kind() == OpKind::Register {
                truth!(needs_flags, |F| sized!(width, |T| place!(in_memory[0], |D| {
                    shift::$function::<D, Cl, T, $kind, F>
                })))
            } else {
                truth!(needs_flags, |F| sized!(width, |T| place!(in_memory[0], |D| {
                    shift::$function::<D, Imm, T, $kind, F>
                })))
            }
        };
    }
    Some(match mnemonic {
        M::Lea => sized!(width, |T| moves::lea::<T>),
        M::Movzx | M::Movsx | M::Movsxd => return extension(instruction, width, in_memory[1]),
        M::Shl | M::Sal => shifts!(shift, { shift::LEFT }),
        M::Shr => shifts!(shift, { shift::RIGHT }),
        M::Sar => shifts!(shift, { shift::RIGHT_SIGNED }),
        M::Rol => shifts!(rotate, false),
        M::Ror => shifts!(rotate, true),
        M::Imul => truth!(needs_flags, |F| sized!(width, |T| source!(in_memory[1], |S| {
            muldiv::imul::<A, S, T, F>
        }))),
        M::Xchg if !in_memory[0] && !in_memory[1] => sized!(width, |T| moves::exchange::<T>),
        M::Xchg if in_memory[1] => {
            op.b = op.a;
            op.w = atomic::XCHG;
            sized!(width, |T| atomic::locked::<T, true>)
        }
        M::Xadd => sized!(width, |T| atomic::exchange_add_register::<T>),
        M::Bt if in_memory[0] && instruction.op1_kind() == OpKind::Register => {
            op.w = 0;
            sized!(width, |T| shift::bit_string::<T>)
        }
        _ if format!("{mnemonic:?}").starts_with("Cmov") => {
            op.w = condition(instruction.condition_code())?;
            sized!(width, |T| source!(in_memory[1], |S| moves::conditional::<S, T>))
        }
        _ => return None,
    })
}

fn extension(instruction: &Instruction, width: usize, in_memory: bool) -> Option<Exec> {
    let is_signed = instruction.mnemonic() != Mnemonic::Movzx;
    macro_rules! extend {
        ($from:ty, $to:ty) => {
            truth!(is_signed, |SIGNED| source!(in_memory, |S| {
                moves::extend::<S, $from, $to, SIGNED>
            }))
        };
    }
    Some(match (size(instruction, 1), width) {
        (1, 2) => extend!(u8, u16),
        (1, 4) => extend!(u8, u32),
        (1, 8) => extend!(u8, u64),
        (2, 2) => extend!(u16, u16),
        (2, 4) => extend!(u16, u32),
        (2, 8) => extend!(u16, u64),
        (4, 4) => extend!(u32, u32),
        (4, 8) => extend!(u32, u64),
        _ => return None,
    })
}

/// Instructions that read and write memory and may have a `lock` prefix.
fn read_modify_write(instruction: &Instruction, op: &mut Op, width: usize) -> Option<Exec> {
    use Mnemonic as M;
    let is_locked = instruction.has_lock_prefix();
    let has_immediate = instruction.op_count() > 1 && is_immediate(instruction, 1);
    let kind = match instruction.mnemonic() {
        M::Cmpxchg => {
            return Some(truth!(is_locked, |LOCK| sized!(width, |T| {
                atomic::compare_exchange::<T, LOCK>
            })));
        }
        M::Xchg => atomic::XCHG,
        M::Xadd => atomic::XADD,
        M::Bts => atomic::BTS,
        M::Btr => atomic::BTR,
        M::Btc => atomic::BTC,
        _ if !is_locked => return None,
        M::Add => atomic::ADD,
        M::Sub => atomic::SUB,
        M::And => atomic::AND,
        M::Or => atomic::OR,
        M::Xor => atomic::XOR,
        M::Adc => atomic::ADC,
        M::Sbb => atomic::SBB,
        M::Inc => atomic::INC,
        M::Dec => atomic::DEC,
        M::Neg => atomic::NEG,
        M::Not => atomic::NOT,
        _ => return None,
    };
    op.w = kind + if has_immediate { atomic::IMMEDIATE } else { 0 };
    // An exchange with memory is always locked.
    let is_locked = is_locked || kind == atomic::XCHG;
    Some(truth!(is_locked, |LOCK| sized!(width, |T| atomic::locked::<T, LOCK>)))
}

fn translate_byte(instruction: &Instruction, op: &mut Op) -> Option<Exec> {
    if instruction.segment_prefix() != R::None || instruction.memory_base() != R::RBX {
        return None;
    }
    [op.base, op.index] = [Register::Rbx, Register::Zero];
    Some(system::translate_byte)
}

/// The function of a comparison fused with the conditional jump after it.
pub(super) fn fused(instruction: &Instruction, code: u8) -> Option<Exec> {
    let width = size(instruction, 0);
    let is_comparison = matches!(instruction.mnemonic(), Mnemonic::Cmp | Mnemonic::Test);
    if !is_comparison || !has_plain_registers(instruction) || width == 2 {
        return None;
    }
    // Whether the address has an index depends on segments and sizes, too: always use the general form.
    let form = Form::of(instruction, is_based(instruction));
    macro_rules! jump {
        ($operation:ty) => {
            coded!(code, |CODE| three_sizes!(width, |T| operands!(form, |D, S| {
                control::compare_and_jump::<$operation, D, S, T, CODE>
            })))
        };
    }
    Some(if instruction.mnemonic() == Mnemonic::Cmp { jump!(Cmp) } else { jump!(Test) })
}

/// Whether the address is a base and a displacement only.
fn is_based(instruction: &Instruction) -> bool {
    instruction.memory_index() == R::None && instruction.memory_segment() != R::FS
}

/// The function of `jcc`.
pub(super) fn jump_if(code: u8) -> Exec {
    coded!(code, |CODE| control::jump_if::<CODE>)
}

/// The function of `jrcxz`, `loop` and the like.
pub(super) fn jump_by_count(code: Code) -> Option<Exec> {
    Some(match code {
        Code::Jrcxz_rel8_64 => control::jump_if_no_count::<u64>,
        Code::Jecxz_rel8_64 => control::jump_if_no_count::<u32>,
        Code::Loop_rel8_64_RCX => control::count_down::<u64, 2>,
        Code::Loop_rel8_64_ECX => control::count_down::<u32, 2>,
        Code::Loope_rel8_64_RCX => control::count_down::<u64, 1>,
        Code::Loope_rel8_64_ECX => control::count_down::<u32, 1>,
        Code::Loopne_rel8_64_RCX => control::count_down::<u64, 0>,
        Code::Loopne_rel8_64_ECX => control::count_down::<u32, 0>,
        _ => return None,
    })
}
