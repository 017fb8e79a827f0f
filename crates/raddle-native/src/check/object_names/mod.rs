//! Names for what an execution uses on heaps and stacks: `Node#2.next`, `i of worker`, `&ring`.
//!
//! *Problem.* While a program is explored, a location on a heap is an address. A reader wants its type, and values as the source
//! writes them.
//!
//! *Idea.* The types of variables are known from DWARF. A block has the type `T` if a variable, a part of another block with a type or
//! a local variable of type `T*` holds its address. A location on a stack is the variable of the frame that contains it. Frames are
//! looked at where threads stand with questions, as the execution is followed once more. Blocks are numbered by type, in the
//! order in which the execution mentions them.
//!
//! *Cost.* Once for each finding: the questions of the execution times the frames of their call stacks.
//!
//! *Limits.* A block that is only known as `void*` is called `block`. Variables in registers have no names, nor have those of
//! code without debug information.

mod typed;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use raddle_core::execution::{LocationId, ThreadId};
use raddle_core::program::{HistoryId, Naming, OpKind, PlaceId};
use raddle_core::trace::{NamedTrace, ObjectChange, ObjectNote, Pending, Trace, TraceEvent};
use rustc_hash::FxHashMap;

use super::call_stacks::{FrameNames, RecordedStacks};
use super::follow::{Follower, follow};
use crate::load::{FunctionLocals, Module};
use crate::program::{GONE, Location, LocationKind, NativeProgram, object_name, without_wrapper};
use typed::Typed;

/// A block of a heap.
#[derive(Debug, Default)]
struct Block {
    size: u64,
    /// Its type, and how well that fits.
    of: Option<(Typed, u8)>,
    /// The thread that allocated it, and where.
    made: Option<(ThreadId, PlaceId)>,
    /// The thread that freed it, and where.
    freed: Option<(ThreadId, PlaceId)>,
    name: String,
}

/// After so many questions of an execution, call stacks are not looked at any more.
const MOST_CALL_STACKS: usize = 10_000;

/// A function with the module that contains it.
type Function = (Arc<Module>, Arc<FunctionLocals>);

/// A local variable that contains a location.
#[derive(Clone, Debug)]
struct Variable {
    name: String,
    function: String,
    start: u64,
    of: Typed,
}

/// What is known about the memory of an execution.
pub(super) struct ObjectNames {
    locations: BTreeMap<LocationId, Location>,
    /// By start, in the order of addresses.
    blocks: BTreeMap<u64, Block>,
    /// The starts of blocks in the order in which the execution mentions them.
    mentioned: Vec<u64>,
    /// By address.
    locals: BTreeMap<u64, Variable>,
    /// Addresses on stacks that have no name yet.
    unnamed: BTreeSet<u64>,
    functions: FxHashMap<u64, Option<Function>>,
    /// The number of call stacks that have been looked at.
    call_stacks: usize,
}

impl Follower for ObjectNames {
    fn reach(&mut self, program: &mut NativeProgram, thread: ThreadId, _history: HistoryId) {
        let Some(Some(state)) = program.threads.get(thread.index()) else { return };
        for (&start, block) in &state.own.heap.blocks {
            if let Some(known) = self.blocks.get_mut(&start) {
                known.made.get_or_insert((thread, block.made));
                let freed = block.freed.map(|place| (thread, place));
                known.freed = known.freed.or(freed);
            }
        }
        let wants_types = self.blocks.values().any(|block| block.of.is_none());
        if (wants_types || !self.unnamed.is_empty()) && self.call_stacks < MOST_CALL_STACKS {
            self.call_stacks += 1;
            for (address, frame) in program.process.call_frames(state.guest) {
                self.look_at_frame(program, address, frame.end);
            }
        }
    }
}

impl ObjectNames {
    /// What the execution of a trace mentions. The trace is that of the last exploration of the program.
    pub(super) fn of(program: &NativeProgram, trace: &Trace) -> Self {
        let mut names = ObjectNames {
            locations: BTreeMap::new(),
            blocks: BTreeMap::new(),
            mentioned: vec![],
            locals: BTreeMap::new(),
            unnamed: BTreeSet::new(),
            functions: FxHashMap::default(),
            call_stacks: 0,
        };
        for event in &trace.events {
            names.mention(program, event);
        }
        let pending = trace.pending.values().filter_map(|pending| match pending {
            Pending::Question(op) => op.kind.location(),
            Pending::Loop(_) => None,
        });
        for location in pending {
            names.mention_location(program, location);
        }
        names
    }

    fn mention(&mut self, program: &NativeProgram, event: &TraceEvent) {
        let Some(location) = event.op.kind.location() else { return };
        let Some(kind) = self.mention_location(program, location) else { return };
        if let OpKind::Store { value: GONE, .. } = event.op.kind {
            let address = self.locations[&location].address;
            let start = program.heap_regions.block_at(address).map_or(address, |block| block.0);
            if let Some(block) = self.blocks.get_mut(&start) {
                block.freed = Some((event.thread, event.op.place));
            }
        }
        if kind == LocationKind::Memory(8) {
            for value in event.read.into_iter().chain(event.written) {
                self.mention_address(program, value as u64);
            }
        }
    }

    fn mention_location(
        &mut self,
        program: &NativeProgram,
        location: LocationId,
    ) -> Option<LocationKind> {
        let known = program.layout.all.get(location.index())?;
        let (kind, address) = (known.kind, known.address);
        self.locations.insert(location, known.clone());
        if kind.is_memory() {
            self.mention_address(program, address);
            if program.stack_owner(address).is_some() {
                self.unnamed.insert(address);
            }
        }
        Some(kind)
    }

    /// Notes the block that contains an address.
    fn mention_address(&mut self, program: &NativeProgram, address: u64) {
        if let Some((start, size)) = program.heap_regions.block_at(address)
            && address < start + size.max(1)
            && !self.blocks.contains_key(&start)
        {
            self.mentioned.push(start);
            self.blocks.insert(start, Block { size, ..Block::default() });
        }
    }

    /// Follows the execution to find the types of its blocks and the names of its local variables. The program forgets its
    /// locations.
    pub(super) fn complete(&mut self, program: &mut NativeProgram, trace: &Trace) {
        follow(program, trace, self);
        // Frames in which a thread never stood with a question.
        let frames = program.recorder.as_ref().map(|recorder| recorder.frames.clone());
        for (address, end) in frames.into_iter().flatten() {
            self.name_locals(program, address, end);
        }
        while self.spread_types(program, trace) {}
        self.number_blocks();
    }

    /// The function at an address.
    fn function_at(&mut self, program: &NativeProgram, address: u64) -> Option<Function> {
        let function = self.functions.entry(address).or_insert_with(|| {
            let modules = program.process.modules();
            let module = modules.iter().find(|module| module.contains(address))?;
            let function = module.types()?.function_at(address.wrapping_sub(module.base))?;
            Some((module.clone(), Arc::new(function)))
        });
        function.clone()
    }

    /// Names locations by the variables of a frame.
    fn name_locals(&mut self, program: &NativeProgram, address: u64, end: u64) -> Option<Function> {
        let (module, function) = self.function_at(program, address)?;
        for local in &function.locals {
            let start = end.wrapping_add_signed(local.offset);
            let of = Typed { module: module.clone(), of: local.of };
            let size = of.size().unwrap_or(1);
            let inside: Vec<u64> = self.unnamed.range(start..start + size).copied().collect();
            for address in inside {
                self.unnamed.remove(&address);
                let function = function.name.clone().unwrap_or_default();
                let name = local.name.clone();
                self.locals.insert(address, Variable { name, function, start, of: of.clone() });
            }
        }
        Some((module, function))
    }

    /// Uses the variables of a frame: their names, and the types of what they point to.
    fn look_at_frame(&mut self, program: &NativeProgram, address: u64, end: u64) {
        let Some((module, function)) = self.name_locals(program, address, end) else { return };
        for local in &function.locals {
            let of = Typed { module: module.clone(), of: local.of };
            if let Some(pointee) = of.pointee() {
                let start = end.wrapping_add_signed(local.offset);
                let mut bytes = [0; 8];
                let _ = program.process.memory().read(start, &mut bytes);
                self.add_type(u64::from_le_bytes(bytes), &pointee);
            }
        }
    }

    /// Notes that a pointer to a type holds an address. Returns `true` if that is new.
    fn add_type(&mut self, address: u64, of: &Typed) -> bool {
        let Some(block) = self.blocks.get_mut(&address) else { return false };
        let Some(size) = of.size().filter(|&size| size <= block.size) else { return false };
        let fit = if size == block.size {
            3
        } else if block.size.is_multiple_of(size) && size > 1 {
            2
        } else {
            1
        };
        let is_better = block.of.as_ref().is_none_or(|&(_, known)| known < fit);
        if !is_better || of.name().is_none() {
            return false;
        }
        block.of = Some((of.clone(), fit));
        true
    }

    /// Finds types of blocks by the types of what holds their addresses. Returns `true` if there are new ones.
    fn spread_types(&mut self, program: &NativeProgram, trace: &Trace) -> bool {
        let mut found = false;
        for event in &trace.events {
            let location = event.op.kind.location().and_then(|it| self.locations.get(&it));
            let Some(address) = location.map(|location| location.address) else { continue };
            let Some(pointee) = self.part_at(program, address).and_then(|it| it.1.pointee()) else {
                continue;
            };
            for value in event.read.into_iter().chain(event.written) {
                found |= self.add_type(value as u64, &pointee);
            }
        }
        found
    }

    /// The object at an address with its part, and the type of that.
    fn part_at(&self, program: &NativeProgram, address: u64) -> Option<(String, Typed)> {
        if let Some((module, variable)) = program.variable_of(address) {
            let of = module.types()?.variable(variable.start - module.base)?;
            return Typed { module: module.clone(), of }.part(address - variable.start);
        }
        if let Some(local) = self.locals.get(&address) {
            return local.of.part(address - local.start);
        }
        let (&start, block) = self.blocks.range(..=address).next_back()?;
        let (of, fit) = block.of.as_ref()?;
        let (offset, size) = (address - start, of.size()?);
        if offset >= block.size {
            return None;
        }
        let (path, leaf) = of.part(offset % size)?;
        match *fit {
            2 => Some((format!("[{}]{path}", offset / size), leaf)),
            1 if offset >= size => None,
            _ => Some((path, leaf)),
        }
    }

    fn number_blocks(&mut self) {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for start in &self.mentioned {
            let Some(block) = self.blocks.get_mut(start) else { continue };
            let of = block.of.as_ref().and_then(|(of, _)| of.name());
            let of = of.unwrap_or_else(|| String::from("block"));
            let count = counts.entry(of.clone()).or_default();
            *count += 1;
            block.name = format!("{of}#{count}");
        }
    }

    /// The name of memory on a heap or a stack; `None` if the program has a name for it or nobody has. Names of synchronization
    /// objects have no members of the library.
    fn memory_name(
        &self,
        program: &NativeProgram,
        address: u64,
        is_object: bool,
    ) -> Option<String> {
        let part = |offset: u64| match self.part_at(program, address) {
            Some((part, _)) if is_object => object_name(&part),
            Some((part, _)) => without_wrapper(&part).to_owned(),
            None => plus(offset),
        };
        if let Some(local) = self.locals.get(&address) {
            let part = part(address - local.start);
            return Some(format!("{}{part} of {}", local.name, local.function));
        }
        let (&start, block) = self.blocks.range(..=address).next_back()?;
        let offset = address - start;
        if offset > block.size || block.name.is_empty() {
            return None;
        }
        Some(format!("{}{}", block.name, part(offset)))
    }

    /// Replaces the names of locations on heaps and stacks, and adds the texts of values and the histories of objects.
    pub(super) fn apply(
        &self,
        program: &NativeProgram,
        stacks: &RecordedStacks,
        frames: &mut FrameNames<'_>,
        trace: &mut NamedTrace,
    ) {
        let mut used: BTreeSet<String> = BTreeSet::new();
        for (&id, location) in &self.locations {
            if !trace.names.has_location(id) {
                continue;
            }
            let mut name = trace.location_name(id);
            let is_object = matches!(location.kind, LocationKind::Object(_));
            if location.kind.is_memory() && program.variable_of(location.address).is_none() {
                let base = self.memory_name(program, location.address, is_object);
                let base = base.unwrap_or_else(|| unnamed(program, trace, location.address));
                name = program.name_of_kind(location, base);
                if used.contains(&name)
                    && let Some(owner) = program.stack_owner(location.address)
                {
                    name = format!("{name} ({})", trace.thread_name(owner));
                }
            }
            // Names tell locations apart.
            let mut unique = name.clone();
            let mut number = 2;
            while !used.insert(unique.clone()) {
                unique = format!("{name}#{number}");
                number += 1;
            }
            trace.names.rename_location(id, unique);
        }
        self.add_values(program, trace);
        trace.objects.clear();
        for (start, block) in self.mentioned.iter().map(|start| (start, &self.blocks[start])) {
            let mut change = |(thread, place): (ThreadId, PlaceId), stack: &[u64]| {
                let place = Naming::place(program, place);
                ObjectChange { thread, place, stack: frames.of(stack) }
            };
            let Some(made) = block.made else { continue };
            trace.objects.push(ObjectNote {
                name: block.name.clone(),
                size: block.size,
                allocated: change(made, stacks.of_allocation(*start)),
                freed: block.freed.map(|freed| change(freed, stacks.of_free(*start))),
            });
        }
    }
}

/// Words for memory that has no name.
fn unnamed(program: &NativeProgram, trace: &NamedTrace, address: u64) -> String {
    if let Some(owner) = program.stack_owner(address) {
        return format!("stack of {}", trace.thread_name(owner));
    }
    let name = program.memory_name(address);
    let end = [" at 0x", "+0x", "0x"].iter().find_map(|start| name.find(start));
    match &name[..end.unwrap_or(name.len())] {
        "" => String::from("memory"),
        name => name.trim_end().to_owned(),
    }
}

/// `+8`: an offset that is not 0.
fn plus(offset: u64) -> String {
    if offset == 0 { String::new() } else { format!("+{offset}") }
}
