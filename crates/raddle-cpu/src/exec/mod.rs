//! The functions of micro-operations: one per operation, kinds of operands, size and need of flags, all monomorphised.
//!
//! **Rules.** A function changes no register before its last access that may ask. It contains no calls on its hot path, so it needs no
//! stack frame; cold paths leave the dispatch loop instead. **Rejected.** A `match` on an opcode (the operand kinds would have to be
//! decoded each time), and closures (one allocation and one more indirection per operation).

pub(crate) mod alu;
pub(crate) mod atomic;
pub(crate) mod control;
pub(crate) mod fpu;
pub(crate) mod masked;
pub(crate) mod moves;
pub(crate) mod muldiv;
pub(crate) mod native;
pub(crate) mod shift;
pub(crate) mod string;
pub(crate) mod system;
pub(crate) mod vector;

use crate::cpu::{Cpu, Op, Word};
use crate::memory::Memory;

/// An operand that is read.
pub(crate) trait Source {
    fn get<T: Word>(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> Option<T>;
}

/// An operand that is read or written.
pub(crate) trait Destination: Source {
    fn put<T: Word>(cpu: &mut Cpu, memory: &mut Memory, op: &Op, value: T) -> Option<()>;
}

/// Register `a`.
pub(crate) struct A;
/// Register `b`.
pub(crate) struct B;
/// The immediate operand.
pub(crate) struct Imm;
/// Memory at base, scaled index and displacement.
pub(crate) struct Indexed;
/// Memory at base and displacement.
pub(crate) struct Based;
/// Register cl.
pub(crate) struct Cl;

impl Source for A {
    #[inline(always)]
    fn get<T: Word>(cpu: &mut Cpu, _: &mut Memory, op: &Op) -> Option<T> {
        Some(T::truncate(cpu.register(op.a)))
    }
}

impl Destination for A {
    #[inline(always)]
    fn put<T: Word>(cpu: &mut Cpu, _: &mut Memory, op: &Op, value: T) -> Option<()> {
        cpu.set_register(op.a, value.merge(cpu.register(op.a)));
        Some(())
    }
}

impl Source for B {
    #[inline(always)]
    fn get<T: Word>(cpu: &mut Cpu, _: &mut Memory, op: &Op) -> Option<T> {
        Some(T::truncate(cpu.register(op.b)))
    }
}

impl Source for Imm {
    #[inline(always)]
    fn get<T: Word>(_: &mut Cpu, _: &mut Memory, op: &Op) -> Option<T> {
        Some(T::truncate(op.imm))
    }
}

impl Source for Cl {
    #[inline(always)]
    fn get<T: Word>(cpu: &mut Cpu, _: &mut Memory, _: &Op) -> Option<T> {
        Some(T::truncate(cpu.register(crate::registers::Register::Rcx)))
    }
}

impl Source for Indexed {
    #[inline(always)]
    fn get<T: Word>(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> Option<T> {
        cpu.load(memory, cpu.address(op))
    }
}

impl Destination for Indexed {
    #[inline(always)]
    fn put<T: Word>(cpu: &mut Cpu, memory: &mut Memory, op: &Op, value: T) -> Option<()> {
        cpu.store(memory, cpu.address(op), value)
    }
}

impl Source for Based {
    #[inline(always)]
    fn get<T: Word>(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> Option<T> {
        cpu.load(memory, cpu.register(op.base).wrapping_add(op.disp))
    }
}

impl Destination for Based {
    #[inline(always)]
    fn put<T: Word>(cpu: &mut Cpu, memory: &mut Memory, op: &Op, value: T) -> Option<()> {
        cpu.store(memory, cpu.register(op.base).wrapping_add(op.disp), value)
    }
}
