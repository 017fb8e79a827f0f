//! What the threads of a test do, as flat code: what x86 and C have in common.

use raddle_core::execution::{MemoryOrder, ThreadId, Value};
use raddle_core::program::UpdateKind;

use super::expression::Expression;
use super::value::Type;

/// One instruction. Addresses are expressions whose value is the address of a location; `bits` says how
/// wide the access is, and must be the width of the location.
#[derive(Clone, Debug)]
pub(super) enum Code {
    Set {
        target: usize,
        value: Expression,
    },
    /// Goes elsewhere if the condition does not hold. A jump back counts in a register of its own.
    Unless {
        condition: Expression,
        to: usize,
        count: Option<usize>,
    },
    Load {
        target: usize,
        at: Expression,
        bits: u8,
        order: MemoryOrder,
    },
    Store {
        at: Expression,
        bits: u8,
        value: Expression,
        order: MemoryOrder,
    },
    /// An atomic update; the register gets the old value.
    Update {
        target: usize,
        at: Expression,
        kind: UpdateKind,
        operand: Expression,
        ty: Type,
        order: MemoryOrder,
    },
    /// The first register gets the old value, the second whether it succeeded.
    CompareExchange {
        target: usize,
        succeeded: usize,
        at: Expression,
        bits: u8,
        expected: Expression,
        desired: Expression,
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

/// A register that the test names.
#[derive(Clone, Debug)]
pub(super) struct Register {
    pub(super) name: String,
    pub(super) ty: Type,
    /// Where it is among all registers of its thread; two names may mean parts of the same one.
    pub(super) slot: usize,
}

/// The code of a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Body {
    pub(super) code: Vec<Code>,
    /// For every instruction, where in the text it comes from.
    pub(super) places: Vec<usize>,
    pub(super) named: Vec<Register>,
    /// Whether its registers may be spelled in upper and lower case.
    pub(super) any_case: bool,
    /// The registers that are not zero in the beginning.
    pub(super) initial: Vec<(usize, Value)>,
    /// How many registers there are.
    pub(super) registers: usize,
}

impl Body {
    /// Adds an instruction from this place, and says where it is.
    pub(super) fn push(&mut self, code: Code, place: usize) -> usize {
        self.code.push(code);
        self.places.push(place);
        self.code.len() - 1
    }

    /// Where the next instruction will be.
    pub(super) fn here(&self) -> usize {
        self.code.len()
    }

    /// A new register without a name.
    pub(super) fn temporary(&mut self) -> usize {
        self.registers += 1;
        self.registers - 1
    }

    /// A jump that is taken unless the condition holds; to nowhere yet.
    pub(super) fn unless(&mut self, condition: Expression, place: usize) -> usize {
        self.push(Code::Unless { condition, to: usize::MAX, count: None }, place)
    }

    /// A jump that is always taken; to nowhere yet.
    pub(super) fn jump(&mut self, place: usize) -> usize {
        self.unless(0.into(), place)
    }

    /// Says where a jump goes.
    pub(super) fn land(&mut self, jump: usize, target: usize) {
        let counter = (target <= jump).then(|| self.temporary());
        if let Code::Unless { to, count, .. } = &mut self.code[jump] {
            (*to, *count) = (target, counter);
        }
    }
}
