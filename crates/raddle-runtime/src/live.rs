//! Native code that runs forwards only.
//!
//! A fiber stops at every op here, also where an effect asks nothing: so other threads may run before the next one, and
//! memory that no op carries is written when its op is done, not earlier. Nothing is remembered but the run itself.
//!
//! *Limits.* What the program frees is given back when the run ends, so a run that allocates takes more and more memory.

use raddle_core::execution::ThreadId;
use raddle_core::program::{End, Failure, Live, Next, Reply};

use crate::fiber::Stop;
use crate::native::Native;
use crate::state::{self, Mode};

impl<F: Fn()> Native<F> {
    /// The next op of a thread, which stands still.
    fn next_of(&mut self, thread: ThreadId, at: usize) -> Next {
        loop {
            if let Some(next) = self.queues.of(thread).advance() {
                return next;
            }
            self.resume_live(thread, at);
        }
    }

    /// Lets a thread run to its next op.
    fn resume_live(&mut self, thread: ThreadId, at: usize) {
        let stop = self.resume(at, Mode::Running);
        let end = match stop {
            Stop::Paused => None,
            stop => Some(self.end_of(at, stop)),
        };
        let effects = &self.context.state.borrow().segment;
        self.queues.of(thread).extend(effects.iter().copied(), end);
    }
}

fn failed(failure: Failure) -> Next {
    Next::End(End::Failed(failure))
}

impl<F: Fn()> Live for Native<F> {
    fn restart(&mut self) {
        Native::restart(self);
        self.context.pauses.set(true);
        self.queues.clear();
    }

    fn start(&mut self, thread: ThreadId) -> Next {
        self.queues.start(thread);
        match Native::start(self, thread) {
            Ok(at) => self.next_of(thread, at),
            Err(failure) => failed(failure),
        }
    }

    fn go_on(&mut self, thread: ThreadId, reply: Reply) -> Next {
        let Reply { value, spurious } = reply;
        self.context.reply.set(state::Reply { value, spurious });
        // A thread may have ended with effects that are still to be done.
        if self.queues.of(thread).has_more() {
            return self.next_of(thread, 0);
        }
        match self.find(thread) {
            Ok(at) => self.next_of(thread, at),
            Err(failure) => failed(failure),
        }
    }
}
