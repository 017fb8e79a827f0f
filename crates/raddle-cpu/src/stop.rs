//! Why a guest thread stops, and what the caller must do before it runs on.

use crate::memory::{Fault, State};
use std::fmt;

/// Why [`Cpu::run`](crate::Cpu::run) returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A load from shared memory. Answer with its value.
    Load {
        /// First address.
        address: u64,
        /// Number of bytes: 1, 2, 4 or 8.
        size: u8,
    },
    /// A store to shared memory. Answer with any value once it is recorded.
    Store {
        /// First address.
        address: u64,
        /// Number of bytes: 1, 2, 4 or 8.
        size: u8,
        /// The value, zero-extended.
        value: u64,
    },
    /// An atomic read-modify-write operation on shared memory. Answer with the old value; the effect belongs to the caller.
    ReadModifyWrite {
        /// First address.
        address: u64,
        /// Number of bytes: 1, 2, 4, 8 or 16.
        size: u8,
        /// What the instruction does with the value.
        operation: Operation,
    },
    /// A fence. The thread runs on without an answer.
    Fence(Fence),
    /// A jump to the address of a host function. The stack pointer points at the return address; the caller acts and calls
    /// [`Cpu::return_from_host`](crate::Cpu::return_from_host) or jumps elsewhere.
    HostCall(u32),
    /// A `syscall` instruction. The thread runs on after it once the caller has set the result.
    Syscall,
    /// `pause`: the thread probably spins. It runs on without an answer.
    Pause,
    /// The access touches memory that is private to a thread, but other threads or other accesses share it. The caller makes it shared
    /// and starts again.
    Escape {
        /// First address of the access.
        address: u64,
        /// Number of bytes of the access.
        size: u8,
        /// The first byte that must become shared.
        owned: u64,
        /// Its state.
        state: State,
    },
    /// The thread has ended.
    Fault(Box<Fault>),
    /// The instruction is not modelled.
    Refused(Box<Refusal>),
    /// The instruction budget is used up. The thread can run on with a new budget.
    Budget,
    /// The thread is about to begin a round too many of a loop ([`Code::limit_rounds`](crate::Code::limit_rounds)). It cannot
    /// run on.
    Rounds,
}

/// What an atomic instruction does with the old value. All values are truncated to the size of the access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Adds the operand.
    Add(u64),
    /// Bitwise and.
    And(u64),
    /// Bitwise or.
    Or(u64),
    /// Exclusive or.
    Xor(u64),
    /// Stores the operand.
    Exchange(u64),
    /// Subtracts the old value from zero.
    Negate,
    /// Stores `new` if the old value is `expected`.
    CompareExchange {
        /// Compared with the old value.
        expected: u128,
        /// Stored if equal.
        new: u128,
    },
}

impl Operation {
    /// The value that the operation stores if it finds `old` in `size` bytes; a failed comparison stores `old`.
    pub fn apply(self, old: u128, size: u8) -> u128 {
        let mask = if size >= 16 { u128::MAX } else { (1 << (8 * u32::from(size))) - 1 };
        let narrow = old as u64;
        mask & match self {
            Operation::Add(value) => narrow.wrapping_add(value).into(),
            Operation::And(value) => (narrow & value).into(),
            Operation::Or(value) => (narrow | value).into(),
            Operation::Xor(value) => (narrow ^ value).into(),
            Operation::Exchange(value) => value.into(),
            Operation::Negate => narrow.wrapping_neg().into(),
            Operation::CompareExchange { expected, new } if old & mask == expected & mask => new,
            Operation::CompareExchange { .. } => old,
        }
    }
}

/// The kinds of fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fence {
    /// `mfence`.
    Full,
    /// `sfence`.
    Store,
    /// `lfence`.
    Load,
    /// A locked instruction on private memory, which orders all accesses like `mfence`.
    Implied,
}

/// An instruction that is not modelled, met when it was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Address of the instruction.
    pub address: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its mnemonic and operands.
    pub instruction: String,
    /// Why it is not modelled.
    pub reason: &'static str,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` at {:#x} is not modelled: {}", self.instruction, self.address, self.reason)
    }
}
