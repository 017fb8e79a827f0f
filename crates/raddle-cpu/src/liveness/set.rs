//! Sets of registers and of bytes of a stack frame.

use super::HostArguments;
use iced_x86::Register;

/// Registers that may have arguments of a call; the first six are those of integers, in order.
pub(super) const ARGUMENTS: [Register; 16] = {
    use Register::*;
    [RDI, RSI, RDX, RCX, R8, R9, RAX, R10, XMM0, XMM1, XMM2, XMM3, XMM4, XMM5, XMM6, XMM7]
};

/// Bytes below the end of a frame that are tracked. All other bytes are live.
pub(super) const WINDOW: i64 = 1024;
const WORDS: usize = WINDOW as usize / 64;
/// The bit of the status flags; general-purpose registers are below, lower halves of vector registers above.
const FLAGS: u64 = 1 << 16;

/// What is live at a place: registers, flags, bytes of the frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Set {
    registers: u64,
    /// Byte `-WINDOW + k` relative to the end of the frame is bit `k`.
    slots: [u64; WORDS],
}

impl Default for Set {
    fn default() -> Set {
        Set::NONE
    }
}

impl Set {
    pub(super) const NONE: Set = Set { registers: 0, slots: [0; WORDS] };
    pub(super) const ALL: Set = Set { registers: u64::MAX, slots: [u64::MAX; WORDS] };

    pub(super) fn add_register(&mut self, register: Register) {
        self.registers |= bit(register);
    }

    pub(super) fn add_registers(&mut self, registers: &[Register]) {
        for register in registers {
            self.add_register(*register);
        }
    }

    pub(super) fn add_flags(&mut self) {
        self.registers |= FLAGS;
    }

    pub(super) fn add_all_slots(&mut self) {
        self.slots = [u64::MAX; WORDS];
    }

    /// Adds bytes of the frame; `from` is relative to its end.
    pub(super) fn add_slots(&mut self, from: i64, size: i64) {
        for byte in from..from + size {
            if let Some((word, bit)) = place(byte) {
                self.slots[word] |= bit;
            }
        }
    }

    /// Removes the argument registers that a host function does not read.
    pub(super) fn remove_unused(&mut self, arguments: HostArguments) {
        let HostArguments::Integers(count) = arguments else { return };
        let (integers, rest) = ARGUMENTS.split_at(6);
        for register in integers.iter().skip(count).chain(rest) {
            self.registers &= !bit(*register);
        }
    }

    pub(super) fn remove(&mut self, other: &Set) {
        self.registers &= !other.registers;
        for (mine, theirs) in self.slots.iter_mut().zip(other.slots) {
            *mine &= !theirs;
        }
    }

    /// Adds another set. Returns whether this one has changed.
    pub(super) fn join(&mut self, other: &Set) -> bool {
        let old = self.clone();
        self.registers |= other.registers;
        for (mine, theirs) in self.slots.iter_mut().zip(other.slots) {
            *mine |= theirs;
        }
        *self != old
    }

    pub(super) fn has_general(&self, number: usize) -> bool {
        self.registers & 1 << number != 0
    }

    pub(super) fn has_vector(&self, number: usize) -> bool {
        self.registers & 1 << (17 + number) != 0
    }

    pub(super) fn has_flags(&self) -> bool {
        self.registers & FLAGS != 0
    }

    /// Whether a byte of the frame is live.
    pub(super) fn has_slot(&self, byte: i64) -> bool {
        place(byte).is_none_or(|(word, bit)| self.slots[word] & bit != 0)
    }
}

fn place(byte: i64) -> Option<(usize, u64)> {
    let index = byte + WINDOW;
    (0..WINDOW).contains(&index).then(|| (index as usize / 64, 1 << (index % 64)))
}

fn bit(register: Register) -> u64 {
    if register.is_gpr() {
        1 << register.full_register().number()
    } else if register.is_vector_register() && register.number() < 16 {
        1 << (17 + register.number())
    } else {
        0
    }
}
