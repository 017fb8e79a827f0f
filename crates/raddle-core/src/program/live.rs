//! Programs that run forward only, for random testing.
//!
//! A run from beginning to end needs no histories. A thread performs one op at a time and gets the result; nothing is
//! stored, so the memory of a run does not depend on its length.

use std::collections::VecDeque;

use crate::execution::{ThreadId, Value};

use super::{End, Op, Program};

/// A program that can run forward.
pub trait Live: Program {
    /// Begins a new run.
    fn begin_run(&mut self);

    /// Starts a thread and returns its first op.
    fn start(&mut self, thread: ThreadId) -> Continuation;

    /// Resumes a thread whose last op is done, with a reply if it was a question. Returns its next op.
    fn go_on(&mut self, thread: ThreadId, reply: LiveReply) -> Continuation;
}

/// The next op of a thread, or its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Continuation {
    /// This op.
    Op(Op),
    /// The thread ends. Never [`End::Question`].
    End(End),
}

impl From<End> for Continuation {
    #[inline]
    fn from(end: End) -> Self {
        match end {
            End::Question(op) => Continuation::Op(op),
            end => Continuation::End(end),
        }
    }
}

/// The reply to a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveReply {
    /// The value that was read, or the number that was chosen.
    pub value: Value,
    /// A weak compare-exchange failed although it read the expected value.
    pub spurious: bool,
}

/// Queued ops of all threads, for programs that run ahead of the ops that are done.
#[derive(Debug, Default)]
pub struct Queues(Vec<Queue>);

impl Queues {
    /// Removes all threads.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a thread with an empty queue.
    pub fn start(&mut self, thread: ThreadId) {
        if self.0.len() <= thread.index() {
            self.0.resize_with(thread.index() + 1, Queue::default);
        }
        self.0[thread.index()] = Queue::default();
    }

    /// The queue of a thread that has started.
    pub fn of(&mut self, thread: ThreadId) -> &mut Queue {
        &mut self.0[thread.index()]
    }
}

/// Queued ops of a thread.
#[derive(Debug, Default)]
pub struct Queue {
    /// The first op has been returned by [`Queue::advance`] and is not done.
    is_doing: bool,
    ops: VecDeque<Op>,
    /// What follows the queued ops; `None` if the thread has to run to find out.
    then: Option<Continuation>,
}

impl Queue {
    /// Marks the current op as done and returns what follows; `None` if the thread has to run to find out.
    pub fn advance(&mut self) -> Option<Continuation> {
        if std::mem::take(&mut self.is_doing) {
            self.ops.pop_front();
        }
        let Some(&op) = self.ops.front() else { return self.then.take() };
        self.is_doing = true;
        Some(Continuation::Op(op))
    }

    /// Appends effects and what follows them; `None` if the thread can run on.
    pub fn extend(&mut self, effects: impl IntoIterator<Item = Op>, end: Option<End>) {
        self.ops.extend(effects);
        self.then = end.map(Continuation::from);
    }

    /// Returns `true` if an op has been returned and is not done.
    #[must_use]
    pub fn is_doing(&self) -> bool {
        self.is_doing
    }

    /// Returns `true` if the queue knows what follows the current op.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.is_doing && (self.ops.len() > 1 || self.then.is_some())
    }
}
