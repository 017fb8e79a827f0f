//! Which chains of a location must come before which (Tunç et al., PLDI 2023, section 4.4: minimally
//! coherent modification orders).
//!
//! If a write, or a read that observes it, happens before a read of another chain, or before the
//! write that starts another chain, then its chain comes before that chain (Lemma 3.2). These orders
//! are all there is: if they have no circle, any order of the chains that respects them is a
//! modification order that read coherence, write coherence and atomicity allow (Lemma 4.4).
//!
//! The paper collects pairs of writes, O(nk) of them, and looks for a circle among writes. We look at
//! whole chains, since a pair always ends at the top of a chain, and we keep for each chain and
//! thread only the last write that comes before it: those before it in its thread are ordered by
//! program order. So a location of n accesses by k threads takes O(nk) time and 4k bytes a chain, and
//! sorting the chains gives the modification order.

use super::basis::Basis;
use super::chains::Chains;
use super::graph::{Graph, NONE, Traits};
use super::observe::{Access, Seen, Walk};
use super::sort::{Clash, Predecessors};

/// The chains of one location and what must come before each. The tables are used again for the
/// next location.
#[derive(Default)]
pub(super) struct Forced {
    walk: Walk<Note>,
    layout: Layout,
    /// By chain and segment: how many writes of the segment come before the chain, as far as forced.
    before: Vec<u32>,
}

/// Where a write of the location is.
#[derive(Clone, Copy)]
struct Note {
    write: u32,
    /// Its chain.
    chain: u32,
    /// Its position there.
    place: u32,
    /// The segment of its thread; meaningless for an initial write.
    segment: u32,
    /// How many writes of the segment are before it; [`NONE`] for an initial write.
    rank: u32,
}

/// The writes of the location.
#[derive(Default)]
struct Layout {
    /// By thread: its index among the segments.
    segment_of: Vec<u32>,
    /// The writes of each segment in program order, each with its chain, and where they start.
    writes: Vec<(u32, u32)>,
    starts: Vec<usize>,
    /// The first write of each chain. The chain of the initial write comes first.
    tops: Vec<u32>,
    /// By event that writes.
    slots: Vec<Slot>,
}

/// What is kept of a write until the next location.
#[derive(Clone, Copy)]
struct Slot {
    /// How many writes of its segment are before it; [`NONE`] for an initial write.
    rank: u32,
    /// If it starts a chain, the index of the chain.
    index: u32,
}

impl Forced {
    /// Finds what is forced at a location.
    ///
    /// # Errors
    /// If a single read is enough to see that there is no order.
    pub(super) fn find(
        &mut self,
        graph: &Graph<'_>,
        basis: &Basis,
        location: usize,
        events: &[u32],
    ) -> Result<(), Clash> {
        let Basis { clocks, chains, .. } = basis;
        let Forced { walk, layout, before } = self;
        walk.cut(graph, events);
        layout.fill(graph, chains, location, events, walk);
        let segments = walk.segments.len();
        before.clear();
        before.resize(layout.tops.len() * segments, 0);
        let mut clash = None;
        let note = |write| layout.note(graph, chains, write);
        walk.observe(graph, clocks, events, note, |access, seen, _| {
            if let Some(target) = access.target() {
                let row = &mut before[target.chain as usize * segments..][..segments];
                clash = clash.take().or_else(|| force(access, target, seen, row));
            }
        });
        clash.map_or(Ok(()), Err)
    }

    /// The index of the chain of a write.
    pub(super) fn chain_of(&self, chains: &Chains, write: u32) -> usize {
        self.layout.index(chains, write) as usize
    }
}

/// What an access has seen comes before the chain of what it observes or writes, to which the row
/// belongs.
#[inline]
fn force(
    access: &Access<Note>,
    target: Note,
    seen: &[Seen<Note>],
    row: &mut [u32],
) -> Option<Clash> {
    for (note, by) in seen.iter().flat_map(Seen::writes) {
        if note.rank == NONE {
            continue;
        }
        if note.chain == target.chain && note.place <= target.place {
            continue;
        }
        // Nothing comes before the initial chain.
        if note.chain == target.chain || target.chain == 0 {
            return Some(Clash::Stale { read: access.event, write: note.write, by });
        }
        let entry = &mut row[note.segment as usize];
        *entry = (*entry).max(note.rank + 1);
    }
    None
}

impl Layout {
    fn fill(
        &mut self,
        graph: &Graph<'_>,
        chains: &Chains,
        location: usize,
        events: &[u32],
        walk: &Walk<Note>,
    ) {
        self.segment_of.resize(graph.threads(), NONE);
        self.slots.resize(graph.events(), Slot { rank: NONE, index: NONE });
        self.starts.clear();
        self.tops.clear();
        self.writes.clear();
        self.start_chain(location as u32);
        for (at, segment) in walk.segments.iter().enumerate() {
            self.segment_of[segment.thread as usize] = at as u32;
            let start = self.writes.len();
            self.starts.push(start);
            for &event in &events[segment.start..segment.end] {
                if !graph.is(event, Traits::WRITE) {
                    continue;
                }
                self.slots[event as usize].rank = (self.writes.len() - start) as u32;
                let top = chains.top(event);
                self.writes.push((event, top));
                if top == event {
                    self.start_chain(event);
                }
            }
        }
        for (_, chain) in &mut self.writes {
            *chain = self.slots[*chain as usize].index;
        }
    }

    fn start_chain(&mut self, top: u32) {
        self.slots[top as usize].index = self.tops.len() as u32;
        self.tops.push(top);
    }

    /// The index of the chain of a write.
    #[inline]
    fn index(&self, chains: &Chains, write: u32) -> u32 {
        self.slots[chains.top(write) as usize].index
    }

    fn note(&self, graph: &Graph<'_>, chains: &Chains, write: u32) -> Note {
        let segment = match graph.thread_of(write) {
            NONE => NONE,
            thread => self.segment_of[thread as usize],
        };
        let rank = self.slots[write as usize].rank;
        let (chain, place) = (self.index(chains, write), chains.place(write));
        Note { write, chain, place, segment, rank }
    }
}

impl Predecessors for Forced {
    fn tops(&self) -> &[u32] {
        &self.layout.tops
    }

    fn degree(&self, _chain: usize) -> usize {
        self.layout.starts.len()
    }

    #[inline]
    fn get(&self, _chains: &Chains, chain: usize, at: usize) -> Option<(u32, usize)> {
        let starts = &self.layout.starts;
        let count = self.before[chain * starts.len() + at] as usize;
        let last = count.checked_sub(1)?;
        let (write, chain) = self.layout.writes[starts[at] + last];
        Some((write, chain as usize))
    }
}

/// The write that everything an event has seen comes before or is: what it observes or, if it only
/// writes, itself.
#[inline]
pub(super) fn target(graph: &Graph<'_>, event: u32) -> Option<u32> {
    match graph.rf(event) {
        NONE if graph.is(event, Traits::WRITE) => Some(event),
        NONE => None,
        source => Some(source),
    }
}
