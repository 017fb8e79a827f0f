//! The thread of a test.
//!
//! *Problem.* libtest runs a test on a thread of its own and waits for its message on a channel. Both would multiply the executions.
//!
//! *Idea.* libtest runs the test on its own thread if the system has no more threads. So its `pthread_create` fails, and only its.

use raddle_core::execution::ThreadId;

use crate::program::call::{Call, Step};
use crate::program::kinds::Purpose;
use crate::program::std_code::{crate_of, is_std, path};

const EAGAIN: u64 = 11;

/// `pthread_create`, of a Rust program.
pub(super) fn pthread_create(call: &mut Call<'_>) -> Step<u64> {
    let is_known = call.current() != ThreadId::new(0) || call.recall(Purpose::RustTest, 0) != 0;
    if !is_known {
        call.remember(Purpose::RustTest, 0, 1);
        if is_called_by_libtest(call) {
            return Ok(EAGAIN);
        }
    }
    match call.program.process.host_function("pthread_create") {
        Some(function) => call.program.table.function(function)(call),
        None => Err(call.run_library_code()),
    }
}

/// Returns `true` if the innermost function on the call stack outside of the standard library is one of libtest.
fn is_called_by_libtest(call: &Call<'_>) -> bool {
    let program = &*call.program;
    let Some(module) = program.process.modules().first() else { return false };
    let calls = program.process.call_addresses(program.thread().guest);
    let names = calls.filter(|address| module.contains(*address)).filter_map(|address| {
        let symbol = module.symbols().at(address - module.base)?;
        Some(path(&symbol.name))
    });
    let mut outside = names.filter(|name| !is_std(name));
    outside.next().is_some_and(|name| crate_of(&name) == "test")
}
