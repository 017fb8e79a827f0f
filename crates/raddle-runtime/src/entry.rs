//! The way from the program's code into this crate, and back.
//!
//! A question has three parts: preparation, [`ask::ask`](crate::ask::ask) and [`reply`]. So nothing of
//! the first two is on the stack while the thread waits, and `spin` can compare stacks.

use std::mem;

use raddle_core::execution::LocationId;
use raddle_core::outcome::FindingKind;
use raddle_core::program::{End, Failure, Op, OpKind, PlaceId};

use crate::fiber::{self, Stop};
use crate::heap::{self, Restore};
use crate::names::Kind;
use crate::state::{self, Caller, Context, Mode, Reply, Settings, Tag};
use crate::{trap, unwind};

/// The code of this crate, called by the program's.
pub(crate) struct Entry<'a> {
    pub(crate) context: &'a Context,
    _quiet: Restore,
}

impl Entry<'_> {
    /// Enters. None: a run is being cleaned up.
    #[inline]
    #[track_caller]
    pub(crate) fn new() -> Option<Self> {
        let context = state::current();
        if state::mode() == Mode::Ending {
            return None;
        }
        let entry = Entry { context, _quiet: heap::quiet() };
        if trap::is_stack_short() {
            entry.overflow();
        }
        entry.take_back();
        Some(entry)
    }

    /// Enters with a question.
    #[inline]
    #[track_caller]
    pub(crate) fn asking() -> Self {
        match Self::new() {
            Some(entry) => entry,
            None => abandon(),
        }
    }

    #[cold]
    fn overflow(&self) {
        let place = self.last_place();
        self.fail(FindingKind::StackOverflow, "the stack overflowed", place);
    }

    /// The place of a caller. A destructor has none: there the best to say is where the thread was last.
    #[inline]
    pub(crate) fn place(&self, caller: impl Into<Option<Caller>>) -> PlaceId {
        match caller.into() {
            Some(caller) => self.context.state.borrow_mut().place(caller),
            None => self.last_place(),
        }
    }

    pub(crate) fn last_place(&self) -> PlaceId {
        let state = &mut *self.context.state.borrow_mut();
        let current = state.current;
        state.thread(current).place
    }

    pub(crate) fn locate(&self, tag: &Tag, kind: Kind) -> LocationId {
        self.context.state.borrow_mut().locate(&self.context.heap, tag, kind, |_| 0)
    }

    pub(crate) fn settings(&self) -> Settings {
        self.context.state.borrow().settings
    }

    pub(crate) fn effect(&self, kind: OpKind, place: PlaceId) {
        let is_at_limit = self.context.state.borrow_mut().push(kind, place);
        if is_at_limit {
            self.end(End::Limit);
        } else if self.context.pauses.get() && !std::thread::panicking() {
            // What follows while it panics is done in one go: panics cannot be told apart by fibers.
            fiber::stop(Stop::Paused);
            unwind_if_ending();
        }
    }

    /// Prepares a question: what follows is [`ask::ask`] and then [`reply`].
    pub(crate) fn prepare(self, kind: OpKind, place: PlaceId) {
        let is_at_limit = self.context.state.borrow_mut().count_event();
        if is_at_limit {
            self.end(End::Limit);
        }
        self.context.question.set(Some(Op { kind, place }));
        mem::forget(self);
    }

    /// The thread cannot go on.
    pub(crate) fn fail(&self, kind: FindingKind, message: &str, place: PlaceId) {
        self.end(End::Failed(Failure { kind, message: message.to_owned(), place }));
    }

    /// The thread ends here. Returns only in order to clean up.
    pub(crate) fn end(&self, end: End) {
        fiber::stop(Stop::Ended(end));
        unwind_if_ending();
    }
}

/// The thread cannot go on, and the run cannot even be cleaned up. Outside of a run nothing happens.
#[cold]
pub(crate) fn fail_for_good(kind: FindingKind, message: &str) {
    if state::mode() != Mode::Running {
        return;
    }
    let place = {
        let state = &mut *state::current().state.borrow_mut();
        let current = state.current;
        state.thread(current).place
    };
    let message = message.to_owned();
    fiber::stop(Stop::Broken(Failure { kind, message, place }));
    abandon()
}

/// Leaves the fiber where it is, for good.
pub(crate) fn abandon() -> ! {
    let _quiet = heap::quiet();
    loop {
        fiber::stop(Stop::Abandoned);
    }
}

/// The reply to the question that was prepared.
#[inline(never)]
pub(crate) fn reply() -> Reply {
    let context = state::current();
    heap::record(&raw const context.heap);
    unwind_if_ending();
    context.reply.get()
}

/// The run is over: cleans up.
fn unwind_if_ending() {
    if state::mode() == Mode::Ending {
        heap::record(&raw const state::current().heap);
        unwind::start();
    }
}
