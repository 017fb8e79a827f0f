//! Guest memory: a sparse address space of 47 bits, checked and classified byte by byte, with an undo log per thread.
//!
//! **Problem.** Every access of the guest must be checked (bounds, freed blocks, read-only data), classified (private accesses run
//! at once, shared ones are questions) and undone when the explorer goes back, hundreds of millions of times per second.
//!
//! **Idea.** Guest addresses are our own, not the host's. A page table maps pages to frames of one vector (`pages`); a small cache
//! per thread (`tlb`) answers nearly every access with a comparison and an index. States are exact to the byte
//! ([`State`]): granules of 8 or 16 bytes share falsely and double the number of executions of neighbouring 32-bit atomics.
//! A page whose bytes differ has a state per byte, and an access of eight bytes compares eight states at once.
//!
//! **Cost.** Memory is what the guest has written, plus a shadow of the same size for pages with mixed states.
//!
//! **Rejected.** One reserved arena at host addresses (8 TiB with its shadow): faster by a few instructions per access, but
//! all of its accesses are `unsafe`, addresses depend on the host, and `ulimit -v` forbids it.
//!
//! A loader calls [`Memory::map`], [`Memory::write_initial`] and [`Memory::add_object`]; threads get a stack by
//! [`Memory::add_thread`]; functions of the host that act for a guest thread use [`Memory::load`], [`Memory::store`],
//! [`Memory::allocate`] and [`Memory::free`], which are checked and logged like instructions.

mod access;
mod compare;
mod copies;
mod extents;
mod fault;
mod heap;
pub mod layout;
mod object;
mod pages;
mod region;
mod rewind;
mod state;
mod tlb;
mod undo;

pub use compare::{Comparison, WrittenBytes};
pub use copies::PageContents;
pub use fault::{Denied, Fault, FaultKind};
pub use heap::{FreeError, HeapFull};
pub use layout::PAGE;
pub use object::{GuestObject, Nearest, ObjectKind};
pub use region::{MapError, Region, RegionKind};
pub use state::{MAX_THREADS, State, Thread, Unmapped};
pub use undo::Mark;

use extents::Extents;
use object::Objects;
use pages::Pages;
use region::Regions;
use std::ops::Range;
use std::sync::Arc;
use tlb::Tlb;
use undo::{Extra, UndoLog};

/// How far from an object an address may be for a report to name the object.
const NEAR: u64 = 4096;

/// Number of pages from which on their states are set as a whole.
const LONG: u64 = 64;

/// What is kept per thread: cache and undo log.
#[derive(Clone, Debug)]
struct View {
    thread: Thread,
    /// Encoding of the state `Private(thread)`.
    own: u8,
    tlb: Tlb,
    /// The other cache of the thread: an empty one, or the real one while it is hidden.
    spare: Tlb,
    is_hidden: bool,
    log: UndoLog,
}

impl View {
    fn new(thread: Thread, stack_start: u64) -> View {
        let own = State::Private(thread).encode();
        let (tlb, spare) = (Tlb::default(), Tlb::default());
        View { thread, own, tlb, spare, is_hidden: false, log: UndoLog::new(stack_start) }
    }

    /// The cache of the thread, hidden or not.
    fn cache(&mut self) -> &mut Tlb {
        if self.is_hidden { &mut self.spare } else { &mut self.tlb }
    }

    /// Hides the cache, so that every access takes the cold path, or shows it.
    fn hide(&mut self, is_hidden: bool) {
        if self.is_hidden != is_hidden {
            std::mem::swap(&mut self.tlb, &mut self.spare);
            self.is_hidden = is_hidden;
        }
    }
}

/// The memory of a guest process. Cloning it copies all contents.
#[derive(Clone, Debug)]
pub struct Memory {
    pages: Pages,
    /// The view of the thread that runs.
    view: View,
    /// The views of all other threads by index; that of the running thread is `None`.
    parked: Vec<Option<View>>,
    regions: Regions,
    extents: Extents,
    /// Ranges outside of text that may be executed.
    executable: Vec<Range<u64>>,
    objects: Objects,
    /// End of the last block and number of blocks, by thread.
    heaps: Vec<heap::Heap>,
}

impl Default for Memory {
    fn default() -> Self {
        Memory::new()
    }
}

impl Memory {
    /// An empty address space.
    pub fn new() -> Memory {
        Memory {
            pages: Pages::default(),
            view: View::new(Thread::MAIN, layout::stack_end(Thread::MAIN)),
            parked: vec![None],
            regions: Regions::default(),
            extents: Extents::default(),
            executable: Vec::new(),
            objects: Objects::default(),
            heaps: Vec::new(),
        }
    }

    /// Maps a range of whole pages that reads as zeros. Every byte has `state`.
    pub fn map(
        &mut self,
        range: Range<u64>,
        kind: RegionKind,
        state: State,
        name: &str,
    ) -> Result<(), MapError> {
        self.regions.add(Region { range, kind, state, name: Arc::from(name) })
    }

    /// Maps a stack of `size` bytes (rounded up to pages) for `thread`, with a guard below it, private to the thread.
    /// Returns its addresses.
    pub fn add_thread(&mut self, thread: Thread, size: u64) -> Result<Range<u64>, MapError> {
        let end = layout::stack_end(thread);
        let start = end - size.next_multiple_of(PAGE).min(layout::STACK_STRIDE / 2);
        let name = format!("stack of {thread}");
        let guard = State::Unmapped(Unmapped::StackGuard);
        self.map(start - (1 << 20)..start, RegionKind::Stack, guard, &name)?;
        self.map(start..end, RegionKind::Stack, State::Private(thread), &name)?;
        let kind = ObjectKind::Stack(thread);
        self.add_object(GuestObject { start, size: end - start, kind });
        self.select(thread);
        self.view = View::new(thread, start);
        Ok(start..end)
    }

    /// Writes part of the initial image, whatever the states of the bytes are. Not logged. Bytes outside of all regions are
    /// rejected with their address, and nothing is written.
    ///
    /// Read-only memory must have its final contents before the first instruction runs: translated code contains constants from it.
    pub fn write_initial(&mut self, address: u64, bytes: &[u8]) -> Result<(), u64> {
        self.check_mapped(address, bytes.len())?;
        let mut rest = bytes;
        let mut at = address;
        while !rest.is_empty() {
            let (number, offset) = (at / PAGE, (at % PAGE) as usize);
            let len = rest.len().min(pages::SIZE - offset);
            let default = self.default_state(number);
            let contents = self.pages.contents_mut(number, default);
            contents[offset..offset + len].copy_from_slice(&rest[..len]);
            self.forget(number);
            rest = &rest[len..];
            at += len as u64;
        }
        Ok(())
    }

    /// Reads contents, whatever the states of the bytes are: for loaders, reports and the initial values of shared memory.
    /// Fails with the first address outside of all regions.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), u64> {
        self.check_mapped(address, bytes.len())?;
        let mut at = address;
        let mut rest = bytes;
        while !rest.is_empty() {
            let offset = (at % PAGE) as usize;
            let len = rest.len().min(pages::SIZE - offset);
            let (now, later) = rest.split_at_mut(len);
            now.copy_from_slice(&self.pages.contents(at / PAGE)[offset..offset + len]);
            rest = later;
            at += len as u64;
        }
        Ok(())
    }

    fn check_mapped(&self, address: u64, len: usize) -> Result<(), u64> {
        let end = address.checked_add(len as u64).ok_or(address)?;
        let mut at = address;
        while at < end {
            at = self.regions.at(at).ok_or(at)?.range.end;
        }
        Ok(())
    }

    /// Allows to execute mapped memory that is not text, such as a stack with trampolines. The instructions there are decoded each time
    /// they are executed, so the guest may write them. Not logged.
    pub fn set_executable(&mut self, range: Range<u64>) {
        self.executable.push(range);
    }

    /// The end of the range outside of text that may be executed and contains `address`.
    pub(crate) fn executable_end(&self, address: u64) -> Option<u64> {
        let range = self.executable.iter().find(|range| range.contains(&address))?;
        Some(range.end)
    }

    /// Adds an object for reports. Not logged.
    pub fn add_object(&mut self, object: GuestObject) {
        self.objects.add(object);
    }

    /// The object that contains `address`, or else the nearest one within a page.
    pub fn nearest_object(&self, address: u64) -> Option<Nearest> {
        self.objects.nearest(address, NEAR)
    }

    /// The region that contains `address`.
    pub fn region(&self, address: u64) -> Option<&Region> {
        self.regions.at(address)
    }

    /// All regions by address.
    pub fn regions(&self) -> impl Iterator<Item = &Region> {
        self.regions.iter()
    }

    /// The state of a byte.
    pub fn state(&self, address: u64) -> State {
        State::decode(self.state_code(address))
    }

    fn state_code(&self, address: u64) -> u8 {
        match self.pages.get(address / PAGE) {
            Some(page) => self.pages.state(page, (address % PAGE) as usize),
            None => self.default_state(address / PAGE),
        }
    }

    /// The state of the untouched bytes of a page.
    fn default_state(&self, number: u64) -> u8 {
        if let Some(code) = self.extents.get(number) {
            return code;
        }
        let nothing = State::Unmapped(Unmapped::Nothing);
        self.regions.at(number * PAGE).map_or(nothing, |region| region.state).encode()
    }

    /// Sets the state of mapped bytes. Not logged: for loaders and between executions. Bytes outside of all regions stay unmapped.
    pub fn set_state(&mut self, range: Range<u64>, state: State) {
        for part in self.regions.parts(&range) {
            self.set_mapped_state(part, state.encode());
        }
    }

    /// Sets the state of bytes of one region.
    fn set_mapped_state(&mut self, range: Range<u64>, code: u8) {
        let mut at = range.start;
        while at < range.end {
            let number = at / PAGE;
            if at.is_multiple_of(PAGE) && range.end - at >= LONG * PAGE {
                self.set_pages(number..range.end / PAGE, code);
                at = range.end / PAGE * PAGE;
                continue;
            }
            let next = range.end.min((number + 1) * PAGE);
            let (from, to) = ((at % PAGE) as usize, (next - number * PAGE) as usize);
            let default = self.default_state(number);
            self.pages.set_states(number, from, to, code, default);
            self.forget(number);
            at = next;
        }
    }

    /// Sets the state of whole pages of one region. Untouched pages cost nothing.
    fn set_pages(&mut self, numbers: Range<u64>, code: u8) {
        for number in self.pages.touched(numbers.clone()) {
            self.pages.set_states(number, 0, pages::SIZE, code, code);
        }
        self.extents.set(numbers, code);
        self.view.cache().clear();
        for view in self.parked.iter_mut().flatten() {
            view.cache().clear();
        }
    }

    /// Sets the state of mapped bytes on behalf of `thread`: undone when the thread goes back.
    pub fn set_state_logged(&mut self, thread: Thread, range: Range<u64>, state: State) {
        self.select(thread);
        if self.view.log.is_open() {
            let parts = self.regions.parts(&range);
            let runs = parts.into_iter().flat_map(|part| self.states(part)).collect();
            self.view.log.push_extra(Extra::States(runs));
        }
        self.set_state(range, state);
    }

    /// Makes bytes inaccessible, for red zones and dead variables. Undone when `thread` goes back.
    pub fn poison(&mut self, thread: Thread, range: Range<u64>, reason: Unmapped) {
        self.set_state_logged(thread, range, State::Unmapped(reason));
    }

    /// The states of a range as runs of equal states, by address. Costs about the pages of the range.
    pub fn state_runs(
        &self,
        range: Range<u64>,
    ) -> impl Iterator<Item = (Range<u64>, State)> + use<> {
        let runs = self.states(range).into_iter();
        runs.map(|(start, len, code)| (start..start + len, State::decode(code)))
    }

    /// The states of a range as runs of start, length and code.
    fn states(&self, range: Range<u64>) -> Vec<(u64, u64, u8)> {
        let mut runs: Vec<(u64, u64, u8)> = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let (code, end) = self.run(at, range.end);
            match runs.last_mut() {
                Some(run) if run.2 == code => run.1 += end - at,
                _ => runs.push((at, end - at, code)),
            }
            at = end;
        }
        runs
    }

    /// The state at `address`, and where the bytes that follow it within its page and before `end` stop having it.
    fn run(&self, address: u64, end: u64) -> (u8, u64) {
        let number = address / PAGE;
        let end = end.min((number + 1) * PAGE);
        match self.pages.get(number) {
            None => (self.default_state(number), end),
            Some(page) => {
                let (from, to) = ((address % PAGE) as usize, (end - number * PAGE) as usize);
                let (code, len) = self.pages.run(page, from, to);
                (code, address + len as u64)
            }
        }
    }

    /// Makes `thread` the one on whose behalf accesses are made.
    fn select(&mut self, thread: Thread) {
        if self.view.thread == thread {
            return;
        }
        let index = thread.index();
        if index >= self.parked.len() {
            self.parked.resize_with(index + 1, || None);
        }
        let view = self.parked[index]
            .take()
            .unwrap_or_else(|| View::new(thread, layout::stack_end(thread)));
        self.pages.select(index);
        let old = std::mem::replace(&mut self.view, view);
        let index = old.thread.index();
        self.parked[index] = Some(old);
    }

    /// Removes a page from all caches: its frame or states have changed.
    fn forget(&mut self, page: u64) {
        self.view.cache().set(page, tlb::Entry::EMPTY);
        for view in self.parked.iter_mut().flatten() {
            view.cache().set(page, tlb::Entry::EMPTY);
        }
    }

    /// A fault of an access of `size` bytes whose first bad byte is at `address`.
    pub(crate) fn fault(
        &self,
        kind: FaultKind,
        address: u64,
        size: u64,
        write: bool,
    ) -> Box<Fault> {
        let region = self.regions.at(address).map(|region| region.kind);
        let nearest = self.nearest_object(address);
        Box::new(Fault { kind, address, size, write, region, nearest })
    }
}
