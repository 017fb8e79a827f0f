//! Relaxed in O(n) (Tunç et al., PLDI 2023, Algorithm 4).
//!
//! If nothing synchronizes, an access has seen only what its own thread has done, and it suffices to test the last write
//! that the thread wrote or observed: one predecessor for each access, however many threads there are.
//!
//! Spawn, join, locks and synchronization objects synchronize even under Relaxed. With them, `rc20` decides.

use super::by_location::{ByLocation, INIT, LocationAccess, ThreadSegment, cut};
use super::graph::{C11Graph, NONE, Traits};
use super::sort::{ChainContradiction, ChainNumbers, Predecessors, sort};
use raddle_core::execution::EventId;

/// Returns `true` if nothing synchronizes.
pub(super) fn applies(graph: &C11Graph<'_>) -> bool {
    let execution = graph.execution;
    let locks = execution.locations().any(|location| {
        let location = execution.location(location);
        location.is_lock || location.synchronizes
    });
    let spawns = graph.spawned_by.iter().any(|&spawn| spawn != NONE);
    !locks && !spawns && !graph.has_any(Traits::JOIN)
}

/// By location, a modification order that coherence and atomicity allow.
///
/// # Errors
/// If there is none: the location and why. `po-rf` and `weak-atomicity` must hold, and the algorithm must apply
/// ([`applies`]).
pub(super) fn check(
    graph: &C11Graph<'_>,
    by_location: &ByLocation,
) -> Result<Vec<Vec<EventId>>, (usize, ChainContradiction)> {
    let mut last = LastAccesses::default();
    (0..graph.locations())
        .map(|location| {
            let accesses = by_location.get(location);
            last.find(graph, accesses)
                .and_then(|()| sort(&last, accesses))
                .map_err(|clash| (location, clash))
        })
        .collect()
}

/// The chains of a location and the writes that must come before each. The tables are reused for
/// the next location.
#[derive(Default)]
struct LastAccesses {
    numbers: ChainNumbers,
    segments: Vec<ThreadSegment>,
    /// A chain and a write before it.
    pairs: Vec<(u32, u32)>,
    /// By chain: where its writes start in `before`.
    starts: Vec<u32>,
    before: Vec<u32>,
}

impl LastAccesses {
    fn find(
        &mut self,
        graph: &C11Graph<'_>,
        accesses: &[LocationAccess],
    ) -> Result<(), ChainContradiction> {
        self.numbers.fill(accesses);
        cut(graph, accesses, &mut self.segments);
        self.pairs.clear();
        for at in 0..self.segments.len() {
            self.collect(accesses, self.segments[at])?;
        }
        self.group();
        Ok(())
    }

    /// Collects the pairs that the accesses of a thread force.
    fn collect(
        &mut self,
        accesses: &[LocationAccess],
        segment: ThreadSegment,
    ) -> Result<(), ChainContradiction> {
        // The last write that the thread wrote or observed, and the read that did; the initial write
        // is before all others anyway.
        let (mut write, mut by) = (INIT, NONE);
        for index in segment.start as u32..segment.end as u32 {
            let access = accesses[index as usize];
            let Some(target) = access.target(index) else { continue };
            if write != INIT {
                let (before, after) = (accesses[write as usize], accesses[target as usize]);
                let same = before.top == after.top;
                if if same { before.place > after.place } else { after.top == INIT } {
                    return Err(ChainContradiction::stale(accesses, index, write, by));
                }
                if !same {
                    self.pairs.push((self.numbers.chain_of[target as usize], write));
                }
            }
            (write, by) = match access.is_write() {
                true => (index, NONE),
                false => (target, index),
            };
        }
        Ok(())
    }

    /// Groups the pairs by chain.
    fn group(&mut self) {
        self.starts.clear();
        self.starts.resize(self.numbers.tops.len() + 1, 0);
        for &(chain, _) in &self.pairs {
            self.starts[chain as usize + 1] += 1;
        }
        for chain in 0..self.numbers.tops.len() {
            self.starts[chain + 1] += self.starts[chain];
        }
        self.before.clear();
        self.before.resize(self.pairs.len(), NONE);
        // Filled from the end of each group, so that the starts are right again afterwards.
        for &(chain, write) in &self.pairs {
            let end = &mut self.starts[chain as usize + 1];
            *end -= 1;
            self.before[*end as usize] = write;
        }
        self.starts.remove(0);
        self.starts.push(self.pairs.len() as u32);
    }
}

impl Predecessors for LastAccesses {
    fn numbers(&self) -> &ChainNumbers {
        &self.numbers
    }

    fn degree(&self, chain: usize) -> usize {
        (self.starts[chain + 1] - self.starts[chain]) as usize
    }

    #[inline]
    fn get(&self, chain: usize, at: usize) -> Option<(u32, usize)> {
        let write = self.before[self.starts[chain] as usize + at];
        Some((write, self.numbers.chain_of[write as usize] as usize))
    }
}
