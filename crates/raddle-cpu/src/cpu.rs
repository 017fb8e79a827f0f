//! The state of one guest thread, micro-operations, and accesses that may have to ask.
//!
//! **How an instruction asks.** A micro-operation runs optimistically: its accesses hit the thread's cache. At the first miss it
//! returns, having changed nothing, and runs again *carefully*: the cache is hidden, so that every access comes by, in
//! order, and is either done (private), asked (shared) or a fault. Results are kept in [`Pending`]; the micro-operation is
//! run again with the results so far until it completes. Hence no register changes before the last question, a value that was
//! answered is never read again, and a half-answered instruction can be part of a snapshot.

use crate::memory::{Denied, FaultKind, Memory, Thread};
use crate::registers::{
    Context, DF, FlagSource, LazyFlags, MXCSR, MXCSR_MASK, REGISTERS, Register, condition,
};
use crate::stop::Operation;
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
    Fence(crate::stop::Fence),
    Pause,
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
    const NONE: Access = Access {
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

/// Entries of the cache of jump targets.
pub(crate) const JUMPS: usize = 1024;

/// An empty cache of jump targets: no entry contains an address that belongs there.
pub(crate) const NO_JUMPS: [(u64, u32); JUMPS] = {
    let mut jumps = [(0, 0); JUMPS];
    jumps[0].0 = 1;
    jumps
};

/// One guest thread apart from its memory.
#[derive(Clone, Debug)]
pub struct Cpu {
    pub(crate) context: Context,
    pub(crate) lazy: LazyFlags,
    pub(crate) thread: Thread,
    /// Control and status of SSE. While `float_loaded`, the host's register is the current one.
    pub(crate) mxcsr: u32,
    pub(crate) float_loaded: bool,
    /// Whether x87 or MMX was used.
    pub(crate) fpu_used: bool,
    /// Whether the upper halves of vector registers were used.
    pub(crate) upper_used: bool,
    /// The instruction that runs next; meaningful if `at` is 0.
    pub(crate) ip: u64,
    /// The micro-operation that runs next; 0 if it must be looked up.
    pub(crate) at: u32,
    pub(crate) next: u32,
    pub(crate) target: u64,
    pub(crate) exit: Exit,
    pub(crate) budget: i64,
    pub(crate) miss: Access,
    pub(crate) pending: Pending,
    /// Accesses of the current run of the micro-operation that were answered from `pending`.
    pub(crate) replayed: usize,
    /// Why an access of more than 32 bytes failed.
    pub(crate) denied: Option<Denied>,
    /// Number of time stamps and random numbers that the thread has read.
    pub(crate) readings: u64,
    pub(crate) jumps: Box<[(u64, u32); JUMPS]>,
    /// The code that `jumps` and `at` refer to.
    pub(crate) code: u64,
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

/// x87 control word after `fninit`.
const FPU_CONTROL: u64 = 0x37f;

impl Cpu {
    /// A thread whose registers are zero. Its stack pointer is 64 bytes below the end of its stack.
    pub fn new(thread: Thread) -> Cpu {
        let mut fpu = [0; 64];
        fpu[0] = FPU_CONTROL;
        fpu[3] = u64::from(MXCSR);
        let mut registers = [0; REGISTERS];
        registers[Register::Rsp as usize] = crate::memory::layout::stack_end(thread) - 64;
        Cpu {
            context: Context {
                vectors: [[0; 4]; 16],
                scratch: [0; 8],
                fpu,
                registers,
                flags: 0x202,
            },
            lazy: LazyFlags::STORED,
            thread,
            mxcsr: MXCSR,
            float_loaded: false,
            fpu_used: false,
            upper_used: false,
            ip: 0,
            at: 0,
            next: 0,
            target: 0,
            exit: Exit::Lookup,
            budget: i64::MAX,
            miss: Access::NONE,
            pending: Pending::NONE,
            replayed: 0,
            denied: None,
            readings: 0,
            jumps: Box::new(NO_JUMPS),
            code: 0,
        }
    }

    /// The guest thread.
    pub fn thread(&self) -> Thread {
        self.thread
    }

    /// The value of a register.
    #[inline(always)]
    pub fn register(&self, register: Register) -> u64 {
        self.context.registers[register as usize]
    }

    /// Sets a register.
    #[inline(always)]
    pub fn set_register(&mut self, register: Register, value: u64) {
        self.context.registers[register as usize] = value;
    }

    /// A vector register as four words, lowest first.
    pub fn vector(&self, index: usize) -> [u64; 4] {
        self.context.vectors[index % 16]
    }

    /// Sets a vector register.
    pub fn set_vector(&mut self, index: usize, value: [u64; 4]) {
        self.upper_used |= value[2..] != [0, 0];
        self.context.vectors[index % 16] = value;
    }

    /// Sets the thread pointer: the base of the segment fs.
    pub fn set_fs_base(&mut self, base: u64) {
        self.set_register(Register::FsBase, base);
    }

    /// The flags register.
    pub fn flags(&self) -> u64 {
        self.lazy.flags(self.context.flags)
    }

    /// Sets the status flags and the direction flag.
    pub fn set_flags(&mut self, flags: u64) {
        self.context.flags = flags & (crate::registers::STATUS | DF) | 0x202;
        self.lazy.source = FlagSource::Stored;
    }

    /// Control and status of SSE.
    pub fn mxcsr(&self) -> u32 {
        self.mxcsr
    }

    /// The x87 and MMX state: the first 160 bytes of an `fxsave` area, which include mxcsr.
    pub fn float_state(&self) -> [u64; 20] {
        let mut state = [0; 20];
        state.copy_from_slice(&self.context.fpu[..20]);
        state[3] = u64::from(self.mxcsr) | MXCSR_MASK;
        state
    }

    /// Sets the x87 and MMX state and mxcsr. Exceptions stay masked.
    pub fn set_float_state(&mut self, state: &[u64; 20]) {
        self.context.fpu[..20].copy_from_slice(state);
        self.context.fpu[0] |= 0x3f;
        self.context.fpu[3] = u64::from(MXCSR) | MXCSR_MASK;
        self.mxcsr = state[3] as u32 & 0xffff | MXCSR;
        self.fpu_used = true;
    }

    /// Limits the number of instructions that the thread may run from now on. Checked at the end of each basic block.
    pub fn set_budget(&mut self, instructions: u64) {
        self.budget = i64::try_from(instructions).unwrap_or(i64::MAX);
    }

    /// What is left of the budget; negative by less than a basic block once it is used up.
    pub fn budget(&self) -> i64 {
        self.budget
    }

    /// Continues at `address`. An instruction that was waiting for an answer is abandoned.
    pub fn jump(&mut self, address: u64) {
        self.ip = address;
        self.at = 0;
        self.pending.len = 0;
    }

    #[inline(always)]
    pub(crate) fn set_lazy(
        &mut self,
        source: FlagSource,
        size: usize,
        a: u64,
        b: u64,
        result: u64,
    ) {
        self.lazy = LazyFlags { source, size: size as u8, a, b, result };
    }

    /// Computes the flags.
    pub(crate) fn store_flags(&mut self) {
        self.context.flags = self.flags();
        self.lazy.source = FlagSource::Stored;
    }

    #[inline(always)]
    pub(crate) fn condition(&self, code: u8) -> bool {
        if self.lazy.source != FlagSource::Stored && code >> 1 == 2 {
            let mask = u64::MAX >> (64 - u32::from(self.lazy.size) * 8);
            return (self.lazy.result & mask == 0) != (code & 1 == 1);
        }
        condition(self.flags(), code)
    }

    /// The address of the memory operand.
    #[inline(always)]
    pub(crate) fn address(&self, op: &Op) -> u64 {
        self.register(op.base)
            .wrapping_add(self.register(op.index) << (op.scale & 3))
            .wrapping_add(op.disp)
    }

    /// Leaves the dispatch loop.
    #[inline(always)]
    pub(crate) fn stop(&mut self, exit: Exit) -> u32 {
        self.exit = exit;
        STOP
    }

    /// The result of an access that is not in the cache, if it is known already.
    #[inline(always)]
    pub(crate) fn replay(&mut self, access: Access) -> Option<[u64; 4]> {
        if self.replayed < self.pending.len {
            let data = self.pending.accesses[self.replayed % MAX_ACCESSES].data;
            self.replayed += 1;
            return Some(data);
        }
        self.miss = access;
        self.exit = Exit::Miss;
        None
    }

    #[inline(always)]
    pub(crate) fn load<T: Word>(&mut self, memory: &Memory, address: u64) -> Option<T> {
        if let Some(value) = T::load(memory, address) {
            return Some(value);
        }
        let access = Access { address, size: T::SIZE as u8, ..Access::NONE };
        self.replay(access).map(|data| T::truncate(data[0]))
    }

    #[inline(always)]
    pub(crate) fn store<T: Word>(
        &mut self,
        memory: &mut Memory,
        address: u64,
        value: T,
    ) -> Option<()> {
        if value.store(memory, address) {
            return Some(());
        }
        let data = [value.zero_extended(), 0, 0, 0];
        let kind = AccessKind::Store;
        self.replay(Access { address, size: T::SIZE as u8, data, kind, ..Access::NONE }).map(|_| ())
    }

    /// The first access of an atomic operation: loads the old value. On shared memory the store that follows is part of it.
    pub(crate) fn load_atomic(
        &mut self,
        memory: &Memory,
        address: u64,
        size: u8,
        operation: Operation,
    ) -> Option<[u64; 2]> {
        let hit = match size {
            1 => memory.try_load(address).map(|v| [u64::from(u8::from_le_bytes(v)), 0]),
            2 => memory.try_load(address).map(|v| [u64::from(u16::from_le_bytes(v)), 0]),
            4 => memory.try_load(address).map(|v| [u64::from(u32::from_le_bytes(v)), 0]),
            8 => memory.try_load(address).map(|v| [u64::from_le_bytes(v), 0]),
            _ => memory.try_load::<16>(address).map(halves),
        };
        if hit.is_some() {
            return hit;
        }
        let kind = AccessKind::Atomic(operation);
        self.replay(Access { address, size, kind, ..Access::NONE }).map(|data| [data[0], data[1]])
    }

    #[inline(always)]
    pub(crate) fn load16(&mut self, memory: &Memory, address: u64) -> Option<[u64; 2]> {
        if let Some(bytes) = memory.try_load::<16>(address) {
            return Some(halves(bytes));
        }
        self.replay(Access { address, size: 16, ..Access::NONE }).map(|data| [data[0], data[1]])
    }

    #[inline(always)]
    pub(crate) fn store16(
        &mut self,
        memory: &mut Memory,
        address: u64,
        value: [u64; 2],
    ) -> Option<()> {
        let bytes = (u128::from(value[0]) | u128::from(value[1]) << 64).to_le_bytes();
        if memory.try_store(address, bytes) {
            return Some(());
        }
        let data = [value[0], value[1], 0, 0];
        let kind = AccessKind::Store;
        self.replay(Access { address, size: 16, data, kind, ..Access::NONE }).map(|_| ())
    }

    /// Loads up to 32 bytes into the scratch buffer of stubs.
    pub(crate) fn load_scratch(&mut self, memory: &Memory, address: u64, size: u8) -> Option<()> {
        let data = match size {
            4 => memory.try_load(address).map(|v| [u64::from(u32::from_le_bytes(v)), 0, 0, 0]),
            8 => memory.try_load(address).map(|v| [u64::from_le_bytes(v), 0, 0, 0]),
            16 => memory.try_load::<16>(address).map(|v| [halves(v)[0], halves(v)[1], 0, 0]),
            _ => None,
        };
        let data = match data {
            Some(data) => data,
            None => self.replay(Access { address, size, ..Access::NONE })?,
        };
        self.context.scratch[..4].copy_from_slice(&data);
        Some(())
    }

    /// Stores up to 32 bytes of the scratch buffer of stubs.
    pub(crate) fn store_scratch(
        &mut self,
        memory: &mut Memory,
        address: u64,
        size: u8,
        may_ask: bool,
    ) -> Option<()> {
        let scratch = &self.context.scratch;
        let data = [scratch[0], scratch[1], scratch[2], scratch[3]];
        let hit = match size {
            4 => memory.try_store(address, (data[0] as u32).to_le_bytes()),
            8 => memory.try_store(address, data[0].to_le_bytes()),
            _ => false,
        };
        if hit {
            return Some(());
        }
        let kind = AccessKind::Store;
        self.replay(Access { address, size, data, kind, may_ask, done: 0 }).map(|_| ())
    }
}

fn halves(bytes: [u8; 16]) -> [u64; 2] {
    let value = u128::from_le_bytes(bytes);
    [value as u64, (value >> 64) as u64]
}

/// An operand size.
pub(crate) trait Word: Copy + Eq + 'static {
    const SIZE: usize;
    const BITS: u32;
    const TOP: u64 = 1 << (Self::BITS - 1);
    fn truncate(value: u64) -> Self;
    fn zero_extended(self) -> u64;
    fn sign_extended(self) -> i64;
    fn load(memory: &Memory, address: u64) -> Option<Self>;
    fn store(self, memory: &mut Memory, address: u64) -> bool;
    /// Writes a general-purpose register: 32 bits clear the upper half, smaller sizes keep the rest.
    fn merge(self, old: u64) -> u64;
}

macro_rules! words {
    ($($unsigned:ty, $signed:ty, $keep:expr;)*) => { $(impl Word for $unsigned {
        const SIZE: usize = size_of::<$unsigned>();
        const BITS: u32 = <$unsigned>::BITS;
        #[inline(always)]
        fn truncate(value: u64) -> Self {
            value as $unsigned
        }
        #[inline(always)]
        fn zero_extended(self) -> u64 {
            self as u64
        }
        #[inline(always)]
        fn sign_extended(self) -> i64 {
            self as $signed as i64
        }
        #[inline(always)]
        fn load(memory: &Memory, address: u64) -> Option<Self> {
            memory.try_load(address).map(<$unsigned>::from_le_bytes)
        }
        #[inline(always)]
        fn store(self, memory: &mut Memory, address: u64) -> bool {
            memory.try_store(address, self.to_le_bytes())
        }
        #[inline(always)]
        fn merge(self, old: u64) -> u64 {
            old & $keep | self as u64
        }
    })* };
}
words! {
    u8, i8, !0xff;
    u16, i16, !0xffff;
    u32, i32, 0;
    u64, i64, 0;
}
