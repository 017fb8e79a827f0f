//! Addition, subtraction, logic, comparison.

use super::{Destination, Source};
use crate::cpu::{CONTINUE, Cpu, Op, Word, get};
use crate::memory::Memory;
use crate::registers::{CF, FlagSource, OF, STATUS, flag, result_flags};

/// A binary operation.
pub(crate) trait Binary {
    /// Whether the result is stored.
    const WRITES: bool = true;
    const FLAGS: FlagSource;
    fn compute(a: u64, b: u64) -> u64;
}

macro_rules! binary {
    ($($name:ident $writes:literal $flags:ident |$a:ident, $b:ident| $result:expr;)*) => { $(
        pub(crate) struct $name;
        impl Binary for $name {
            const WRITES: bool = $writes;
            const FLAGS: FlagSource = FlagSource::$flags;
            #[inline(always)]
            fn compute($a: u64, $b: u64) -> u64 {
                $result
            }
        }
    )* };
}
binary! {
    Add true Add |a, b| a.wrapping_add(b);
    Sub true Sub |a, b| a.wrapping_sub(b);
    Cmp false Sub |a, b| a.wrapping_sub(b);
    And true Logic |a, b| a & b;
    Test false Logic |a, b| a & b;
    Or true Logic |a, b| a | b;
    Xor true Logic |a, b| a ^ b;
}

/// `F`: whether the flags are needed.
pub(crate) fn binary<O: Binary, D: Destination, S: Source, T: Word, const F: bool>(
    cpu: &mut Cpu,
    memory: &mut Memory,
    op: &Op,
) -> u32 {
    let a = get!(D::get::<T>(cpu, memory, op)).zero_extended();
    let b = get!(S::get::<T>(cpu, memory, op)).zero_extended();
    let result = O::compute(a, b);
    if O::WRITES {
        get!(D::put(cpu, memory, op, T::truncate(result)));
    }
    if F {
        cpu.set_lazy(O::FLAGS, T::SIZE, a, b, result);
    }
    CONTINUE
}

/// `adc`, and `sbb` if `SUBTRACT`.
pub(crate) fn with_carry<D: Destination, S: Source, T: Word, const SUBTRACT: bool>(
    cpu: &mut Cpu,
    memory: &mut Memory,
    op: &Op,
) -> u32 {
    let a = get!(D::get::<T>(cpu, memory, op)).zero_extended();
    let b = get!(S::get::<T>(cpu, memory, op)).zero_extended();
    let flags = cpu.flags();
    let (result, new) = add_with_carry::<T>(a, b, flags & CF, SUBTRACT);
    get!(D::put(cpu, memory, op, T::truncate(result)));
    cpu.context.flags = flags & !STATUS | new;
    cpu.lazy.source = FlagSource::Stored;
    CONTINUE
}

/// The result and status flags of `a + b + carry` or `a - b - carry`.
#[inline(always)]
pub(crate) fn add_with_carry<T: Word>(a: u64, b: u64, carry: u64, subtract: bool) -> (u64, u64) {
    let raw = if subtract {
        a.wrapping_sub(b).wrapping_sub(carry)
    } else {
        a.wrapping_add(b).wrapping_add(carry)
    };
    let result = T::truncate(raw).zero_extended();
    let (carries, overflows) = if subtract {
        (a < b || (a == b && carry == 1), (a ^ b) & (a ^ result) & T::TOP != 0)
    } else {
        (result < a || (result == a && carry == 1), (a ^ result) & (b ^ result) & T::TOP != 0)
    };
    let flags = result_flags(result, T::TOP)
        | flag(carries, CF)
        | flag(overflows, OF)
        | (a ^ b ^ result) & crate::registers::AF;
    (result, flags)
}

/// `inc`, and `dec` if `DOWN`. CF is kept.
pub(crate) fn increment<D: Destination, T: Word, const DOWN: bool, const F: bool>(
    cpu: &mut Cpu,
    memory: &mut Memory,
    op: &Op,
) -> u32 {
    let a = get!(D::get::<T>(cpu, memory, op)).zero_extended();
    let result = if DOWN { a.wrapping_sub(1) } else { a.wrapping_add(1) };
    get!(D::put(cpu, memory, op, T::truncate(result)));
    if F {
        let carry = cpu.flags() & CF;
        let source = if DOWN { FlagSource::Sub } else { FlagSource::Add };
        cpu.set_lazy(source, T::SIZE, a, 1, result);
        cpu.store_flags();
        cpu.context.flags = cpu.context.flags & !CF | carry;
    }
    CONTINUE
}

pub(crate) fn negate<D: Destination, T: Word>(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let a = get!(D::get::<T>(cpu, memory, op)).zero_extended();
    let result = 0u64.wrapping_sub(a);
    get!(D::put(cpu, memory, op, T::truncate(result)));
    cpu.set_lazy(FlagSource::Sub, T::SIZE, 0, a, result);
    CONTINUE
}

pub(crate) fn not<D: Destination, T: Word>(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let a = get!(D::get::<T>(cpu, memory, op)).zero_extended();
    get!(D::put(cpu, memory, op, T::truncate(!a)));
    CONTINUE
}
