//! Which memory is private, and to whom.
//!
//! A variable belongs to the first thread that touches it; stacks, thread-local storage and heap blocks belong to their thread.
//! When a second thread touches memory, its object (a variable, a block, eight bytes of a stack) is shared for good, and the
//! exploration starts again.

use raddle_core::execution::ThreadId;
use raddle_core::outcome::FindingKind;
use raddle_core::program::End;
use raddle_cpu::memory::{MAX_THREADS, Memory, PAGE, State, Thread, Unmapped, layout as guest};

use super::NativeProgram;
use super::call::{Call, Step, Suspend};
use super::layout::Layout;
use super::library::users_modules;
use crate::load::SymbolKind;
use crate::process::Process;

/// Parts of stacks are shared in pieces of this size.
const STACK_GRAIN: u64 = 8;
/// Variables without a symbol are shared in pieces of this size.
const VARIABLE_GRAIN: u64 = 8;

/// The owner of variables that no thread has touched.
pub(crate) fn nobody() -> State {
    Thread::new(MAX_THREADS - 1).map_or(State::Shared, State::Private)
}

/// Makes the variables of the program belong to nobody.
pub(super) fn disown_variables(process: &mut Process) {
    for module in users_modules(process) {
        for segment in module.file.segments.iter().filter(|segment| segment.is_writable) {
            let range = module.base + segment.range.start..module.base + segment.range.end;
            disown(process.memory_mut(), range.start, range.end);
        }
    }
}

/// Makes private bytes of the main thread belong to nobody.
fn disown(memory: &mut Memory, from: u64, to: u64) {
    let own = State::Private(Thread::MAIN);
    let mut at = from;
    while at < to {
        let end = to.min((at / PAGE + 1) * PAGE);
        let is_whole = memory.state(at) == own && memory.state(end - 1) == own;
        if is_whole && (at..end).step_by(8).all(|at| memory.state(at) == own) {
            memory.set_state(at..end, nobody());
        } else {
            for byte in at..end {
                if memory.state(byte) == own {
                    memory.set_state(byte..byte + 1, nobody());
                }
            }
        }
        at = end;
    }
}

/// Gives all memory that is known to be shared that state, wherever it is mapped.
pub(super) fn share_known(process: &mut Process, layout: &Layout) {
    for (&from, &to) in &layout.learned.shared {
        let is_heap = super::heap::heap_owner(from).is_some();
        if !is_heap {
            process.memory_mut().set_state(from..to, State::Shared);
        }
    }
}

impl NativeProgram {
    /// Returns `true` if more than one thread has started.
    pub(crate) fn has_other_threads(&self) -> bool {
        self.current.index() > 0 || self.thread().own.spawned > 0
    }

    /// Returns `true` if an address is on a stack, in thread-local storage or on a heap.
    pub(crate) fn is_thread_memory(&self, address: u64) -> bool {
        super::heap::heap_owner(address).is_some()
            || (guest::STACKS..guest::OBJECTS).contains(&address)
    }

    /// Returns `true` if a variable is shared.
    pub(crate) fn is_shared_variable(&self, address: u64, size: u64) -> bool {
        !self.is_thread_memory(address) && self.layout.is_shared(address, size)
    }

    /// The object that an address belongs to: its bounds.
    pub(crate) fn object_at(&self, address: u64) -> (u64, u64) {
        if super::heap::heap_owner(address).is_some() {
            if let Some((start, size)) = self.heap_regions.block_at(address)
                && address < start + size.max(1)
            {
                return (start, start + size.max(1));
            }
        } else if !self.is_thread_memory(address)
            && let Some(bounds) = self.variable_at(address)
        {
            return bounds;
        }
        let start = address / STACK_GRAIN * STACK_GRAIN;
        (start, start + VARIABLE_GRAIN)
    }

    fn variable_at(&self, address: u64) -> Option<(u64, u64)> {
        let module = self.process.modules().iter().find(|module| module.contains(address))?;
        let symbol = module.symbols().at(address - module.base)?;
        let start = module.base + symbol.address;
        let is_variable = symbol.kind == SymbolKind::Object && symbol.size > 0;
        (is_variable && address < start + symbol.size).then_some((start, start + symbol.size))
    }

    /// Shares the objects that an access touches, from the next exploration on.
    pub(crate) fn share(&mut self, address: u64, size: u64) {
        let mut at = address;
        while at < address + size.max(1) {
            let (from, to) = self.object_at(at);
            self.layout.share(from, to);
            at = to.max(at + 1);
        }
    }

    /// The current thread touches memory that is not its own. Returns if it can try again.
    pub(crate) fn escape(
        &mut self,
        address: u64,
        size: u64,
        owned: u64,
        state: State,
    ) -> Result<(), End> {
        if state == nobody() {
            let (from, to) = self.object_at(owned);
            let mine = State::Private(self.thread().guest);
            let memory = self.process.memory_mut();
            for at in from..to {
                if memory.state(at) == nobody() {
                    memory.set_state(at..at + 1, mine);
                }
            }
            return Ok(());
        }
        self.share(address, size);
        Err(self.again())
    }
}

impl Call<'_> {
    /// The thread touches memory that is not its own. Returns if it can try again.
    pub(crate) fn escape(&mut self, address: u64, size: u64, owned: u64, state: State) -> Step<()> {
        self.program.escape(address, size, owned, state).map_err(Suspend::End)
    }

    /// Allocates a block. Returns 0 if there is no room.
    pub(crate) fn allocate(&mut self, size: u64, alignment: u64, is_zeroed: bool) -> Step<u64> {
        let made = self.program.place();
        let kind = super::heap::BlockKind { size, alignment, is_zeroed };
        let program = &mut *self.program;
        let guest = program.thread().guest;
        let mut own = program.thread().own.clone();
        let heap = &mut std::rc::Rc::make_mut(&mut own).heap;
        let memory = program.process.memory_mut();
        let Some(start) = heap.allocate(&mut program.heap_regions, memory, guest, kind, made)
        else {
            return Ok(0);
        };
        program.thread_mut().own = own;
        program.record_allocation(start);
        let is_shared = program.layout.is_shared(start, size.max(1));
        let memory = program.process.memory_mut();
        if is_shared {
            // Not logged: other threads may use the block when this thread has gone back.
            memory.set_state(start..start + size, State::Shared);
        } else {
            memory.set_state_logged(guest, start..start + size, State::Private(guest));
        }
        Ok(start)
    }

    /// The size of the block that starts at an address. It is a bug if there is none, or if it was freed.
    pub(crate) fn block_size(&mut self, address: u64) -> Step<u64> {
        let is_own = super::heap::heap_owner(address) == Some(self.program.current.index());
        if is_own && let Some(block) = self.program.thread().own.heap.blocks.get(&address).copied()
        {
            let Some(freed) = block.freed else { return Ok(block.size) };
            let at = raddle_core::program::Naming::place(self.program, freed);
            let message = format!("a block of memory is freed twice, first at {at}");
            return Err(self.fail(FindingKind::DoubleFree, &message));
        }
        match self.program.heap_regions.block_at(address) {
            Some((start, size)) if start == address && !is_own => Ok(size),
            _ => {
                let message = "an address is freed that is not the start of a block of memory";
                Err(self.fail(FindingKind::DoubleFree, message))
            }
        }
    }

    /// Frees a block; an address of 0 is ignored.
    pub(crate) fn free(&mut self, address: u64) -> Step<()> {
        if address == 0 {
            return Ok(());
        }
        let size = self.block_size(address)?;
        let end = address + size.max(1);
        let is_own = super::heap::heap_owner(address) == Some(self.program.current.index());
        let is_shared = self.program.layout.is_shared(address, size.max(1));
        match (is_own, is_shared) {
            (true, false) => {
                self.free_own(address, size);
                Ok(())
            }
            (false, false) => {
                self.program.layout.share(address, end);
                Err(self.again())
            }
            (_, true) => self.free_shared(address, end, is_own.then_some(size)),
        }
    }

    fn free_own(&mut self, address: u64, size: u64) {
        let place = self.program.place();
        let thread = self.program.thread_mut();
        let guest = thread.guest;
        if let Some(block) = thread.own_mut().heap.blocks.get_mut(&address) {
            block.freed = Some(place);
        }
        self.program.record_free(address);
        let memory = self.program.process.memory_mut();
        memory.poison(guest, address..address + size, Unmapped::Freed);
    }

    /// Frees a block that threads share: only one may, and all its locations get the value `GONE`.
    fn free_shared(&mut self, address: u64, end: u64, own: Option<u64>) -> Step<()> {
        use raddle_core::execution::MemoryOrder;
        use raddle_core::program::{OpKind, UpdateKind};
        let place = self.program.place();
        let kind = super::layout::LocationKind::Block;
        let location = self.program.layout.locate_object(kind, address, place);
        let update = super::call::update(UpdateKind::Swap, 1);
        let order = MemoryOrder::Relaxed;
        let freed = self.ask(OpKind::Rmw { location, update, order, is_blind: false })?;
        if freed.value != 0 {
            return Err(self.fail(FindingKind::DoubleFree, "a block of memory is freed twice"));
        }
        if self.program.layout.note_freed(address, end) {
            return Err(self.again());
        }
        self.program.record_free(address);
        self.discard(address, end)?;
        if own.is_some()
            && let Some(block) = self.program.thread_mut().own_mut().heap.blocks.get_mut(&address)
        {
            block.freed = Some(place);
        }
        Ok(())
    }

    /// The stack and the thread-local storage of the thread are gone.
    pub(crate) fn leave_stack(&mut self) -> Step<()> {
        if self.program.current == ThreadId::new(0) {
            return Ok(());
        }
        let guest = self.program.thread().guest;
        let end = guest::stack_end(guest);
        self.discard(end - guest::STACK_STRIDE / 2, end)?;
        let tls = guest::tls(guest);
        self.discard(tls, tls + guest::TLS_STRIDE)
    }
}
