//! Why an error can happen: the synchronization that is missing, and reads that are stale.
//!
//! A *stale* read observes a store although another thread has stored later, in the order in which the execution is shown.
//! SC forbids that. What allows it is a store buffer that was not flushed, or a way from the later store to the read that
//! synchronizes nowhere: the first read on it that does not acquire, or write that does not release, is named.

use std::collections::BTreeSet;

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId};
use raddle_core::program::{Naming, OpKind};
use raddle_core::trace::{Ending, NamedTrace, Trace, TraceEvent};

use super::event_order::{self, EventOrder, OrderKind, Row};
use super::paths::{Link, way};
use super::relevant_part::relevant_part;
use super::style::Style;

/// Sentences without full stops on why the error of an execution can happen.
pub(super) fn reasons(names: &NamedTrace, style: &Style) -> Vec<String> {
    if names.not_robust.is_some() {
        return vec![];
    }
    let (part, ending) = relevant_part(&names.trace, &names.ending);
    let why = Why { names, trace: &part, style };
    if let Ending::Race(first, second) = ending {
        return vec![why.race(first.min(second), first.max(second))];
    }
    let order = event_order::event_order(names, names.model, &part);
    match order.kind {
        OrderKind::Interleaving | OrderKind::Listed { is_weak: false } => vec![],
        OrderKind::StoreBuffers => why.delayed(&order).into_iter().collect(),
        OrderKind::Listed { is_weak: true } => why.stale().into_iter().collect(),
    }
}

struct Why<'a> {
    names: &'a NamedTrace,
    trace: &'a Trace,
    style: &'a Style,
}

impl Why<'_> {
    fn place(&self, at: usize) -> String {
        self.style.place(self.names, self.trace.events[at].op.place)
    }

    fn thread(&self, at: usize) -> String {
        self.names.thread_name(self.trace.events[at].thread)
    }

    fn location(&self, at: usize) -> String {
        let location = self.trace.events[at].op.kind.location();
        location.map_or(String::new(), |location| self.names.location_name(location))
    }

    /// Why two accesses race.
    fn race(&self, first: usize, second: usize) -> String {
        match way(self.trace, first, second) {
            Some(links) => match links.iter().find(|link| !self.synchronizes(**link, second)) {
                Some(&link) => self.broken(second, link),
                None => String::from("no synchronization orders the two accesses"),
            },
            None => self.unordered(first, second),
        }
    }

    /// A thread learns of another one by a link that does not synchronize.
    fn broken(&self, learner: usize, link: Link) -> String {
        let Link { write, read } = link;
        let (writes, reads) = (self.does(write), self.does(read));
        let (written_at, read_at) = (self.place(write), self.place(read));
        let learns = match self.trace.events[learner].thread == self.trace.events[read].thread {
            true => self.thread(read),
            false => format!("{} (through {})", self.thread(learner), self.thread(read)),
        };
        let what = match (self.releases(write), self.acquires(read, learner)) {
            (true, _) => format!(
                "the {reads} at {read_at} does not acquire what the {writes} at {written_at} releases"
            ),
            (false, true) => {
                format!("the {writes} at {written_at} does not release to the {reads} at {read_at}")
            }
            (false, false) => format!(
                "the {writes} at {written_at} does not release, and the {reads} at {read_at} does not acquire"
            ),
        };
        let writer = self.thread(write);
        let location = self.location(read);
        format!("{learns} learns of {writer} through {location}, but {what}")
    }

    /// Nothing leads from one access to the other: what is held at both.
    fn unordered(&self, first: usize, second: usize) -> String {
        let [one, other] = [first, second].map(|at| self.thread(at));
        let held = [first, second].map(|at| self.held(at));
        let list = |locks: &BTreeSet<LocationId>| {
            let names = locks.iter().map(|&lock| self.names.location_name(lock));
            names.collect::<Vec<_>>().join(", ")
        };
        match held.each_ref().map(BTreeSet::is_empty) {
            [true, true] => {
                format!("{one} and {other} do not synchronize between the two accesses")
            }
            [false, true] => format!("{one} holds {}, but {other} holds no lock", list(&held[0])),
            [true, false] => format!("{other} holds {}, but {one} holds no lock", list(&held[1])),
            [false, false] => {
                format!("{one} holds {}, but {other} holds {}", list(&held[0]), list(&held[1]))
            }
        }
    }

    /// The locks that the thread of an event holds.
    fn held(&self, at: usize) -> BTreeSet<LocationId> {
        let mut held = BTreeSet::new();
        let thread = self.trace.events[at].thread;
        for event in self.trace.events[..at].iter().filter(|event| event.thread == thread) {
            match event.op.kind {
                OpKind::Lock { lock } => {
                    held.insert(lock);
                }
                OpKind::Unlock { lock } => {
                    held.remove(&lock);
                }
                _ => {}
            }
        }
        held
    }

    /// `relaxed load of x`: what an event does.
    fn does(&self, at: usize) -> String {
        let event = &self.trace.events[at];
        let location = self.location(at);
        let (order, what) = match event.op.kind {
            OpKind::Store { order, .. } => (order, "store to"),
            OpKind::Load { order, .. } => (order, "load of"),
            OpKind::Rmw { order, .. } => (order, "update of"),
            OpKind::CompareExchange { success, .. } if event.written.is_some() => {
                (success, "compare-exchange of")
            }
            OpKind::CompareExchange { failure, .. } => (failure, "failed compare-exchange of"),
            _ => return format!("operation on {location}"),
        };
        format!("{} {what} {location}", order_word(order))
    }

    /// Returns `true` if the events of a thread from the observed one to the event `until` come after the write.
    fn synchronizes(&self, link: Link, until: usize) -> bool {
        self.releases(link.write) && self.acquires(link.read, until)
    }

    fn releases(&self, at: usize) -> bool {
        let event = &self.trace.events[at];
        let own = match event.op.kind {
            OpKind::Store { order, .. } | OpKind::Rmw { order, .. } => order,
            OpKind::CompareExchange { success, .. } => success,
            OpKind::Load { order, .. } => order,
            _ => return true,
        };
        let is_release = |order| {
            matches!(order, MemoryOrder::Release | MemoryOrder::AcqRel | MemoryOrder::SeqCst)
        };
        is_release(own)
            || own != MemoryOrder::NonAtomic
                && Self::has_fence(&self.trace.events[..at], event.thread, is_release)
    }

    fn acquires(&self, at: usize, until: usize) -> bool {
        let event = &self.trace.events[at];
        let own = match event.op.kind {
            OpKind::Load { order, .. } | OpKind::Rmw { order, .. } => order,
            OpKind::CompareExchange { success, .. } if event.written.is_some() => success,
            OpKind::CompareExchange { failure, .. } => failure,
            _ => return true,
        };
        let is_acquire = |order| {
            matches!(order, MemoryOrder::Acquire | MemoryOrder::AcqRel | MemoryOrder::SeqCst)
        };
        is_acquire(own)
            || own != MemoryOrder::NonAtomic
                && Self::has_fence(&self.trace.events[at..until.max(at)], event.thread, is_acquire)
    }

    fn has_fence(
        events: &[TraceEvent],
        thread: ThreadId,
        is_strong: impl Fn(MemoryOrder) -> bool,
    ) -> bool {
        events.iter().any(|event| {
            event.thread == thread
                && matches!(event.op.kind, OpKind::Fence { order } if is_strong(order))
        })
    }

    /// The first read that misses a store above it.
    fn stale(&self) -> Option<String> {
        let (read, store) = (0..self.trace.events.len())
            .filter(|&at| !matches!(self.trace.events[at].op.kind, OpKind::Join { .. }))
            .find_map(|at| Some((at, event_order::missed_store(self.trace, at)?)))?;
        let (reads, writes) = (self.does(read), self.does(store));
        let (by, of) = (self.thread(read), self.thread(store));
        let stale = format!(
            "the {reads} by {by} at {} is stale: it misses the {writes} by {of} at {}",
            self.place(read),
            self.place(store)
        );
        let links = way(self.trace, store, read);
        let broken = links.and_then(|links| {
            let link = links.into_iter().find(|link| !self.synchronizes(*link, read))?;
            Some(self.broken(read, link))
        });
        Some(match broken {
            Some(broken) => format!("{stale}. {broken}"),
            None => format!(
                "{stale}. No release and acquire lead from that store to the load, and only sequentially consistent accesses \
                 or fences would order them otherwise"
            ),
        })
    }

    /// The first read that misses a store in a store buffer, and what overtakes that store.
    fn delayed(&self, order: &EventOrder) -> Option<String> {
        let rows = &order.rows;
        let (row, read, store) = rows.iter().enumerate().find_map(|(row, it)| match *it {
            Row::Event { at, .. } => Some((row, at, self.buffered_store(&rows[..row], at)?)),
            Row::MemoryUpdate { .. } => None,
        })?;
        let stale = format!(
            "the load of {} by {} at {} is stale: the store by {} at {} is still in a store buffer",
            self.location(read),
            self.thread(read),
            self.place(read),
            self.thread(store),
            self.place(store)
        );
        let overtaking = self.overtaking(&rows[..row], store);
        Some(match overtaking.or_else(|| self.overtaking(rows, store)) {
            Some((at, what)) => format!(
                "{stale}. No fence in {} separates that store from the {what} at {}, which overtakes it",
                self.thread(store),
                self.place(at)
            ),
            None => stale,
        })
    }

    /// A store to the location of a read, by another thread, that was performed in these rows and has not reached memory.
    fn buffered_store(&self, rows: &[Row], read: usize) -> Option<usize> {
        let event = &self.trace.events[read];
        let location = event.op.kind.location().filter(|_| event.read.is_some())?;
        let is_flushed = |store: usize| rows.contains(&Row::MemoryUpdate { at: store });
        rows.iter().rev().find_map(|row| match *row {
            Row::Event { at, updates_memory: false } => {
                let other = &self.trace.events[at];
                let is_store = matches!(other.op.kind, OpKind::Store { .. })
                    && other.op.kind.location() == Some(location)
                    && other.thread != event.thread;
                (is_store && !is_flushed(at)).then_some(at)
            }
            _ => None,
        })
    }

    /// What the thread of a delayed store does in these rows before the store reaches memory: a store that reaches memory, or a load.
    fn overtaking(&self, rows: &[Row], store: usize) -> Option<(usize, &'static str)> {
        let start =
            rows.iter().position(|row| matches!(row, Row::Event { at, .. } if *at == store))?;
        let end = rows.iter().position(|row| *row == Row::MemoryUpdate { at: store });
        let rows = &rows[start + 1..end.unwrap_or(rows.len()).max(start + 1)];
        let own = &self.trace.events[store];
        let is_own = |at: usize| {
            let event = &self.trace.events[at];
            event.thread == own.thread && event.position > own.position
        };
        let stores = rows.iter().find_map(|row| match *row {
            Row::MemoryUpdate { at } | Row::Event { at, updates_memory: true }
                if is_own(at) && self.trace.events[at].written.is_some() =>
            {
                Some((at, "store"))
            }
            _ => None,
        });
        let loads = || {
            rows.iter().find_map(|row| match *row {
                Row::Event { at, .. } if is_own(at) && self.trace.events[at].read.is_some() => {
                    Some((at, "load"))
                }
                _ => None,
            })
        };
        stores.or_else(loads)
    }
}

fn order_word(order: MemoryOrder) -> &'static str {
    match order {
        MemoryOrder::NonAtomic => "plain",
        MemoryOrder::Relaxed => "relaxed",
        MemoryOrder::Acquire => "acquire",
        MemoryOrder::Release => "release",
        MemoryOrder::AcqRel => "acquire-release",
        MemoryOrder::SeqCst => "sequentially consistent",
    }
}
