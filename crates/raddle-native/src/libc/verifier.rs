//! Functions of the competition on software verification (SV-COMP).
//!
//! A boolean or a byte has any of its values. Of other numbers only small ones are chosen, so an exploration in which one was chosen
//! is never called complete.

use super::Names;
use crate::program::call::{Call, Step};

fn assume(call: &mut Call<'_>) -> Step<u64> {
    let condition = call.argument(0)? as u32;
    call.assume(condition != 0)?;
    Ok(0)
}

fn boolean(call: &mut Call<'_>) -> Step<u64> {
    Ok(call.choose(2)?.into())
}

fn signed_byte(call: &mut Call<'_>) -> Step<u64> {
    Ok(call.choose(256)? as u8 as i8 as u64)
}

fn unsigned_byte(call: &mut Call<'_>) -> Step<u64> {
    Ok(call.choose(256)?.into())
}

/// The numbers that are tried unless the user chooses others. Unsigned numbers are not negative.
const NUMBERS: (i64, i64) = (-1, 3);

fn number(call: &mut Call<'_>, name: &str, lowest: i64) -> Step<u64> {
    let (first, last) = call.program.settings.environment.nondet.unwrap_or(NUMBERS);
    let first = first.max(lowest);
    call.note_bound(&format!(
        "numbers of {name} and the like are chosen from {first} to {last} only (--nondet chooses others, raddle bmc all)"
    ));
    call.assume(first <= last)?;
    let count = u32::try_from(last.abs_diff(first)).unwrap_or(u32::MAX).saturating_add(1);
    Ok(first.wrapping_add(call.choose(count)?.into()) as u64)
}

fn signed(call: &mut Call<'_>) -> Step<u64> {
    number(call, "__VERIFIER_nondet_int", i64::MIN)
}

fn unsigned(call: &mut Call<'_>) -> Step<u64> {
    number(call, "__VERIFIER_nondet_uint", 0)
}

/// Begins an atomic section. Functions whose names begin with `__VERIFIER_atomic_` call this and the next function, with their
/// arguments and results in registers, so all registers stay as they are.
fn atomic_begin(call: &mut Call<'_>) -> Step<u64> {
    call.begin_section()?;
    Ok(call.guest_result())
}

fn atomic_end(call: &mut Call<'_>) -> Step<u64> {
    call.end_section()?;
    Ok(call.guest_result())
}

pub(super) const TABLE: Names = &[
    ("__VERIFIER_assume", assume),
    ("assume_abort_if_not", assume),
    ("__VERIFIER_nondet_bool", boolean),
    ("__VERIFIER_nondet__Bool", boolean),
    ("__VERIFIER_nondet_char", signed_byte),
    ("__VERIFIER_nondet_uchar", unsigned_byte),
    ("__VERIFIER_nondet_int", signed),
    ("__VERIFIER_nondet_long", signed),
    ("__VERIFIER_nondet_longlong", signed),
    ("__VERIFIER_nondet_short", signed),
    ("__VERIFIER_nondet_uint", unsigned),
    ("__VERIFIER_nondet_size_t", unsigned),
    ("__VERIFIER_nondet_uint32_t", unsigned),
    ("__VERIFIER_nondet_ulong", unsigned),
    ("__VERIFIER_nondet_ulonglong", unsigned),
    ("__VERIFIER_nondet_unsigned", unsigned),
    ("__VERIFIER_nondet_unsigned_int", unsigned),
    ("__VERIFIER_nondet_ushort", unsigned),
    ("__VERIFIER_nondet_unsigned_char", unsigned_byte),
    ("__VERIFIER_nondet_u8", unsigned_byte),
    ("__VERIFIER_nondet_u16", unsigned),
    ("__VERIFIER_nondet_u32", unsigned),
    ("__VERIFIER_nondet_u64", unsigned),
    ("nondet_bool", boolean),
    ("nondet_char", signed_byte),
    ("nondet_uchar", unsigned_byte),
    ("nondet_int", signed),
    ("nondet_long", signed),
    ("nondet_short", signed),
    ("nondet_uint", unsigned),
    ("nondet_ushort", unsigned),
    ("nondet_ulong", unsigned),
    ("nondet_unsigned", unsigned),
    ("nondet", signed),
    ("__VERIFIER_atomic_begin", atomic_begin),
    ("__VERIFIER_atomic_end", atomic_end),
];
