//! What the system would have killed the program for, in words.

use raddle_core::program::End;

use crate::native::Native;
use crate::outcome::BugKind;
use crate::trap;

impl Native {
    /// The system would have killed the program.
    pub(crate) fn trapped(&mut self) -> End {
        let [signal, address, instruction, stack, ..] = self.thread().frame.arguments;
        let in_program = |at: &usize| {
            let (from, to) = self.module.constants;
            (from..to).contains(at)
        };
        // Behind the instruction, as if it were a call. Otherwise who called the library.
        let slot = self.thread().slot;
        let caller = if in_program(&instruction) {
            Some(instruction + 1)
        } else {
            return_addresses(stack.max(slot.stack_limit()), slot.stack_top()).find(in_program)
        };
        let place = match caller {
            Some(at) => self.places.place(at),
            None => self.place(),
        };
        let near_limit = address.wrapping_sub(slot.stack_limit() - (1 << 16)) < (1 << 16) + 4096;
        let (bug, message) = match signal as i32 {
            libc::SIGFPE => (BugKind::Crash, String::from("division by zero, or overflow in one")),
            libc::SIGILL => (BugKind::Crash, String::from("an invalid instruction")),
            trap::TIMER => {
                (BugKind::EndlessLoop, String::from("loops for ever without any access"))
            }
            _ if near_limit => (BugKind::StackOverflow, String::from("the stack overflowed")),
            _ if address < 1 << 16 => {
                (BugKind::Crash, format!("a null pointer is followed (address {address:#x})"))
            }
            _ => (BugKind::Crash, format!("access to invalid memory at {address:#x}")),
        };
        self.failure_at(bug, &message, place)
    }
}

/// What looks like return addresses on a stack.
fn return_addresses(stack: usize, top: usize) -> impl Iterator<Item = usize> {
    // SAFETY: the range is in a mapped stack whose thread stands still.
    (stack.next_multiple_of(8)..top.min(stack + 4096))
        .step_by(8)
        .map(|at| unsafe { *(at as *const usize) })
}
