//! Instructions that run in stubs.
//!
//! The memory operand goes through a scratch buffer: the access itself is checked, classified and asked like any other. If the
//! store of the result asks, what the stub changed is taken back, and the stub runs again after the answer.

use super::system::{REASONS, UNMASKS, unload_float};
use crate::cpu::{CONTINUE, Cpu, Exit, Op, STOP, get};
use crate::memory::Memory;
use crate::registers::{Context, DF, MXCSR, MXCSR_MASK, STATUS};
use crate::stub::properties::{
    ALIGNED, CONTROL_WORD, FLAGS, FLOAT, FPU, PRIVATE_ONLY, READS, UPPER, WRITES,
};

/// Runs a stub without memory operand.
pub(crate) fn run_registers(cpu: &mut Cpu, _: &mut Memory, op: &Op) -> u32 {
    if op.imm & FLOAT != 0 && !cpu.float_loaded {
        return cpu.stop(Exit::LoadFloat);
    }
    call(cpu, op);
    CONTINUE
}

/// Runs a stub with a memory operand of `w` bytes.
pub(crate) fn run_memory(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    if op.imm & FLOAT != 0 && !cpu.float_loaded {
        return cpu.stop(Exit::LoadFloat);
    }
    let address = cpu.address(op);
    if op.imm & ALIGNED != 0 && !address.is_multiple_of(u64::from(op.w)) {
        cpu.target = address;
        let write = op.imm & WRITES != 0;
        return cpu.stop(Exit::Misaligned { size: op.w, write });
    }
    if op.imm & READS != 0 {
        get!(cpu.load_scratch(memory, address, op.w));
        if op.imm & CONTROL_WORD != 0 && cpu.context.scratch[0] & 0x3f != 0x3f {
            return cpu.stop(Exit::Refused(REASONS[UNMASKS]));
        }
    } else {
        cpu.context.scratch = [0; 8];
    }
    if op.imm & WRITES == 0 {
        call(cpu, op);
        return CONTINUE;
    }
    let old = Before::of(cpu, op);
    call(cpu, op);
    let may_ask = op.imm & PRIVATE_ONLY == 0;
    if cpu.store_scratch(memory, address, op.w, may_ask).is_none() {
        old.restore(cpu);
        return STOP;
    }
    CONTINUE
}

/// What an instruction that writes memory may change besides: flags and the x87 stack.
struct Before {
    flags: u64,
    lazy: crate::registers::LazyFlags,
    fpu: Option<[u64; 64]>,
}

impl Before {
    fn of(cpu: &Cpu, op: &Op) -> Before {
        let fpu = (op.imm & FPU != 0).then_some(cpu.context.fpu);
        Before { flags: cpu.context.flags, lazy: cpu.lazy, fpu }
    }

    fn restore(self, cpu: &mut Cpu) {
        cpu.context.flags = self.flags;
        cpu.lazy = self.lazy;
        if let Some(fpu) = self.fpu {
            cpu.context.fpu = fpu;
        }
    }
}

#[inline(always)]
fn call(cpu: &mut Cpu, op: &Op) {
    let Some(stub) = op.stub else { return };
    if op.imm & (FLAGS | FPU | UPPER) == 0 {
        stub.call(&mut cpu.context);
        return;
    }
    cpu.upper_used |= op.imm & UPPER != 0;
    if op.imm & FPU != 0 {
        unload_float(cpu);
        cpu.fpu_used = true;
    }
    if op.imm & FLAGS != 0 {
        cpu.store_flags();
        let direction = cpu.context.flags & DF;
        cpu.context.flags &= !DF;
        stub.call(&mut cpu.context);
        cpu.context.flags = cpu.context.flags & STATUS | direction | 0x202;
    } else {
        stub.call(&mut cpu.context);
    }
    if op.imm & FPU != 0 {
        clean_fpu(&mut cpu.context);
    }
}

/// Removes what depends on the host: the addresses of the last x87 instruction and operand, and vector registers.
fn clean_fpu(context: &mut Context) {
    context.fpu[0] &= 0xffff_ffff_ffff;
    context.fpu[1] = 0;
    context.fpu[2] = 0;
    context.fpu[3] = u64::from(MXCSR) | MXCSR_MASK;
}
