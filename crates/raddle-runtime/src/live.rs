//! Native code that runs forwards only.
//!
//! A fiber stops at every op here, also where an effect asks nothing: so other threads may run before the next one, and
//! memory that no op carries is written when its op is done, not earlier. Nothing is remembered but the run itself.
//!
//! *Limits.* What the program frees is given back when the run ends, so a run that allocates takes more and more memory.

use raddle_core::execution::ThreadId;
use raddle_core::program::{Continuation, End, Failure, Live, LiveReply};

use crate::fiber::Stop;
use crate::native::Native;
use crate::state::{self, Mode};

impl<F: Fn()> Native<F> {
    /// Lets a thread run, of which nothing is left to be done, to its next op.
    fn run_on(&mut self, thread: ThreadId, at: usize) -> Continuation {
        loop {
            let end = match self.resume(at, Mode::Running) {
                Stop::Paused => None,
                stop => Some(self.end_of(at, stop)),
            };
            let effects = &self.context.state.borrow().segment;
            // Almost always it stops at every op, and nothing has to be queued.
            match (effects.as_slice(), end) {
                ([], Some(End::Question(op))) | (&[op], None) => return Continuation::Op(op),
                (effects, end) => {
                    let queue = self.queues.of(thread);
                    queue.extend(effects.iter().copied(), end);
                    if let Some(next) = queue.advance() {
                        return next;
                    }
                }
            }
        }
    }
}

fn failed(failure: Failure) -> Continuation {
    Continuation::End(End::Failed(failure))
}

impl<F: Fn()> Live for Native<F> {
    fn begin_run(&mut self) {
        self.start_run();
        self.context.pauses.set(true);
        self.queues.clear();
    }

    fn start(&mut self, thread: ThreadId) -> Continuation {
        self.queues.start(thread);
        match Native::start(self, thread) {
            Ok(at) => self.run_on(thread, at),
            Err(failure) => failed(failure),
        }
    }

    fn go_on(&mut self, thread: ThreadId, reply: LiveReply) -> Continuation {
        let LiveReply { value, spurious } = reply;
        self.context.reply.set(state::Reply { value, spurious });
        // A thread may have ended with effects that are still to be done.
        let queue = self.queues.of(thread);
        if queue.has_more()
            && let Some(next) = queue.advance()
        {
            return next;
        }
        match self.find(thread) {
            Ok(at) => self.run_on(thread, at),
            Err(failure) => failed(failure),
        }
    }
}
