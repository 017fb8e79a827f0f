//! The end of threads and of the process.
//!
//! Each thread has a list of destructors of thread-local variables. The program has a list of functions given to `atexit` and of
//! destructors of static variables, in memory that threads share. Both are called from the last to the first. A thread that ends
//! calls those of its list, and then those of the values of keys. A thread that calls `exit`, or returns from `main`, calls those
//! of its list, the functions of the second list and the destructors of the executable. Then the process ends: other threads may be
//! anywhere, and none continues.

use raddle_core::execution::{MemoryOrder, ThreadId, Value};
use raddle_core::program::{End, Op, OpKind};
use raddle_core::trace::{Pending, Trace};

use super::{Names, ObjectKind, Purpose, area, keys, mutex, rust_std};
use crate::program::EXITED;
use crate::program::call::{Call, CompareOrders, Step, Suspend, set_to};

/// Returns `true` if a thread other than the main one has ended the program. Then the execution is complete, whatever other threads
/// wait for.
#[must_use]
pub fn has_exited(trace: &Trace) -> bool {
    let is_exit = |pending: &Pending| {
        matches!(pending, Pending::Question(Op { kind: OpKind::Sync { guard: EXITED, .. }, .. }))
    };
    trace.pending.values().any(is_exit)
}

/// The list for the end of the program: its length, then functions with their arguments.
const FIRST: u64 = 16;
const ENTRY: u64 = 16;
const MOST: u64 = (area::exits_room() - FIRST) / ENTRY;

/// Takes the last destructor of a thread-local variable: a function and its argument.
fn next_destructor(call: &mut Call<'_>) -> Option<(u64, u64)> {
    let last = call.recall(Purpose::Destructors, 0).checked_sub(1)?;
    call.remember(Purpose::Destructors, 0, last);
    let function = call.recall(Purpose::DestructorFunction, last);
    Some((function, call.recall(Purpose::DestructorArgument, last)))
}

/// The function of the thread has returned, or it has called `pthread_exit`: destructors run, then the thread ends.
pub(super) fn end_thread(call: &mut Call<'_>, result: u64) -> Suspend {
    let next = next_destructor(call).or_else(|| keys::next_destructor(call));
    match next.or_else(|| rust_std::take_guard(call)) {
        Some((function, argument)) => {
            call.call_guest(function, &[argument], "raddle_end_thread", result)
        }
        None if mutex::holds_robust(call) => {
            call.refuse("ends a thread that holds a robust mutex, which Raddle does not model")
        }
        None => {
            call.abandon_locks();
            call.finish(result)
        }
    }
}

/// The process ends. No other thread continues: this one waits forever, and an execution in which it waits is complete.
/// A Rust program, or a test, that has failed says so by its status.
pub(super) fn end_process(call: &mut Call<'_>, status: i32) -> Suspend {
    if status != 0 && call.program.table.rust.is_some() {
        return rust_std::failed(call, status);
    }
    if call.current() == ThreadId::new(0) {
        return call.end_of_thread();
    }
    match call.sync(ObjectKind::Exit, 0, EXITED, set_to(0)) {
        Ok(_) => Suspend::End(End::Finished),
        Err(suspend) => suspend,
    }
}

/// A destructor of a thread that ends has returned.
fn continue_end_of_thread(call: &mut Call<'_>) -> Step<u64> {
    let result = call.pop_data()?;
    Err(end_thread(call, result))
}

/// `__cxa_thread_atexit(function, object, module)`.
fn thread_atexit(call: &mut Call<'_>) -> Step<u64> {
    let (function, object) = (call.argument(0)?, call.argument(1)?);
    let index = call.recall(Purpose::Destructors, 0);
    call.remember(Purpose::Destructors, 0, index + 1);
    call.remember(Purpose::DestructorFunction, index, function);
    call.remember(Purpose::DestructorArgument, index, object);
    Ok(0)
}

/// `__cxa_atexit(function, argument, module)`.
fn cxa_atexit(call: &mut Call<'_>) -> Step<u64> {
    let (function, argument) = (call.argument(0)?, call.argument(1)?);
    if call.program.is_dynamic_linker(function) {
        // It would call destructors of all modules. Those of the executable are called by `next_of_executable`; those of
        // libraries change nothing that a program sees, and cost thousands of instructions per execution.
        return Ok(0);
    }
    add_exit(call, function, argument)
}

fn atexit(call: &mut Call<'_>) -> Step<u64> {
    let function = call.argument(0)?;
    add_exit(call, function, 0)
}

fn add_exit(call: &mut Call<'_>, function: u64, argument: u64) -> Step<u64> {
    let list = area::exits();
    let mut length = call.atomic_load(list, 8, MemoryOrder::Relaxed)?;
    while let (read, false) =
        call.compare_exchange(list, 8, length, length + 1, CompareOrders::RELAXED)?
    {
        length = read;
    }
    if length as u64 >= MOST {
        return Err(call.refuse("registers more functions for its end than Raddle has room for"));
    }
    let entry = list + FIRST + length as u64 * ENTRY;
    call.atomic_store(entry + 8, 8, argument.into(), MemoryOrder::Relaxed)?;
    call.atomic_store(entry, 8, function.into(), MemoryOrder::Release)?;
    Ok(0)
}

/// Takes the last function for the end of the program, with its argument. One that another thread is adding is not called.
fn next_exit(call: &mut Call<'_>) -> Step<Option<(u64, u64)>> {
    let list = area::exits();
    loop {
        let length = call.atomic_load(list, 8, MemoryOrder::Relaxed)?;
        if length == 0 {
            return Ok(None);
        }
        let (_, is_taken) =
            call.compare_exchange(list, 8, length, length - 1, CompareOrders::RELAXED)?;
        let entry = list + FIRST + (length as u64 - 1) * ENTRY;
        let function: Value =
            if is_taken { call.atomic_load(entry, 8, MemoryOrder::Acquire)? } else { 0 };
        if function != 0 {
            call.atomic_store(entry, 8, 0, MemoryOrder::Relaxed)?;
            let argument = call.atomic_load(entry + 8, 8, MemoryOrder::Relaxed)?;
            return Ok(Some((function as u64, argument as u64)));
        }
    }
}

/// Takes the next destructor of the executable (`.fini_array`).
fn next_of_executable(call: &mut Call<'_>) -> Step<Option<u64>> {
    /// The compiler's own entry, which has nothing to do in an executable.
    const OWN: &str = "__do_global_dtors_aux";
    let Some(module) = call.program.process.modules().first().cloned() else { return Ok(None) };
    let Some(table) = module.destructors() else { return Ok(None) };
    loop {
        let done = call.recall(Purpose::ExecutableDestructors, 0);
        let Some(entry) = table.end.checked_sub(8 * (done + 1)).filter(|at| *at >= table.start)
        else {
            return Ok(None);
        };
        call.remember(Purpose::ExecutableDestructors, 0, done + 1);
        let function = call.load(entry, 8)?;
        let symbol = module.symbols().at(function.wrapping_sub(module.base));
        if symbol.is_none_or(|symbol| &*symbol.name != OWN) {
            return Ok(Some(function));
        }
    }
}

/// Calls what is to be called at the end of the program, then ends it.
fn end_program(call: &mut Call<'_>, status: u64) -> Step<u64> {
    const THEN: &str = "raddle_end_program";
    if let Some((function, argument)) = next_destructor(call) {
        return Err(call.call_guest(function, &[argument], THEN, status));
    }
    if let Some((function, argument)) = next_exit(call)? {
        return Err(call.call_guest(function, &[argument], THEN, status));
    }
    if let Some(function) = next_of_executable(call)? {
        return Err(call.call_guest(function, &[], THEN, status));
    }
    Err(end_process(call, status as i32))
}

fn exit(call: &mut Call<'_>) -> Step<u64> {
    let status = call.argument(0)?;
    end_program(call, status)
}

/// A function that `exit` called has returned.
fn continue_end_of_program(call: &mut Call<'_>) -> Step<u64> {
    let status = call.pop_data()?;
    end_program(call, status)
}

pub(super) const TABLE: Names = &[
    ("raddle_end_thread", continue_end_of_thread),
    ("raddle_end_program", continue_end_of_program),
    ("__cxa_thread_atexit", thread_atexit),
    ("__cxa_thread_atexit_impl", thread_atexit),
    ("__cxa_atexit", cxa_atexit),
    ("atexit", atexit),
    ("exit", exit),
];
