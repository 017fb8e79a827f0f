//! Functions that report a bug.

use raddle_core::outcome::FindingKind;

use super::Names;
use crate::program::call::{Call, Step, Suspend};

/// The longest part of a string of the program in a message.
const LONGEST: u64 = 400;

/// A string of the program, or its beginning.
fn text(call: &mut Call<'_>, address: u64) -> Step<String> {
    if address == 0 {
        return Ok(String::new());
    }
    let length = call.string_length(address, LONGEST)?;
    let mut bytes = vec![0; length as usize];
    call.load_bytes(address, &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// `__assert_fail(condition, file, line, function)`.
fn assert_fail(call: &mut Call<'_>) -> Step<u64> {
    let condition = call.argument(0)?;
    let condition = text(call, condition)?;
    Err(call.fail(FindingKind::Assertion, &format!("assertion failed: {condition}")))
}

fn assertion(call: &mut Call<'_>, message: &str) -> Suspend {
    call.fail(FindingKind::Assertion, message)
}

/// `assert(condition)` as a function: of a program that does not include the header, as in SV-COMP.
fn undeclared_assert(call: &mut Call<'_>) -> Step<u64> {
    if call.argument(0)? as u32 == 0 {
        return Err(assertion(call, "assertion failed"));
    }
    Ok(0)
}

fn verifier_assert(call: &mut Call<'_>) -> Step<u64> {
    if call.argument(0)? as u32 == 0 {
        return Err(assertion(call, "__VERIFIER_assert fails"));
    }
    Ok(0)
}

pub(super) const TABLE: Names = &[
    ("__assert_fail", assert_fail),
    ("__assert", assert_fail),
    ("abort", |call| Err(call.fail(FindingKind::Abort, "the program calls abort"))),
    ("__cxa_pure_virtual", |call| {
        Err(call.fail(FindingKind::Abort, "a pure virtual function is called"))
    }),
    ("__stack_chk_fail", |call| {
        Err(call.fail(FindingKind::Crash, "an array on the stack overflowed"))
    }),
    ("__chk_fail", |call| Err(call.fail(FindingKind::Crash, "a function overflows a buffer"))),
    ("reach_error", |call| Err(assertion(call, "reach_error is called"))),
    ("__VERIFIER_error", |call| Err(assertion(call, "__VERIFIER_error is called"))),
    ("__VERIFIER_assert", verifier_assert),
    ("assert", undeclared_assert),
];
