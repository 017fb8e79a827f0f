//! A compiled program that runs forward only, for random testing.
//!
//! Everything that threads share goes through ops, so a thread may run ahead of the ops that are done: it runs to its first
//! activity with effects, and these are done one after the other before it continues.

use raddle_core::execution::ThreadId;
use raddle_core::program::{Continuation, End, Live, LiveReply};

use super::NativeProgram;
use super::thread::Reply;

impl NativeProgram {
    /// The next op of a thread.
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
            let end = self.drive_once().err();
            if end.is_some() || !self.segment.is_empty() {
                return end;
            }
        }
    }

    /// Queues the ops of the segment and returns the first one.
    fn first_of(&mut self, thread: ThreadId, end: Option<End>) -> Option<Continuation> {
        self.thread_mut().printed.clear();
        if self.segment.is_empty() {
            return end.map(Continuation::from);
        }
        let queue = self.queues.of(thread);
        queue.extend(self.segment.drain(..), end);
        queue.advance()
    }
}

impl Live for NativeProgram {
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
            self.take_reply(Reply { value: reply.value, is_spurious: reply.spurious });
            let end = self.drive_some();
            if let Some(next) = self.first_of(thread, end) {
                return next;
            }
        }
        self.next_of(thread)
    }
}
