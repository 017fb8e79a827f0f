//! What tests say with the crate `raddle-test`.

use crate::program::call::{Call, Step};

/// `raddle_test::assume(condition)`.
pub(super) fn assume(call: &mut Call<'_>) -> Step<u64> {
    let condition = call.argument(0)? as u8;
    call.assume(condition != 0)?;
    Ok(0)
}

/// `raddle_test::any_of(count)`.
pub(super) fn any_of(call: &mut Call<'_>) -> Step<u64> {
    let count = call.argument(0)?;
    match u32::try_from(count) {
        Ok(count) => Ok(call.choose(count)?.into()),
        Err(_) => Err(call.refuse("chooses from more than 4,294,967,295 numbers")),
    }
}
