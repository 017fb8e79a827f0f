//! Which threads an execution has: the function that a thread runs, and where it was created.
//!
//! Schedules name threads by who created them, which does not depend on the order in which they run. The function of a thread is
//! the outermost one of the program on its call stacks: so it is found through `std::thread`, `std::async` and Rust's
//! closures as well.

use raddle_core::execution::ThreadId;
use raddle_core::program::{Naming, OpKind};
use raddle_core::trace::{Frame, NamedTrace, ThreadNote};

use crate::program::NativeProgram;

/// Notes which threads an execution has.
pub(super) fn apply(program: &NativeProgram, trace: &mut NamedTrace) {
    let mut threads: Vec<ThreadId> = trace.trace.ends.keys().copied().collect();
    threads.retain(|&thread| thread != ThreadId::new(0));
    threads.sort_by_key(|&thread| path(program, thread));
    let notes: Vec<ThreadNote> =
        threads.iter().map(|&thread| note(program, trace, thread)).collect();
    trace.threads = notes;
}

/// How the thread came into being: the numbers of its ancestors and its own among the children of their parents.
fn path(program: &NativeProgram, thread: ThreadId) -> Vec<u32> {
    let mut path = vec![];
    let mut current = thread;
    while let Some(start) = program.names.start(current) {
        path.push(start.number);
        current = start.parent;
    }
    path.reverse();
    path
}

fn note(program: &NativeProgram, trace: &NamedTrace, thread: ThreadId) -> ThreadNote {
    let events = trace.trace.events.iter();
    let spawn = events.clone().find(|event| event.op.kind == OpKind::Spawn { thread });
    let stacks = events.filter(|event| event.thread == thread).map(|it| trace.stacks.of_event(it));
    let mut stacks = stacks.chain([trace.stacks.of_end(thread)]);
    let function = stacks.find_map(outermost).or_else(|| start_function(program, thread));
    ThreadNote {
        thread,
        path: program.thread_name(thread),
        function,
        created: spawn.map(|event| trace.place(event.op.place)),
    }
}

/// The outermost function of the program on a call stack.
fn outermost(stack: &[Frame]) -> Option<String> {
    stack.iter().rev().find(|frame| frame.library.is_none())?.function.clone()
}

/// The function with which a thread starts, if it is one of the program.
fn start_function(program: &NativeProgram, thread: ThreadId) -> Option<String> {
    let start = program.names.start(thread)?;
    let module = program.process.modules().first().filter(|it| it.contains(start.function))?;
    let symbol = module.symbols().at(start.function - module.base)?;
    Some(super::function_name::short(&addr2line::demangle_auto((&*symbol.name).into(), None)))
}
