//! Happens-before as clocks (Tunç et al., PLDI 2023, section 3).
//!
//! The clock of an event contains, for every thread, how many of its events happen before the event or are it. A read that
//! acquires joins the *message* of its source: the clock of the release that the source carries. A message is the clock of
//! one event (the write itself, the release fence before it, under RC11 an earlier release write of the same location).
//! Only in a chain of updates that are not both acquire and release do several releases meet; there the message gets a
//! clock of its own. A relaxed read keeps the message for the next acquire fence.
//!
//! Checkers visit the clocks location by location, so the clocks are stored in the order of `by_location`. In the order of
//! the events, every clock would be a separate cache miss.
//!
//! O(nk) time, 4(k + 2) bytes for each event.

use rustc_hash::FxHashMap;

use super::by_location::places;
use super::graph::{C11Graph, NONE, Traits};
use super::schedule::run_through;
use crate::witness::Violation;

/// The happens-before of a graph.
pub(super) struct HbClocks {
    threads: usize,
    /// By thread: its first event.
    first: Vec<u32>,
    /// The row of each event, then of each merged message.
    place: Vec<u32>,
    /// The clocks of all events; then those of merged messages.
    rows: Vec<u32>,
}

impl HbClocks {
    /// Computes the clocks.
    ///
    /// # Errors
    /// If `po-rf` is broken.
    pub(super) fn new(graph: &C11Graph<'_>) -> Result<HbClocks, Violation> {
        let mut pass = Pass::new(graph);
        run_through(graph, |event| pass.visit(event))?;
        Ok(pass.clocks)
    }

    /// The clock of an event.
    #[inline]
    pub(super) fn row(&self, event: u32) -> &[u32] {
        let start = self.start(event);
        &self.rows[start..start + self.threads]
    }

    /// The clocks from that of an initial write on: the accesses of its location follow it.
    pub(super) fn of_location(&self, init: u32) -> impl Iterator<Item = &[u32]> {
        self.rows[self.start(init)..].chunks_exact(self.threads.max(1))
    }

    /// The index of the first entry of the clock of an event.
    #[inline]
    fn start(&self, event: u32) -> usize {
        self.place[event as usize] as usize * self.threads
    }

    /// Returns `true` if an event happens before another.
    #[inline]
    pub(super) fn happens_before(&self, graph: &C11Graph<'_>, from: u32, to: u32) -> bool {
        if from == to || graph.is_init(to) {
            return false;
        }
        match graph.thread_of(from) {
            NONE => true,
            thread => from - self.first[thread as usize] < self.row(to)[thread as usize],
        }
    }

    /// Joins the clock `from` into the clock `into`.
    fn join(&mut self, into: u32, from: u32) {
        let (into, from) = (self.start(into), self.start(from));
        for thread in 0..self.threads {
            let seen = self.rows[from + thread];
            let entry = &mut self.rows[into + thread];
            *entry = (*entry).max(seen);
        }
    }
}

/// One pass over the events, in an order that respects `po` and `rf`.
struct Pass<'g, 'e> {
    graph: &'g C11Graph<'e>,
    clocks: HbClocks,
    /// By write: the event whose clock is its message, or [`NONE`] for an empty message.
    message: Vec<u32>,
    /// By thread: its last release fence, or [`NONE`].
    release_fence: Vec<u32>,
    /// By thread: the messages of its relaxed reads so far.
    observed: Vec<u32>,
    /// By thread: whether `observed` has any.
    has_observed: Vec<bool>,
    /// By thread and location: the last release write. Only used if own writes continue release sequences.
    release_write: FxHashMap<(u32, u32), u32>,
}

impl<'g, 'e> Pass<'g, 'e> {
    fn new(graph: &'g C11Graph<'e>) -> Self {
        let threads = graph.threads();
        let clocks = HbClocks {
            threads,
            first: graph.bounds.iter().map(|&(first, _)| first).collect(),
            place: places(graph).1,
            rows: vec![0; graph.events() * threads],
        };
        Pass {
            graph,
            clocks,
            message: vec![NONE; graph.events()],
            release_fence: vec![NONE; threads],
            observed: vec![0; threads * threads],
            has_observed: vec![false; threads],
            release_write: FxHashMap::default(),
        }
    }

    fn visit(&mut self, event: u32) {
        let graph = self.graph;
        let thread = graph.thread_of(event) as usize;
        self.start(event, thread);
        if graph.is(event, Traits::FENCE) {
            self.fence(event, thread);
        } else if graph.is(event, Traits::READ) {
            self.read(event, thread);
        }
        if graph.is(event, Traits::WRITE) {
            self.write(event, thread);
        }
        let joined = graph.joined(event);
        if joined != NONE {
            self.clocks.join(event, joined);
        }
    }

    /// Starts the clock of an event with that of its predecessor (or the spawn of its thread) and the event itself.
    fn start(&mut self, event: u32, thread: usize) {
        let (first, _) = self.graph.bounds[thread];
        let before = if event == first { self.graph.spawned_by[thread] } else { event - 1 };
        let clocks = &mut self.clocks;
        let row = clocks.start(event);
        if before != NONE {
            let from = clocks.start(before);
            clocks.rows.copy_within(from..from + clocks.threads, row);
        }
        clocks.rows[row + thread] = event - first + 1;
    }

    fn fence(&mut self, event: u32, thread: usize) {
        let source = self.graph.rf(event);
        if source != NONE {
            self.clocks.join(event, source);
        }
        if self.graph.is(event, Traits::ACQUIRE) && self.has_observed[thread] {
            let threads = self.clocks.threads;
            let row = self.clocks.start(event);
            for u in 0..threads {
                let entry = &mut self.clocks.rows[row + u];
                *entry = (*entry).max(self.observed[thread * threads + u]);
            }
        }
        if self.graph.is(event, Traits::RELEASE) {
            self.release_fence[thread] = event;
        }
    }

    fn read(&mut self, event: u32, thread: usize) {
        let source = self.graph.rf(event);
        if source == NONE || !self.graph.is(event, Traits::ATOMIC) {
            return;
        }
        let message = self.message[source as usize];
        if message == NONE {
            return;
        }
        if self.graph.is(event, Traits::ACQUIRE) {
            return self.clocks.join(event, message);
        }
        self.has_observed[thread] = true;
        let threads = self.clocks.threads;
        let row = self.clocks.start(message);
        for u in 0..threads {
            let entry = &mut self.observed[thread * threads + u];
            *entry = (*entry).max(self.clocks.rows[row + u]);
        }
    }

    /// Computes the message of a write.
    fn write(&mut self, event: u32, thread: usize) {
        let own = self.own_message(event, thread);
        let source = self.graph.rf(event);
        let inherited = match source {
            NONE => NONE,
            source => self.message[source as usize],
        };
        self.message[event as usize] = match (own, inherited) {
            (own, NONE) => own,
            (NONE, inherited) => inherited,
            (own, inherited) if self.covers(own, inherited) => own,
            (own, inherited) => self.merge(own, inherited),
        };
    }

    /// The message that a write carries from its own thread.
    fn own_message(&mut self, event: u32, thread: usize) -> u32 {
        if !self.graph.is(event, Traits::ATOMIC) {
            return NONE;
        }
        let releases = self.graph.is(event, Traits::RELEASE);
        let earlier = if self.graph.orders.own_writes_continue_release_sequences() {
            let key = (thread as u32, self.graph.location(event));
            if releases {
                self.release_write.insert(key, event);
            }
            self.release_write.get(&key).copied().unwrap_or(NONE)
        } else if releases {
            event
        } else {
            NONE
        };
        match (earlier, self.release_fence[thread]) {
            (NONE, fence) => fence,
            (write, NONE) => write,
            (write, fence) => write.max(fence),
        }
    }

    /// Returns `true` if one clock is at least another.
    fn covers(&self, large: u32, small: u32) -> bool {
        self.clocks
            .row(large)
            .iter()
            .zip(self.clocks.row(small))
            .all(|(large, small)| large >= small)
    }

    /// Adds a clock for a message that joins two.
    fn merge(&mut self, one: u32, other: u32) -> u32 {
        let clocks = &mut self.clocks;
        let merged = clocks.place.len() as u32;
        clocks.place.push((clocks.rows.len() / clocks.threads) as u32);
        let start = clocks.start(one);
        clocks.rows.extend_from_within(start..start + clocks.threads);
        clocks.join(merged, other);
        merged
    }
}
