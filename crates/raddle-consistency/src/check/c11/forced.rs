//! Which chains of a location must come before which (Tunç et al., PLDI 2023, section 4.4: minimally
//! coherent modification orders).
//!
//! If a write, or a read that observes it, happens before a read of another chain, or before the
//! write that starts another chain, then its chain comes before that chain (Lemma 3.2). These orders
//! are all there is: if they have no cycle, any order of the chains that respects them is a
//! modification order that read coherence, write coherence and atomicity allow (Lemma 4.4).
//!
//! The paper collects pairs of writes, O(nk) of them, and looks for a cycle among writes. We look at
//! whole chains, since a pair always ends at the top of a chain, and we keep for each chain and
//! thread only the last write that comes before it: those before it in its thread are ordered by
//! program order. So a location of n accesses by k threads takes O(nk) time and 4k bytes a chain, and
//! sorting the chains gives the modification order.

use super::basis::Basis;
use super::by_location::{Access, INIT, index_in};
use super::graph::Graph;
use super::observe::{Seen, Walk, observe};
use super::sort::{Clash, Numbers, Predecessors};

/// The chains of one location and what must come before each. The tables are used again for the
/// next location.
#[derive(Default)]
pub(super) struct Forced {
    walk: Walk,
    numbers: Numbers,
    /// The number of threads that access the location.
    segments: usize,
    /// By chain and segment: the last write of the segment that is forced to come before the chain, or
    /// [`INIT`] if none is.
    before: Vec<u32>,
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
    ) -> Result<(), Clash> {
        let accesses = basis.by_location.get(location);
        let Forced { walk, numbers, segments, before } = self;
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

    /// The chain of a write, which is told by its event.
    pub(super) fn chain_of(&self, accesses: &[Access], write: u32) -> usize {
        self.numbers.chain_of[index_in(accesses, write)] as usize
    }
}

/// What an access has seen comes before the chain of its target: calls `add` for each such write that
/// is in another chain.
#[inline]
pub(super) fn force(
    accesses: &[Access],
    access: u32,
    target: u32,
    seen: &[Seen],
    mut add: impl FnMut(u32),
) -> Option<Clash> {
    let after = accesses[target as usize];
    for (write, by) in seen.iter().flat_map(Seen::writes) {
        let before = accesses[write as usize];
        let same = before.top == after.top;
        if same && before.place <= after.place {
            continue;
        }
        // Nothing comes before the initial chain.
        if same || after.top == INIT {
            return Some(Clash::stale(accesses, access, write, by));
        }
        add(write);
    }
    None
}

impl Predecessors for Forced {
    fn numbers(&self) -> &Numbers {
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
