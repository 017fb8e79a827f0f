//! Functions of the competition on software verification (SV-COMP).
//!
//! A boolean or a byte has any of its values. Of other numbers only small ones are chosen, so an exploration in which one was chosen
//! is never called complete.

use raddle_core::program::Guard;

use super::{Names, ObjectKind};
use crate::program::call::{Call, Step, set_to};

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

/// The number of values that are tried: 0, 1, 2, ... Signed numbers are also -1.
const NUMBERS: u32 = 4;

fn signed(call: &mut Call<'_>) -> Step<u64> {
    call.note_bound("numbers of __VERIFIER_nondet_int and the like are chosen from -1 to 3 only");
    Ok(u64::from(call.choose(NUMBERS + 1)?).wrapping_sub(1))
}

fn unsigned(call: &mut Call<'_>) -> Step<u64> {
    call.note_bound("numbers of __VERIFIER_nondet_uint and the like are chosen from 0 to 3 only");
    Ok(call.choose(NUMBERS)?.into())
}

/// The address of the object that all atomic sections lock. There is nothing.
const SECTIONS: u64 = 0;

/// Begins a section that no other section interrupts. Code outside of sections may.
fn atomic_begin(call: &mut Call<'_>) -> Step<u64> {
    call.sync(ObjectKind::AtomicSection, SECTIONS, Guard::Equal(0), set_to(1))?;
    Ok(0)
}

fn atomic_end(call: &mut Call<'_>) -> Step<u64> {
    call.sync(ObjectKind::AtomicSection, SECTIONS, Guard::Always, set_to(0))?;
    Ok(0)
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
    ("__VERIFIER_atomic_begin", atomic_begin),
    ("__VERIFIER_atomic_end", atomic_end),
];
