//! `std::thread::scope`.
//!
//! A scope counts its threads; the thread that waits for them loads the counter and parks until it is 0, and the last thread
//! unparks it. Here a thread that has loaded the counter and parks loads it again (`retry`), so nobody needs to unpark it, and the
//! order in which threads count down is not observed.
//!
//! If the thread parks otherwise while it has a scope, so that the unpark of the scope could be what it waits for, all of this is
//! left to the library.

use raddle_core::execution::MemoryOrder;
use raddle_core::program::UpdateKind;

use crate::program::call::{Call, Step, update_bits};
use crate::program::kinds::Purpose;

/// `lock inc qword ptr [rdi + offset]`, without its last byte, which is the offset.
const INCREMENT: [u8; 4] = [0xf0, 0x48, 0xff, 0x47];

/// The address of the counter, from the code of the function that is called.
fn counter(call: &mut Call<'_>) -> Step<Option<u64>> {
    let scope = call.argument(0)?;
    let Some(code) = call.program.table.rust.as_ref().and_then(|rust| rust.scope_increment) else {
        return Ok(None);
    };
    let mut bytes = [0; 5];
    let is_read = call.program.process.memory().read(code, &mut bytes).is_ok();
    let is_known = is_read && bytes.starts_with(&INCREMENT) && bytes[4] < 0x80;
    Ok((is_known && !call.program.layout.learned.parks_in_scope)
        .then(|| scope + u64::from(bytes[4])))
}

/// `ScopeData::increment_num_running_threads(&self)`.
pub(super) fn increment(call: &mut Call<'_>) -> Step<u64> {
    let Some(counter) = counter(call)? else { return Err(call.run_library_code()) };
    call.require_shared(counter, 8)?;
    call.remember(Purpose::RustScope, counter, 1);
    call.atomic_update(
        counter,
        8,
        update_bits(UpdateKind::Add, 1, 64),
        MemoryOrder::Relaxed,
        true,
    )?;
    Ok(0)
}

/// `ScopeData::decrement_num_running_threads(&self, panic)`.
pub(super) fn decrement(call: &mut Call<'_>) -> Step<u64> {
    let has_panicked = call.argument(1)? as u8 != 0;
    let Some(counter) = counter(call)?.filter(|_| !has_panicked) else {
        return Err(call.run_library_code());
    };
    call.atomic_update(
        counter,
        8,
        update_bits(UpdateKind::Sub, 1, 64),
        MemoryOrder::Release,
        true,
    )?;
    Ok(0)
}

/// `thread::park()`, which may return without a reason.
pub(super) fn park(call: &mut Call<'_>) -> Step<u64> {
    if call.program.settings.environment.spurious {
        let place = call.program.return_address();
        // The second time in a row would repeat the state.
        let is_next = call.recall(Purpose::SpuriousWakeup, place) == 0;
        let returns = is_next && call.choose(2)? == 1;
        call.remember(Purpose::SpuriousWakeup, place, returns.into());
        if returns {
            return Ok(0);
        }
    }
    park_of_thread(call)
}

/// `Thread::park(&self)`.
pub(super) fn park_of_thread(call: &mut Call<'_>) -> Step<u64> {
    if call.program.layout.learned.parks_in_scope {
        return Err(call.run_library_code());
    }
    let scopes = &call.program.thread().own.remembered;
    let scopes: Vec<u64> = scopes
        .keys()
        .filter(|(purpose, _)| *purpose == Purpose::RustScope as u32)
        .map(|&(_, counter)| counter)
        .collect();
    if scopes.is_empty() {
        return Err(call.run_library_code());
    }
    // The loop of a scope parks if the counter is not 0.
    let last = call.last_reads().next().filter(|_| call.program.thread().last_value != 0);
    if last.is_some_and(|last| scopes.iter().any(|&counter| call.is_at(last, counter, 8))) {
        return Err(call.ask_again(0));
    }
    call.program.layout.learned.parks_in_scope = true;
    Err(call.again())
}
