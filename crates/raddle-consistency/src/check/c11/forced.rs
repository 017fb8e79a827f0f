//! Which chains of a location must come before which (Tunç et al., PLDI 2023, section 4.4: minimally
//! coherent modification orders).
//!
//! If a write, or a read that observes it, happens before a read of another chain, or before the
//! write that starts another chain, then its chain comes before that chain (Lemma 3.2). These orders
//! are all there is: if they have no cycle, any order of the chains that respects them is a
//! modification order that read coherence, write coherence and atomicity allow (Lemma 4.4).
//!
//! The paper collects pairs of writes, O(nk) of them, and looks for a cycle among writes. We look at
//! whole chains, since a pair always ends at the top of a chain, and keep for each chain and thread only the last write that
//! comes before it: earlier writes of that thread are ordered by program order. So a location of n accesses by k threads
//! takes O(nk) time and 4k bytes for each chain, and sorting the chains gives the modification order.

use super::basis::Basis;
use super::by_location::{INIT, LocationAccess, index_in};
use super::graph::C11Graph;
use super::observe::{LocationWalk, SeenOfThread, observe};
use super::sort::{ChainContradiction, ChainNumbers, Predecessors};

/// The chains of one location and what must come before each. The tables are reused for the
/// next location.
#[derive(Default)]
pub(super) struct ForcedOrder {
    walk: LocationWalk,
    numbers: ChainNumbers,
    /// The number of threads that access the location.
    segments: usize,
    /// By chain and segment: the last write of the segment that is forced to come before the chain, or
    /// [`INIT`] if none is.
    before: Vec<u32>,
}

impl ForcedOrder {
    /// Computes the forced order of a location.
    ///
    /// # Errors
    /// If a single read shows that there is no order.
    pub(super) fn find(
        &mut self,
        graph: &C11Graph<'_>,
        basis: &Basis,
        location: usize,
    ) -> Result<(), ChainContradiction> {
        let accesses = basis.by_location.get(location);
        let ForcedOrder { walk, numbers, segments, before } = self;
        numbers.fill(accesses);
        let local = walk.enter(graph, &basis.clocks, accesses);
        *segments = local.segments.len();
        before.clear();
        before.resize(numbers.tops.len() * *segments, INIT);
        let mut clash = None;
        observe(local, |access, seen| {
            let Some(target) = accesses[access as usize].target(access) else { return };
            let chain = numbers.chain_of[target as usize] as usize;
            let row = &mut before[chain * *segments..][..*segments];
            let force = || {
                force(accesses, access, target, seen, |write| {
                    let entry = &mut row[local.segment_of(write)];
                    *entry = (*entry).max(write);
                })
            };
            clash = clash.take().or_else(force);
        });
        clash.map_or(Ok(()), Err)
    }

    /// The chain of a write, given as an event.
    pub(super) fn chain_of(&self, accesses: &[LocationAccess], write: u32) -> usize {
        self.numbers.chain_of[index_in(accesses, write)] as usize
    }
}

/// The writes that an access has seen come before the chain of its target: calls `add` for each of them that is in
/// another chain.
#[inline]
pub(super) fn force(
    accesses: &[LocationAccess],
    access: u32,
    target: u32,
    seen: &[SeenOfThread],
    mut add: impl FnMut(u32),
) -> Option<ChainContradiction> {
    let after = accesses[target as usize];
    for (write, by) in seen.iter().flat_map(SeenOfThread::writes) {
        let before = accesses[write as usize];
        let same = before.top == after.top;
        if same && before.place <= after.place {
            continue;
        }
        // Nothing comes before the initial chain.
        if same || after.top == INIT {
            return Some(ChainContradiction::stale(accesses, access, write, by));
        }
        add(write);
    }
    None
}

impl Predecessors for ForcedOrder {
    fn numbers(&self) -> &ChainNumbers {
        &self.numbers
    }

    fn degree(&self, _chain: usize) -> usize {
        self.segments
    }

    #[inline]
    fn get(&self, chain: usize, at: usize) -> Option<(u32, usize)> {
        let write = self.before[chain * self.segments + at];
        (write != INIT).then(|| (write, self.numbers.chain_of[write as usize] as usize))
    }
}
