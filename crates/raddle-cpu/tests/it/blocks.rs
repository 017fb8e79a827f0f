//! Blocks of instructions against the real processor: dead flags, fused comparisons, branches.

use crate::differential::{bytes, states_per_form};
use crate::forms::{self, Form};
use crate::native::{DATA, Native, State, TEXT};
use crate::random::Random;
use crate::states::{difference, random_state, undefined};
use crate::virtual_cpu::{End, Mode, Virtual};
use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register as R};

/// A few instructions, then a conditional jump over one more.
fn random_block(random: &mut Random, forms: &[Form]) -> Option<(Vec<u8>, Vec<Instruction>)> {
    let mut code = Vec::new();
    let mut instructions = Vec::new();
    let add = |random: &mut Random, code: &mut Vec<u8>, form: Form| {
        let ip = TEXT + code.len() as u64;
        let instruction = form.build(random, ip)?;
        code.extend(bytes(&instruction, ip));
        Some(instruction)
    };
    for _ in 0..1 + random.below(4) {
        let form = random_form(random, forms);
        instructions.push(add(random, &mut code, form)?);
    }
    let mut skipped = Vec::new();
    let form = random_form(random, forms);
    let last = add(random, &mut skipped, form)?;
    // jcc over the last instruction, which is position-independent.
    if last.is_ip_rel_memory_operand() {
        return None;
    }
    code.extend([0x70 + random.below(16) as u8, skipped.len() as u8]);
    code.extend(skipped);
    instructions.push(last);
    Some((code, instructions))
}

fn random_form(random: &mut Random, forms: &[Form]) -> Form {
    forms[random.below(forms.len() as u64) as usize]
}

/// Integer instructions whose only register operands are not those of addresses, so that each address stays valid.
fn is_block_form(form: &Form) -> bool {
    use Mnemonic as M;
    let mnemonic = form.code.mnemonic();
    let is_plain = matches!(
        mnemonic,
        M::Add
            | M::Sub
            | M::Cmp
            | M::Test
            | M::And
            | M::Or
            | M::Xor
            | M::Adc
            | M::Sbb
            | M::Inc
            | M::Dec
            | M::Neg
            | M::Not
            | M::Mov
            | M::Movzx
            | M::Movsx
            | M::Movsxd
            | M::Shl
            | M::Shr
            | M::Sar
            | M::Rol
            | M::Ror
            | M::Imul
            | M::Bt
            | M::Sete
            | M::Setl
            | M::Setb
            | M::Cmovb
            | M::Cmovle
            | M::Cmove
            | M::Xchg
            | M::Xadd
            | M::Clc
            | M::Stc
            | M::Cmc
            | M::Lahf
            | M::Sahf
            | M::Cdqe
    );
    is_plain && form.prefix == forms::Prefix::None && !format!("{:?}", form.code).contains("Sreg")
}

/// Registers that hold addresses in blocks are written by no instruction of the block.
fn block_addresses(instructions: &[Instruction], state: &mut State) -> bool {
    let mut info = InstructionInfoFactory::new();
    let mut written = 0u32;
    for instruction in instructions {
        for used in info.info(instruction).used_registers() {
            if used.register().is_gpr() && used.access() != OpAccess::Read {
                written |= 1 << used.register().full_register().number();
            }
        }
    }
    let in_memory = |i: &&Instruction| i.op_kinds().any(|kind| kind == OpKind::Memory);
    let mut used = 0u32;
    for instruction in instructions.iter().filter(in_memory) {
        let (base, index) = (instruction.memory_base(), instruction.memory_index());
        if base == R::RIP {
            continue;
        }
        let bits = if index == R::None { 0 } else { 1 << index.number() } | 1 << base.number();
        // Each register belongs to one address.
        if bits & (written | used) != 0 || (index != R::None && index == base) {
            return false;
        }
        used |= bits;
        let scaled = match index {
            R::None => 0,
            _ => {
                state.registers[index.number()] = 16;
                16 * u64::from(instruction.memory_index_scale())
            }
        };
        let place = (DATA + 4096).wrapping_sub(instruction.memory_displacement64());
        state.registers[base.number()] = place.wrapping_sub(scaled);
        let is_bit_string =
            instruction.mnemonic() == Mnemonic::Bt && instruction.op1_kind() == OpKind::Register;
        if is_bit_string {
            return false;
        }
    }
    written & 1 << 4 == 0 && (used & 1 << 4 == 0 || state.registers[4] >> 40 == 0x12)
}

#[test]
fn blocks_with_dead_flags_and_fused_comparisons_agree() {
    let forms: Vec<Form> = forms::all().into_iter().filter(is_block_form).collect();
    let comparisons: Vec<Form> = forms
        .iter()
        .copied()
        .filter(|form| matches!(form.code.mnemonic(), Mnemonic::Cmp | Mnemonic::Test))
        .collect();
    let mut random = Random::new(14);
    let mut native = Native::get();
    let mut compared = 0u64;
    let mut cpu = [Virtual::new(Mode::Fast), Virtual::new(Mode::Shared)];
    for round in 0..1500 * states_per_form() {
        // Half of the blocks are a comparison and a jump.
        let chosen = if round % 2 == 0 { &forms } else { &comparisons };
        let Some((code, instructions)) = random_block(&mut random, chosen) else { continue };
        let (mut state, data) = random_state(&mut random);
        state.registers[4] = DATA + 4096;
        if !block_addresses(&instructions, &mut state) {
            continue;
        }
        let mut ours = (state.clone(), data.clone());
        let mut real = (state, data);
        let cpu = &mut cpu[(round / 2 % 2) as usize];
        let end = cpu.run(&code, &mut ours.0, &mut ours.1);
        let ignored = instructions.iter().fold(0, |flags, i| flags | undefined(i));
        // A jump or a later instruction may depend on a flag that is undefined.
        if end != End::Done || ignored != 0 {
            continue;
        }
        assert_eq!(native.run(&code, &mut real.0, &mut real.1), 0);
        compared += 1;
        let difference = difference(&ours, &real, 0);
        let text: Vec<String> = instructions.iter().map(ToString::to_string).collect();
        assert_eq!(difference, None, "{text:?} {code:x?}");
    }
    assert!(compared > 1000, "{compared}");
}
