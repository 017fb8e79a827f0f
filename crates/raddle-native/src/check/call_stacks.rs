//! Call stacks in reports.
//!
//! A trace has places of steps but no call stacks. They are recorded as the execution is followed once more
//! (`program::recorder`), for the steps that the report may show, and where the threads stand at the end.

use std::collections::BTreeMap;

use raddle_core::execution::ThreadId;
use raddle_core::trace::{CallStacks, Frame, Library, SourcePosition, Trace};
use rustc_hash::FxHashMap;

use super::function_name::short;
use crate::load::Module;
use crate::program::NativeProgram;
use crate::program::places::library_of;
use crate::program::recorder::{Addresses, StackRecorder};
use crate::program::std_code;

/// Of longer executions only the last steps have call stacks.
const MOST_STEPS: usize = 20_000;

/// The call stacks of an execution, as addresses.
#[derive(Default)]
pub(super) struct RecordedStacks {
    recorder: StackRecorder,
    ends: BTreeMap<ThreadId, Addresses>,
}

impl RecordedStacks {
    /// Lets a program record the call stacks of the steps of a trace when it follows that.
    pub(super) fn begin(program: &mut NativeProgram, whole: &Trace) {
        let mut recorder = StackRecorder::default();
        let last = whole.events.iter().rev().take(MOST_STEPS);
        recorder.wanted.extend(last.map(|event| (event.thread, event.position)));
        program.recorder = Some(Box::new(recorder));
    }

    /// What was recorded. The threads stand at the end of the execution.
    pub(super) fn end(program: &mut NativeProgram, whole: &Trace) -> Self {
        let recorder = program.recorder.take().map_or_else(StackRecorder::default, |it| *it);
        let stack = |&thread: &ThreadId| {
            let guest = program.threads.get(thread.index())?.as_ref()?.guest;
            Some((thread, program.process.call_addresses(guest).collect()))
        };
        RecordedStacks { recorder, ends: whole.ends.keys().filter_map(stack).collect() }
    }

    /// The call stacks of the steps that a report shows. `kept` has their positions in the whole execution and in the shown one.
    pub(super) fn of_steps(
        &self,
        frames: &mut FrameNames<'_>,
        kept: &[(ThreadId, usize, usize)],
    ) -> CallStacks {
        let mut stacks = CallStacks::default();
        for &(thread, whole, shown) in kept {
            if let Some(addresses) = self.recorder.steps.get(&(thread, whole)) {
                stacks.set_step(thread, shown, frames.of(addresses));
            }
        }
        for (&thread, addresses) in &self.ends {
            stacks.set_end(thread, frames.of(addresses));
        }
        stacks
    }

    /// Where a block was allocated.
    pub(super) fn of_allocation(&self, start: u64) -> &[u64] {
        self.recorder.allocations.get(&start).map_or(&[], Vec::as_slice)
    }

    /// Where a block was freed.
    pub(super) fn of_free(&self, start: u64) -> &[u64] {
        self.recorder.frees.get(&start).map_or(&[], |(_, stack)| stack)
    }
}

/// The frames of addresses.
pub(super) struct FrameNames<'a> {
    program: &'a NativeProgram,
    known: FxHashMap<u64, Vec<Frame>>,
}

impl<'a> FrameNames<'a> {
    pub(super) fn new(program: &'a NativeProgram) -> Self {
        FrameNames { program, known: FxHashMap::default() }
    }

    /// The frames of a call stack.
    pub(super) fn of(&mut self, addresses: &[u64]) -> Vec<Frame> {
        let program = self.program;
        let frames = |&address: &u64| {
            let frames = || frames_at(program, address);
            self.known.entry(address).or_insert_with(frames).clone()
        };
        addresses.iter().flat_map(frames).collect()
    }
}

/// The frames of the code at an address; none for modelled functions and hooks.
fn frames_at(program: &NativeProgram, address: u64) -> Vec<Frame> {
    let mut modules = program.process.modules().iter().enumerate();
    let Some((number, module)) = modules.find(|(_, module)| module.contains(address)) else {
        return vec![];
    };
    let symbol = module.symbols().at(address - module.base).map(|symbol| symbol.name.clone());
    if symbol.as_ref().is_some_and(|name| name.starts_with("__tsan_")) {
        return vec![];
    }
    let of_symbol = symbol.map(|name| addr2line::demangle_auto((&*name).into(), None).into_owned());
    let mut code = module.code_frames(address);
    if code.is_empty() {
        code.push(Default::default());
    }
    if let Some(outermost) = code.last_mut() {
        // The name of a lambda in the debug information has no scope.
        let has_scope = |name: &String| name.contains("::") || !name.starts_with("operator");
        outermost.function = outermost.function.take().filter(has_scope).or(of_symbol);
    }
    let frame = |code: crate::load::CodeFrame| {
        let library = library(number, module, code.position.as_ref(), code.function.as_deref());
        Frame { function: code.function.as_deref().map(short), position: code.position, library }
    };
    code.into_iter().map(frame).collect()
}

/// The library that contains code.
fn library(
    module_number: usize,
    module: &Module,
    position: Option<&SourcePosition>,
    function: Option<&str>,
) -> Option<Library> {
    if let Some(position) = position {
        return library_of(&position.file);
    }
    let name = module.short_name();
    match module_number {
        0 if function.is_some_and(std_code::is_std) => Some(Library::Rust),
        0 if function.is_some_and(|name| name.starts_with("_start")) => Some(Library::C),
        0 => None,
        _ if name.starts_with("libstdc++") || name.starts_with("libc++") => Some(Library::Cpp),
        _ if name.starts_with("libc.") || name.starts_with("ld-") => Some(Library::C),
        _ => Some(Library::Other),
    }
}
