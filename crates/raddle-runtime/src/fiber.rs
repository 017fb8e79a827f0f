//! Threads of the program: fibers, all on one thread of the system.
//!
//! A fiber runs until it asks a question, and waits there for the reply. Stacks are used again and
//! again: a fresh one costs a thousand times what a switch costs.

use std::cell::Cell;
use std::ptr;

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use raddle_core::program::{End, Failure, Op};

use crate::trap;

/// Why a fiber stopped.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It asks. What it has on its stack from the address on is the program's.
    Question(Op, usize),
    /// It has done an effect, and can go on.
    Paused,
    /// It cannot go on.
    Ended(End),
    /// It cannot go on, and the run cannot be cleaned up.
    Broken(Failure),
    /// It must not go on, not even to clean up.
    Abandoned,
    /// It is through.
    Finished,
    /// It was made to clean up, and has.
    Unwound,
    /// The program panicked, with this message.
    Panicked(String),
    /// The program did something for which the system would have killed it.
    Trapped {
        /// Whether its stack is used up.
        overflow: bool,
        /// The address that it accessed.
        address: usize,
    },
}

type Switch = Yielder<(), Stop>;

thread_local! {
    static SWITCH: Cell<*const Switch> = const { Cell::new(ptr::null()) };
}

/// How large the stack of a thread is. It is mapped, not touched, so it costs nothing.
const STACK: usize = 1 << 20;

/// So much of a stack is zero when a fiber starts. What is in the gaps of frames would differ from run to run
/// otherwise, and with it how soon `spin` sees that a thread repeats itself.
const CLEARED: usize = 8 << 10;

/// A fiber and its stack.
pub(crate) struct Fiber {
    coroutine: Coroutine<(), Stop, Stop, DefaultStack>,
    switch: *const Switch,
    /// The lowest and highest address of its stack.
    pub(crate) stack: (usize, usize),
}

/// Stacks that nobody uses.
#[derive(Default)]
pub(crate) struct Stacks(Vec<DefaultStack>);

impl Fiber {
    /// A fiber that will run `body`, which says why it stopped.
    pub(crate) fn new(stacks: &mut Stacks, body: impl FnOnce() -> Stop + 'static) -> Self {
        let stack = stacks.0.pop().unwrap_or_else(|| {
            DefaultStack::new(STACK).expect("the system has memory for another stack")
        });
        let bounds = (stack.limit().get(), stack.base().get());
        // SAFETY: the stack is larger, and nobody uses it yet.
        unsafe { ptr::write_bytes((bounds.1 - CLEARED) as *mut u8, 0, CLEARED) };
        let coroutine = Coroutine::with_stack(stack, move |switch: &Switch, ()| {
            SWITCH.set(switch);
            body()
        });
        Fiber { coroutine, switch: ptr::null(), stack: bounds }
    }

    /// Lets it run until it stops.
    pub(crate) fn resume(&mut self) -> Stop {
        let outer = SWITCH.replace(self.switch);
        let armed = trap::arm(self.coroutine.trap_handler(), self.stack.0);
        let result = self.coroutine.resume(());
        drop(armed);
        self.switch = SWITCH.replace(outer);
        match result {
            CoroutineResult::Yield(stop) | CoroutineResult::Return(stop) => stop,
        }
    }

    /// Whether it can still be resumed.
    pub(crate) fn is_alive(&self) -> bool {
        !self.coroutine.done()
    }

    /// Ends it where it stands, without cleaning up, and takes its stack back.
    pub(crate) fn abandon(mut self, stacks: &mut Stacks) {
        if !self.coroutine.done() {
            // SAFETY: what is on the stack is forgotten. Nobody refers to it any more: all fibers of a
            // run end together, those that were started later first.
            unsafe { self.coroutine.force_reset() };
        }
        stacks.0.push(self.coroutine.into_stack());
    }
}

/// Stops the current fiber. Returns when it is resumed.
pub(crate) fn stop(why: Stop) {
    // SAFETY: this runs on a fiber, so the pointer is set, and the yielder lives as long as the fiber.
    unsafe { (*SWITCH.get()).suspend(why) };
}

/// How large the stack of an explorer is: it may go as deep as an execution is long.
const EXPLORER_STACK: usize = 1 << 28;

/// Calls the function on a stack of its own, which is large.
///
/// # Panics
/// If the system has no address space for it.
pub fn on_large_stack<R>(f: impl FnOnce() -> R) -> R {
    let stack = DefaultStack::new(EXPLORER_STACK);
    corosensei::on_stack(stack.expect("the system has memory for a large stack"), f)
}
