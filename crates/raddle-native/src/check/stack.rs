//! A thread with room for an explorer.

use std::thread;

use crate::build::Error;

/// An explorer may recurse as deep as an execution is long.
const SIZE: usize = 1 << 28;

/// Calls a function on a thread with a large stack.
pub(super) fn on_large_stack<R: Send>(
    f: impl FnOnce() -> Result<R, Error> + Send,
) -> Result<R, Error> {
    thread::scope(|scope| {
        let spawned = thread::Builder::new().stack_size(SIZE).spawn_scoped(scope, f);
        let thread = spawned.map_err(|error| {
            Error::System(format!("no memory for a stack of {SIZE} bytes: {error}"))
        })?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
