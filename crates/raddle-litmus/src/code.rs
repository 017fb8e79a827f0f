//! Intermediate code of threads, which x86 and C are translated to: flat code over registers.

use raddle_core::execution::{MemoryOrder, ThreadId, Value};
use raddle_core::program::UpdateKind;

use super::expression::RegisterExpression;
use super::value::IntType;

/// Instruction. An address `at` is an expression whose value is the address of a location; `bits` is the width of the
/// access and must be the width of the location.
#[derive(Clone, Debug)]
pub(super) enum Instruction {
    Set {
        target: usize,
        value: RegisterExpression,
    },
    /// Jumps if the condition is 0. A backward jump counts its executions in the register `count`.
    Unless {
        condition: RegisterExpression,
        to: usize,
        count: Option<usize>,
    },
    Load {
        target: usize,
        at: RegisterExpression,
        bits: u8,
        order: MemoryOrder,
    },
    Store {
        at: RegisterExpression,
        bits: u8,
        value: RegisterExpression,
        order: MemoryOrder,
    },
    /// Atomic read-modify-write. `target` gets the old value.
    Update {
        target: usize,
        at: RegisterExpression,
        kind: UpdateKind,
        operand: RegisterExpression,
        ty: IntType,
        order: MemoryOrder,
    },
    /// `target` gets the old value, `succeeded` gets 1 or 0.
    CompareExchange {
        target: usize,
        succeeded: usize,
        at: RegisterExpression,
        bits: u8,
        expected: RegisterExpression,
        desired: RegisterExpression,
        success: MemoryOrder,
        failure: MemoryOrder,
        weak: bool,
    },
    Fence(MemoryOrder),
    StoreFence,
    Spawn(ThreadId),
    Join(ThreadId),
    End,
}

/// Register with a name in the test.
#[derive(Clone, Debug)]
pub(super) struct Register {
    pub(super) name: String,
    pub(super) ty: IntType,
    /// Index among all registers of its thread. Two names may denote parts of the same register.
    pub(super) slot: usize,
}

/// Code of a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct ThreadCode {
    pub(super) code: Vec<Instruction>,
    /// By instruction: byte offset in the text.
    pub(super) places: Vec<usize>,
    pub(super) named: Vec<Register>,
    /// Whether names of registers ignore case.
    pub(super) any_case: bool,
    /// Initial values of registers, by index. Others are 0.
    pub(super) initial: Vec<(usize, Value)>,
    /// Number of registers.
    pub(super) registers: usize,
}

impl ThreadCode {
    /// Adds an instruction that comes from this offset of the text. Returns its index.
    pub(super) fn push(&mut self, code: Instruction, place: usize) -> usize {
        self.code.push(code);
        self.places.push(place);
        self.code.len() - 1
    }

    /// Returns the index of the next instruction.
    pub(super) fn here(&self) -> usize {
        self.code.len()
    }

    /// Adds a register without a name.
    pub(super) fn temporary(&mut self) -> usize {
        self.registers += 1;
        self.registers - 1
    }

    /// Adds a jump that is taken unless the condition holds. [`land`](Self::land) sets its target.
    pub(super) fn unless(&mut self, condition: RegisterExpression, place: usize) -> usize {
        self.push(Instruction::Unless { condition, to: usize::MAX, count: None }, place)
    }

    /// Adds a jump that is always taken. [`land`](Self::land) sets its target.
    pub(super) fn jump(&mut self, place: usize) -> usize {
        self.unless(0.into(), place)
    }

    /// Sets the target of a jump.
    pub(super) fn land(&mut self, jump: usize, target: usize) {
        let counter = (target <= jump).then(|| self.temporary());
        if let Instruction::Unless { to, count, .. } = &mut self.code[jump] {
            (*to, *count) = (target, counter);
        }
    }
}
