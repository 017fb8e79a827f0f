//! Multiplication and division. Division faults instead of raising a signal.

use super::Source;
use crate::cpu::{CONTINUE, Cpu, Exit, Op, Word, get};
use crate::memory::{FaultKind, Memory};
use crate::registers::{CF, FlagSource, OF, Register, flag};

/// `imul` of two operands into register `a`.
pub(crate) fn imul<P: Source, S: Source, T: Word, const F: bool>(
    cpu: &mut Cpu,
    memory: &mut Memory,
    op: &Op,
) -> u32 {
    let a = get!(P::get::<T>(cpu, memory, op)).sign_extended();
    let b = get!(S::get::<T>(cpu, memory, op)).sign_extended();
    let result = T::truncate(a.wrapping_mul(b) as u64);
    cpu.set_register(op.a, result.merge(cpu.register(op.a)));
    if F {
        let exact = i128::from(a) * i128::from(b);
        product_flags::<T>(cpu, result, exact != i128::from(result.sign_extended()));
    }
    CONTINUE
}

fn product_flags<T: Word>(cpu: &mut Cpu, low: T, overflows: bool) {
    cpu.set_lazy(FlagSource::Logic, T::SIZE, 0, 0, low.zero_extended());
    cpu.store_flags();
    cpu.context.flags |= flag(overflows, CF | OF);
}

/// rdx:rax (ax for bytes) = rax * operand; signed if `SIGNED`.
pub(crate) fn multiply<S: Source, T: Word, const SIGNED: bool>(
    cpu: &mut Cpu,
    memory: &mut Memory,
    op: &Op,
) -> u32 {
    let b = get!(S::get::<T>(cpu, memory, op));
    let a = T::truncate(cpu.register(Register::Rax));
    let product = if SIGNED {
        (i128::from(a.sign_extended()) * i128::from(b.sign_extended())) as u128
    } else {
        u128::from(a.zero_extended()) * u128::from(b.zero_extended())
    };
    let low = T::truncate(product as u64);
    let high = T::truncate((product >> T::BITS) as u64);
    let overflows = if SIGNED {
        product as i128 != i128::from(low.sign_extended())
    } else {
        high.zero_extended() != 0
    };
    set_pair(cpu, low, high);
    product_flags(cpu, low, overflows);
    CONTINUE
}

/// Sets rdx:rax, or ah:al for bytes.
fn set_pair<T: Word>(cpu: &mut Cpu, low: T, high: T) {
    let rax = cpu.register(Register::Rax);
    if T::SIZE == 1 {
        let value = low.zero_extended() | high.zero_extended() << 8;
        cpu.set_register(Register::Rax, (value as u16).merge(rax));
    } else {
        cpu.set_register(Register::Rax, low.merge(rax));
        cpu.set_register(Register::Rdx, high.merge(cpu.register(Register::Rdx)));
    }
}

/// Quotient and remainder of rdx:rax (ax for bytes) by the operand; signed if `SIGNED`. The flags are undefined and kept.
pub(crate) fn divide<S: Source, T: Word, const SIGNED: bool>(
    cpu: &mut Cpu,
    memory: &mut Memory,
    op: &Op,
) -> u32 {
    let divisor = get!(S::get::<T>(cpu, memory, op));
    let (rax, rdx) = (cpu.register(Register::Rax), cpu.register(Register::Rdx));
    let dividend = if T::SIZE == 1 {
        u128::from(rax as u16)
    } else {
        let high = u128::from(T::truncate(rdx).zero_extended());
        u128::from(T::truncate(rax).zero_extended()) | high << T::BITS
    };
    let result = if SIGNED { signed(dividend, divisor) } else { unsigned(dividend, divisor) };
    match result {
        Some((quotient, remainder)) => {
            set_pair(cpu, quotient, remainder);
            CONTINUE
        }
        None => cpu.stop(Exit::Fault(FaultKind::Divide)),
    }
}

fn unsigned<T: Word>(dividend: u128, divisor: T) -> Option<(T, T)> {
    let divisor = divisor.zero_extended();
    // Most dividends fit into 64 bits, where dividing is several times faster.
    if let Ok(dividend) = u64::try_from(dividend) {
        let quotient = dividend.checked_div(divisor)?;
        let fits = T::truncate(quotient).zero_extended() == quotient;
        return fits.then(|| (T::truncate(quotient), T::truncate(dividend % divisor)));
    }
    let quotient = dividend.checked_div(divisor.into())?;
    let fits = u128::from(T::truncate(quotient as u64).zero_extended()) == quotient;
    let remainder = (dividend % u128::from(divisor)) as u64;
    fits.then(|| (T::truncate(quotient as u64), T::truncate(remainder)))
}

fn signed<T: Word>(dividend: u128, divisor: T) -> Option<(T, T)> {
    let shift = 128 - 2 * T::BITS;
    let dividend = (dividend << shift) as i128 >> shift;
    let divisor = divisor.sign_extended();
    if let (Ok(dividend), true) = (i64::try_from(dividend), divisor != -1) {
        let quotient = dividend.checked_div(divisor)?;
        let fits = T::truncate(quotient as u64).sign_extended() == quotient;
        return fits
            .then(|| (T::truncate(quotient as u64), T::truncate((dividend % divisor) as u64)));
    }
    let quotient = dividend.checked_div(divisor.into())?;
    let fits = i128::from(T::truncate(quotient as u64).sign_extended()) == quotient;
    let remainder = (dividend % i128::from(divisor)) as u64;
    fits.then(|| (T::truncate(quotient as u64), T::truncate(remainder)))
}
