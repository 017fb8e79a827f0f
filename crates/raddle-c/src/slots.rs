//! Memory for threads: a stack, thread-local variables and heaps, at addresses that depend on the thread
//! only.
//!
//! So all pointers that a thread makes depend on its own history alone, and are plain values for the
//! explorer. Everything is reserved at once and touched when it is used.
//!
//! What a thread finds in memory that it has not written is fixed as well: [`FRESH`] in blocks and near the
//! top of its stack, zero further below, where a fresh page of the system has it.

use raddle_core::execution::ThreadId;

use crate::error::Error;

/// How much a thread has: 256 MB.
const SLOT: usize = 1 << 28;
/// At most so many threads, all executions together.
const THREADS: usize = 1 << 10;
const GUARD: usize = 1 << 16;
const STACK_END: usize = 8 << 20;
const LOCALS: usize = STACK_END + GUARD;
const ZEROED: usize = 16 << 20;
const HEAP: usize = 128 << 20;
/// Where the heap ends.
const BEHIND: usize = SLOT - GUARD;

/// Where the slots are, if the place is free: the same in every process, as programs may depend on it.
const PREFERRED: usize = 0x2000_0000_0000;
const TOTAL: usize = SLOT * THREADS;

/// What fresh memory is filled with.
pub(crate) const FRESH: u8 = 0xab;
/// So much of a stack is filled with it.
const FILLED: usize = 64 << 10;
/// Functions of libraries may use so much stack below their callers.
pub(crate) const BELOW_LIBRARY: usize = 16 << 10;
/// Other functions without hooks may use so much.
pub(crate) const BELOW: usize = 4 << 10;

/// What a part of a slot is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The stack.
    Stack,
    /// The thread-local variables.
    Locals,
    /// Blocks; whether they are zero in the beginning.
    Heap {
        /// Whether they are.
        is_zeroed: bool,
    },
}

/// Address space for all threads.
pub(crate) struct Slots {
    base: usize,
    /// Which of them are mapped.
    mapped: Vec<bool>,
}

impl Slots {
    /// Reserves address space.
    pub(crate) fn new() -> Result<Self, Error> {
        for attempt in 0..64 {
            let wanted = PREFERRED + attempt * TOTAL;
            let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let flags = kind | libc::MAP_FIXED_NOREPLACE;
            // SAFETY: this replaces no mapping.
            let base =
                unsafe { libc::mmap(wanted as *mut _, TOTAL, libc::PROT_NONE, flags, -1, 0) };
            if base as usize == wanted {
                return Ok(Slots { base: wanted, mapped: vec![false; THREADS] });
            }
        }
        Err(Error::system("no address space for threads"))
    }

    /// Where all of them are: from and to.
    pub(crate) fn range(&self) -> (usize, usize) {
        (self.base, self.base + TOTAL)
    }

    /// The slot of a thread; `None` if there are too many threads.
    pub(crate) fn slot(&mut self, thread: ThreadId) -> Option<Slot> {
        let index = thread.index();
        let slot = Slot { base: self.base + index * SLOT };
        if !*self.mapped.get(index)? {
            slot.map()?;
            self.mapped[index] = true;
        }
        Some(slot)
    }

    /// The thread whose slot has the address, and what is there.
    #[inline]
    pub(crate) fn find(&self, address: usize) -> Option<(ThreadId, Part)> {
        let offset = address.wrapping_sub(self.base);
        if offset >= TOTAL || !self.mapped[offset / SLOT] {
            return None;
        }
        let part = match offset % SLOT {
            0..GUARD | STACK_END..LOCALS => return None,
            GUARD..STACK_END => Part::Stack,
            LOCALS..ZEROED => Part::Locals,
            ZEROED..HEAP => Part::Heap { is_zeroed: true },
            BEHIND.. => return None,
            _ => Part::Heap { is_zeroed: false },
        };
        Some((ThreadId::new(offset / SLOT), part))
    }

    /// What a byte is before anybody writes it. Thread-local variables have initial values of their own.
    pub(crate) fn fresh(&self, address: usize) -> u8 {
        match address.wrapping_sub(self.base) % SLOT {
            0..FILLED_FROM => 0,
            FILLED_FROM..STACK_END => FRESH,
            HEAP.. => FRESH,
            _ => 0,
        }
    }
}

const FILLED_FROM: usize = STACK_END - FILLED;
const FRESH_WORD: u64 = u64::from_ne_bytes([FRESH; 8]);
/// What is not fresh is looked for in steps of so many bytes.
const CHUNK: usize = 512;

impl Drop for Slots {
    fn drop(&mut self) {
        // SAFETY: no thread runs any more.
        unsafe { libc::munmap(self.base as *mut _, TOTAL) };
    }
}

/// The memory of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    base: usize,
}

impl Slot {
    fn map(self) -> Option<()> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        for (from, to) in [(GUARD, STACK_END), (LOCALS, BEHIND)] {
            // SAFETY: the range is part of the reservation.
            let done = unsafe { libc::mprotect((self.base + from) as *mut _, to - from, access) };
            if done != 0 {
                return None;
            }
        }
        self.fill(self.base + FILLED_FROM, self.stack_top());
        Some(())
    }

    fn fill(self, from: usize, to: usize) {
        // SAFETY: the range is part of the stack, which is mapped, and which nobody uses now.
        unsafe { std::ptr::write_bytes(from as *mut u8, FRESH, to - from) };
    }

    /// Makes the stack fresh again, of which the part above `lowest` was used.
    pub(crate) fn clear_stack(self, lowest: usize) {
        let boundary = self.base + FILLED_FROM;
        let lowest = (lowest.saturating_sub(BELOW_LIBRARY)).max(self.base + GUARD);
        if lowest < boundary {
            // SAFETY: as for `fill`.
            unsafe { std::ptr::write_bytes(lowest as *mut u8, 0, boundary - lowest) };
        }
        self.fill(lowest.max(boundary), self.stack_top());
    }

    /// Makes a part of the stack fresh again, near its top.
    pub(crate) fn clear_part(self, from: usize, to: usize) {
        let boundary = self.base + FILLED_FROM;
        if from < boundary {
            self.clear_stack(from);
        } else if from < to {
            self.fill(from, to);
        }
    }

    /// From where on the stack is not fresh, of which the part above an address was used; `None` if that is far from its top.
    pub(crate) fn written_from(self, used: usize) -> Option<usize> {
        let from = used / CHUNK * CHUNK;
        if from < self.base + FILLED_FROM {
            return None;
        }
        let length = (self.stack_top() - from) / size_of::<u64>();
        // SAFETY: the thread stands still, and this is a part of its stack; the address is a multiple of the size.
        let words = unsafe { std::slice::from_raw_parts(from as *const u64, length) };
        let is_fresh =
            |chunk: &[u64]| chunk.iter().fold(0, |all, word| all | (word ^ FRESH_WORD)) == 0;
        let fresh = words.chunks_exact(CHUNK / size_of::<u64>()).take_while(|it| is_fresh(it));
        Some(from + fresh.count() * CHUNK)
    }

    /// Where the stack ends: its first byte is below.
    pub(crate) fn stack_top(self) -> usize {
        self.base + STACK_END
    }

    /// The lowest address of the stack.
    pub(crate) fn stack_limit(self) -> usize {
        self.base + GUARD
    }

    /// Where the stack is: from and to.
    pub(crate) fn stack(self) -> (usize, usize) {
        (self.stack_limit(), self.stack_top())
    }

    /// Whether the address is on this stack.
    #[inline]
    pub(crate) fn has_on_stack(self, address: usize) -> bool {
        address.wrapping_sub(self.base) < STACK_END
    }

    /// Where thread-local variables are.
    pub(crate) fn locals(self) -> usize {
        self.base + LOCALS
    }

    /// Where blocks are.
    pub(crate) fn heap(self, is_zeroed: bool) -> (usize, usize) {
        let (from, to) = if is_zeroed { (ZEROED, HEAP) } else { (HEAP, BEHIND) };
        (self.base + from, self.base + to)
    }
}
