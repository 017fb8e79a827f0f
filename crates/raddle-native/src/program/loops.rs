//! Loops that read only memory that no other thread has touched yet.
//!
//! *Problem.* A thread that waits for another one may run before that has touched the variable it waits for. The variable is
//! private then, its accesses are no ops, and the thread never asks.
//!
//! *Idea.* A thread that asks nothing for a while is compared with an earlier state of itself: registers and, by the undo log,
//! private memory. A state that comes back repeats forever unless another thread writes what it reads. So what it reads
//! becomes shared, and the exploration starts again; then the loop consists of ops. Atomic loads are known; if there are
//! none, the variables and blocks that the thread owns are shared, and if that changes nothing, its stack. The state is
//! kept after 1, 2, 4, ... steps (Brent's method of finding cycles), so that every cycle is found.
//!
//! A loop that also counts never comes back to a state. Its variables become shared after [`LONG`] steps even so; then its ops
//! reach the limit of events.

use std::ops::Range;
use std::rc::Rc;

use raddle_core::outcome::FindingKind;
use raddle_core::program::End;
use raddle_cpu::memory::layout::RED_ZONE;
use raddle_cpu::memory::{Memory, PAGE, State, Thread};

use super::NativeProgram;
use super::bookkeeping::Bookkeeping;
use crate::process::ThreadSnapshot;

/// A step ends after this many instructions, if nothing else ends it.
pub(super) const STEP: u64 = 1 << 14;
/// The first step after which the state is kept.
const SHORT: u64 = 1 << 6;
/// After this many steps the variables of the thread are shared, whatever its state is.
const LONG: u64 = 1 << 16;
/// After this many steps without a question the thread is stopped.
const FOREVER: u64 = 1 << 22;

/// Bytes at the end of a frame with the return address.
const SAVED: u64 = 8;
/// The number of atomic loads that are remembered.
const LOADS: usize = 16;

/// A state of a thread.
#[derive(Clone, Debug)]
struct KeptState {
    snapshot: ThreadSnapshot,
    own: Rc<Bookkeeping>,
}

/// What a thread did since its last question.
#[derive(Clone, Debug, Default)]
pub(crate) struct PrivateSteps {
    steps: u64,
    kept: Option<Box<KeptState>>,
    /// Addresses and sizes of the first atomic loads since the state was kept.
    loads: Vec<(u64, u64)>,
}

impl PrivateSteps {
    /// Notes an atomic load from private memory.
    pub(super) fn note_load(&mut self, address: u64, size: u64) {
        let is_new = self.kept.is_some()
            && self.loads.len() < LOADS
            && !self.loads.contains(&(address, size));
        if is_new {
            self.loads.push((address, size));
        }
    }
}

impl NativeProgram {
    /// The current thread has made a step without a question. Fails if the exploration must start again, or if the thread loops forever.
    pub(super) fn note_step(&mut self) -> Result<(), End> {
        let guest = self.thread().guest;
        let private = &mut self.thread_mut().private;
        private.steps += 1;
        let steps = private.steps;
        if steps < SHORT {
            return Ok(());
        }
        if steps.is_power_of_two() {
            let own = self.thread().own.clone();
            let snapshot = self.process.snapshot_thread(guest);
            let kept = snapshot.map(|snapshot| Box::new(KeptState { snapshot, own }));
            let private = &mut self.thread_mut().private;
            private.kept = kept;
            private.loads.clear();
            return if steps > FOREVER { Err(End::Limit) } else { Ok(()) };
        }
        let is_endless = self.is_at_kept_state();
        if !is_endless && steps != LONG + 1 {
            return Ok(());
        }
        let is_shared = self.share_loaded()
            || self.share_owned(guest)
            || (is_endless && self.share_frames(guest));
        if is_shared {
            return Err(self.again());
        }
        match is_endless {
            true => {
                let message = "loops forever without waiting for another thread";
                Err(self.failure(FindingKind::EndlessLoop, message))
            }
            false => Ok(()),
        }
    }

    /// Returns `true` if the current thread is in the state that was kept.
    fn is_at_kept_state(&mut self) -> bool {
        let dead = self.dead();
        let thread = self.thread();
        let kept = thread.private.kept.as_ref();
        kept.is_some_and(|kept| {
            kept.own.remembers_same(&thread.own)
                && self.process.is_at(thread.guest, &kept.snapshot, &dead)
        })
    }

    /// Shares what the loop of the current thread loads atomically. Returns `false` if that is nothing.
    fn share_loaded(&mut self) -> bool {
        let loads = std::mem::take(&mut self.thread_mut().private.loads);
        for &(address, size) in &loads {
            self.share(address, size);
        }
        !loads.is_empty()
    }

    /// Shares the frames of a thread, apart from return addresses, or else what its innermost function keeps below its frame. Returns
    /// `false` if all that is shared.
    fn share_frames(&mut self, guest: Thread) -> bool {
        let frames = self.process.stack_frames(guest);
        let mut is_new = false;
        for Range { start, end } in &frames {
            is_new |= self.share_stack(*start, end.saturating_sub(SAVED));
        }
        let innermost = frames.first().map(|frame| frame.start);
        is_new || innermost.is_some_and(|end| self.share_stack(end - RED_ZONE, end))
    }

    /// Shares a part of a stack. Returns `false` if it is shared.
    fn share_stack(&mut self, from: u64, to: u64) -> bool {
        let is_new = from < to && !self.layout.is_all_shared(from, to);
        if is_new {
            self.layout.share(from, to);
        }
        is_new
    }

    /// Shares the variables and blocks of a thread. Returns `false` if it has none.
    fn share_owned(&mut self, guest: Thread) -> bool {
        let mut owned = vec![];
        if let Some(program) = self.process.modules().first() {
            for segment in program.file.segments.iter().filter(|segment| segment.is_writable) {
                let (from, to) =
                    (program.base + segment.range.start, program.base + segment.range.end);
                collect_owned(self.process.memory(), guest, from, to, &mut owned);
            }
        }
        let blocks = self.thread().own.heap.blocks.iter();
        owned.extend(blocks.filter(|(_, block)| block.freed.is_none()).map(|(&start, _)| start));
        let new: Vec<u64> = owned.into_iter().filter(|&at| !self.layout.is_shared(at, 1)).collect();
        for &address in &new {
            self.share(address, 1);
        }
        !new.is_empty()
    }
}

/// Collects the starts of runs of bytes that a thread owns.
fn collect_owned(memory: &Memory, guest: Thread, from: u64, to: u64, owned: &mut Vec<u64>) {
    let own = State::Private(guest);
    let mut at = from;
    while at < to {
        if memory.state(at) == own {
            owned.push(at);
        }
        // Variables are at least four bytes apart, or share an owner.
        at = (at + 4).min((at / PAGE + 1) * PAGE);
    }
}
