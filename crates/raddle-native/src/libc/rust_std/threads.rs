//! Identifiers of threads, and what runs when they end.

use crate::program::call::{Call, Step};
use crate::program::kinds::Purpose;

/// `ThreadId::new()`. The library counts in a variable that all threads share; here an identifier is made of the thread that asks and
/// of how often it has asked, so that it orders nothing.
pub(super) fn new_id(call: &mut Call<'_>) -> Step<u64> {
    let made = call.recall(Purpose::RustThreadIds, 0) + 1;
    call.remember(Purpose::RustThreadIds, 0, made);
    Ok((call.current().index() as u64) << 32 | made)
}

/// `guard::key::enable()`: the thread calls `run` after its destructors. The library uses a key that the first thread makes
/// that needs it.
pub(super) fn enable_guard(call: &mut Call<'_>) -> Step<u64> {
    match call.program.table.rust.as_ref().and_then(|rust| rust.guard) {
        Some(function) => {
            call.remember(Purpose::RustGuard, 0, function);
            Ok(0)
        }
        None => Err(call.run_library_code()),
    }
}

/// Takes the function of [`enable_guard`], which gets any argument but 0.
pub(crate) fn take_guard(call: &mut Call<'_>) -> Option<(u64, u64)> {
    let function = call.recall(Purpose::RustGuard, 0);
    call.remember(Purpose::RustGuard, 0, 0);
    (function != 0).then_some((function, 1))
}
