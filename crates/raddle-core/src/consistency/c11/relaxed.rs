//! Relaxed in O(n) (Tunç et al., PLDI 2023, Algorithm 4).
//!
//! If nothing synchronizes, an access has seen only what its own thread has done, and of that it
//! suffices to look at the last write that the thread wrote or observed: one predecessor for each
//! access, however many threads there are.
//!
//! Spawn, join, locks and synchronization objects do synchronize, also under Relaxed. With them, `rc20` answers.

use super::chains::Chains;
use super::forced::target;
use super::graph::{Graph, NONE, Traits};
use super::observe::ByLocation;
use super::sort::{Clash, Predecessors, sort};
use crate::execution::EventId;

/// Whether nothing synchronizes.
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
    chains: &Chains,
    by_location: &ByLocation,
) -> Result<Vec<Vec<EventId>>, (usize, Clash)> {
    let mut last = Last { index: vec![NONE; graph.events()], ..Last::default() };
    (0..graph.locations())
        .map(|location| {
            let events = by_location.get(location);
            last.find(graph, chains, location, events)
                .and_then(|()| sort(&last, chains))
                .map_err(|clash| (location, clash))
        })
        .collect()
}

/// The chains of a location and the writes that must come before each.
#[derive(Default)]
struct Last {
    tops: Vec<u32>,
    /// By event that starts a chain: the index of the chain.
    index: Vec<u32>,
    /// A chain and a write before it.
    pairs: Vec<(u32, u32)>,
    /// By chain: where its writes start in `before`.
    starts: Vec<u32>,
    before: Vec<u32>,
}

impl Last {
    fn find(
        &mut self,
        graph: &Graph<'_>,
        chains: &Chains,
        location: usize,
        events: &[u32],
    ) -> Result<(), Clash> {
        let starts_chain =
            |&event: &u32| graph.is(event, Traits::WRITE) && chains.top(event) == event;
        self.tops.clear();
        self.tops.push(location as u32);
        self.tops.extend(events.iter().copied().filter(starts_chain));
        for (index, &top) in self.tops.iter().enumerate() {
            self.index[top as usize] = index as u32;
        }
        self.collect(graph, chains, events)?;
        self.group();
        Ok(())
    }

    /// Finds the pairs, thread by thread.
    fn collect(&mut self, graph: &Graph<'_>, chains: &Chains, events: &[u32]) -> Result<(), Clash> {
        self.pairs.clear();
        let mut thread = NONE;
        // The last write that the thread wrote or observed, and the read that did.
        let (mut write, mut by) = (NONE, NONE);
        for &event in events {
            if graph.thread_of(event) != thread {
                thread = graph.thread_of(event);
                (write, by) = (NONE, NONE);
            }
            let Some(target) = target(graph, event) else { continue };
            if write != NONE && !graph.is_init(write) {
                let top = chains.top(target);
                let same = chains.same(write, target);
                let later = chains.place(write) > chains.place(target);
                if if same { later } else { graph.is_init(top) } {
                    return Err(Clash::Stale { read: event, write, by });
                }
                if !same {
                    self.pairs.push((self.index[top as usize], write));
                }
            }
            (write, by) = match graph.is(event, Traits::WRITE) {
                true => (event, NONE),
                false => (target, event),
            };
        }
        Ok(())
    }

    /// Groups the pairs by chain.
    fn group(&mut self) {
        self.starts.clear();
        self.starts.resize(self.tops.len() + 1, 0);
        for &(chain, _) in &self.pairs {
            self.starts[chain as usize + 1] += 1;
        }
        for chain in 0..self.tops.len() {
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
    fn tops(&self) -> &[u32] {
        &self.tops
    }

    fn degree(&self, chain: usize) -> usize {
        (self.starts[chain + 1] - self.starts[chain]) as usize
    }

    #[inline]
    fn get(&self, chains: &Chains, chain: usize, at: usize) -> Option<(u32, usize)> {
        let write = self.before[self.starts[chain] as usize + at];
        Some((write, self.index[chains.top(write) as usize] as usize))
    }
}
