//! What every access has seen of its location (Tunç et al., PLDI 2023, section 3: the lists of last
//! writes and last reads, one for each observer).
//!
//! Along a thread clocks only grow, so an observer passes once over the accesses of every other thread: O(nk) for all
//! observers together. The paper keeps the lists of all locations at once and walks over the events; we walk over one
//! location after the other, so that the tables are small and reused for the next location.
//!
//! Every observer visits every access, so the data is compact: the records of `by_location`, and a copy of the clocks, in a
//! table that is reused for the next location. Without the copy, the first observer waits for memory at every clock: each
//! step reads one clock of every thread, more streams than processors prefetch. Other properties of an access are looked up
//! by its index; *rejected:* storing them in [`SeenOfThread`], which took longer.

use super::by_location::{INIT, LocationAccess, ThreadSegment, cut};
use super::clocks::HbClocks;
use super::graph::{C11Graph, NONE};

/// Tables about the accesses of one location, reused for the next.
#[derive(Default)]
pub(super) struct LocationWalk {
    segments: Vec<ThreadSegment>,
    segment_of: Vec<u32>,
    bounds: Vec<u32>,
}

/// The accesses of one location.
#[derive(Clone, Copy)]
pub(super) struct Local<'a> {
    pub(super) accesses: &'a [LocationAccess],
    pub(super) segments: &'a [ThreadSegment],
    /// By access: its segment; meaningless for the initial write.
    segment_of: &'a [u32],
    /// By access and segment: the first event of the thread that does not happen before the access.
    bounds: &'a [u32],
}

impl Local<'_> {
    /// The segment of an access that is not the initial write.
    #[inline]
    pub(super) fn segment_of(&self, access: u32) -> usize {
        self.segment_of[access as usize] as usize
    }

    #[inline]
    fn bound(&self, access: u32, segment: usize) -> u32 {
        self.bounds[access as usize * self.segments.len() + segment]
    }

    /// Returns `true` if an access that is not the initial write happens before another or is it.
    #[inline]
    pub(super) fn happens_before(&self, from: u32, to: u32) -> bool {
        self.accesses[from as usize].event < self.bound(to, self.segment_of(from))
    }
}

/// What an access has seen of one thread: of the accesses of this thread that happen before it, or
/// are before it in its own thread, the last ones.
#[derive(Clone, Copy)]
pub(super) struct SeenOfThread {
    /// The last write, or [`NONE`].
    pub(super) write: u32,
    /// What the last read observes that has a source, and that read; or [`NONE`].
    source: u32,
    by: u32,
    /// The first access that it has not seen.
    next: u32,
}

impl SeenOfThread {
    /// The writes that must come before the target of the observer, each with the read that observes it, or [`NONE`] if the
    /// write itself was seen. Initial writes are left out: they come first anyway.
    #[inline]
    pub(super) fn writes(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let seen = [(self.write, NONE), (self.source, self.by)];
        seen.into_iter().filter(|&(write, _)| write != NONE && write != INIT)
    }

    /// Sees all accesses up to `end` whose events come before one of the same thread.
    #[inline]
    fn advance(&mut self, accesses: &[LocationAccess], end: usize, bound: u32) {
        for access in &accesses[self.next as usize..end] {
            if access.event >= bound {
                break;
            }
            self.see(access);
        }
    }

    /// Sees the next access.
    #[inline]
    fn see(&mut self, access: &LocationAccess) {
        if access.is_write() {
            self.write = self.next;
        }
        if access.source != NONE {
            (self.source, self.by) = (access.source, self.next);
        }
        self.next += 1;
    }
}

impl LocationWalk {
    /// Fills the tables for a location.
    pub(super) fn enter<'a>(
        &'a mut self,
        graph: &C11Graph<'_>,
        clocks: &HbClocks,
        accesses: &'a [LocationAccess],
    ) -> Local<'a> {
        let LocationWalk { segments, segment_of, bounds } = self;
        cut(graph, accesses, segments);
        segment_of.clear();
        segment_of.push(NONE);
        for (at, segment) in segments.iter().enumerate() {
            segment_of.resize(segment.end, at as u32);
        }
        bounds.clear();
        for clock in clocks.of_location(accesses[0].event).take(accesses.len()) {
            bounds.extend(segments.iter().map(|s| s.first + clock[s.thread as usize]));
        }
        Local { accesses, segments, segment_of, bounds }
    }
}

/// Calls `visit` for every access of a location, with what it has seen of each thread that accesses
/// it.
pub(super) fn observe(local: Local<'_>, mut visit: impl FnMut(u32, &[SeenOfThread])) {
    let Local { accesses, segments, .. } = local;
    let mut seen = vec![];
    let unseen = |segment: &ThreadSegment| SeenOfThread {
        write: NONE,
        source: NONE,
        by: NONE,
        next: segment.start as u32,
    };
    for (own, observer) in segments.iter().enumerate() {
        seen.clear();
        seen.extend(segments.iter().map(unseen));
        for at in observer.start as u32..observer.end as u32 {
            for (other, (segment, seen)) in segments.iter().zip(seen.iter_mut()).enumerate() {
                let event = accesses[at as usize].event;
                let bound = if other == own { event } else { local.bound(at, other) };
                seen.advance(accesses, segment.end, bound);
            }
            visit(at, &seen);
        }
    }
}
