//! Anonymous memory: `mmap`, `munmap`, `mprotect`, `mremap`, `brk`.
//!
//! Addresses grow and are never reused, so an access after `munmap` is a fault with that reason. Each thread has an
//! area of its own: an address depends only on the calls of its thread. A gap of a page follows each mapping.

use super::errno::Errno;
use raddle_cpu::memory::{Denied, MapError, Memory, PAGE, RegionKind, State, Thread, Unmapped};
use std::ops::Range;

/// Base of the mappings of thread 0.
const AREAS: u64 = 0x2000_0000_0000;
/// Distance between the areas of two threads.
const STRIDE: u64 = 1 << 36;
/// Bytes that one thread may map, and that `brk` may add. States of mapped pages cost about 32 bytes per page.
const LIMIT: u64 = 1 << 31;
/// First address of the memory that `brk` manages.
const BREAK: u64 = 0x4000_0000_0000;

/// What the guest may do with a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protection {
    None,
    Read,
    ReadWrite,
}

impl Protection {
    /// The protection that the bits of `mmap` ask for; `None` if it includes execution.
    pub(crate) fn from_bits(bits: u64) -> Option<Protection> {
        match bits & 7 {
            0 => Some(Protection::None),
            1 => Some(Protection::Read),
            2 | 3 => Some(Protection::ReadWrite),
            _ => None,
        }
    }

    fn state(self, thread: Thread) -> State {
        match self {
            Protection::None => State::Unmapped(Unmapped::Nothing),
            Protection::Read => State::ReadOnly,
            Protection::ReadWrite => State::Private(thread),
        }
    }
}

/// Where the next mapping of each thread goes, and where the break is.
#[derive(Clone, Debug)]
pub(crate) struct Mappings {
    /// First free address by thread.
    ends: Vec<u64>,
    /// The largest end so far of each thread.
    furthest: Vec<u64>,
    brk: u64,
}

impl Mappings {
    /// Maps the memory of `brk`, still empty.
    pub(crate) fn new(memory: &mut Memory) -> Result<Mappings, MapError> {
        let nothing = State::Unmapped(Unmapped::Nothing);
        memory.map(BREAK..BREAK + LIMIT, RegionKind::Heap, nothing, "memory of brk")?;
        Ok(Mappings { ends: Vec::new(), furthest: Vec::new(), brk: BREAK })
    }

    /// Maps `size` bytes of zeros for `thread`.
    pub(crate) fn map(
        &mut self,
        memory: &mut Memory,
        thread: Thread,
        size: u64,
        protection: Protection,
    ) -> Result<u64, Errno> {
        let size = size.checked_next_multiple_of(PAGE).filter(|size| *size > 0);
        let size = size.ok_or(Errno::EINVAL)?;
        let area = AREAS + thread.index() as u64 * STRIDE;
        let index = thread.index();
        if self.ends.len() <= index {
            self.ends.resize(index + 1, 0);
            self.furthest.resize(index + 1, 0);
        }
        if self.ends[index] == 0 {
            let name = format!("mappings of {thread}");
            let nothing = State::Unmapped(Unmapped::Nothing);
            // Mapping the area again after going back fails and is not needed.
            let _ = memory.map(area..area + LIMIT, RegionKind::Heap, nothing, &name);
            self.ends[index] = area;
        }
        let start = self.ends[index];
        let end = start.checked_add(size).filter(|end| *end + PAGE <= area + LIMIT);
        let end = end.ok_or(Errno::ENOMEM)?;
        self.ends[index] = end + PAGE;
        self.furthest[index] = self.furthest[index].max(end);
        if protection != Protection::None {
            // Memory that is known to be shared stays shared.
            for (range, state) in memory.state_runs(start..end) {
                if state != State::Shared {
                    memory.set_state_logged(thread, range, protection.state(thread));
                }
            }
        }
        Ok(start)
    }

    /// First free address of a thread; 0 if it has mapped nothing.
    pub(crate) fn end(&self, thread: Thread) -> u64 {
        self.ends.get(thread.index()).copied().unwrap_or(0)
    }

    /// Index of the thread that has mapped an address, now or before it went back. The gap after a mapping counts as well,
    /// except for the last one.
    pub(crate) fn owner(&self, address: u64) -> Option<usize> {
        let index = (address.checked_sub(AREAS)? / STRIDE) as usize;
        (address < *self.furthest.get(index)?).then_some(index)
    }

    /// Where the break is.
    pub(crate) fn brk(&self) -> u64 {
        self.brk
    }

    /// Returns to an earlier break. The states of its pages are those of the thread that moved it.
    pub(crate) fn restore_brk(&mut self, brk: u64) {
        self.brk = brk;
    }

    /// Returns to an earlier end of a thread.
    pub(crate) fn set_end(&mut self, thread: Thread, end: u64) {
        if let Some(place) = self.ends.get_mut(thread.index()) {
            *place = end;
        }
    }

    /// Unmaps whole pages. Accesses are faults from now on.
    pub(crate) fn unmap(
        &self,
        memory: &mut Memory,
        thread: Thread,
        range: Range<u64>,
    ) -> Result<(), Errno> {
        let range = pages(range)?;
        memory.set_state_logged(thread, range, State::Unmapped(Unmapped::Returned));
        Ok(())
    }

    /// Changes what the guest may do with anonymous memory. Shared memory stays shared.
    pub(crate) fn protect(
        &self,
        memory: &mut Memory,
        thread: Thread,
        range: Range<u64>,
        protection: Protection,
    ) -> Result<(), Errno> {
        let range = pages(range)?;
        for at in range.step_by(PAGE as usize) {
            let is_shared = memory.state(at) == State::Shared;
            if !(is_shared && protection == Protection::ReadWrite) {
                memory.set_state_logged(thread, at..at + PAGE, protection.state(thread));
            }
        }
        Ok(())
    }

    /// Moves a mapping to one of another size; the contents come along.
    pub(crate) fn remap(
        &mut self,
        memory: &mut Memory,
        thread: Thread,
        old: Range<u64>,
        size: u64,
    ) -> Result<u64, RemapError> {
        let old = pages(old).map_err(RemapError::Errno)?;
        let size = size.checked_next_multiple_of(PAGE).ok_or(RemapError::Errno(Errno::EINVAL))?;
        let len = old.end - old.start;
        if size <= len {
            let result = self.unmap(memory, thread, old.start + size..old.end);
            result.map_err(RemapError::Errno)?;
            return Ok(old.start);
        }
        let start =
            self.map(memory, thread, size, Protection::ReadWrite).map_err(RemapError::Errno)?;
        let mut page = [0; PAGE as usize];
        for offset in (0..len).step_by(PAGE as usize) {
            memory.load(thread, old.start + offset, &mut page).map_err(RemapError::Denied)?;
            memory.store(thread, start + offset, &page).map_err(RemapError::Denied)?;
        }
        self.unmap(memory, thread, old).map_err(RemapError::Errno)?;
        Ok(start)
    }

    /// Moves the break. Returns where it is afterwards: unchanged if `to` is no possible break.
    pub(crate) fn set_break(&mut self, memory: &mut Memory, thread: Thread, to: u64) -> u64 {
        if !(BREAK..=BREAK + LIMIT).contains(&to) {
            return self.brk;
        }
        let (old, new) = (self.brk.next_multiple_of(PAGE), to.next_multiple_of(PAGE));
        if old < new {
            memory.set_state_logged(thread, old..new, State::Private(thread));
        } else {
            for page in (new..old).step_by(PAGE as usize) {
                // Memory that is added again reads as zeros.
                let _ = memory.store(thread, page, &[0; PAGE as usize]);
            }
            memory.set_state_logged(thread, new..old, State::Unmapped(Unmapped::Returned));
        }
        self.brk = to;
        to
    }
}

/// Why a mapping cannot be moved.
#[derive(Debug)]
pub(crate) enum RemapError {
    Errno(Errno),
    /// The contents are not private to the thread.
    Denied(Denied),
}

/// Whether threads share a byte of a range.
pub(crate) fn has_shared(memory: &Memory, range: Range<u64>) -> bool {
    memory.state_runs(range).any(|(_, state)| state == State::Shared)
}

/// Rounds the end of a range up to a page. Its start must be one.
fn pages(range: Range<u64>) -> Result<Range<u64>, Errno> {
    let end = range.end.checked_next_multiple_of(PAGE).ok_or(Errno::EINVAL)?;
    let is_valid = range.start.is_multiple_of(PAGE) && range.start <= end;
    is_valid.then_some(range.start..end).ok_or(Errno::EINVAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_private_zeros_until_they_are_unmapped() {
        let mut memory = Memory::new();
        let mut mappings = Mappings::new(&mut memory).expect("an empty memory");
        let thread = Thread::MAIN;
        let start = mappings.map(&mut memory, thread, 5000, Protection::ReadWrite).expect("room");
        let mut bytes = [1; 8];
        assert_eq!(memory.load(thread, start + 8184, &mut bytes), Ok(()));
        assert_eq!(bytes, [0; 8]);
        assert!(memory.load(thread, start + 8185, &mut bytes).is_err());
        mappings.unmap(&mut memory, thread, start..start + 4096).expect("whole pages");
        assert_eq!(memory.state(start), State::Unmapped(Unmapped::Returned));
        assert_eq!(memory.state(start + 4096), State::Private(thread));
        assert_eq!(
            mappings.map(&mut memory, thread, 1 << 40, Protection::Read),
            Err(Errno::ENOMEM)
        );
        assert_eq!(mappings.map(&mut memory, thread, 0, Protection::Read), Err(Errno::EINVAL));
    }

    #[test]
    fn a_mapping_that_grows_keeps_its_contents_elsewhere() {
        let mut memory = Memory::new();
        let mut mappings = Mappings::new(&mut memory).expect("an empty memory");
        let thread = Thread::MAIN;
        let old = mappings.map(&mut memory, thread, PAGE, Protection::ReadWrite).expect("room");
        memory.store(thread, old + 100, b"contents").expect("private");
        let new = mappings.remap(&mut memory, thread, old..old + PAGE, 3 * PAGE).expect("room");
        let mut bytes = [0; 8];
        assert_eq!(memory.load(thread, new + 100, &mut bytes), Ok(()));
        assert_eq!(&bytes, b"contents");
        assert_eq!(memory.state(old), State::Unmapped(Unmapped::Returned));
    }

    #[test]
    fn the_break_grows_shrinks_and_reads_as_zeros_again() {
        let mut memory = Memory::new();
        let mut mappings = Mappings::new(&mut memory).expect("an empty memory");
        let thread = Thread::MAIN;
        let start = mappings.set_break(&mut memory, thread, 0);
        assert_eq!(mappings.set_break(&mut memory, thread, start + 5000), start + 5000);
        memory.store(thread, start + 4096, b"x").expect("private");
        assert_eq!(mappings.set_break(&mut memory, thread, start + 10), start + 10);
        assert!(memory.store(thread, start + 4096, b"x").is_err());
        mappings.set_break(&mut memory, thread, start + 5000);
        let mut byte = [1];
        assert_eq!(memory.load(thread, start + 4096, &mut byte), Ok(()));
        assert_eq!(byte, [0]);
    }
}
