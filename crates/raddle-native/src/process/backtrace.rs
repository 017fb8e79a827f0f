//! Call stacks of guest threads.

use super::Process;
use super::strings;
use crate::load::{Frame, Place};
use raddle_cpu::memory::Thread;
use raddle_cpu::{Cpu, Register};
use std::ops::Range;

/// Frames of the longest call stack that is reported.
const MAX_FRAMES: usize = 64;

impl Process {
    /// The call stack of a thread, innermost first: the instruction that it runs next, or that stopped it, then calls. Ends
    /// at the outermost frame, where a module does not describe its frames, and after 64 frames.
    pub fn backtrace(&self, thread: Thread) -> Vec<Place> {
        self.call_addresses(thread).map(|address| self.place(address)).collect()
    }

    /// The addresses of [`Process::backtrace`].
    pub(crate) fn call_addresses(&self, thread: Thread) -> impl Iterator<Item = u64> + '_ {
        self.frames(thread).map(|(_, address)| address)
    }

    /// The memory of the frames of [`Process::backtrace`] whose callers are known: from the stack pointer to the end of the frame.
    pub(crate) fn stack_frames(&self, thread: Thread) -> Vec<Range<u64>> {
        self.call_frames(thread).into_iter().map(|(_, memory)| memory).collect()
    }

    /// The memory of the frames whose callers are known, with the addresses of their instructions.
    pub(crate) fn call_frames(&self, thread: Thread) -> Vec<(u64, Range<u64>)> {
        let frames: Vec<(Frame, u64)> = self.frames(thread).collect();
        let pairs = frames.windows(2);
        pairs.map(|pair| (pair[0].1, pair[0].0.stack()..pair[1].0.stack())).collect()
    }

    /// The frames of a call stack with the addresses of their instructions.
    fn frames(&self, thread: Thread) -> impl Iterator<Item = (Frame, u64)> + '_ {
        let mut frame = self.cpu(thread).map(frame_of);
        let mut depth = 0;
        std::iter::from_fn(move || {
            let current = frame?;
            let is_call = depth > 0;
            depth += 1;
            let address = current.address().wrapping_sub(is_call.into());
            frame = self.caller(&current, address, is_call).filter(|_| depth < MAX_FRAMES);
            Some((current, address))
        })
    }

    fn caller(&self, frame: &Frame, address: u64, is_call: bool) -> Option<Frame> {
        let read = |address| {
            let mut bytes = [0; 8];
            self.memory.read(address, &mut bytes).ok()?;
            Some(u64::from_le_bytes(bytes))
        };
        let module = self.kernel.modules.iter().find(|module| module.contains(address));
        let next = match module.and_then(|module| module.frame_row(address)) {
            Some(row) => row.caller(frame, &read),
            // A host function, one of ours in the executable, or a jump to nowhere: all before the stack is touched.
            None if !is_call || strings::function_at(address).is_some() => {
                frame.caller_of_leaf(&read)
            }
            None => None,
        };
        next.filter(|next| next.address() != 0)
    }

    /// The innermost place of a call stack that belongs to the executable.
    pub fn place_in_program(&self, thread: Thread) -> Option<Place> {
        let program = self.kernel.modules.first()?;
        self.backtrace(thread).into_iter().find(|place| program.contains(place.address))
    }
}

fn frame_of(cpu: &Cpu) -> Frame {
    use Register::*;
    let order = [Rax, Rdx, Rcx, Rbx, Rsi, Rdi, Rbp, Rsp, R8, R9, R10, R11, R12, R13, R14, R15];
    let mut frame = [0; 17];
    for (place, register) in frame.iter_mut().zip(order) {
        *place = cpu.register(register);
    }
    frame[16] = cpu.ip();
    Frame(frame)
}
