//! Which instructions of a block must compute flags, and condition codes.

use iced_x86::{ConditionCode, Instruction, Mnemonic, RflagsBits};

const STATUS: u32 = RflagsBits::OF
    | RflagsBits::SF
    | RflagsBits::ZF
    | RflagsBits::AF
    | RflagsBits::CF
    | RflagsBits::PF;

/// Whether the flags of each instruction are needed. All are at the end of the block.
pub(super) fn needed(instructions: &[Instruction]) -> Vec<bool> {
    use Mnemonic as M;
    let mut live = STATUS;
    let mut needed: Vec<bool> = instructions
        .iter()
        .rev()
        .map(|instruction| {
            let modified = instruction.rflags_modified();
            let is_needed = modified & live != 0;
            let writes_all = matches!(
                instruction.mnemonic(),
                M::Add
                    | M::Sub
                    | M::Cmp
                    | M::Test
                    | M::And
                    | M::Or
                    | M::Xor
                    | M::Inc
                    | M::Dec
                    | M::Neg
                    | M::Adc
                    | M::Sbb
            );
            // Others may keep flags, such as shifts by zero.
            if writes_all {
                live &= !modified;
            }
            live |= instruction.rflags_read();
            // A fault or a question shows all flags; only the computation of dead ones is saved.
            is_needed
        })
        .collect();
    needed.reverse();
    needed
}

/// The encoding of a condition; `None` for those of `loop` and `jrcxz`. `loope` and `loopne` have those of `je` and `jne`.
pub(super) fn condition(code: ConditionCode) -> Option<u8> {
    use ConditionCode::*;
    let codes = [o, no, b, ae, e, ne, be, a, s, ns, p, np, l, ge, le, g];
    codes.iter().position(|other| *other == code).map(|index| index as u8)
}
