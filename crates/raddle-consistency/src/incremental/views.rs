//! What has happened before: the vector clock of each thread and of each message.
//!
//! A clock says, for each thread, how many of its accesses happened before. A thread has three: what
//! happened before it (`cur`), what it would learn at an acquire fence (`acq`), and what it knew at
//! its last release fence. A *message* is the clock that a write hands to the acquires that read it;
//! messages never change, so many writes can share one.
//!
//! An access counts as soon as the thread knows something by it that it did not know before: reading
//! the same write again is no news, and takes no position.

use raddle_core::model::orders::Strength;

use super::clocks::ClockTable;
use super::undo::{UndoLog, UndoStep};

/// A message, by number.
pub(super) type Message = u32;

/// The message that says nothing.
pub(super) const NOTHING: Message = 0;

/// The clocks of all threads, and the messages.
#[derive(Clone, Debug)]
pub(super) struct ThreadViews {
    pub(super) cur: ClockTable,
    pub(super) acq: ClockTable,
    pub(super) messages: ClockTable,
    /// By thread, what it knew at its last release fence.
    pub(super) release_fence: Vec<Message>,
    /// What was known at the last sequentially consistent fence.
    pub(super) sc_fence: Message,
}

impl ThreadViews {
    pub(super) fn new(width: usize) -> ThreadViews {
        let mut messages = ClockTable::new(width);
        messages.push_zeros();
        let (cur, acq) = (ClockTable::new(width), ClockTable::new(width));
        ThreadViews { cur, acq, messages, release_fence: vec![], sc_fence: NOTHING }
    }

    /// How many threads there are.
    pub(super) fn threads(&self) -> usize {
        self.release_fence.len()
    }

    /// A thread that knows nothing.
    pub(super) fn add_thread(&mut self) {
        self.cur.push_zeros();
        self.acq.push_zeros();
        self.release_fence.push(NOTHING);
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

    /// Takes the last access of a thread back.
    pub(super) fn retreat(&mut self, thread: usize) {
        self.cur.row_mut(thread)[thread] -= 1;
    }

    /// A thread reads a message: now if it acquires, and else at its next acquire fence.
    pub(super) fn receive(
        &mut self,
        thread: usize,
        message: Message,
        acquires: bool,
        log: &mut UndoLog,
    ) {
        if message == NOTHING {
            return;
        }
        let message = self.messages.row(message as usize);
        if acquires {
            self.cur.join(thread, message, log.clock(UndoStep::Cur, thread));
        } else {
            self.acq.join(thread, message, log.clock(UndoStep::Acq, thread));
        }
    }

    /// The message of a write: what its thread knows, or knew at its last release fence, and what an
    /// update inherits from the write that it reads.
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
        } else if fence == NOTHING || inherited == NOTHING || fence == inherited {
            return fence.max(inherited);
        } else {
            self.messages.push_copy(fence as usize);
        }
        log.push(UndoStep::Message);
        let last = self.messages.len() - 1;
        self.messages.join_row(last, inherited as usize, |_, _| {});
        Message::try_from(last).expect("there are fewer than 2^32 messages")
    }

    /// A fence: an acquire fence learns what relaxed reads read; a release fence remembers what is
    /// known; a sequentially consistent one does both, and learns what the last such fence knew.
    pub(super) fn fence(&mut self, thread: usize, fence: Strength, log: &mut UndoLog) {
        if fence.acquires {
            let acq = self.acq.row(thread);
            self.cur.join(thread, acq, log.clock(UndoStep::Cur, thread));
        }
        if fence.sequential {
            self.receive(thread, self.sc_fence, true, log);
        }
        if fence.releases {
            let message = self.send(thread, true, NOTHING, log);
            let old = std::mem::replace(&mut self.release_fence[thread], message);
            log.push(UndoStep::ReleaseFence { thread: thread as u32, old });
            if fence.sequential {
                let old = std::mem::replace(&mut self.sc_fence, message);
                log.push(UndoStep::ScFence { old });
            }
        }
    }

    /// All that a thread did and knows happens before what another one does next.
    pub(super) fn synchronize(&mut self, from: usize, to: usize, log: &mut UndoLog) {
        self.cur.join_row(to, from, log.clock(UndoStep::Cur, to));
    }
}
