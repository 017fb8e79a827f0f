//! Registers, and status flags that are computed only when they are needed.
//!
//! An arithmetic operation stores its operands and its result; the flags follow from these when an instruction reads them.
//! Flags that no instruction reads before they are written again are not even stored: the translator knows.

/// General-purpose registers and pseudo-registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Register {
    Rax,
    Rcx,
    Rdx,
    Rbx,
    Rsp,
    Rbp,
    Rsi,
    Rdi,
    R8,
    R9,
    R10,
    R11,
    R12,
    R13,
    R14,
    R15,
    /// Always zero: the base or index of an address that has none.
    Zero,
    /// Base of the segment fs: the thread pointer.
    FsBase,
    /// An address that a micro-operation computed for the next one.
    Address,
}

/// Number of registers and pseudo-registers.
pub(crate) const REGISTERS: usize = 19;

impl Register {
    /// The general-purpose registers by their encoding.
    pub const GENERAL: [Register; 16] = {
        use Register::*;
        [Rax, Rcx, Rdx, Rbx, Rsp, Rbp, Rsi, Rdi, R8, R9, R10, R11, R12, R13, R14, R15]
    };
}

/// Carry.
pub const CF: u64 = 1;
/// Parity of the low byte.
pub const PF: u64 = 1 << 2;
/// Carry out of the low four bits.
pub const AF: u64 = 1 << 4;
/// Zero.
pub const ZF: u64 = 1 << 6;
/// Sign.
pub const SF: u64 = 1 << 7;
/// Direction of string instructions.
pub const DF: u64 = 1 << 10;
/// Signed overflow.
pub const OF: u64 = 1 << 11;
/// The six status flags.
pub const STATUS: u64 = CF | PF | AF | ZF | SF | OF;

/// Control and status of SSE at the start of a program: all exceptions masked, round to nearest.
pub(crate) const MXCSR: u32 = 0x1f80;

/// The mask of mxcsr in the area of `fxsave`.
pub(crate) const MXCSR_MASK: u64 = 0xffff << 32;

/// The state that stubs load and save. Its layout is known to generated code.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Context {
    /// ymm0 to ymm15.
    pub(crate) vectors: [[u64; 4]; 16],
    /// The memory operand of a stub.
    pub(crate) scratch: [u64; 8],
    /// x87 and MMX state in the format of `fxsave`.
    pub(crate) fpu: [u64; 64],
    /// The x87 control word of the host.
    pub(crate) host_control: u64,
    pub(crate) registers: [u64; REGISTERS],
    /// Flags as far as no lazy ones replace them.
    pub(crate) flags: u64,
}

/// How the status flags follow from the last operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlagSource {
    /// They are in `Context::flags`.
    Stored,
    Add,
    Sub,
    Logic,
}

/// The last operation that defines the status flags.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LazyFlags {
    pub(crate) source: FlagSource,
    /// Operand size in bytes.
    pub(crate) size: u8,
    pub(crate) a: u64,
    pub(crate) b: u64,
    pub(crate) result: u64,
}

impl LazyFlags {
    pub(crate) const STORED: LazyFlags =
        LazyFlags { source: FlagSource::Stored, size: 8, a: 0, b: 0, result: 0 };

    /// The flags register, given the `stored` one.
    pub(crate) fn flags(&self, stored: u64) -> u64 {
        let bits = u32::from(self.size) * 8;
        let mask = u64::MAX >> (64 - bits);
        let top = 1u64 << (bits - 1);
        let (a, b, result) = (self.a & mask, self.b & mask, self.result & mask);
        let carries = (a ^ b ^ result) & AF;
        let rest = stored & !STATUS | result_flags(result, top);
        match self.source {
            FlagSource::Stored => stored,
            FlagSource::Logic => rest,
            FlagSource::Add => {
                rest | carries
                    | flag(result < a, CF)
                    | flag((a ^ result) & (b ^ result) & top != 0, OF)
            }
            FlagSource::Sub => {
                rest | carries | flag(a < b, CF) | flag((a ^ b) & (a ^ result) & top != 0, OF)
            }
        }
    }
}

/// `bit` if `condition` holds.
#[inline(always)]
pub(crate) fn flag(condition: bool, bit: u64) -> u64 {
    if condition { bit } else { 0 }
}

/// ZF, SF and PF of a result that is zero-extended; `top` is its sign bit.
#[inline(always)]
pub(crate) fn result_flags(result: u64, top: u64) -> u64 {
    flag(result == 0, ZF)
        | flag(result & top != 0, SF)
        | flag((result as u8).count_ones().is_multiple_of(2), PF)
}

/// Whether condition `code` (as encoded in `jcc`) holds for `flags`.
#[inline(always)]
pub(crate) fn condition(flags: u64, code: u8) -> bool {
    let less = (flags & SF != 0) != (flags & OF != 0);
    let holds = match code >> 1 {
        0 => flags & OF != 0,
        1 => flags & CF != 0,
        2 => flags & ZF != 0,
        3 => flags & (CF | ZF) != 0,
        4 => flags & SF != 0,
        5 => flags & PF != 0,
        6 => less,
        _ => less || flags & ZF != 0,
    };
    holds != (code & 1 == 1)
}
