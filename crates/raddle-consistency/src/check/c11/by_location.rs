//! The accesses of every location, in consecutive records.
//!
//! Checkers visit the accesses of one location after the other, and these are far apart among the events. So one pass over
//! the events fills records, location by location. A record refers to other accesses by their indices among those of the
//! location, so that the tables of all events are not needed: with these, every access cost several dependent cache misses
//! (its source, the chain of the source, the top of the chain), half of the time of WRA. The clocks are stored in the same
//! order, for the same reason.
//!
//! O(n), 20 bytes for each event.

use super::chains::UpdateChains;
use super::graph::{C11Graph, NONE, Traits};

/// The index of the initial write among the accesses of its location.
pub(super) const INIT: u32 = 0;

/// An access of a location. It refers to other accesses by their indices among those of the location.
#[derive(Clone, Copy)]
pub(super) struct LocationAccess {
    pub(super) event: u32,
    /// The write that it observes, or [`NONE`].
    pub(super) source: u32,
    /// If it writes, the first write of its chain, otherwise [`NONE`].
    pub(super) top: u32,
    /// If it writes, its position in its chain.
    pub(super) place: u32,
    /// If it writes, the update that observes it, or [`NONE`].
    pub(super) next: u32,
}

impl LocationAccess {
    #[inline]
    pub(super) fn is_write(&self) -> bool {
        self.top != NONE
    }

    /// The write that all writes seen by the access precede or equal: its source or, for a plain write, the access itself,
    /// whose index is `own`.
    #[inline]
    pub(super) fn target(&self, own: u32) -> Option<u32> {
        match self.source {
            NONE => self.is_write().then_some(own),
            source => Some(source),
        }
    }
}

/// The accesses of every location.
pub(super) struct ByLocation {
    /// Location by location, in the order of ids: the initial write, then thread by thread, in
    /// program order.
    accesses: Vec<LocationAccess>,
    /// By location: where its accesses start.
    starts: Vec<u32>,
}

impl ByLocation {
    pub(super) fn new(graph: &C11Graph<'_>, chains: &UpdateChains) -> ByLocation {
        let (starts, place) = places(graph);
        let none = LocationAccess { event: NONE, source: NONE, top: NONE, place: NONE, next: NONE };
        let mut accesses = vec![none; starts[graph.locations()] as usize];
        for event in all(graph) {
            let start = starts[graph.location(event) as usize];
            let index_of = |event: u32| match event {
                NONE => NONE,
                event => place[event as usize] - start,
            };
            let access = &mut accesses[place[event as usize] as usize];
            access.event = event;
            access.source = index_of(graph.rf(event));
            if graph.is(event, Traits::WRITE) {
                access.top = index_of(chains.top(event));
                access.place = chains.place(event);
                access.next = index_of(chains.next(event));
            }
        }
        ByLocation { accesses, starts }
    }

    /// The accesses of a location, the initial write first.
    pub(super) fn get(&self, location: usize) -> &[LocationAccess] {
        &self.accesses[self.starts[location] as usize..self.starts[location + 1] as usize]
    }
}

/// All accesses, in the order of ids.
fn all(graph: &C11Graph<'_>) -> impl Iterator<Item = u32> {
    (0..graph.events() as u32).filter(|&event| graph.location(event) != NONE)
}

/// The start of the accesses of each location, and the position of each event when the events are sorted by location,
/// those without a location last.
pub(super) fn places(graph: &C11Graph<'_>) -> (Vec<u32>, Vec<u32>) {
    let locations = graph.locations();
    let located = |event: u32| (graph.location(event) as usize).min(locations);
    let mut starts = vec![0; locations + 2];
    for event in 0..graph.events() as u32 {
        starts[located(event) + 1] += 1;
    }
    for location in 0..=locations {
        starts[location + 1] += starts[location];
    }
    let mut next = starts.clone();
    let place = |event: u32| {
        let next = &mut next[located(event)];
        *next += 1;
        *next - 1
    };
    let places = (0..graph.events() as u32).map(place).collect();
    (starts, places)
}

/// The index of an event among the accesses of its location.
pub(super) fn index_in(accesses: &[LocationAccess], event: u32) -> usize {
    accesses.partition_point(|access| access.event < event)
}

/// The accesses of one thread among those of a location.
#[derive(Clone, Copy)]
pub(super) struct ThreadSegment {
    pub(super) thread: u32,
    /// The first event of the thread.
    pub(super) first: u32,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Splits the accesses of a location, except the initial write, into threads.
pub(super) fn cut(
    graph: &C11Graph<'_>,
    accesses: &[LocationAccess],
    into: &mut Vec<ThreadSegment>,
) {
    into.clear();
    let mut start = 1;
    while let Some(access) = accesses.get(start) {
        let thread = graph.thread_of(access.event);
        let (first, last) = graph.bounds[thread as usize];
        let end = start + accesses[start..].partition_point(|access| access.event < last);
        into.push(ThreadSegment { thread, first, start, end });
        start = end;
    }
}
