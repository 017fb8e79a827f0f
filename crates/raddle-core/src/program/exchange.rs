//! Two threads that exchange their roles.

use crate::execution::ThreadId;

/// Two threads of the same kind that exchange their roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadExchange {
    /// One of them.
    pub first: ThreadId,
    /// The other one.
    pub second: ThreadId,
}

impl ThreadExchange {
    /// The thread that has the role of this one.
    #[inline]
    #[must_use]
    pub fn of(self, thread: ThreadId) -> ThreadId {
        let ThreadExchange { first, second } = self;
        match thread {
            thread if thread == first => second,
            thread if thread == second => first,
            thread => thread,
        }
    }
}
