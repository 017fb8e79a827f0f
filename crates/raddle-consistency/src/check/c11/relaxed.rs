//! Relaxed in O(n) (Tunç et al., PLDI 2023, Algorithm 4).
//!
//! If nothing synchronizes, an access has seen only what its own thread has done, and of that it
//! suffices to look at the last write that the thread wrote or observed: one predecessor for each
//! access, however many threads there are.
//!
//! Spawn, join, locks and synchronization objects do synchronize, also under Relaxed. With them, `rc20` answers.

use super::by_location::{Access, ByLocation, INIT, Segment, cut};
use super::graph::{Graph, NONE, Traits};
use super::sort::{Clash, Numbers, Predecessors, sort};
use raddle_core::execution::EventId;

/// Returns `true` if nothing synchronizes.
pub(super) fn applies(graph: &Graph<'_>) -> bool {
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
/// If there is none: the location and why. The caller has seen that `po-rf` and `weak-atomicity`
/// hold and that the algorithm [`applies`].
pub(super) fn check(
    graph: &Graph<'_>,
    by_location: &ByLocation,
) -> Result<Vec<Vec<EventId>>, (usize, Clash)> {
    let mut last = Last::default();
    (0..graph.locations())
        .map(|location| {
            let accesses = by_location.get(location);
            last.find(graph, accesses)
                .and_then(|()| sort(&last, accesses))
                .map_err(|clash| (location, clash))
        })
        .collect()
}

/// The chains of a location and the writes that must come before each. The tables are used again for
/// the next location.
#[derive(Default)]
struct Last {
    numbers: Numbers,
    segments: Vec<Segment>,
    /// A chain and a write before it.
    pairs: Vec<(u32, u32)>,
    /// By chain: where its writes start in `before`.
    starts: Vec<u32>,
    before: Vec<u32>,
}

impl Last {
    fn find(&mut self, graph: &Graph<'_>, accesses: &[Access]) -> Result<(), Clash> {
        self.numbers.fill(accesses);
        cut(graph, accesses, &mut self.segments);
        self.pairs.clear();
        for at in 0..self.segments.len() {
            self.collect(accesses, self.segments[at])?;
        }
        self.group();
        Ok(())
    }

    /// Finds the pairs that the accesses of a thread make.
    fn collect(&mut self, accesses: &[Access], segment: Segment) -> Result<(), Clash> {
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
                    return Err(Clash::stale(accesses, index, write, by));
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

impl Predecessors for Last {
    fn numbers(&self) -> &Numbers {
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
