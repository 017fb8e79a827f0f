//! Libraries that are loaded at run time.
//!
//! A library that the program is linked with may look for optional ones: an allocator, the topology of the machine. No guest has
//! them, as no guest has optional configuration, so `dlopen` fails there. A call by the program itself runs the dynamic linker.

use super::Names;
use crate::program::call::{Call, Step};

/// `dlopen(name, flags)`.
fn dlopen(call: &mut Call<'_>) -> Step<u64> {
    let (name, caller) = (call.argument(0)?, call.program.return_address());
    let program = call.program.process.modules().first();
    let is_by_library = program.is_some_and(|program| !program.contains(caller));
    if is_by_library && name != 0 {
        return Ok(0);
    }
    Err(call.run_library_code())
}

pub(super) const TABLE: Names = &[("dlopen", dlopen)];
