//! Instructions that ask or tell something other than memory, and moves of flags.

use crate::cpu::{CONTINUE, Cpu, Exit, Op, Word, get};
use crate::memory::{FaultKind, Memory};
use crate::registers::{CF, DF, FlagSource, MXCSR, Register, STATUS};
use crate::stop::Fence;
use crate::stub;

/// A baseline x86-64 processor: SSE2 and `cmpxchg16b`, so that resolvers choose code that we execute.
pub(crate) fn cpuid(cpu: &mut Cpu, _: &mut Memory, _: &Op) -> u32 {
    const FPU_TSC_CX8_CMOV: u64 = 1 | 1 << 4 | 1 << 8 | 1 << 15;
    const MMX_FXSR_SSE_SSE2: u64 = 1 << 23 | 1 << 24 | 1 << 25 | 1 << 26;
    const CX16: u64 = 1 << 13;
    const FAMILY_6: u64 = 0x600;
    let leaf = cpu.register(Register::Rax) as u32;
    let [a, b, c, d] = match leaf {
        0 => [4, 0x756e_6547, 0x6c65_746e, 0x4965_6e69],
        1 => [FAMILY_6, 0, CX16, FPU_TSC_CX8_CMOV | MMX_FXSR_SSE_SSE2],
        // Caches are described by leaf 4.
        2 => [0xff01, 0, 0, 0],
        4 => cache(cpu.register(Register::Rcx) as u32),
        0x8000_0000 => [0x8000_0001, 0, 0, 0],
        // Long mode, syscall, no-execute pages.
        0x8000_0001 => [0, 0, 1, 1 << 29 | 1 << 11 | 1 << 20],
        _ => [0; 4],
    };
    cpu.set_register(Register::Rax, a);
    cpu.set_register(Register::Rbx, b);
    cpu.set_register(Register::Rcx, c);
    cpu.set_register(Register::Rdx, d);
    CONTINUE
}

/// Leaf 4 of `cpuid`: data and instruction caches of 32 KiB, then 1 MiB, then 1 GiB, which is so large that the C library never
/// copies with non-temporal stores.
fn cache(index: u32) -> [u64; 4] {
    const LINE: u64 = 64;
    let (kind, level, ways, sets) = match index {
        0 => (1, 1, 8, 64),
        1 => (2, 1, 8, 64),
        2 => (3, 2, 16, 1024),
        3 => (3, 3, 16, 1 << 20),
        _ => return [0; 4],
    };
    let self_initialising = 1 << 8;
    [kind | level << 5 | self_initialising, (LINE - 1) | (ways - 1) << 22, sets - 1, 0]
}

pub(crate) fn full_fence(cpu: &mut Cpu, _: &mut Memory, _: &Op) -> u32 {
    cpu.stop(Exit::Fence(Fence::Full))
}

pub(crate) fn store_fence(cpu: &mut Cpu, _: &mut Memory, _: &Op) -> u32 {
    cpu.stop(Exit::Fence(Fence::Store))
}

pub(crate) fn load_fence(cpu: &mut Cpu, _: &mut Memory, _: &Op) -> u32 {
    cpu.stop(Exit::Fence(Fence::Load))
}

pub(crate) fn pause(cpu: &mut Cpu, _: &mut Memory, _: &Op) -> u32 {
    cpu.stop(Exit::Pause)
}

pub(crate) fn syscall(cpu: &mut Cpu, _: &mut Memory, _: &Op) -> u32 {
    cpu.stop(Exit::Syscall)
}

/// A function of the host; its number is in `imm`.
pub(crate) fn host_call(cpu: &mut Cpu, _: &mut Memory, op: &Op) -> u32 {
    cpu.stop(Exit::HostCall(op.imm as u32))
}

/// A jump to an address that is no code.
pub(crate) fn bad_jump(cpu: &mut Cpu, _: &mut Memory, _: &Op) -> u32 {
    cpu.stop(Exit::Fault(FaultKind::Jump))
}

pub(crate) fn invalid(cpu: &mut Cpu, _: &mut Memory, _: &Op) -> u32 {
    cpu.stop(Exit::Fault(FaultKind::InvalidInstruction))
}

pub(crate) fn privileged(cpu: &mut Cpu, _: &mut Memory, _: &Op) -> u32 {
    cpu.stop(Exit::Fault(FaultKind::GeneralProtection))
}

pub(crate) fn breakpoint(cpu: &mut Cpu, _: &mut Memory, _: &Op) -> u32 {
    cpu.stop(Exit::Fault(FaultKind::Breakpoint))
}

/// The reasons for refusals; a micro-operation has an index in `imm`.
pub(crate) const REASONS: [&str; 17] = [
    "the instruction has no model",
    "the host cannot execute it",
    "it uses the stack pointer in an unusual way",
    "it accesses memory more than once",
    "it accesses memory conditionally",
    "it needs more registers than are free",
    "it is AVX-512",
    "it belongs to the operating system or to an extension without a model",
    "it uses the segment gs",
    "it cannot be encoded with another memory operand",
    "it reads the time or a random number, which is refused by option",
    "it uses MMX and SSE registers together",
    "its memory operand is too large",
    "it unmasks floating-point exceptions",
    "a non-temporal or masked access, or one of more than 32 bytes, to shared memory",
    "it is in memory that other threads share or own",
    "it sets a flag without a model: trap, nested task, alignment check or identification",
];
/// Index in [`REASONS`].
pub(crate) const UNMASKS: usize = 13;
/// Index in [`REASONS`].
pub(crate) const NON_TEMPORAL: usize = 14;
/// Index in [`REASONS`].
const SYSTEM_FLAG: usize = 16;
/// TF, NT, AC, ID: `popfq` can set them in user mode.
const UNMODELLED_FLAGS: u64 = 1 << 8 | 1 << 14 | 1 << 18 | 1 << 21;

pub(crate) fn refused(cpu: &mut Cpu, _: &mut Memory, op: &Op) -> u32 {
    let reason = REASONS.get(op.imm as usize).copied().unwrap_or(REASONS[0]);
    cpu.stop(Exit::Refused(reason))
}

/// `rdtsc`, and `rdtscp` if `w` is 1: a count that grows with each reading.
pub(crate) fn time_stamp(cpu: &mut Cpu, _: &mut Memory, op: &Op) -> u32 {
    cpu.readings += 1;
    let time = cpu.readings * 1000;
    cpu.set_register(Register::Rax, time & 0xffff_ffff);
    cpu.set_register(Register::Rdx, time >> 32);
    if op.w == 1 {
        cpu.set_register(Register::Rcx, 0);
    }
    CONTINUE
}

/// `rdrand` and `rdseed`: a fixed sequence per thread.
pub(crate) fn random<T: Word>(cpu: &mut Cpu, _: &mut Memory, op: &Op) -> u32 {
    cpu.readings += 1;
    let value = cpu.readings.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let value = T::truncate(value ^ value >> 29);
    cpu.set_register(op.a, value.merge(cpu.register(op.a)));
    cpu.store_flags();
    cpu.context.flags = cpu.context.flags & !STATUS | CF;
    CONTINUE
}

/// Sets, clears or complements flags: `imm` is kept, `disp` is toggled after that.
pub(crate) fn change_flags(cpu: &mut Cpu, _: &mut Memory, op: &Op) -> u32 {
    cpu.store_flags();
    cpu.context.flags = cpu.context.flags & op.imm ^ op.disp;
    CONTINUE
}

pub(crate) fn load_ah(cpu: &mut Cpu, _: &mut Memory, _: &Op) -> u32 {
    let flags = cpu.flags() & 0xd5 | 2;
    let rax = cpu.register(Register::Rax);
    cpu.set_register(Register::Rax, rax & !0xff00 | flags << 8);
    CONTINUE
}

pub(crate) fn store_ah(cpu: &mut Cpu, _: &mut Memory, _: &Op) -> u32 {
    cpu.store_flags();
    let ah = cpu.register(Register::Rax) >> 8 & 0xd5;
    cpu.context.flags = cpu.context.flags & !0xd5 | ah;
    CONTINUE
}

pub(crate) fn push_flags(cpu: &mut Cpu, memory: &mut Memory, _: &Op) -> u32 {
    let pointer = cpu.register(Register::Rsp).wrapping_sub(8);
    let flags = cpu.flags() & (STATUS | DF) | 0x202;
    get!(cpu.store(memory, pointer, flags));
    cpu.set_register(Register::Rsp, pointer);
    CONTINUE
}

/// `popfq`. Flags that only the system may change keep their value, as on a real processor; others that have no model are refused.
pub(crate) fn pop_flags(cpu: &mut Cpu, memory: &mut Memory, _: &Op) -> u32 {
    let pointer = cpu.register(Register::Rsp);
    let flags = get!(cpu.load::<u64>(memory, pointer));
    if flags & UNMODELLED_FLAGS != 0 {
        return cpu.stop(Exit::Refused(REASONS[SYSTEM_FLAG]));
    }
    cpu.set_register(Register::Rsp, pointer.wrapping_add(8));
    cpu.context.flags = flags & (STATUS | DF) | 0x202;
    cpu.lazy.source = FlagSource::Stored;
    CONTINUE
}

pub(crate) fn store_mxcsr(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    unload_float(cpu);
    get!(cpu.store(memory, cpu.address(op), cpu.mxcsr));
    CONTINUE
}

pub(crate) fn load_mxcsr(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let value = get!(cpu.load::<u32>(memory, cpu.address(op)));
    if value >> 16 != 0 {
        return cpu.stop(Exit::Fault(FaultKind::GeneralProtection));
    }
    if value & MXCSR != MXCSR {
        return cpu.stop(Exit::Refused(REASONS[UNMASKS]));
    }
    unload_float(cpu);
    cpu.mxcsr = value;
    CONTINUE
}

/// Moves the guest's mxcsr from the host's register to the state of the thread.
pub(crate) fn unload_float(cpu: &mut Cpu) {
    if cpu.float_loaded {
        cpu.mxcsr = stub::unload_mxcsr();
        cpu.float_loaded = false;
    }
}

pub(crate) fn translate_byte(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let rax = cpu.register(Register::Rax);
    let address = cpu.address(op).wrapping_add(rax & 0xff);
    let value = get!(cpu.load::<u8>(memory, address));
    cpu.set_register(Register::Rax, value.merge(rax));
    CONTINUE
}
