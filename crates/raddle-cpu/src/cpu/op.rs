//! Micro-operations and the accesses they make.

use super::Cpu;
use crate::memory::{FaultKind, Memory};
use crate::registers::Register;
use crate::stop::{Fence, Operation};
use crate::stub::Stub;
use std::cell::Cell;

/// The function of a micro-operation: returns [`CONTINUE`], [`STOP`] or the index of the next micro-operation.
pub(crate) type Exec = fn(&mut Cpu, &mut Memory, &Op) -> u32;

/// Go on with the micro-operation that follows.
pub(crate) const CONTINUE: u32 = 0;
/// Leave the dispatch loop; [`Cpu::exit`] says why.
pub(crate) const STOP: u32 = u32::MAX;

/// A micro-operation.
#[derive(Debug)]
pub(crate) struct Op {
    pub(crate) exec: Exec,
    /// Immediate operand, or the target of a branch.
    pub(crate) imm: u64,
    /// Displacement of the memory operand.
    pub(crate) disp: u64,
    /// Address of the instruction.
    pub(crate) ip: u64,
    /// What runs natively.
    pub(crate) stub: Option<Stub>,
    /// Where a taken branch leads; at first to a micro-operation that resolves it.
    pub(crate) taken: Cell<u32>,
    /// Where a branch that is not taken leads.
    pub(crate) other: Cell<u32>,
    pub(crate) a: Register,
    pub(crate) b: Register,
    pub(crate) base: Register,
    pub(crate) index: Register,
    pub(crate) scale: u8,
    /// Condition code, kind of an operation, or vector register.
    pub(crate) w: u8,
    /// Number of instructions of the block up to here.
    pub(crate) count: u16,
}

/// Why the dispatch loop was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// An access that the cache does not allow: see [`Cpu::miss`].
    Miss,
    /// A branch that is not linked yet.
    Resolve,
    /// A jump to the address in [`Cpu::target`], which is not in the jump cache.
    Lookup,
    /// The budget is used up; continue at the micro-operation in [`Cpu::next`].
    Budget,
    Fence(Fence),
    Pause,
    /// A loop has more rounds than it may have.
    Rounds,
    Syscall,
    HostCall(u32),
    Fault(FaultKind),
    /// A misaligned access at [`Cpu::target`].
    Misaligned {
        size: u8,
        write: bool,
    },
    /// An access failed: see [`Cpu::denied`].
    Denied,
    /// The reason.
    Refused(&'static str),
    /// The registers of the host do not contain the guest's mxcsr yet.
    LoadFloat,
}

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessKind {
    Load,
    Store,
    Atomic(Operation),
}

/// An access that the current instruction makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) address: u64,
    /// The value: loaded, or to be stored.
    pub(crate) data: [u64; 4],
    pub(crate) kind: AccessKind,
    pub(crate) size: u8,
    /// Bytes that are loaded or stored. Smaller than `size` while the access asks.
    pub(crate) done: u8,
    /// Whether it may be a question; otherwise it is refused on shared memory.
    pub(crate) may_ask: bool,
}

impl Access {
    pub(crate) const NONE: Access = Access {
        address: 0,
        data: [0; 4],
        kind: AccessKind::Load,
        size: 0,
        done: 0,
        may_ask: true,
    };
}

/// At most this many accesses does one micro-operation make.
pub(crate) const MAX_ACCESSES: usize = 4;

/// The accesses of a micro-operation that runs carefully, in order. Only the last one can be incomplete.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub(crate) accesses: [Access; MAX_ACCESSES],
    pub(crate) len: usize,
}

impl Pending {
    pub(crate) const NONE: Pending = Pending { accesses: [Access::NONE; MAX_ACCESSES], len: 0 };
}

/// Unwraps the result of an access or leaves the micro-operation.
macro_rules! get {
    ($access:expr) => {
        match $access {
            Some(value) => value,
            None => return $crate::cpu::STOP,
        }
    };
}
pub(crate) use get;
