//! A thread goes back to an earlier question.
//!
//! *Problem.* LocalHistories that are asked for one after the other differ mostly in their last answers. To run the thread from
//! its beginning for each takes as long as the thread is.
//!
//! *Idea.* At every question what the thread consists of is copied: registers, stack, the variables and blocks that are its
//! own, and our records. To go back, it is put where it was. Shared memory need not be: whoever reads it is given a value.
//!
//! What is below the stack pointer is copied as well, as far as it was ever written: programs may look at what
//! they have not initialised, such as the holes in a structure, and must find what they would find in a run from the beginning.
//!
//! *Not* if memory would have to be copied that we do not see: programs that make exceptions of C++ without the library
//! linked in, and threads that call `qsort` or `sscanf`, always start again. (Our own library functions own nothing while they
//! ask.) Nor if a thread has much memory of its own, or a deep stack.
//!
//! *Whether a program depends on something else* than what its threads read is found by running it again. So a thread starts
//! again the first times, and once in a while.
//!
//! *Cost.* At a question a scan of 4 kB (16 kB in threads that call functions of libraries), of which mostly nothing was
//! written, and a copy of some hundred bytes; to go back, as
//! much again. A history that is twenty loads long takes about a tenth of the time.

use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::program::{End, HistoryId};
use rustc_hash::FxHashMap;

use crate::heap::Heap;
use crate::native::Native;
use crate::past::Point;
use crate::shims;
use crate::switch::Frame;
use crate::threads::{Thread, Waiting};

/// So often a thread starts again at first, and once in so many times later.
const AT_FIRST: u32 = 8;
const LATER: u32 = 32;
/// Threads with more memory than this, besides their stacks, always start again.
const MOST: usize = 16 << 10;

/// A thread, but for its stack.
#[derive(Default)]
pub(crate) struct Kept {
    /// Whether this is filled in.
    pub(crate) is_kept: bool,
    frame: Frame,
    phase: usize,
    waiting: Waiting,
    loaded: Vec<(LocationId, Value)>,
    holds: bool,
    ops_in_call: u32,
    spawned: u32,
    heap: Heap,
    held: Vec<usize>,
    remembered: FxHashMap<(u32, u64), u64>,
    uses_locals: bool,
    uses_library: bool,
    lowest: usize,
    events: u32,
    /// How many variables it owned.
    owned: usize,
    /// Where its memory is, and what is there.
    ranges: Vec<(usize, usize)>,
    bytes: Vec<u8>,
}

/// The bytes between two addresses.
///
/// # Safety
/// They are memory of a thread that stands still, and nobody writes them while this is used.
unsafe fn bytes<'a>((from, to): (usize, usize)) -> &'a [u8] {
    // SAFETY: as the caller says.
    unsafe { std::slice::from_raw_parts(from as *const u8, to - from) }
}

impl Thread {
    /// Copies what the thread is, but for its stack and the ranges that are listed already.
    fn keep(&self, kept: &mut Kept) {
        let Thread {
            frame,
            slot: _,
            at: _,
            phase,
            waiting,
            question: _,
            stores,
            borrowed,
            loaded,
            holds,
            caller: _,
            ops_in_call,
            spawned,
            heap,
            held,
            owned,
            remembered,
            past: _,
            private: _,
            lowest,
            own_stack: _,
            printed: _,
            events,
            uses_locals,
            uses_library,
            is_kept_elsewhere: _,
            repeats: _,
        } = self;
        debug_assert!(stores.is_empty() && borrowed.is_empty(), "it stands at a question");
        kept.frame = **frame;
        kept.waiting.clone_from(waiting);
        kept.loaded.clone_from(loaded);
        kept.holds = *holds;
        (kept.phase, kept.ops_in_call, kept.spawned) = (*phase, *ops_in_call, *spawned);
        kept.heap.clone_from(heap);
        kept.held.clone_from(held);
        kept.remembered.clone_from(remembered);
        (kept.uses_locals, kept.uses_library) = (*uses_locals, *uses_library);
        (kept.lowest, kept.events) = (*lowest, *events);
        kept.owned = owned.len();
        kept.bytes.clear();
        for &range in &kept.ranges {
            // SAFETY: the memory is the thread's own, and it stands still.
            kept.bytes.extend_from_slice(unsafe { bytes(range) });
        }
        kept.is_kept = true;
    }

    /// Goes back to the question with which the history ends. Says which of the variables that it owns now it had not yet
    /// touched there, and whether the same is true of its thread-local variables.
    fn go_back(&mut self, node: HistoryId) -> Option<(usize, bool)> {
        let used = self.used_from();
        let point = self.past.back_to(node)?;
        let kept = &point.kept;
        self.slot.clear_part(used, point.from);
        // SAFETY: the memory is the thread's own, its stack was that large, and it stands still.
        unsafe { write(point.from, &point.stack) };
        let mut at = 0;
        for &(from, to) in &kept.ranges {
            // SAFETY: as above.
            unsafe { write(from, &kept.bytes[at..at + to - from]) };
            at += to - from;
        }
        *self.frame = kept.frame;
        self.waiting.clone_from(&kept.waiting);
        self.loaded.clone_from(&kept.loaded);
        self.holds = kept.holds;
        (self.question, self.caller) = (point.question, point.caller);
        (self.phase, self.ops_in_call, self.spawned) = (kept.phase, kept.ops_in_call, kept.spawned);
        self.heap.clone_from(&kept.heap);
        self.held.clone_from(&kept.held);
        self.remembered.clone_from(&kept.remembered);
        let untouched = (kept.owned, self.uses_locals && !kept.uses_locals);
        (self.uses_locals, self.uses_library) = (kept.uses_locals, kept.uses_library);
        (self.lowest, self.events, self.is_kept_elsewhere) = (kept.lowest, kept.events, false);
        self.at = Some(node);
        self.stores.clear();
        self.borrowed.clear();
        self.private.clear();
        self.printed.clear();
        Some(untouched)
    }
}

/// Writes bytes to an address.
///
/// # Safety
/// They are memory of a thread that stands still.
unsafe fn write(to: usize, bytes: &[u8]) {
    // SAFETY: as the caller says.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to as *mut u8, bytes.len()) };
}

impl Native {
    /// Notes where the current thread stands after a history. Returns an earlier history at whose end it was the same.
    pub(crate) fn note_question(&mut self, node: HistoryId, end: &End) -> Option<HistoryId> {
        let End::Question(question) = end else { return None };
        let mut point = self.thread_mut().past.spare();
        let thread = self.thread();
        point.node = Some(node);
        point.question = Some(*question);
        point.caller = thread.caller;
        point.is_compared = thread.ops_in_call == 1;
        point.kept.is_kept = false;
        point.from = match self.keep(&mut point) {
            Some(from) => from,
            None if point.is_compared => thread.caller.stack,
            None => thread.slot.stack_top(),
        };
        point.stack.clear();
        // SAFETY: the thread stands still, and this is a part of its stack.
        let stack = unsafe { bytes((point.from, thread.slot.stack_top())) };
        point.stack.extend_from_slice(stack);
        self.thread_mut().past.push(point)
    }

    /// Copies the current thread, if it can go back to here, but for its stack: that is to be copied from the address that
    /// is returned.
    fn keep(&self, point: &mut Point) -> Option<usize> {
        let thread = self.thread();
        if self.module.keeps_elsewhere || thread.is_kept_elsewhere {
            return None;
        }
        let ranges = &mut point.kept.ranges;
        ranges.clear();
        if thread.uses_locals {
            let locals = thread.slot.locals();
            ranges.push((locals, locals + self.module.thread_locals.size + shims::OWN_BLOCK));
        }
        ranges.extend(&thread.owned);
        let blocks = thread.heap.live().map(|(start, size, _)| (start, start + size));
        ranges.extend(
            blocks.filter(|&(from, to)| from < to && !self.layout.is_shared(from, to - from)),
        );
        if ranges.iter().map(|(from, to)| to - from).sum::<usize>() > MOST {
            return None;
        }
        let from = thread.slot.written_from(thread.used_from())?;
        thread.keep(&mut point.kept);
        Some(from)
    }

    /// The thread goes back to the end of a history, if that can be done.
    pub(crate) fn go_back(&mut self, thread: ThreadId, node: HistoryId) -> bool {
        let Some(Some(state)) = self.threads.get_mut(thread.index()) else { return false };
        let Some((owned, locals)) = state.go_back(node) else { return false };
        self.current = thread;
        self.restore_variables(owned);
        if locals {
            self.set_thread_locals();
        }
        true
    }

    /// Whether the thread may go back now, or is to start again.
    pub(crate) fn may_go_back(&mut self, thread: ThreadId) -> bool {
        let Some(Some(thread)) = self.threads.get_mut(thread.index()) else { return false };
        thread.repeats = thread.repeats.wrapping_add(1);
        thread.repeats > AT_FIRST && !thread.repeats.is_multiple_of(LATER)
    }
}
