//! C and C++ programs as programs that Raddle explores.
//!
//! [`check`] compiles the files (`compile`, `assembly`, `symbols`, `stub`), or looks at what the user has compiled (`audit`),
//! loads them into this process (`joined`: if the user has also linked them)
//! (`load`), and explores, in parts (`parts`, `facts`). `native` is the program that the explorer asks. The module docs say how:
//!
//! - `switch` and `trap`: how threads are run and stopped; `begin`: how they begin; `rewind`: how they go back;
//! - `slots`, `heap`, `access` and `layout`: which memory is whose, and what its locations are;
//! - `serve`, `plain`, `atomics` and `shared`: what hooks do; `requests` and `ops`: what library functions
//!   are made of (`shims`);
//! - `spin`, `past` and `loops`: how loops are found that only wait; `leaks`: memory that is never freed;
//! - `guide`: how an execution is found that somebody else knows;
//! - `crash`, `difference`, `frames`, `memory`, `names`, `places`, `told` and `types`: what people are told.
//!
//! All that threads share goes through ops, so each thread is run alone. What cannot be seen is refused, with
//! its place: functions that nobody models, inline assembly, accesses of different sizes that may race,
//! library functions on shared memory.

mod access;
mod assembly;
mod atomics;
mod audit;
mod begin;
mod check;
mod compile;
mod cpp_functions;
mod crash;
mod difference;
mod error;
mod facts;
mod frames;
mod guide;
mod heap;
mod hooks;
mod joined;
mod layout;
mod leaks;
mod libc_functions;
mod live;
mod load;
mod loops;
mod memory;
mod names;
mod native;
mod object_states;
mod ops;
mod parts;
mod past;
mod places;
mod plain;
mod printed;
mod quick;
mod requests;
mod rewind;
mod serve;
mod shared;
mod shims;
mod slots;
mod spin;
mod stub;
mod switch;
mod symbols;
mod threads;
mod told;
mod trap;
mod types;

pub use check::{Request, build, check, check_built, check_parallel, estimate};
pub use compile::{Object, Source};
pub use error::Error;
pub use guide::{Guide, KnownRead};
pub use parts::{Checkpoint, ParallelOptions, Progress};

/// How large the stack of an explorer is: it may go as deep as an execution is long.
const EXPLORER_STACK: usize = 1 << 28;

/// Calls the function on a thread with a large stack.
fn on_large_stack<R>(f: impl FnOnce() -> R) -> R {
    struct Sent<T>(T);
    // SAFETY: the caller waits until the function is through, and nobody else uses what it has.
    unsafe impl<T> Send for Sent<T> {}
    let sent = Sent(f);
    std::thread::scope(|scope| {
        let run = move || {
            let Sent(f) = { sent };
            Sent(f())
        };
        let thread =
            std::thread::Builder::new().stack_size(EXPLORER_STACK).spawn_scoped(scope, run);
        let thread = thread.expect("the system has memory for a large stack");
        match thread.join() {
            Ok(Sent(result)) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
