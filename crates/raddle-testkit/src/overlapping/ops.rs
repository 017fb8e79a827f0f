//! Ops over bytes.

use std::fmt;

/// A range of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bytes {
    /// The first byte.
    pub at: u8,
    /// Their number, 1 to 8.
    pub size: u8,
}

impl Bytes {
    /// The bytes.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        self.at..self.at + self.size
    }

    /// Returns `true` if the ranges have a byte in common.
    #[must_use]
    pub fn overlaps(self, other: Bytes) -> bool {
        self.at < other.at + other.size && other.at < self.at + self.size
    }

    /// Returns `true` if all bytes of the other range are in this one.
    #[must_use]
    pub fn covers(self, other: Bytes) -> bool {
        self.at <= other.at && other.at + other.size <= self.at + self.size
    }

    /// The low bits of a number that these bytes have room for.
    #[must_use]
    pub fn truncate(self, value: u64) -> u64 {
        if self.size >= 8 { value } else { value & ((1 << (8 * u32::from(self.size))) - 1) }
    }
}

/// A value to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// This number.
    Constant(u64),
    /// A register plus a number.
    Register(u8, u64),
}

impl Operand {
    /// Its value.
    #[must_use]
    pub fn value(self, registers: &[u64; 2]) -> u64 {
        match self {
            Operand::Constant(value) => value,
            Operand::Register(register, plus) => {
                registers[usize::from(register)].wrapping_add(plus)
            }
        }
    }
}

/// An op. Those that read set a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ByteOp {
    Load {
        register: u8,
        bytes: Bytes,
    },
    Store {
        bytes: Bytes,
        value: Operand,
    },
    Add {
        register: u8,
        bytes: Bytes,
        value: Operand,
    },
    CompareExchange {
        register: u8,
        bytes: Bytes,
        expected: u64,
        desired: Operand,
    },
    Fence,
    StoreFence,
    /// Skips the next op if a register has this value.
    SkipIf {
        register: u8,
        value: u64,
    },
}

impl ByteOp {
    /// The bytes that it accesses.
    #[must_use]
    pub fn bytes(&self) -> Option<Bytes> {
        match *self {
            ByteOp::Load { bytes, .. }
            | ByteOp::Store { bytes, .. }
            | ByteOp::Add { bytes, .. }
            | ByteOp::CompareExchange { bytes, .. } => Some(bytes),
            ByteOp::Fence | ByteOp::StoreFence | ByteOp::SkipIf { .. } => None,
        }
    }
}

/// A program over 16 bytes, which are 0. The main thread performs ops, starts threads, and performs others when all have ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlapping {
    /// What the main thread does before it starts threads.
    pub before: Vec<ByteOp>,
    /// What these do.
    pub threads: Vec<Vec<ByteOp>>,
    /// What the main thread does after it has joined them. If nothing, it does not join them.
    pub after: Vec<ByteOp>,
    /// Whether a load that some buffered store overlaps, but no newest one covers, waits.
    pub waits: bool,
}

impl Overlapping {
    /// A program that consists of these threads.
    #[must_use]
    pub fn of<const N: usize>(threads: [&[ByteOp]; N]) -> Self {
        Overlapping { threads: threads.map(<[ByteOp]>::to_vec).to_vec(), ..Overlapping::default() }
    }

    /// The ops of a thread; the main thread is the first one.
    #[must_use]
    pub fn ops(&self, thread: usize) -> Vec<ByteOp> {
        match thread {
            0 => [&self.before[..], &self.after[..]].concat(),
            thread => self.threads[thread - 1].clone(),
        }
    }

    /// The number of the first op of each thread.
    #[must_use]
    pub fn first_numbers(&self) -> Vec<usize> {
        let mut next = 0;
        let first = (0..=self.threads.len()).map(|thread| {
            let first = next;
            next += self.ops(thread).len();
            first
        });
        first.collect()
    }
}

impl fmt::Display for Overlapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "before {:?}", self.before)?;
        for thread in &self.threads {
            writeln!(f, "thread {thread:?}")?;
        }
        writeln!(f, "after {:?}, waits: {}", self.after, self.waits)
    }
}
