//! The end of a run.
//!
//! Threads that have not finished are unwound, those that started last first, as they may borrow from the
//! others. Then what was kept is dropped, what outlives the run is put back, and what was freed is given
//! back. All this is user code as well, so it runs on fibers: where a destructor asks a question there is no
//! answer, and the fiber is abandoned. What it had is leaked.

use std::cell::RefCell;
use std::mem;
use std::rc::Rc;

use raddle_core::execution::ThreadId;

use crate::fiber::{Fiber, Stop};
use crate::native::{Native, Running, run_body};
use crate::state::Mode;
use crate::{heap, state, unwind};

impl<F> Native<F> {
    /// Ends the run: what the program has is cleaned up, and what it has freed is given back.
    pub(crate) fn end_run(&mut self) {
        self.live.clear();
        self.starts.clear();
        self.context.heap.set_naming(false);
        let broken = mem::take(&mut self.broken);
        let kept = mem::take(&mut self.context.state.borrow_mut().kept);
        if broken {
            mem::forget(kept);
            let state = &mut *self.context.state.borrow_mut();
            state.threads().iter_mut().for_each(|thread| mem::forget(thread.body.take()));
        } else {
            self.drop_unstarted();
            (0..self.threads.len()).rev().for_each(|at| self.unwind(at));
            self.release(kept);
        }
        while let Some(mut running) = self.threads.pop() {
            running.fiber.abandon(&mut self.stacks);
            running.spin.clear();
            self.spare.push(running.spin);
        }
        self.context.state.borrow_mut().end_run();
        self.context.heap.end_run();
    }

    /// Threads that were spawned and never started may hold references into the stacks of others.
    fn drop_unstarted(&mut self) {
        let bodies = (self.context.state.borrow_mut().threads().iter_mut())
            .filter_map(|thread| thread.body.take())
            .map(|body| Box::new(move || drop(body)) as Box<dyn FnOnce()>)
            .collect();
        self.release(bodies);
    }

    /// Makes a thread clean up. Where its destructors ask questions it stays where it is.
    fn unwind(&mut self, at: usize) {
        let thread = self.threads[at].thread;
        let panicked = self.context.state.borrow_mut().thread(thread).panics > 0;
        if self.threads[at].fiber.is_alive() && !panicked {
            self.in_the_end(at);
        }
    }

    fn in_the_end(&mut self, at: usize) {
        let before = state::enter(Rc::as_ptr(&self.context), Mode::Ending);
        let stop = self.threads[at].fiber.resume();
        heap::record(std::ptr::null());
        match stop {
            Stop::Abandoned => unwind::is_abandoned(),
            _ => unwind::is_through(),
        }
        state::enter(before.0, before.1);
    }

    /// Does these things on fibers: they are user code, and may get stuck.
    fn release(&mut self, mut things: Vec<Box<dyn FnOnce()>>) {
        while !things.is_empty() {
            let queue = Rc::new(RefCell::new(things));
            let context = Rc::as_ptr(&self.context);
            let todo = Rc::clone(&queue);
            let next = move || todo.borrow_mut().pop();
            let body = Box::new(move || {
                while let Some(thing) = {
                    let _quiet = heap::quiet();
                    next()
                } {
                    thing();
                }
            });
            let fiber = Fiber::new(&mut self.stacks, move || run_body(context, body));
            let thread = ThreadId::new(0);
            let spin = self.spare.pop().unwrap_or_default();
            self.threads.push(Running { thread, fiber, stack: 0, spin });
            self.in_the_end(self.threads.len() - 1);
            things = queue.take();
        }
    }
}

impl<F> Drop for Native<F> {
    fn drop(&mut self) {
        self.end_run();
    }
}
