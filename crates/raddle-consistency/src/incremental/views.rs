//! Happens-before: the vector clocks of threads and messages.
//!
//! A clock contains, for each thread, how many of its accesses happened before. A thread has three clocks: what happened
//! before its next event (`cur`), what it would learn at an acquire fence (`acq`), and what it knew at its last release
//! fence. A *message* is the clock that a write hands to the acquires that read it. Messages are immutable, so writes
//! share them.
//!
//! Only accesses that teach their thread something take a position: reading the same write again does not.

use raddle_core::model::orders::Strength;

use super::clocks::ClockTable;
use super::ids::{Message, NO_MESSAGE};
use super::undo::{UndoLog, UndoStep};

/// The clocks of all threads and messages.
#[derive(Clone, Debug)]
pub(super) struct ThreadViews {
    pub(super) cur: ClockTable,
    pub(super) acq: ClockTable,
    pub(super) messages: ClockTable,
    /// By thread: the message of its last release fence.
    pub(super) release_fence: Vec<Message>,
    /// The message of the last sequentially consistent fence.
    pub(super) sc_fence: Message,
}

impl ThreadViews {
    pub(super) fn new(width: usize) -> ThreadViews {
        let mut messages = ClockTable::new(width);
        messages.push_zeros();
        let (cur, acq) = (ClockTable::new(width), ClockTable::new(width));
        ThreadViews { cur, acq, messages, release_fence: vec![], sc_fence: NO_MESSAGE }
    }

    /// The number of threads.
    pub(super) fn threads(&self) -> usize {
        self.release_fence.len()
    }

    /// Adds a thread with empty clocks.
    pub(super) fn add_thread(&mut self) {
        self.cur.push_zeros();
        self.acq.push_zeros();
        self.release_fence.push(NO_MESSAGE);
    }

    pub(super) fn widen(&mut self, width: usize) {
        self.cur.widen(width);
        self.acq.widen(width);
        self.messages.widen(width);
    }

    /// What happened before the next event of a thread.
    pub(super) fn clock(&self, thread: usize) -> &[u32] {
        self.cur.row(thread)
    }

    /// The position of the next access of a thread.
    pub(super) fn position(&self, thread: usize) -> u32 {
        self.cur.row(thread)[thread]
    }

    /// Counts an access of a thread.
    pub(super) fn advance(&mut self, thread: usize) {
        let position = &mut self.cur.row_mut(thread)[thread];
        *position = position.checked_add(1).expect("a thread has fewer than 2^32 accesses");
    }

    /// Uncounts the last access of a thread.
    pub(super) fn retreat(&mut self, thread: usize) {
        self.cur.row_mut(thread)[thread] -= 1;
    }

    /// A thread reads a message: it takes effect now if the read acquires, otherwise at the next acquire fence.
    pub(super) fn receive(
        &mut self,
        thread: usize,
        message: Message,
        acquires: bool,
        log: &mut UndoLog,
    ) {
        if message == NO_MESSAGE {
            return;
        }
        let message = self.messages.row(message as usize);
        if acquires {
            self.cur.join(thread, message, log.clock(UndoStep::Cur, thread));
        } else {
            self.acq.join(thread, message, log.clock(UndoStep::Acq, thread));
        }
    }

    /// Returns the message of a write: the clock of its thread, now or at its last release fence, joined with the message
    /// that an update inherits from the write that it reads.
    pub(super) fn send(
        &mut self,
        thread: usize,
        releases: bool,
        inherited: Message,
        log: &mut UndoLog,
    ) -> Message {
        let fence = self.release_fence[thread];
        if releases {
            self.messages.push(self.cur.row(thread));
        } else if fence == NO_MESSAGE || inherited == NO_MESSAGE || fence == inherited {
            return fence.max(inherited);
        } else {
            self.messages.push_copy(fence as usize);
        }
        log.push(UndoStep::Message);
        let last = self.messages.len() - 1;
        self.messages.join_row(last, inherited as usize, |_, _| {});
        Message::try_from(last).expect("there are fewer than 2^32 messages")
    }

    /// Executes a fence. An acquire fence joins the messages of relaxed reads; a release fence stores the current clock; a
    /// sequentially consistent fence does both and joins the clock of the last such fence.
    pub(super) fn fence(&mut self, thread: usize, fence: Strength, log: &mut UndoLog) {
        if fence.acquires {
            let acq = self.acq.row(thread);
            self.cur.join(thread, acq, log.clock(UndoStep::Cur, thread));
        }
        if fence.sequential {
            self.receive(thread, self.sc_fence, true, log);
        }
        if fence.releases {
            let message = self.send(thread, true, NO_MESSAGE, log);
            let old = std::mem::replace(&mut self.release_fence[thread], message);
            log.push(UndoStep::ReleaseFence { thread: thread as u32, old });
            if fence.sequential {
                let old = std::mem::replace(&mut self.sc_fence, message);
                log.push(UndoStep::ScFence { old });
            }
        }
    }

    /// Everything before the next event of `from` happens before the next event of `to`.
    pub(super) fn synchronize(&mut self, from: usize, to: usize, log: &mut UndoLog) {
        self.cur.join_row(to, from, log.clock(UndoStep::Cur, to));
    }
}
