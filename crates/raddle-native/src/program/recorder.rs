//! Records call stacks of steps, while an execution is followed once more.

use raddle_core::execution::ThreadId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::NativeProgram;

/// The addresses of the instructions of a call stack, innermost first.
pub(crate) type Addresses = Vec<u64>;

/// Call stacks of steps, allocations and deallocations.
#[derive(Debug, Default)]
pub(crate) struct StackRecorder {
    /// The steps whose call stacks are wanted: threads and positions.
    pub(crate) wanted: FxHashSet<(ThreadId, usize)>,
    /// The call stacks of these steps.
    pub(crate) steps: FxHashMap<(ThreadId, usize), Addresses>,
    /// Frames in which such steps were made: the addresses of instructions, and the ends of the frames.
    pub(crate) frames: FxHashSet<(u64, u64)>,
    /// By start of the block.
    pub(crate) allocations: FxHashMap<u64, Addresses>,
    /// By start of the block, with the thread.
    pub(crate) frees: FxHashMap<u64, (ThreadId, Addresses)>,
}

impl NativeProgram {
    /// The call stack of the current thread.
    fn current_stack(&self) -> Addresses {
        self.process.call_addresses(self.thread().guest).collect()
    }

    /// Records the call stack of the next step of the current thread, if it is wanted.
    #[cold]
    pub(super) fn record_step(&mut self) {
        let step = (self.current, self.thread().events as usize);
        if self.recorder.as_ref().is_some_and(|recorder| recorder.wanted.contains(&step)) {
            let stack = self.current_stack();
            let frames = self.process.call_frames(self.thread().guest);
            self.recorder.iter_mut().for_each(|recorder| {
                recorder.steps.insert(step, stack.clone());
                recorder.frames.extend(frames.iter().map(|(at, memory)| (*at, memory.end)));
            });
        }
    }

    /// Records where a block is allocated.
    pub(super) fn record_allocation(&mut self, start: u64) {
        if self.recorder.is_some() {
            let stack = self.current_stack();
            self.recorder.iter_mut().for_each(|recorder| {
                recorder.allocations.insert(start, stack.clone());
            });
        }
    }

    /// Records where a block is freed.
    pub(super) fn record_free(&mut self, start: u64) {
        if self.recorder.is_some() {
            let freed = (self.current, self.current_stack());
            self.recorder.iter_mut().for_each(|recorder| {
                recorder.frees.insert(start, freed.clone());
            });
        }
    }
}
