//! Programs that run forwards only.
//!
//! Who runs a program once, from its beginning to its end, needs no history of any thread and can never ask
//! twice. A thread does one op at a time here and is told what came of it; nothing is remembered, so the memory
//! that a run takes does not depend on how long it is.

use std::collections::VecDeque;

use crate::execution::{ThreadId, Value};

use super::{End, Op, Program};

/// A program that can be run so.
pub trait Live: Program {
    /// Begins a run: nothing has happened yet, whatever happened before.
    fn begin_run(&mut self);

    /// Starts a thread. What it does first.
    fn start(&mut self, thread: ThreadId) -> Continuation;

    /// The last op of the thread is done, with this reply if it was a question. What it does next.
    fn go_on(&mut self, thread: ThreadId, reply: LiveReply) -> Continuation;
}

/// What a thread does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Continuation {
    /// This op.
    Op(Op),
    /// Nothing: it has come to this end, which is no question.
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
    /// Whether a weak compare-exchange failed although it read what it expected.
    pub spurious: bool,
}

/// What the threads of a program do next, as far as that is known: for programs that run ahead of what is done.
#[derive(Debug, Default)]
pub struct Queues(Vec<Queue>);

impl Queues {
    /// No thread has started.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// A thread starts.
    pub fn start(&mut self, thread: ThreadId) {
        if self.0.len() <= thread.index() {
            self.0.resize_with(thread.index() + 1, Queue::default);
        }
        self.0[thread.index()] = Queue::default();
    }

    /// What a thread does that has started.
    pub fn of(&mut self, thread: ThreadId) -> &mut Queue {
        &mut self.0[thread.index()]
    }
}

/// What a thread does next.
#[derive(Debug, Default)]
pub struct Queue {
    /// Whether the first of these has been handed out.
    is_doing: bool,
    ops: VecDeque<Op>,
    /// What follows. None: the thread has to go on for that to be known.
    then: Option<Continuation>,
}

impl Queue {
    /// What was handed out is done: what comes next. None: the thread has to go on for that to be known.
    pub fn advance(&mut self) -> Option<Continuation> {
        if std::mem::take(&mut self.is_doing) {
            self.ops.pop_front();
        }
        let Some(&op) = self.ops.front() else { return self.then.take() };
        self.is_doing = true;
        Some(Continuation::Op(op))
    }

    /// The thread does these effects, and then this; None: it can go on.
    pub fn extend(&mut self, effects: impl IntoIterator<Item = Op>, end: Option<End>) {
        self.ops.extend(effects);
        self.then = end.map(Continuation::from);
    }

    /// Returns `true` if one of the effects was handed out.
    #[must_use]
    pub fn is_doing(&self) -> bool {
        self.is_doing
    }

    /// Returns `true` if something follows the effect that was handed out.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.is_doing && (self.ops.len() > 1 || self.then.is_some())
    }
}
