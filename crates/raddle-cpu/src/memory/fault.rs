//! Faults: accesses and instructions that end a guest thread.

use super::object::Nearest;
use super::region::RegionKind;
use super::state::{State, Thread, Unmapped};
use std::fmt;

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// An access to a byte that must not be accessed.
    Unmapped(Unmapped),
    /// A write to read-only memory.
    ReadOnly,
    /// An aligned access to an address that is no multiple of its size.
    Misaligned,
    /// A jump to an address that is no code.
    Jump,
    /// A division by zero, or one whose quotient does not fit.
    Divide,
    /// `ud2`, or bytes that are no instruction.
    InvalidInstruction,
    /// `int3`.
    Breakpoint,
    /// A floating-point exception that the guest has unmasked.
    FloatingPoint,
    /// A privileged instruction or an operand that the processor rejects.
    GeneralProtection,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FaultKind::Unmapped(Unmapped::Nothing) => "access to unmapped memory",
            FaultKind::Unmapped(Unmapped::HeapRedZone) => "access outside of a heap block",
            FaultKind::Unmapped(Unmapped::Freed) => "access to a freed heap block",
            FaultKind::Unmapped(Unmapped::GlobalRedZone) => "access outside of a global variable",
            FaultKind::Unmapped(Unmapped::StackRedZone) => "access outside of a local variable",
            FaultKind::Unmapped(Unmapped::DeadStack) => "access to a dead local variable",
            FaultKind::Unmapped(Unmapped::StackGuard) => "stack overflow",
            FaultKind::Unmapped(Unmapped::Returned) => "access to memory after munmap",
            FaultKind::ReadOnly => "write to read-only memory",
            FaultKind::Misaligned => "misaligned access",
            FaultKind::Jump => "jump to an address that is no code",
            FaultKind::Divide => "division by zero or overflow of a division",
            FaultKind::InvalidInstruction => "invalid instruction",
            FaultKind::Breakpoint => "breakpoint instruction",
            FaultKind::FloatingPoint => "unmasked floating-point exception",
            FaultKind::GeneralProtection => "general protection fault",
        })
    }
}

/// A precise account of what ended a guest thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// The first bad address: of the access, the target of a jump, or the instruction.
    pub address: u64,
    /// Bytes of the whole access; 0 for faults that are no access.
    pub size: u64,
    /// Whether the access is a write.
    pub write: bool,
    /// The region that contains the address.
    pub region: Option<RegionKind>,
    /// The object that contains the address or is next to it.
    pub nearest: Option<Nearest>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if self.size > 0 {
            let verb = if self.write { "write" } else { "read" };
            write!(f, ": {verb} of {} bytes", self.size)?;
        }
        write!(f, " at {:#x}", self.address)?;
        if let Some(region) = self.region {
            write!(f, " in {region}")?;
        }
        if let Some(nearest) = &self.nearest {
            write!(f, ", {nearest}")?;
        }
        Ok(())
    }
}

/// Why an access cannot be made directly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denied {
    /// The access ends the thread.
    Fault(Box<Fault>),
    /// All bytes are shared (a load may include read-only ones): the access is a question.
    Shared,
    /// A byte at this address has this state, which the thread must not access directly. The caller makes it shared and starts
    /// again. The owner is the thread itself if the access covers shared bytes as well.
    Owned(u64, State),
}

impl Denied {
    /// The owner of the byte that another thread touched.
    pub fn owner(&self) -> Option<Thread> {
        match self {
            Denied::Owned(_, State::Private(owner)) => Some(*owner),
            _ => None,
        }
    }
}
