//! Programs that run forwards only.
//!
//! Who runs a program once, from its beginning to its end, needs no history of any thread and can never ask
//! twice. A thread does one op at a time here and is told what came of it; nothing is remembered, so the memory
//! that a run takes does not depend on how long it is.

use crate::execution::{ThreadId, Value};

use super::{End, Op};

/// A program that can be run so.
pub trait Live {
    /// Begins a run: nothing has happened yet, whatever happened before.
    fn restart(&mut self);

    /// Starts a thread. What it does first.
    fn start(&mut self, thread: ThreadId) -> Next;

    /// The last op of the thread is done, with this reply if it was a question. What it does next.
    fn go_on(&mut self, thread: ThreadId, reply: Reply) -> Next;
}

/// What a thread does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// This op.
    Op(Op),
    /// Nothing: it has come to this end, which is no question.
    End(End),
}

/// The reply to a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// The value that was read, or the number that was chosen.
    pub value: Value,
    /// Whether a weak compare-exchange failed although it read what it expected.
    pub spurious: bool,
}
