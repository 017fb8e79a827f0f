//! What processes can do next, and which of them to take where any will do.

use super::footprint::{Access, Footprint, NONE};
use super::state::{Ask, Process, State, Thread};
use crate::event_set::EventSet;
use raddle_core::execution::Value;
use raddle_core::program::{End, HistoryId, OpKind};

impl<R: EventSet> State<'_, R> {
    /// The value that an event wrote; without one, the initial value.
    #[inline]
    pub(super) fn value(&self, location: u32, event: u32) -> Value {
        match event {
            NONE => self.locations[location as usize].initial,
            event => {
                let log = self.events[event as usize].log;
                self.log[log as usize].written.expect("a write writes")
            }
        }
    }

    /// The value in memory.
    #[inline]
    pub(super) fn memory(&self, location: u32) -> Value {
        self.value(location, self.locations[location as usize].last)
    }

    #[inline]
    pub(super) fn is_drained(&self, thread: u32) -> bool {
        let Thread { head, stores, .. } = self.threads[thread as usize];
        head == stores
    }

    pub(super) fn is_finished(&self, thread: u32) -> bool {
        let Thread { ask, node, .. } = self.threads[thread as usize];
        ask == Ask::Ended && matches!(self.histories.end(node), End::Finished)
    }

    /// Whether a process can take a step.
    #[inline]
    pub(super) fn is_enabled(&self, process: u32) -> bool {
        let Process { thread, moves, .. } = self.processes[process as usize];
        match moves {
            Some(location) => self.leaving(thread, location).is_some(),
            None => self.can_go_on(thread),
        }
    }

    #[inline]
    fn can_go_on(&self, thread: u32) -> bool {
        let Thread { ask, location, node, .. } = self.threads[thread as usize];
        match ask {
            Ask::Absent | Ask::Ended => false,
            Ask::Load | Ask::Choose => true,
            _ if !self.is_drained(thread) => false,
            Ask::Lock => self.is_free(location),
            Ask::Sync => self.is_admitted(node, self.memory(location)),
            Ask::Join => self.is_finished(location) && self.is_drained(location),
            Ask::Write | Ask::Unlock | Ask::Drain | Ask::Update | Ask::Compare => true,
        }
    }

    fn is_free(&self, lock: u32) -> bool {
        match self.locations[lock as usize].last {
            NONE => true,
            event => self.events[event as usize].ask == Ask::Unlock,
        }
    }

    /// Whether the thread that waits with this history for a synchronization object would go on if it
    /// had this value.
    pub(super) fn is_admitted(&self, node: HistoryId, value: Value) -> bool {
        match self.question(node).kind {
            OpKind::Sync { guard, .. } => guard.admits(value),
            kind => unreachable!("it waits for nothing: {kind:?}"),
        }
    }

    /// The store to the location ([`NONE`]: to any) that may leave the buffer of a thread now.
    #[inline]
    pub(super) fn leaving(&self, thread: u32, location: u32) -> Option<u32> {
        let Thread { head, stores, .. } = self.threads[thread as usize];
        if location == NONE {
            return (head < stores).then_some(head);
        }
        let all = &self.stores[thread as usize];
        let rank = all.get(head as usize)?.rank;
        let of_rank = (head..stores).take_while(|&at| all[at as usize].rank == rank);
        let mut waiting = of_rank.filter(|&at| {
            all[at as usize].location == location && all[at as usize].reached == NONE
        });
        waiting.next()
    }

    /// The newest store to the location in the buffer of the thread.
    #[inline]
    fn newest(&self, thread: u32, location: u32) -> Option<u32> {
        let Thread { head, stores, .. } = self.threads[thread as usize];
        let all = &self.stores[thread as usize];
        (head..stores)
            .rev()
            .find(|&at| all[at as usize].location == location && all[at as usize].reached == NONE)
    }

    /// The next step of a process that is enabled, done in this way.
    #[inline]
    pub(super) fn foot(&self, process: u32, choice: u32) -> Footprint {
        let Process { thread, moves, .. } = self.processes[process as usize];
        let Thread { location, ask, node, .. } = self.threads[thread as usize];
        let access = Access::Write;
        let mut foot =
            Footprint { process, thread, choice, access, location, own: NONE, store: NONE };
        if let Some(moved) = moves {
            let store = self.leaving(thread, moved).expect("the process is enabled");
            let location = self.stores[thread as usize][store as usize].location;
            return Footprint { location, store, ..foot };
        }
        match ask {
            Ask::Load => {
                foot.access = Access::Read;
                foot.own = self.own_store(thread, location);
            }
            Ask::Compare => foot.access = self.compared(node, choice, self.memory(location)),
            Ask::Drain | Ask::Join | Ask::Choose => {
                (foot.access, foot.location) = (Access::Silent, NONE);
            }
            _ => {}
        }
        foot
    }

    /// The store of its own thread that a load would observe now, if it did not reach memory at once.
    #[inline]
    fn own_store(&self, thread: u32, location: u32) -> u32 {
        if let Some(store) = self.newest(thread, location) {
            return store;
        }
        match self.locations[location as usize].last {
            NONE => NONE,
            event => {
                let foot = &self.events[event as usize].foot;
                if foot.thread == thread { foot.store } else { NONE }
            }
        }
    }

    /// What the compare-exchange at the end of a history does if it reads this value.
    pub(super) fn compared(&self, node: HistoryId, choice: u32, value: Value) -> Access {
        match self.question(node).kind {
            OpKind::CompareExchange { expected, .. } if value == expected && choice == 0 => {
                Access::Write
            }
            _ => Access::Read,
        }
    }

    /// An enabled process with the property: one whose step nobody notices, if there is one.
    #[inline]
    pub(super) fn pick(&self, suits: impl Fn(u32) -> bool) -> Option<u32> {
        let mut found = None;
        for (thread, processes) in self.of_thread.iter().enumerate() {
            for &process in processes {
                if !self.is_enabled(process) || !suits(process) {
                    continue;
                }
                let ask = self.threads[thread].ask;
                let unnoticed = matches!(ask, Ask::Drain | Ask::Join | Ask::Choose);
                if unnoticed && process == processes[0] {
                    return Some(process);
                }
                found = found.or(Some(process));
            }
        }
        found
    }

    /// In how many ways the next step of a process may be done, at most.
    pub(super) fn options(&self, process: u32) -> u32 {
        let known = &self.processes[process as usize];
        let thread = &self.threads[known.thread as usize];
        match (known.moves, thread.ask) {
            (None, Ask::Choose | Ask::Compare) => match self.question(thread.node).kind {
                OpKind::Choose { options } => options,
                OpKind::CompareExchange { expected, weak: true, .. } => {
                    1 + u32::from(self.memory(thread.location) == expected)
                }
                _ => 1,
            },
            _ => 1,
        }
    }
}
