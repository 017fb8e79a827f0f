//! What the system would have killed the program for, in words.

use raddle_core::outcome::FindingKind;
use raddle_core::program::{End, PlaceId};

use crate::native::Native;
use crate::trap;

/// The message for a thread that loops without any event.
pub(crate) const ENDLESS_LOOP: &str = "loops forever without waiting for another thread";

impl Native {
    /// The system would have killed the program.
    pub(crate) fn trapped(&mut self) -> End {
        let [signal, address, ..] = self.thread().frame.arguments;
        let place = self.place_of_crash();
        let slot = self.thread().slot;
        let near_limit = address.wrapping_sub(slot.stack_limit() - (1 << 16)) < (1 << 16) + 4096;
        let (bug, message) = match signal as i32 {
            libc::SIGFPE => {
                (FindingKind::Crash, String::from("division by zero, or overflow in one"))
            }
            libc::SIGILL => (FindingKind::Crash, String::from("an invalid instruction")),
            trap::TIMER => (FindingKind::EndlessLoop, String::from(ENDLESS_LOOP)),
            _ if near_limit => (FindingKind::StackOverflow, String::from("the stack overflowed")),
            _ if address < 1 << 16 => {
                (FindingKind::Crash, format!("a null pointer is followed (address {address:#x})"))
            }
            _ => (FindingKind::Crash, format!("access to invalid memory at {address:#x}")),
        };
        self.failure_at(bug, &message, place)
    }

    /// Where it crashed; in code that is not the program's, who called that.
    fn place_of_crash(&mut self) -> PlaceId {
        let (from, to) = self.module.constants;
        let is_programs = |at: usize| (from..to).contains(&at);
        let (at, slot) = (self.thread().frame.noted, self.thread().slot);
        if is_programs(at.address) && slot.has_on_stack(at.stack) {
            return self.places.place_of_user(at, slot.stack());
        }
        let stack = at.stack.max(slot.stack_limit());
        let callers = return_addresses(stack, slot.stack_top()).filter(|&at| is_programs(at));
        let callers: Vec<usize> = callers.collect();
        self.places.first_of_user(&callers).unwrap_or_else(|| self.place())
    }
}

/// What looks like return addresses on a stack.
fn return_addresses(stack: usize, top: usize) -> impl Iterator<Item = usize> {
    // SAFETY: the range is in a mapped stack whose thread stands still.
    (stack.next_multiple_of(8)..top.min(stack + 4096))
        .step_by(8)
        .map(|at| unsafe { *(at as *const usize) })
}
