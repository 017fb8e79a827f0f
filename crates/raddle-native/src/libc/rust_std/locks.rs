//! Locks and other waits of the standard library.
//!
//! A lock is taken by code that is inlined in the program; if that fails, a function of the library spins, then announces that it
//! waits, and calls the kernel. None of this is observed but that the lock is taken later. So the function waits until the lock
//! is free and takes it, by the same update as the inlined code; usually by asking its question again (`retry`). Then no state says that
//! threads wait, and nobody wakes them.
//!
//! Other functions that wait for a variable by the system call `futex` look at it again when they return from it, so they may return
//! whenever the variable has changed: their wait ends then, and wakes have no effect. Only those of condition variables are waits
//! for a wake, as a thread that is not woken waits forever.

use raddle_core::execution::{MemoryOrder, Value};
use raddle_core::program::{Op, OpKind};

use crate::process::FutexCall;
use crate::program::call::{Call, CompareOrders, Step};
use crate::program::std_code::{is_std, path};

/// The bits of a reader-writer lock that count its readers; all of them if a writer has it.
const MASK: Value = (1 << 30) - 1;
/// The lock has as many readers as possible.
const MOST_READERS: Value = MASK - 1;
/// Size of the state of a lock.
const SIZE: u64 = 4;

const ACQUIRE: CompareOrders =
    CompareOrders { success: MemoryOrder::Acquire, failure: MemoryOrder::Relaxed, is_weak: false };

/// `Mutex::lock_contended(&state)`.
pub(super) fn lock_mutex(call: &mut Call<'_>) -> Step<u64> {
    take(call, 1)
}

/// `RwLock::write_contended(&state)`.
pub(super) fn lock_for_writing(call: &mut Call<'_>) -> Step<u64> {
    take(call, MASK)
}

/// Waits until the state of a lock is 0 and sets it.
fn take(call: &mut Call<'_>, taken: Value) -> Step<u64> {
    let state = call.argument(0)?;
    let attempt = call.last_reads().next();
    if call.is_new() && attempt.is_some_and(|question| call.is_at(question, state, SIZE)) {
        return Err(call.ask_again(0));
    }
    match call.compare_exchange(state, SIZE, 0, taken, ACQUIRE)? {
        (_, true) => Ok(0),
        _ => Err(call.wait_for_change(state, SIZE)),
    }
}

/// `RwLock::read_contended(&state)`. The inlined code has loaded the state and, if no writer had the lock, tried to count up.
pub(super) fn lock_for_reading(call: &mut Call<'_>) -> Step<u64> {
    let state = call.argument(0)?;
    if call.is_new()
        && let Some(others) = inlined_attempt(call, state)
    {
        return Err(call.ask_again(others));
    }
    let readers = call.atomic_load(state, SIZE, MemoryOrder::Relaxed)?;
    if readers & MASK >= MOST_READERS {
        return Err(call.wait_for_change(state, SIZE));
    }
    match call.compare_exchange(state, SIZE, readers, readers + 1, ACQUIRE)? {
        (_, true) => Ok(0),
        // Another reader came first: the thread loads the state again.
        _ => Err(call.ask_again(1)),
    }
}

/// The number of questions after the load with which inlined code has tried to lock for reading.
fn inlined_attempt(call: &Call<'_>, state: u64) -> Option<usize> {
    let mut reads = call.last_reads().take_while(|question| call.is_at(*question, state, SIZE));
    let is_load = |question: Option<Op>| {
        question.is_some_and(|question| matches!(question.kind, OpKind::Load { .. }))
    };
    match reads.next()?.kind {
        OpKind::Load { .. } => Some(0),
        _ => is_load(reads.next()).then_some(1),
    }
}

/// Functions that look at a variable again after they have waited for it.
const LOOK_AGAIN: [&str; 6] = [
    "Mutex::lock_contended",
    "RwLock::read_contended",
    "RwLock::write_contended",
    "Once::call",
    "Thread::park",
    "Thread::park_timeout",
];

/// Performs a futex operation of a Rust program, unless it is one of threads that wait for a wake.
pub(crate) fn futex(call: &mut Call<'_>, futex: FutexCall) -> Option<Step<u64>> {
    const WAIT: [u32; 2] = [0, 9];
    const WAKE: [u32; 2] = [1, 10];
    if WAIT.contains(&futex.operation) {
        if looks_again(call) {
            return Some(wait(call, futex));
        }
        return match call.program.layout.learned.futexes.insert(futex.address) {
            true => Some(Err(call.again())),
            false => None,
        };
    }
    let is_waited_for = call.program.layout.learned.futexes.contains(&futex.address);
    (WAKE.contains(&futex.operation) && !is_waited_for).then_some(Ok(0))
}

fn wait(call: &mut Call<'_>, futex: FutexCall) -> Step<u64> {
    const EAGAIN: i64 = 11;
    const ETIMEDOUT: i64 = 110;
    let value = call.atomic_load(futex.address, SIZE, MemoryOrder::Relaxed)?;
    match () {
        () if value != futex.value.into() => Ok(-EAGAIN as u64),
        () if futex.timeout != 0 => Ok(-ETIMEDOUT as u64),
        () => Err(call.wait_for_change(futex.address, SIZE)),
    }
}

/// Returns `true` if the function that makes a system call looks at its variable again after it has waited.
fn looks_again(call: &Call<'_>) -> bool {
    let program = &*call.program;
    let modules = program.process.modules();
    let Some(module) = modules.first() else { return false };
    let mut calls = program.process.call_addresses(program.thread().guest);
    let caller = calls.find(|address| module.contains(*address));
    let symbol = caller.and_then(|address| module.symbols().at(address - module.base));
    symbol.is_some_and(|symbol| {
        let name = path(&symbol.name);
        is_std(&name) && LOOK_AGAIN.iter().any(|end| name.ends_with(end))
    })
}
