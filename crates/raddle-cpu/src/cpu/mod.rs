//! The state of one guest thread, micro-operations, and accesses that may have to ask.
//!
//! **How an instruction asks.** A micro-operation runs optimistically: its accesses hit the thread's cache. At the first miss it
//! returns, having changed nothing, and runs again *carefully*: the cache is hidden, so that every access comes by, in
//! order, and is either done (private), asked (shared) or a fault. Results are kept in [`Pending`]; the micro-operation is
//! run again with the results so far until it completes. Hence no register changes before the last question, a value that was
//! answered is never read again, and a half-answered instruction can be part of a snapshot.

use crate::memory::{Denied, Thread};
use crate::registers::{
    Context, DF, FlagSource, LazyFlags, MXCSR, MXCSR_MASK, REGISTERS, Register, condition,
};

mod access;
mod op;
mod rounds;
mod word;

pub(crate) use op::{Access, AccessKind, CONTINUE, Exec, Exit, Op, Pending, STOP, get};
pub(crate) use rounds::ActiveLoop;
pub(crate) use word::Word;

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
    /// The loops that the thread is in, outermost first, if their rounds are limited.
    pub(crate) loops: Vec<ActiveLoop>,
    /// Whether locked instructions on private memory stop.
    pub(crate) reports_locked: bool,
    /// Whether the read-modify-write operation that runs was a question.
    pub(crate) was_asked: bool,
}

/// The x87 state after `fninit`.
pub(crate) const INITIAL_FPU: [u64; 64] = {
    let mut fpu = [0; 64];
    fpu[0] = 0x37f;
    fpu[3] = MXCSR as u64 | MXCSR_MASK;
    fpu
};

impl Cpu {
    /// A thread whose registers are zero. Its stack pointer is 64 bytes below the end of its stack.
    pub fn new(thread: Thread) -> Cpu {
        let mut registers = [0; REGISTERS];
        registers[Register::Rsp as usize] = crate::memory::layout::stack_end(thread) - 64;
        Cpu {
            context: Context {
                vectors: [[0; 4]; 16],
                scratch: [0; 8],
                fpu: INITIAL_FPU,
                host_control: INITIAL_FPU[0],
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
            loops: vec![],
            reports_locked: false,
            was_asked: false,
        }
    }

    /// From now on a locked instruction on private memory stops with [`Fence::Implied`](crate::Fence::Implied) when it is done.
    pub fn report_locked(&mut self) {
        self.reports_locked = true;
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
        self.exit = Exit::Lookup;
        self.pending.len = 0;
    }

    /// Whether the thread has called a host function and not returned from it.
    pub(crate) fn is_in_host_call(&self) -> bool {
        matches!(self.exit, Exit::HostCall(_))
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
}
