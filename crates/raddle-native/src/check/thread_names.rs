//! Names of threads in reports: the function that a thread runs, or the line where it was created.
//!
//! Schedules name threads by who created them, which does not depend on the order in which they run. In the report on one
//! execution the function tells more. It is the outermost one of the program on the call stacks of the thread: so it is found
//! through `std::thread`, `std::async` and Rust's closures as well. Threads that run the same function are numbered.

use std::collections::BTreeMap;

use raddle_core::execution::ThreadId;
use raddle_core::program::{Naming, OpKind};
use raddle_core::trace::{Frame, NamedTrace, ThreadNote};

use super::function_name::last_segment;
use crate::program::NativeProgram;

/// Gives the threads of an execution their names, and notes which threads they are.
pub(super) fn apply(program: &NativeProgram, trace: &mut NamedTrace) {
    let mut threads: Vec<ThreadId> = trace.trace.ends.keys().copied().collect();
    threads.retain(|&thread| thread != ThreadId::new(0));
    threads.sort_by_key(|&thread| path(program, thread));
    let notes: Vec<ThreadNote> =
        threads.iter().map(|&thread| note(program, trace, thread)).collect();
    let names: Vec<String> = notes.iter().map(name).collect();
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for (note, name) in notes.iter().zip(&names) {
        let number = numbers.entry(name).or_default();
        *number += 1;
        let is_only = names.iter().filter(|other| *other == name).count() == 1;
        let unique = if is_only { name.clone() } else { format!("{name}#{number}") };
        trace.names.rename_thread(note.thread, unique);
    }
    trace.threads = notes;
    rename_in_states(trace);
}

/// Puts the names of threads in place of their paths in the states of objects.
fn rename_in_states(trace: &mut NamedTrace) {
    let name =
        |note: &ThreadNote| Some((note.path.clone(), trace.names.thread(note.thread)?.to_owned()));
    let mut names: Vec<(String, String)> = trace.threads.iter().filter_map(name).collect();
    // A path may be the beginning of another one.
    names.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
    for state in trace.names.object_states.values_mut() {
        for (path, name) in &names {
            state.short = state.short.replace(path, name);
            state.clause = state.clause.replace(path, name);
        }
    }
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

/// The name of a thread, which others may have, too.
fn name(note: &ThreadNote) -> String {
    let function = note.function.as_deref().and_then(last_segment);
    if let Some(function) = function.filter(|name| name != "main") {
        return function;
    }
    let line = note.created.as_deref().and_then(|place| place.rsplit_once(':'));
    match line {
        Some((_, line)) => format!("thread@{line}"),
        None => String::from("thread"),
    }
}
