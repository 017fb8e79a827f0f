//! Macros that bind types and constants to properties of an instruction, and so choose a monomorphised function.

use iced_x86::{Instruction, OpKind};

/// Destination and source of a binary instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    RegisterRegister,
    RegisterIndexed,
    RegisterBased,
    RegisterImm,
    IndexedRegister,
    IndexedImm,
    BasedRegister,
    BasedImm,
}

impl Form {
    pub(super) fn of(instruction: &Instruction, is_based: bool) -> Form {
        let memory = [0, 1].map(|operand| instruction.op_kind(operand) == OpKind::Memory);
        match (memory, is_immediate(instruction, 1), is_based) {
            ([false, false], false, _) => Form::RegisterRegister,
            ([false, false], true, _) => Form::RegisterImm,
            ([false, true], _, false) => Form::RegisterIndexed,
            ([false, true], _, true) => Form::RegisterBased,
            ([true, _], false, false) => Form::IndexedRegister,
            ([true, _], true, false) => Form::IndexedImm,
            ([true, _], false, true) => Form::BasedRegister,
            ([true, _], true, true) => Form::BasedImm,
        }
    }
}

/// Whether an operand is neither register nor memory.
pub(super) fn is_immediate(instruction: &Instruction, operand: u32) -> bool {
    !matches!(instruction.op_kind(operand), OpKind::Register | OpKind::Memory)
}

/// Binds a type to the operand size in bytes.
macro_rules! sized {
    ($size:expr, |$t:ident| $exec:expr) => {
        match $size {
            1 => {
                type $t = u8;
                let exec: Exec = $exec;
                exec
            }
            2 => {
                type $t = u16;
                let exec: Exec = $exec;
                exec
            }
            4 => {
                type $t = u32;
                let exec: Exec = $exec;
                exec
            }
            _ => {
                type $t = u64;
                let exec: Exec = $exec;
                exec
            }
        }
    };
}

/// Binds a constant to a condition.
macro_rules! truth {
    ($value:expr, |$c:ident| $exec:expr) => {
        if $value {
            const $c: bool = true;
            let exec: Exec = $exec;
            exec
        } else {
            const $c: bool = false;
            let exec: Exec = $exec;
            exec
        }
    };
}

/// Binds types to destination and source.
macro_rules! operands {
    ($form:expr, |$d:ident, $s:ident| $exec:expr) => {
        operands!(@ $form, $d, $s, $exec,
            RegisterRegister A B, RegisterIndexed A Indexed, RegisterBased A Based, RegisterImm A Imm,
            IndexedRegister Indexed B, IndexedImm Indexed Imm, BasedRegister Based B, BasedImm Based Imm)
    };
    (@ $form:expr, $d:ident, $s:ident, $exec:expr, $($name:ident $dt:ident $st:ident),*) => {
        match $form {
            $($crate::translate::bind::Form::$name => {
                type $d = $dt;
                type $s = $st;
                let exec: Exec = $exec;
                exec
            })*
        }
    };
}

/// Binds a type to a single operand in register `a` or memory.
macro_rules! place {
    ($is_memory:expr, |$d:ident| $exec:expr) => {
        if $is_memory {
            type $d = Indexed;
            let exec: Exec = $exec;
            exec
        } else {
            type $d = A;
            let exec: Exec = $exec;
            exec
        }
    };
}

/// Binds a type to a source in register `b` or memory.
macro_rules! source {
    ($is_memory:expr, |$s:ident| $exec:expr) => {
        if $is_memory {
            type $s = Indexed;
            let exec: Exec = $exec;
            exec
        } else {
            type $s = B;
            let exec: Exec = $exec;
            exec
        }
    };
}

/// Binds a constant to a condition code.
macro_rules! coded {
    ($code:expr, |$k:ident| $exec:expr) => {
        coded!(@ $code, $k, $exec, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14)
    };
    (@ $code:expr, $k:ident, $exec:expr, $($value:literal)*) => {
        match $code {
            $($value => {
                const $k: u8 = $value;
                let exec: Exec = $exec;
                exec
            })*
            _ => {
                const $k: u8 = 15;
                let exec: Exec = $exec;
                exec
            }
        }
    };
}

/// Binds a type to the operand sizes of fused comparisons.
macro_rules! three_sizes {
    ($size:expr, |$t:ident| $exec:expr) => {
        match $size {
            1 => {
                type $t = u8;
                let exec: Exec = $exec;
                exec
            }
            4 => {
                type $t = u32;
                let exec: Exec = $exec;
                exec
            }
            _ => {
                type $t = u64;
                let exec: Exec = $exec;
                exec
            }
        }
    };
}

pub(super) use {coded, operands, place, sized, source, three_sizes, truth};
