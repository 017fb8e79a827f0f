//! Loops on memory that nobody has shared yet.
//!
//! *Problem.* A thread that waits for another one in a loop may run before that has touched the variable it
//! waits for. The variable is private then, its accesses are no ops, and the thread never asks anything.
//!
//! *Idea.* If a thread does nothing but hooks on private memory for a while, its state at one of them is
//! kept: registers, stack, and whether it has written other memory. If it comes back to the same state,
//! it does so forever unless another thread writes what it reads; so what it reads in one more round,
//! and does not write itself, becomes shared, and the exploration starts again. Then the loop is one of ops, and `spin` finds it.
//! The state is kept after 1, 2, 4, ... thousand hooks (Brent's algorithm for finding cycles), so that every
//! cycle is found.
//!
//! A loop that also counts never comes back to the same state. What it reads is shared after [`LONG`] hooks
//! in any case; so its ops reach the limit of events, and the exploration is called incomplete.

use raddle_core::outcome::FindingKind;
use raddle_core::program::End;

use crate::crash::ENDLESS_LOOP;
use crate::native::Native;
use crate::switch::Caller;

/// After so many hooks the state is kept for the first time.
const SHORT: u64 = 1 << 10;
/// After so many hooks what is read is shared.
const LONG: u64 = 1 << 22;
/// How many more hooks are looked at then.
const ROUND: u64 = 1 << 12;
/// After so many hooks without a single op the thread is stopped.
const FOREVER: u64 = 1 << 30;

/// What a thread did since its last op.
#[derive(Debug, Default)]
pub(crate) struct Private {
    hooks: u64,
    /// The state that was kept.
    caller: Caller,
    stack: Vec<u8>,
    is_kept: bool,
    /// Whether it is looked at what it accesses, and since when.
    since: Option<u64>,
    /// What it has read since then: addresses and sizes.
    reads: Vec<(usize, usize)>,
    writes: Vec<(usize, usize)>,
}

impl Private {
    /// The thread did an op.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.hooks = 0;
        self.is_kept = false;
        self.since = None;
    }

    /// How many more hooks need not be looked at.
    #[inline]
    pub(crate) fn hooks_left(&self) -> u64 {
        (SHORT - 1).saturating_sub(self.hooks)
    }

    /// So many hooks were not looked at.
    #[inline]
    pub(crate) fn count(&mut self, hooks: u64) {
        self.hooks += hooks;
    }

    /// The thread wrote memory other than its stack: its state is not the same any more.
    #[inline]
    pub(crate) fn changed(&mut self) {
        self.is_kept = false;
    }
}

impl Native {
    /// The current thread is about to read its own memory.
    #[inline]
    pub(crate) fn note_private_read(&mut self, address: usize, size: usize) -> Result<(), End> {
        self.note_private_access(Some((address, size)))
    }

    /// The current thread is about to write its own memory.
    #[inline]
    pub(crate) fn note_private_write(
        &mut self,
        address: usize,
        size: usize,
        is_on_stack: bool,
    ) -> Result<(), End> {
        let thread = self.thread_mut();
        if thread.private.since.is_some() {
            thread.private.writes.push((address, size));
        }
        if !is_on_stack {
            thread.changed();
        }
        self.note_private_access(None)
    }

    /// The current thread does something that is of no interest.
    pub(crate) fn note_call(&mut self) -> Result<(), End> {
        self.note_private_access(None)
    }

    #[inline]
    fn note_private_access(&mut self, read: Option<(usize, usize)>) -> Result<(), End> {
        let private = &mut self.thread_mut().private;
        private.hooks += 1;
        if private.hooks < SHORT { Ok(()) } else { self.look_for_loop(read) }
    }

    #[cold]
    fn look_for_loop(&mut self, read: Option<(usize, usize)>) -> Result<(), End> {
        let hooks = self.thread().private.hooks;
        if let Some(since) = self.thread().private.since {
            self.thread_mut().private.reads.extend(read);
            let is_again = self.is_same_state();
            return match is_again || hooks - since >= ROUND {
                true => self.share_loop(is_again),
                false => Ok(()),
            };
        }
        if hooks.is_power_of_two() {
            self.keep_state();
        } else if self.is_same_state() || hooks == LONG + 1 {
            let private = &mut self.thread_mut().private;
            private.since = Some(hooks);
            private.reads.clear();
            private.writes.clear();
            private.reads.extend(read);
        }
        if hooks > FOREVER { Err(End::Limit) } else { Ok(()) }
    }

    fn keep_state(&mut self) {
        let thread = self.thread_mut();
        let (from, to) = (thread.caller.stack, thread.slot.stack_top());
        let private = &mut thread.private;
        private.caller = thread.caller;
        private.stack.clear();
        // SAFETY: the thread stands still, and this is the used part of its stack.
        private.stack.extend(unsafe { std::slice::from_raw_parts(from as *const u8, to - from) });
        private.is_kept = true;
    }

    fn is_same_state(&self) -> bool {
        let thread = self.thread();
        let private = &thread.private;
        if !private.is_kept || private.caller != thread.caller {
            return false;
        }
        let (from, to) = (thread.caller.stack, thread.slot.stack_top());
        // SAFETY: as for keeping it.
        private.stack == unsafe { std::slice::from_raw_parts(from as *const u8, to - from) }
    }

    /// Shares what a loop reads and does not write.
    fn share_loop(&mut self, is_endless: bool) -> Result<(), End> {
        let private = &mut self.thread_mut().private;
        private.since = None;
        let (reads, writes) =
            (std::mem::take(&mut private.reads), std::mem::take(&mut private.writes));
        let is_written = |&(read, size): &(usize, usize)| {
            writes.iter().any(|&(write, length)| write < read + size && read < write + length)
        };
        let mut reads: Vec<(usize, usize)> =
            reads.into_iter().filter(|it| !is_written(it)).collect();
        reads.sort_unstable();
        reads.dedup();
        for &(address, size) in &reads {
            self.share_own(address, size);
        }
        match reads.is_empty() {
            false => Err(self.again()),
            true if is_endless => Err(self.failure(FindingKind::EndlessLoop, ENDLESS_LOOP)),
            true => Ok(()),
        }
    }
}
