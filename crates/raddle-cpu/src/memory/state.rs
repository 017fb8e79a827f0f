//! What a byte of guest memory is: unmapped, read-only, private to a thread, or shared.
//!
//! A state fits into a byte, so that the states of eight neighbouring bytes are compared at once: see `access`.

use std::fmt;

/// A guest thread. Its number determines the addresses of its stack, heap and thread-local storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Thread(u8);

/// The number of guest threads that one process may have: the states of a byte are encoded in eight bits.
pub const MAX_THREADS: usize = 256 - FIRST_PRIVATE as usize;

const FIRST_PRIVATE: u8 = 16;

impl Thread {
    /// The thread that runs `main`.
    pub const MAIN: Thread = Thread(0);

    /// Returns thread `index`, or `None` from [`MAX_THREADS`] on.
    pub fn new(index: usize) -> Option<Thread> {
        (index < MAX_THREADS).then_some(Thread(index as u8))
    }

    /// Index of the thread, in order of creation.
    pub fn index(self) -> usize {
        self.0.into()
    }
}

impl fmt::Display for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread {}", self.0)
    }
}

/// Why a byte must not be accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unmapped {
    /// Nothing was ever mapped here.
    Nothing,
    /// The red zone of a heap block.
    HeapRedZone,
    /// A heap block that was freed.
    Freed,
    /// The red zone of a global variable.
    GlobalRedZone,
    /// The red zone of a variable on a stack.
    StackRedZone,
    /// A variable on a stack whose scope or function has ended.
    DeadStack,
    /// The guard below a stack.
    StackGuard,
    /// Memory that the guest itself unmapped.
    Returned,
}

const REASONS: [(u8, Unmapped); 8] = [
    (0, Unmapped::Nothing),
    (3, Unmapped::HeapRedZone),
    (4, Unmapped::Freed),
    (5, Unmapped::GlobalRedZone),
    (6, Unmapped::StackRedZone),
    (7, Unmapped::DeadStack),
    (8, Unmapped::StackGuard),
    (9, Unmapped::Returned),
];

/// What a byte of guest memory is. Exact to the byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Any access is a fault.
    Unmapped(Unmapped),
    /// Every thread reads without asking; a write is a fault. The contents never change while the guest runs.
    ReadOnly,
    /// Every access is a question: its answer comes from the caller, never from guest memory.
    Shared,
    /// The thread accesses it without asking; accesses of other threads stop them.
    Private(Thread),
}

/// The encoding of [`State::ReadOnly`].
pub(crate) const READ_ONLY: u8 = 1;
/// The encoding of [`State::Shared`].
pub(crate) const SHARED: u8 = 2;

impl State {
    /// The encoding in a byte.
    pub(crate) fn encode(self) -> u8 {
        match self {
            State::Unmapped(reason) => {
                REASONS.iter().find(|entry| entry.1 == reason).map_or(0, |entry| entry.0)
            }
            State::ReadOnly => READ_ONLY,
            State::Shared => SHARED,
            State::Private(thread) => FIRST_PRIVATE + thread.0,
        }
    }

    /// The state that `code` encodes.
    pub(crate) fn decode(code: u8) -> State {
        match code {
            READ_ONLY => State::ReadOnly,
            SHARED => State::Shared,
            FIRST_PRIVATE.. => State::Private(Thread(code - FIRST_PRIVATE)),
            _ => State::Unmapped(
                REASONS.iter().find(|e| e.0 == code).map_or(Unmapped::Nothing, |entry| entry.1),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_decodes_to_the_state_that_encodes_it() {
        for code in (0..=9).chain(16..=255) {
            assert_eq!(State::decode(code).encode(), code);
        }
        assert_eq!(Thread::new(MAX_THREADS), None);
    }
}
