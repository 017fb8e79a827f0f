//! Enabled processes and the footprints of their next steps.

use super::footprint::{Footprint, FootprintAccess, NONE};
use super::state::{DporState, DporThread, NextAction, Process};
use crate::event_set::EventSet;
use raddle_core::execution::Value;
use raddle_core::program::{End, HistoryId, OpKind};

impl<R: EventSet> DporState<'_, R> {
    /// Returns the value that an event wrote; for [`NONE`] the initial value of the location.
    #[inline]
    pub(super) fn value(&self, location: u32, event: u32) -> Value {
        match event {
            NONE => self.locations[location as usize].initial,
            event => {
                let index = self.events[event as usize].log_index;
                self.log[index as usize].written.expect("the event is a write")
            }
        }
    }

    /// Returns the value of a location in memory.
    #[inline]
    pub(super) fn memory_value(&self, location: u32) -> Value {
        self.value(location, self.locations[location as usize].last)
    }

    /// Returns `true` if the store buffer of the thread is empty.
    #[inline]
    pub(super) fn is_drained(&self, thread: u32) -> bool {
        let DporThread { head, stores, .. } = self.threads[thread as usize];
        head == stores
    }

    /// Returns `true` if the thread has ended without failing. Its store buffer need not be empty.
    pub(super) fn is_finished(&self, thread: u32) -> bool {
        let DporThread { action, node, .. } = self.threads[thread as usize];
        action == NextAction::Ended && matches!(self.histories.end(node), End::Finished)
    }

    /// Returns `true` if the process can take a step.
    #[inline]
    pub(super) fn is_enabled(&self, process: u32) -> bool {
        let Process { thread, flushes, .. } = self.processes[process as usize];
        match flushes {
            Some(location) => self.next_to_flush(thread, location).is_some(),
            None => self.is_thread_enabled(thread),
        }
    }

    #[inline]
    fn is_thread_enabled(&self, thread: u32) -> bool {
        let DporThread { action, location, node, .. } = self.threads[thread as usize];
        match action {
            NextAction::NotStarted | NextAction::Ended => false,
            NextAction::Load | NextAction::Choose => true,
            _ if !self.is_drained(thread) => false,
            NextAction::Lock => self.is_free(location),
            NextAction::Sync => self.is_admitted(node, self.memory_value(location)),
            NextAction::Join => self.is_finished(location) && self.is_drained(location),
            NextAction::Write
            | NextAction::Unlock
            | NextAction::Drain
            | NextAction::Rmw
            | NextAction::CompareExchange => true,
        }
    }

    fn is_free(&self, lock: u32) -> bool {
        match self.locations[lock as usize].last {
            NONE => true,
            event => self.events[event as usize].action == NextAction::Unlock,
        }
    }

    /// Returns `true` if the guard of the synchronization at the end of a history admits the value.
    pub(super) fn is_admitted(&self, node: HistoryId, value: Value) -> bool {
        match self.question(node).kind {
            OpKind::Sync { guard, .. } => guard.admits(value),
            kind => unreachable!("the op has no guard: {kind:?}"),
        }
    }

    /// Returns the index of the store to the location ([`NONE`]: to any) that the thread may flush now.
    #[inline]
    pub(super) fn next_to_flush(&self, thread: u32, location: u32) -> Option<u32> {
        let DporThread { head, stores, .. } = self.threads[thread as usize];
        if location == NONE {
            return (head < stores).then_some(head);
        }
        let all = &self.stores[thread as usize];
        let epoch = all.get(head as usize)?.epoch;
        let of_epoch = (head..stores).take_while(|&at| all[at as usize].epoch == epoch);
        let mut waiting = of_epoch.filter(|&at| {
            all[at as usize].location == location && all[at as usize].flushed_by == NONE
        });
        waiting.next()
    }

    /// Returns the index of the newest store to the location in the buffer of the thread.
    #[inline]
    fn newest_buffered(&self, thread: u32, location: u32) -> Option<u32> {
        let DporThread { head, stores, .. } = self.threads[thread as usize];
        let all = &self.stores[thread as usize];
        (head..stores).rev().find(|&at| {
            all[at as usize].location == location && all[at as usize].flushed_by == NONE
        })
    }

    /// Returns the footprint of the next step of an enabled process, with the given alternative.
    #[inline]
    pub(super) fn next_footprint(&self, process: u32, choice: u32) -> Footprint {
        let Process { thread, flushes, .. } = self.processes[process as usize];
        let DporThread { location, action, node, .. } = self.threads[thread as usize];
        let access = FootprintAccess::Write;
        let (own_store, flushed) = (NONE, NONE);
        let mut footprint =
            Footprint { process, thread, choice, access, location, own_store, flushed };
        if let Some(location) = flushes {
            let flushed = self.next_to_flush(thread, location).expect("the process is enabled");
            let location = self.stores[thread as usize][flushed as usize].location;
            return Footprint { location, flushed, ..footprint };
        }
        match action {
            NextAction::Load => {
                footprint.access = FootprintAccess::Read;
                footprint.own_store = self.own_store(thread, location);
            }
            NextAction::CompareExchange => {
                footprint.access =
                    self.compare_exchange_access(node, choice, self.memory_value(location));
            }
            NextAction::Drain | NextAction::Join | NextAction::Choose => {
                (footprint.access, footprint.location) = (FootprintAccess::Silent, NONE);
            }
            _ => {}
        }
        footprint
    }

    /// Returns the store that a load of the thread would observe now, if it is a buffered or flushed store of the same
    /// thread; otherwise [`NONE`].
    #[inline]
    fn own_store(&self, thread: u32, location: u32) -> u32 {
        if let Some(store) = self.newest_buffered(thread, location) {
            return store;
        }
        match self.locations[location as usize].last {
            NONE => NONE,
            event => {
                let footprint = &self.events[event as usize].footprint;
                if footprint.thread == thread { footprint.flushed } else { NONE }
            }
        }
    }

    /// Returns the access of the compare-exchange at the end of a history if it reads the value.
    pub(super) fn compare_exchange_access(
        &self,
        node: HistoryId,
        choice: u32,
        value: Value,
    ) -> FootprintAccess {
        match self.question(node).kind {
            OpKind::CompareExchange { expected, .. } if value == expected && choice == 0 => {
                FootprintAccess::Write
            }
            _ => FootprintAccess::Read,
        }
    }

    /// Returns an enabled process that satisfies `suits`. Prefers steps without a location: they conflict with none.
    #[inline]
    pub(super) fn pick_process(&self, suits: impl Fn(u32) -> bool) -> Option<u32> {
        let mut found = None;
        for (thread, processes) in self.of_thread.iter().enumerate() {
            for &process in processes {
                if !self.is_enabled(process) || !suits(process) {
                    continue;
                }
                let action = self.threads[thread].action;
                let is_silent =
                    matches!(action, NextAction::Drain | NextAction::Join | NextAction::Choose);
                if is_silent && process == processes[0] {
                    return Some(process);
                }
                found = found.or(Some(process));
            }
        }
        found
    }

    /// Returns an upper bound for the number of alternatives of the next step of a process.
    pub(super) fn options(&self, process: u32) -> u32 {
        let Process { thread, flushes, .. } = self.processes[process as usize];
        let thread = &self.threads[thread as usize];
        match (flushes, thread.action) {
            (None, NextAction::Choose | NextAction::CompareExchange) => {
                match self.question(thread.node).kind {
                    OpKind::Choose { options } => options,
                    OpKind::CompareExchange { expected, weak: true, .. } => {
                        1 + u32::from(self.memory_value(thread.location) == expected)
                    }
                    _ => 1,
                }
            }
            _ => 1,
        }
    }
}
