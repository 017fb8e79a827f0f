//! The rounds of the loops that a thread is in.
//!
//! A *round* begins with a jump backwards. The stack pointer tells the frames of a loop apart: a frame that has been left has
//! a smaller one than what runs then, and a return leaves the loops of its frame. Within a frame, a loop encloses another one
//! if its range of addresses does; a loop that does not enclose the jump has been left, and starts anew when it is reached
//! again.

use super::Cpu;
use crate::registers::Register;

/// A loop that a thread is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ActiveLoop {
    /// The stack pointer.
    pointer: u64,
    /// Its first instruction, and its last jump backwards so far.
    head: u64,
    end: u64,
    /// The jumps backwards since it was entered.
    rounds: u32,
}

impl Cpu {
    /// Notes a jump backwards from `end` to `head`. Returns the number of rounds that the loop has had.
    pub(crate) fn note_round(&mut self, head: u64, end: u64) -> u32 {
        let pointer = self.register(Register::Rsp);
        self.leave_frames(pointer);
        while let Some(last) = self.loops.last_mut().filter(|last| last.pointer == pointer) {
            if last.head == head {
                last.end = last.end.max(end);
                last.rounds += 1;
                return last.rounds;
            }
            if last.head < head && end < last.end {
                break;
            }
            self.loops.pop();
        }
        self.loops.push(ActiveLoop { pointer, head, end, rounds: 1 });
        1
    }

    /// Leaves the loops of frames whose stack pointer was smaller.
    pub(crate) fn leave_frames(&mut self, pointer: u64) {
        while self.loops.last().is_some_and(|last| last.pointer < pointer) {
            self.loops.pop();
        }
    }
}
