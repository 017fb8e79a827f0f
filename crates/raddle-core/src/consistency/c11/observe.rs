//! What every access has seen of its location (Tunç et al., PLDI 2023, section 3: the lists of last
//! writes and last reads, one for each observer).
//!
//! Along a thread clocks only grow, so an observer passes once over the accesses of every other
//! thread: O(nk) for all observers together. The paper keeps the lists of all locations at once and
//! walks over the events; we walk over one location after the other, so that the tables of a
//! location are small and used again for the next.
//!
//! Every observer looks at every access, so what it needs of an access stands in one record
//! ([`Access`]) and one row ([`Rows`]), copies in the order of the walk. Looking it up in the tables of
//! all events instead, a few cache misses each time, takes four times as long.

use super::clocks::Clocks;
use super::graph::{Graph, NONE, Traits};

/// The accesses of every location, initial writes apart.
pub(super) struct ByLocation {
    /// Location by location, in the order of ids: thread by thread, in program order.
    events: Vec<u32>,
    /// By location: where its accesses start.
    starts: Vec<u32>,
    /// By event: its index among the accesses of its location.
    index: Vec<u32>,
}

impl ByLocation {
    pub(super) fn new(graph: &Graph<'_>) -> ByLocation {
        let locations = graph.locations();
        let all = locations as u32..graph.events() as u32;
        let accesses = || all.clone().filter(|&event| graph.location(event) != NONE);
        let mut starts = vec![0u32; locations + 1];
        for event in accesses() {
            starts[graph.location(event) as usize + 1] += 1;
        }
        for location in 0..locations {
            starts[location + 1] += starts[location];
        }
        let mut next = starts.clone();
        let mut events = vec![0; starts[locations] as usize];
        let mut index = vec![NONE; graph.events()];
        for event in accesses() {
            let location = graph.location(event) as usize;
            events[next[location] as usize] = event;
            index[event as usize] = next[location] - starts[location];
            next[location] += 1;
        }
        ByLocation { events, starts, index }
    }

    /// The index of an access among those of its location, or [`NONE`] for an initial write.
    #[inline]
    pub(super) fn index(&self, event: u32) -> u32 {
        self.index[event as usize]
    }

    /// The accesses of a location.
    pub(super) fn get(&self, location: usize) -> &[u32] {
        &self.events[self.starts[location] as usize..self.starts[location + 1] as usize]
    }
}

/// The accesses of one thread among those of a location.
#[derive(Clone, Copy)]
pub(super) struct Segment {
    pub(super) thread: u32,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Cuts the accesses of a location into threads: ids are thread by thread.
pub(super) fn segments(graph: &Graph<'_>, events: &[u32], into: &mut Vec<Segment>) {
    into.clear();
    let mut start = 0;
    while let Some(&event) = events.get(start) {
        let thread = graph.thread_of(event);
        let (_, last) = graph.bounds[thread as usize];
        let end = start + events[start..].partition_point(|&event| event < last);
        into.push(Segment { thread, start, end });
        start = end;
    }
}

/// An access of a location. `T` is what the caller wants to know of a write.
#[derive(Clone, Copy)]
pub(super) struct Access<T> {
    pub(super) event: u32,
    /// Its position in its thread.
    position: u32,
    /// Itself, if it writes.
    pub(super) own: Option<T>,
    /// What it observes, if it has a source.
    pub(super) source: Option<T>,
}

impl<T: Copy> Access<T> {
    /// The write that everything the access has seen comes before or is: what it observes or, if it
    /// only writes, itself.
    #[inline]
    pub(super) fn target(&self) -> Option<T> {
        self.source.or(self.own)
    }
}

/// The accesses of one location. The tables are used again for the next.
pub(super) struct Walk<T> {
    pub(super) segments: Vec<Segment>,
    accesses: Vec<Access<T>>,
    rows: Rows,
    seen: Vec<Seen<T>>,
}

/// The clocks of the accesses of one location, as far as its threads are concerned.
#[derive(Default)]
pub(super) struct Rows {
    segments: usize,
    entries: Vec<u32>,
}

impl Rows {
    /// How many events of the thread of a segment happen before an access or are it.
    #[inline]
    pub(super) fn get(&self, access: usize, segment: usize) -> u32 {
        self.entries[access * self.segments + segment]
    }
}

/// What an access has seen of one thread: of the accesses of this thread that happen before it, or
/// are before it in its own thread, the last ones.
#[derive(Clone, Copy)]
pub(super) struct Seen<T> {
    /// The last write.
    pub(super) write: Option<T>,
    /// What the last read observes that has a source, and that read.
    pub(super) source: Option<(T, u32)>,
    /// Where the accesses start that it has not seen.
    next: usize,
}

impl<T: Copy> Seen<T> {
    /// The writes that are forced to come before whatever the observer reads or writes, each with
    /// the read that observes it, or [`NONE`] if it is the write itself that was seen.
    #[inline]
    pub(super) fn writes(&self) -> impl Iterator<Item = (T, u32)> + use<T> {
        self.write.map(|write| (write, NONE)).into_iter().chain(self.source)
    }
}

impl<T> Default for Walk<T> {
    fn default() -> Self {
        Walk { segments: vec![], accesses: vec![], rows: Rows::default(), seen: vec![] }
    }
}

impl<T: Copy> Walk<T> {
    /// Cuts the accesses of a location into threads.
    pub(super) fn cut(&mut self, graph: &Graph<'_>, events: &[u32]) {
        segments(graph, events, &mut self.segments);
    }

    /// Calls `visit` for every access of a location, which has been cut, with what it has seen of each
    /// thread that accesses it, and with the clocks of all accesses. `note` makes what the caller
    /// wants to know of a write.
    pub(super) fn observe(
        &mut self,
        graph: &Graph<'_>,
        clocks: &Clocks,
        events: &[u32],
        note: impl Fn(u32) -> T,
        mut visit: impl FnMut(&Access<T>, &[Seen<T>], &Rows),
    ) {
        self.copy(graph, clocks, events, note);
        let Walk { segments, accesses, rows, seen } = self;
        for (own, observer) in segments.iter().enumerate() {
            seen.clear();
            seen.extend(segments.iter().map(|s| Seen { write: None, source: None, next: s.start }));
            for at in observer.start..observer.end {
                for (index, (segment, seen)) in segments.iter().zip(seen.iter_mut()).enumerate() {
                    if index == own {
                        seen.advance_to(accesses, at);
                    } else {
                        seen.advance(accesses, segment.end, rows.get(at, index));
                    }
                }
                visit(&accesses[at], seen, rows);
            }
        }
    }

    fn copy(
        &mut self,
        graph: &Graph<'_>,
        clocks: &Clocks,
        events: &[u32],
        note: impl Fn(u32) -> T,
    ) {
        self.accesses.clear();
        self.rows.segments = self.segments.len();
        self.rows.entries.clear();
        for segment in &self.segments {
            let (first, _) = graph.bounds[segment.thread as usize];
            for &event in &events[segment.start..segment.end] {
                let source = Some(graph.rf(event)).filter(|&source| source != NONE);
                self.accesses.push(Access {
                    event,
                    position: event - first,
                    own: graph.is(event, Traits::WRITE).then(|| note(event)),
                    source: source.map(&note),
                });
                let clock = clocks.row(event);
                let seen = self.segments.iter().map(|segment| clock[segment.thread as usize]);
                self.rows.entries.extend(seen);
            }
        }
    }
}

impl<T: Copy> Seen<T> {
    /// Sees all accesses up to `end` whose positions in their thread are less than `clock`.
    #[inline]
    fn advance(&mut self, accesses: &[Access<T>], end: usize, clock: u32) {
        let mut until = self.next;
        while until < end && accesses[until].position < clock {
            until += 1;
        }
        self.advance_to(accesses, until);
    }

    /// Sees all accesses before one. Of several, only the last ones matter.
    #[inline]
    fn advance_to(&mut self, accesses: &[Access<T>], until: usize) {
        for access in &accesses[self.next..until] {
            self.write = access.own.or(self.write);
            self.source = access.source.map(|source| (source, access.event)).or(self.source);
        }
        self.next = until;
    }
}
