//! Names of memory in reports.

use std::sync::Arc;

use raddle_core::execution::{LocationId, ThreadId};
use raddle_core::program::Naming;
use raddle_cpu::memory::layout as guest;

use super::NativeProgram;
use super::heap::heap_owner;
use super::kinds::ObjectKind;
use super::layout::{Cut, Location, LocationKind};
use super::places;
use super::std_code;
use crate::load::{Module, SymbolKind};

/// A variable of a module.
pub(crate) struct Variable {
    pub(crate) name: Arc<str>,
    /// Its address in guest memory.
    pub(crate) start: u64,
}

/// The name of a part of a variable, without the members of `std::atomic`.
pub(crate) fn without_wrapper(part: &str) -> &str {
    let inner = part.strip_suffix("._M_i").or_else(|| part.strip_suffix("._M_p"));
    inner.map_or(part, |part| part.strip_suffix("._M_b").unwrap_or(part))
}

impl NativeProgram {
    /// The variable at an address, and its module.
    pub(crate) fn variable_of(&self, address: u64) -> Option<(&Arc<Module>, Variable)> {
        let module = self.process.modules().iter().find(|module| module.contains(address))?;
        let symbol = module.symbols().at(address - module.base)?;
        let start = module.base + symbol.address;
        let is_variable = symbol.kind == SymbolKind::Object && address - start < symbol.size.max(1);
        is_variable.then(|| (module, Variable { name: symbol.name.clone(), start }))
    }

    /// Returns `true` if a location is on the stack, in the thread-local storage or on the heap of a thread.
    pub(crate) fn is_location_of_thread(&self, location: LocationId) -> bool {
        let Location { kind, address, .. } = self.layout.all[location.index()];
        let is_memory =
            matches!(kind, LocationKind::Memory(_) | LocationKind::Piece | LocationKind::Block);
        is_memory && self.is_thread_memory(address)
    }

    /// Returns `true` if a location is memory that some access uses as an atomic variable.
    pub(crate) fn is_atomic_memory(&self, location: LocationId) -> bool {
        let Location { kind, cut, .. } = self.layout.all[location.index()];
        matches!(kind, LocationKind::Memory(_)) && cut == Cut::Never
    }

    /// Returns `true` if a location is in a variable of Rust's standard library.
    pub(crate) fn is_variable_of_std(&self, location: LocationId) -> bool {
        self.is_static_of_std(self.layout.all[location.index()].address)
    }

    /// Returns `true` if an address is in a variable of Rust's standard library.
    fn is_static_of_std(&self, address: u64) -> bool {
        let variable = self.variable_of(address);
        variable.is_some_and(|(_, variable)| std_code::is_std(&std_code::path(&variable.name)))
    }

    /// The start of the block that contains a location.
    pub(crate) fn block_of(&self, location: LocationId) -> Option<u64> {
        let Location { kind, address, .. } = self.layout.all[location.index()];
        kind.is_memory().then(|| self.heap_regions.block_at(address)).flatten().map(|it| it.0)
    }

    /// Returns `true` if a location only says whether a block exists.
    pub(crate) fn is_existence(&self, location: LocationId) -> bool {
        self.layout.all[location.index()].kind == LocationKind::Block
    }

    /// Returns `true` if an address is in the table of virtual functions by which `std::thread` calls its function.
    pub(crate) fn is_thread_vtable(&self, address: u64) -> bool {
        let variable = self.variable_of(address);
        variable.is_some_and(|(_, variable)| variable.name.starts_with("_ZTVNSt6thread"))
    }

    /// The kind of the synchronization object at a location.
    pub(crate) fn object_kind(&self, location: LocationId) -> Option<ObjectKind> {
        match self.layout.all[location.index()].kind {
            LocationKind::Object(kind) => Some(kind),
            _ => None,
        }
    }

    /// The thread to whose stack an address belongs.
    pub(crate) fn stack_owner(&self, address: u64) -> Option<ThreadId> {
        owner(address, guest::STACKS..guest::TLS, guest::STACK_STRIDE)
    }

    /// The name of a location in the memory with this name.
    pub(crate) fn name_of_kind(&self, location: &Location, name: String) -> String {
        match location.kind {
            LocationKind::Object(ObjectKind::Mutex) => object_name(&name),
            LocationKind::Object(ObjectKind::Token { from, to }) => {
                let [from, to] = [from, to].map(|it| self.thread_name(ThreadId::new(it as usize)));
                format!("{} ({from} to {to})", object_name(&name))
            }
            LocationKind::Object(kind) => format!("{} ({kind:?})", object_name(&name)),
            LocationKind::Block => format!("{name} (block)"),
            LocationKind::Piece => format!("{name} in pieces"),
            LocationKind::Memory(size) if self.layout.is_part(location.address, size) => {
                format!("{name} ({size} byte{})", if size == 1 { "" } else { "s" })
            }
            LocationKind::Memory(_) | LocationKind::Result | LocationKind::Remains => name,
        }
    }

    /// Words for memory in messages: the name of a variable, or what kind of memory it is.
    pub(crate) fn memory_without_address(&self, address: u64) -> String {
        match () {
            () if self.variable_of(address).is_some() => self.memory_name(address),
            () if heap_owner(address).is_some() => String::from("a block of memory"),
            () if self.stack_owner(address).is_some() => String::from("a stack"),
            () => String::from("memory"),
        }
    }

    /// The name of memory.
    pub(crate) fn memory_name(&self, address: u64) -> String {
        if let Some((module, Variable { name, start })) = self.variable_of(address) {
            let (at, offset) = (start - module.base, address - start);
            let name = module.variable_name(at).unwrap_or_else(|| places::demangled(&name));
            return match module.variable_part(at, offset) {
                Some(part) => format!("{name}{}", without_wrapper(&part)),
                None if offset == 0 => name,
                None => format!("{name}+{offset}"),
            };
        }
        if let Some(owner) = heap_owner(address) {
            let (start, _) = self.heap_regions.block_at(address).unwrap_or((address, 0));
            let thread = self.thread_name(ThreadId::new(owner));
            let block = format!("block {:#x} of {thread}", start % guest::HEAP_STRIDE);
            return if address == start { block } else { format!("{block}+{}", address - start) };
        }
        if let Some(owner) = self.stack_owner(address) {
            let thread = self.thread_name(owner);
            return format!("stack of {thread} at {:#x}", address % guest::STACK_STRIDE);
        }
        if let Some(owner) = owner(address, guest::TLS..guest::OBJECTS, guest::TLS_STRIDE) {
            let thread = self.thread_name(owner);
            return format!("thread-local of {thread} at {:#x}", address % guest::TLS_STRIDE);
        }
        if let Some(name) = (self.table.bookkeeping_name)(self, address) {
            return name;
        }
        match self.process.memory().region(address) {
            Some(region) => format!("{}+{:#x}", region.name, address - region.range.start),
            None => format!("{address:#x}"),
        }
    }
}

/// The thread to whose part of an area an address belongs.
fn owner(address: u64, area: std::ops::Range<u64>, stride: u64) -> Option<ThreadId> {
    area.contains(&address).then(|| ThreadId::new(((address - area.start) / stride) as usize))
}

/// The name of a synchronization object: without members that the library has inside.
pub(crate) fn object_name(memory: &str) -> String {
    let inside = [".__", "._M_"].into_iter().filter_map(|member| memory.find(member)).min();
    memory[..inside.unwrap_or(memory.len())].to_owned()
}
