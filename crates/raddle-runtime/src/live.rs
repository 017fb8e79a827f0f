//! Native code that runs forwards only.
//!
//! A fiber stops at every op here, also where an effect asks nothing: so other threads may run before the next one, and
//! memory that no op carries is written when its op is done, not earlier. Nothing is remembered but the run itself.
//!
//! *Limits.* What the program frees is given back when the run ends, so a run that allocates takes more and more memory.

use std::collections::VecDeque;

use raddle_core::execution::ThreadId;
use raddle_core::program::{End, Live, Next, Op, Reply};

use crate::fiber::Stop;
use crate::native::Native;
use crate::state::{self, Mode};

/// What a thread does next, as far as that is known.
#[derive(Default)]
pub(crate) struct Queue {
    /// Whether the first of these has been handed out.
    is_doing: bool,
    ops: VecDeque<Op>,
    /// What follows. None: it has only stopped for the effects, and goes on.
    then: Option<Next>,
}

impl<F: Fn()> Native<F> {
    /// The next op of a thread, which stands still.
    fn next_of(&mut self, thread: ThreadId, at: usize) -> Next {
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
            self.resume_live(thread, at);
        }
    }

    /// Lets a thread run to its next op.
    fn resume_live(&mut self, thread: ThreadId, at: usize) {
        let stop = self.resume(at, Mode::Running);
        let then = match stop {
            Stop::Paused => None,
            stop => Some(match self.end_of(at, stop) {
                End::Question(op) => Next::Op(op),
                end => Next::End(end),
            }),
        };
        let queue = &mut self.queues[thread.index()];
        queue.ops.extend(self.context.state.borrow().segment.iter().copied());
        queue.then = then;
    }

    fn fail(&mut self, failure: raddle_core::program::Failure) -> Next {
        Next::End(End::Failed(failure))
    }
}

impl<F: Fn()> Live for Native<F> {
    fn restart(&mut self) {
        Native::restart(self);
        self.context.pauses.set(true);
        self.queues.clear();
    }

    fn start(&mut self, thread: ThreadId) -> Next {
        if self.queues.len() <= thread.index() {
            self.queues.resize_with(thread.index() + 1, Queue::default);
        }
        self.queues[thread.index()] = Queue::default();
        match Native::start(self, thread) {
            Ok(at) => self.next_of(thread, at),
            Err(failure) => self.fail(failure),
        }
    }

    fn go_on(&mut self, thread: ThreadId, reply: Reply) -> Next {
        let Reply { value, spurious } = reply;
        self.context.reply.set(state::Reply { value, spurious });
        // A thread may have ended with effects that are still to be done.
        let queue = &self.queues[thread.index()];
        if queue.is_doing && (queue.ops.len() > 1 || queue.then.is_some()) {
            return self.next_of(thread, 0);
        }
        match self.find(thread) {
            Ok(at) => self.next_of(thread, at),
            Err(failure) => self.fail(failure),
        }
    }
}
