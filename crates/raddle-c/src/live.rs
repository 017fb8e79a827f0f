//! A C program that runs forwards only.
//!
//! All that threads share goes through ops, so a thread may run ahead of what it has done: it does so up to the first
//! hook with which there are effects, and these are done one after the other before it goes on.

use std::collections::VecDeque;

use raddle_core::execution::ThreadId;
use raddle_core::program::{End, Live, Next, Op, Reply};

use crate::native::Native;

/// What a thread does next, as far as that is known.
#[derive(Default)]
pub(crate) struct Queue {
    /// Whether the first of these has been handed out.
    is_doing: bool,
    ops: VecDeque<Op>,
    /// What follows. None: it can go on.
    then: Option<Next>,
}

impl Native {
    /// The next op of a thread, which stands still.
    fn next_of(&mut self, thread: ThreadId) -> Next {
        loop {
            let queue = &mut self.queues[thread.index()];
            if std::mem::take(&mut queue.is_doing) {
                queue.ops.pop_front();
            }
            if let Some(&op) = queue.ops.front() {
                queue.is_doing = true;
                return Next::Op(op);
            }
            if let Some(next) = queue.then.take() {
                return next;
            }
            self.current = thread;
            self.segment.clear();
            let end = self.drive_some();
            self.queue(thread, end);
        }
    }

    /// Runs the current thread to its next question, or to its next effects.
    fn drive_some(&mut self) -> Option<End> {
        loop {
            let end = self.drive_once();
            if end.is_some() || !self.segment.is_empty() && self.borrows_nothing() {
                return end;
            }
        }
    }

    /// Whether no bytes of other threads' stacks are those that the current one needs there.
    fn borrows_nothing(&self) -> bool {
        let thread = self.thread();
        thread.borrowed.is_empty() && thread.stores.iter().all(|store| store.borrowed.is_empty())
    }

    /// The thread has done what is in the segment, and stands so.
    fn queue(&mut self, thread: ThreadId, end: Option<End>) {
        if let Some(Some(thread)) = self.threads.get_mut(thread.index()) {
            thread.printed.clear();
        }
        let queue = &mut self.queues[thread.index()];
        queue.ops.extend(self.segment.drain(..));
        queue.then = end.map(|end| match end {
            End::Question(op) => Next::Op(op),
            end => Next::End(end),
        });
    }
}

impl Live for Native {
    fn restart(&mut self) {
        self.queues.clear();
    }

    fn start(&mut self, thread: ThreadId) -> Next {
        if self.queues.len() <= thread.index() {
            self.queues.resize_with(thread.index() + 1, Queue::default);
        }
        self.queues[thread.index()] = Queue::default();
        if let Err(end) = self.begin(thread) {
            self.queue(thread, Some(end));
        }
        self.next_of(thread)
    }

    fn go_on(&mut self, thread: ThreadId, reply: Reply) -> Next {
        let queue = &self.queues[thread.index()];
        if !queue.is_doing {
            self.current = thread;
            self.segment.clear();
            // What it reads is in memory now, so it goes on at once.
            let end = match self.take_answer(reply.value, reply.spurious) {
                Ok(()) => self.drive_some(),
                Err(end) => Some(end),
            };
            self.queue(thread, end);
        }
        self.next_of(thread)
    }
}
