//! A C program that runs forwards only.
//!
//! All that threads share goes through ops, so a thread may run ahead of what it has done: it does so up to the first
//! hook with which there are effects, and these are done one after the other before it goes on.
//!
//! *Running ahead* ends nowhere if a thread goes round on memory that is its own as long as nobody else has touched it, and
//! the others would, but have to wait: an exploration comes to them in another execution, a run does not. So once there are
//! other threads, what is accessed atomically is shared at once, whoever touches it, and the run starts again.
//! (Before that, the main thread of a program that counts in a loop ran for as long as `loops` has patience: minutes.)

use raddle_core::execution::ThreadId;
use raddle_core::program::{Continuation, End, Live, LiveReply};

use crate::native::Native;

impl Native {
    /// The next op of a thread, which stands still.
    fn next_of(&mut self, thread: ThreadId) -> Continuation {
        loop {
            if let Some(next) = self.queues.of(thread).advance() {
                return next;
            }
            self.current = thread;
            self.segment.clear();
            let end = self.drive_some();
            if let Some(next) = self.first_of(thread, end) {
                return next;
            }
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

    /// Whether memory that is accessed atomically is shared although no other thread has touched it yet.
    pub(crate) fn shares_atomics(&self) -> bool {
        self.is_live && self.has_company()
    }

    /// Whether no bytes of other threads' stacks are those that the current one needs there.
    fn borrows_nothing(&self) -> bool {
        let thread = self.thread();
        thread.borrowed.is_empty() && thread.stores.iter().all(|store| store.borrowed.is_empty())
    }

    /// The thread, of which nothing is queued, does what is in the segment, and stands so. What it does first.
    #[inline]
    fn first_of(&mut self, thread: ThreadId, end: Option<End>) -> Option<Continuation> {
        if let Some(Some(thread)) = self.threads.get_mut(thread.index()) {
            thread.printed.clear();
        }
        if self.segment.is_empty() {
            return end.map(Continuation::from);
        }
        let queue = self.queues.of(thread);
        queue.extend(self.segment.drain(..), end);
        queue.advance()
    }
}

impl Live for Native {
    fn begin_run(&mut self) {
        self.queues.clear();
        self.is_live = true;
    }

    fn start(&mut self, thread: ThreadId) -> Continuation {
        self.queues.start(thread);
        match self.begin(thread) {
            Ok(()) => self.next_of(thread),
            Err(end) => end.into(),
        }
    }

    fn go_on(&mut self, thread: ThreadId, reply: LiveReply) -> Continuation {
        if !self.queues.of(thread).is_doing() {
            self.current = thread;
            self.segment.clear();
            // What it reads is in memory now, so it goes on at once.
            let end = match self.take_answer(reply.value, reply.spurious) {
                Ok(()) => self.drive_some(),
                Err(end) => Some(end),
            };
            if let Some(next) = self.first_of(thread, end) {
                return next;
            }
        }
        self.next_of(thread)
    }
}
