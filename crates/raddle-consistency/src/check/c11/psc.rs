//! The fixed part of the relation `psc` of RC11 (Lahav et al., PLDI 2017), and what each pair of a modification order adds
//! to it.
//!
//! ```text
//! scb      = po ∪ po|≠loc; hb; po|≠loc ∪ hbloc ∪ mo ∪ fr
//! psc_base = ([E_sc] ∪ [F_sc]; hb?); scb; ([E_sc] ∪ hb?; [F_sc])
//! psc_F    = [F_sc]; (hb ∪ hb; eco; hb); [F_sc]
//! ```
//!
//! The modification order enters by `mo`, by `fr` and by `eco`, which is `rf` or starts with one of
//! the two: whenever a write `x` comes before a write `y`. Then each event of `left(x)` is
//! psc-before each of `right(y)`, where
//!
//! ```text
//! left(x)   = x and its readers, if they are in E_sc, and the fences in F_sc that happen before them
//! right(y)  = y, if it is in E_sc, and the fences in F_sc that happen after it
//! ```
//!
//! and each fence of `left(x)` also before the fences that happen after a reader of `y`. (An update
//! that observes `x` is no such reader: it comes right after `x`, so `fr` and `mo` from it are the
//! same.) So for chains of updates it suffices to know `left` and `right` as a whole, and `psc` is
//! the fixed part and one product of sets for each ordered pair of chains.
//!
//! Under RA and RC20 only fences are sequentially consistent, and only `psc_F` counts. There they are
//! updates of a hidden location, and an order of them that happens-before may include without
//! breaking coherence exists if and only if `psc_F` has no cycle.

use super::basis::Basis;
use super::bits::{BitMatrix, add, ones};
use super::by_location::{ByLocation, LocationAccess};
use super::chains::UpdateChains;
use super::clocks::HbClocks;
use super::forced::ForcedOrder;
use super::graph::{C11Graph, NONE, Traits, id};
use super::sort::{Predecessors, sort_chains};
use crate::check::effort::Effort;
use raddle_core::execution::EventId;

/// The largest total size of the matrices, in bits; larger executions are not decided.
const MOST_BITS: usize = 1 << 31;

/// The fixed part of `psc`, and the locations that add to it.
pub(super) struct Psc {
    /// The sequentially consistent events.
    pub(super) events: Vec<u32>,
    /// Which of them are fences.
    pub(super) fences: Vec<usize>,
    /// The part of `psc` that does not depend on modification orders, and what chains of updates
    /// fix of these.
    pub(super) fixed: BitMatrix,
    /// The locations whose modification order matters.
    pub(super) places: Vec<PscLocation>,
}

/// The chains of a location, and what their order adds to `psc`.
pub(super) struct PscLocation {
    pub(super) location: usize,
    /// The first write of each chain; the initial chain first.
    pub(super) tops: Vec<u32>,
    /// By chain: the chains that must come before it.
    pub(super) before: BitMatrix,
    /// By chain: the union of `left` of its writes.
    pub(super) left: BitMatrix,
    /// The same, of fences only.
    pub(super) left_fences: BitMatrix,
    /// By chain: the union of `right` of its writes.
    pub(super) right: BitMatrix,
    /// By chain: the fences after the readers of its writes.
    pub(super) right_fences: BitMatrix,
}

impl PscLocation {
    /// The writes of the location in an order that respects what is known, which is transitive.
    pub(super) fn sorted(&self, chains: &UpdateChains, before: &BitMatrix) -> Vec<EventId> {
        let mut order: Vec<usize> = (0..self.tops.len()).collect();
        order.sort_by_key(|&chain| ones(before.row(chain)).count());
        order.iter().flat_map(|&chain| chains.from(self.tops[chain])).map(id).collect()
    }
}

impl Psc {
    /// Computes the fixed part and the locations; `None` if that exceeds the memory or the budget. The forced orders must
    /// have no cycle.
    pub(super) fn new(graph: &C11Graph<'_>, basis: &Basis, effort: &mut Effort) -> Option<Psc> {
        let chains = &basis.chains;
        let is_seq_cst = |&event: &u32| graph.is(event, Traits::SEQ_CST);
        let events: Vec<u32> = (0..graph.events() as u32).filter(is_seq_cst).collect();
        let count = events.len();
        let fits = count * (count + 4 * graph.events()) <= MOST_BITS;
        if !fits || !effort.spend_for((count * count / 64) as u64) {
            return None;
        }
        let is_fence = |&index: &usize| graph.is(events[index], Traits::FENCE);
        let fences = (0..count).filter(is_fence).collect();
        let mut psc = Psc { fixed: BitMatrix::new(count, count), events, fences, places: vec![] };
        let around = FixedPsc::new(graph, basis);
        for (a, &one) in psc.events.iter().enumerate() {
            for (b, &other) in psc.events.iter().enumerate() {
                if one != other && around.fixed_path(one, other).is_some() {
                    psc.fixed.set(a, b);
                }
            }
        }
        let mut forced = ForcedOrder::default();
        let mut bits = 0;
        for location in 0..graph.locations() {
            let found = forced.find(graph, basis, location);
            debug_assert!(found.is_ok(), "coherence was checked before");
            let tops = forced.numbers().tops.len();
            bits += tops * (tops + 4 * count);
            if bits > MOST_BITS {
                return None;
            }
            let place = psc.place(&around, chains, &forced, location);
            let row = |bits: &BitMatrix, chain| bits.row(chain).iter().any(|&word| word != 0);
            let any = |bits: &BitMatrix| (0..place.tops.len()).any(|chain| row(bits, chain));
            if any(&place.left) && (any(&place.right) || any(&place.right_fences)) {
                psc.places.push(place);
            }
        }
        Some(psc)
    }

    /// What a location adds. What its chains determine is added to the fixed part.
    fn place(
        &mut self,
        around: &FixedPsc<'_, '_>,
        chains: &UpdateChains,
        forced: &ForcedOrder,
        location: usize,
    ) -> PscLocation {
        let count = self.events.len();
        let accesses = around.by_location.get(location);
        let event = |&write: &u32| accesses[write as usize].event;
        let tops: Vec<u32> = forced.numbers().tops.iter().map(event).collect();
        let mut place = PscLocation {
            location,
            before: before(accesses, forced),
            left: BitMatrix::new(tops.len(), count),
            left_fences: BitMatrix::new(tops.len(), count),
            right: BitMatrix::new(tops.len(), count),
            right_fences: BitMatrix::new(tops.len(), count),
            tops,
        };
        let readers = around.readers(location);
        for chain in 0..place.tops.len() {
            for write in chains.from(place.tops[chain]) {
                let sides = self.sides(around, write, &readers);
                // What is in the chain so far comes before this write.
                self.multiply(place.left.row(chain), &sides.right);
                self.multiply(place.left_fences.row(chain), &sides.right_fences);
                place.left.add(chain, &sides.left);
                place.left_fences.add(chain, &sides.left_fences);
                place.right.add(chain, &sides.right);
                place.right_fences.add(chain, &sides.right_fences);
            }
        }
        place
    }

    /// Orders each event of one set psc-before each event of another.
    fn multiply(&mut self, left: &[u64], right: &[u64]) {
        for one in ones(left) {
            self.fixed.add(one, right);
        }
    }

    /// `left` and `right` of a write. Adds the pairs of fences around `rf` to the fixed part.
    fn sides(
        &mut self,
        around: &FixedPsc<'_, '_>,
        write: u32,
        readers: &[(u32, u32)],
    ) -> WriteSides {
        let mut sides = WriteSides::new(self.events.len());
        self.add_self(&mut sides.left, write);
        self.add_self(&mut sides.right, write);
        self.add_fences(&mut sides.left_fences, |fence| around.hb(fence, write));
        self.add_fences(&mut sides.right, |fence| around.hb(write, fence));
        let fences_before_write = sides.left_fences.clone();
        let from = readers.partition_point(|&(source, _)| source < write);
        for &(_, read) in readers[from..].iter().take_while(|&&(source, _)| source == write) {
            self.add_self(&mut sides.left, read);
            self.add_fences(&mut sides.left_fences, |fence| around.hb(fence, read));
            self.add_fences(&mut sides.right_fences, |fence| around.hb(read, fence));
        }
        self.multiply(&fences_before_write, &sides.right_fences);
        add(&mut sides.left, &sides.left_fences);
        sides
    }

    /// Adds an event if it is sequentially consistent.
    fn add_self(&self, into: &mut [u64], event: u32) {
        if let Ok(index) = self.events.binary_search(&event) {
            set(into, index);
        }
    }

    fn add_fences(&self, into: &mut [u64], holds: impl Fn(u32) -> bool) {
        for &index in &self.fences {
            if holds(self.events[index]) {
                set(into, index);
            }
        }
    }
}

/// `left` and `right` of one write, as sets of sequentially consistent events.
struct WriteSides {
    left: Vec<u64>,
    left_fences: Vec<u64>,
    right: Vec<u64>,
    right_fences: Vec<u64>,
}

impl WriteSides {
    fn new(count: usize) -> WriteSides {
        let empty = vec![0; count.div_ceil(64)];
        let (left, left_fences, right) = (empty.clone(), empty.clone(), empty.clone());
        WriteSides { left, left_fences, right, right_fences: empty }
    }
}

/// By chain: the chains that must come before it, closed under transitivity.
fn before(accesses: &[LocationAccess], forced: &ForcedOrder) -> BitMatrix {
    let count = forced.numbers().tops.len();
    let mut before = BitMatrix::new(count, count);
    let order = sort_chains(forced, accesses).unwrap_or_default();
    debug_assert!(!order.is_empty(), "coherence was checked before");
    for chain in order.into_iter().map(|chain| chain as usize) {
        for at in 0..forced.degree(chain) {
            if let Some((_, earlier)) = forced.get(chain, at) {
                before.set(chain, earlier);
                before.add_row(chain, earlier);
            }
        }
        if chain != 0 {
            before.set(chain, 0);
        }
    }
    before
}

/// The relations that the fixed part of `psc` consists of.
pub(super) struct FixedPsc<'a, 'e> {
    pub(super) graph: &'a C11Graph<'e>,
    pub(super) clocks: &'a HbClocks,
    by_location: &'a ByLocation,
    /// By event: the first one after it that is not of its thread and location.
    next_elsewhere: Vec<u32>,
    /// By event: the first of the events up to it that are of its thread and location, in a row.
    run_start: Vec<u32>,
}

impl<'a, 'e> FixedPsc<'a, 'e> {
    pub(super) fn new(graph: &'a C11Graph<'e>, basis: &'a Basis) -> Self {
        let events = graph.events() as u32;
        let continues = |event: u32| {
            graph.thread_of(event - 1) == graph.thread_of(event)
                && graph.location(event - 1) == graph.location(event)
        };
        let mut run_start: Vec<u32> = (0..events).collect();
        for event in 1..events {
            if continues(event) {
                run_start[event as usize] = run_start[event as usize - 1];
            }
        }
        let mut next_elsewhere: Vec<u32> = (1..=events).collect();
        for event in (1..events).rev() {
            if continues(event) {
                next_elsewhere[event as usize - 1] = next_elsewhere[event as usize];
            }
        }
        let (clocks, by_location) = (&basis.clocks, &basis.by_location);
        FixedPsc { graph, clocks, by_location, next_elsewhere, run_start }
    }

    pub(super) fn hb(&self, from: u32, to: u32) -> bool {
        self.clocks.happens_before(self.graph, from, to)
    }

    /// The reads of a location that write nothing, each after its source; sorted.
    fn readers(&self, location: usize) -> Vec<(u32, u32)> {
        let reads = self.by_location.get(location).iter().map(|access| access.event);
        let mut readers: Vec<(u32, u32)> = reads
            .filter(|&event| !self.graph.is(event, Traits::WRITE))
            .map(|event| (self.graph.rf(event), event))
            .filter(|&(source, _)| source != NONE)
            .collect();
        readers.sort_unstable();
        readers
    }

    /// If one sequentially consistent event is psc-before another whatever `rf` and `mo` are, the
    /// events on the way, ends included: each happens before the next.
    ///
    /// Pairs of an access and a fence are left out: they are always happens-before, so that everything psc-before the
    /// access is also psc-before the fence, and symmetrically.
    pub(super) fn fixed_path(&self, one: u32, other: u32) -> Option<Vec<u32>> {
        let fence = |event| self.graph.is(event, Traits::FENCE);
        let middle = match (fence(one), fence(other)) {
            (true, true) => self.hb(one, other).then(Vec::new)?,
            (false, false) => self.between_accesses(one, other)?,
            _ => return None,
        };
        Some([vec![one], middle, vec![other]].concat())
    }

    fn between_accesses(&self, one: u32, other: u32) -> Option<Vec<u32>> {
        let same_thread = self.thread(one) == self.thread(other);
        let same_location = self.location(one) == self.location(other);
        if (same_thread && one < other) || (same_location && self.hb(one, other)) {
            return Some(vec![]);
        }
        let (after, before) = (self.next_elsewhere(one)?, self.previous_elsewhere(other)?);
        self.hb(after, before).then(|| vec![after, before])
    }

    fn thread(&self, event: u32) -> usize {
        self.graph.thread_of(event) as usize
    }

    fn location(&self, event: u32) -> u32 {
        self.graph.location(event)
    }

    /// The first event after an access in its thread that does not access the same location.
    fn next_elsewhere(&self, access: u32) -> Option<u32> {
        let (_, end) = self.graph.bounds[self.thread(access)];
        Some(self.next_elsewhere[access as usize]).filter(|&event| event < end)
    }

    /// The last event before an access in its thread that does not access the same location.
    fn previous_elsewhere(&self, access: u32) -> Option<u32> {
        let (first, _) = self.graph.bounds[self.thread(access)];
        self.run_start[access as usize].checked_sub(1).filter(|&event| event >= first)
    }
}

fn set(bits: &mut [u64], index: usize) {
    bits[index / 64] |= 1 << (index % 64);
}
