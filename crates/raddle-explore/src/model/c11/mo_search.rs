//! Search for modification orders with which `psc` has no cycle.
//!
//! *Problem.* Coherence forces a partial order of the chains of each location. Which total orders that extend it leave
//! `psc` without a cycle? (This includes SC consistency, so it is NP-hard.)
//!
//! *Idea.* Saturate first: if ordering one chain before another would close a cycle, it must be the other way around.
//! Then try total orders: one near the old witness, one near the forced order of sequentially consistent events. Only
//! then branch on a pair of chains whose order is open and matters, and saturate again.
//!
//! *Cost.* Saturation takes a few set operations for each pair of chains of a location and each round. Branching is
//! exponential in the worst case; it is rare, and we know no execution on which it finds nothing after saturation has
//! found no contradiction.

use raddle_core::execution::LocationId;

use crate::event_index::EventIndex;
use crate::event_map::EventMap;
use crate::event_set::EventSet;

use super::forced_mo::ForcedMo;
use super::mo_witness::close;
use super::scb::Scb;

/// A chain, and the sequentially consistent events that leave and enter it.
#[derive(Clone, Copy, Debug)]
struct ScChain<R> {
    /// Its first write.
    top: EventIndex,
    /// The events that leave it, and all that precede these.
    leaving: R,
    /// The fences that leave it, and all that precede these.
    leaving_fences: R,
    /// The events that enter it.
    entering: R,
    /// The fences that enter it through readers; only fences precede them for that reason.
    entering_by_readers: R,
}

impl<R: EventSet> ScChain<R> {
    /// Returns `true` if ordering this chain before the other one closes a cycle.
    fn cannot_precede(&self, other: &Self) -> bool {
        self.leaving.meets(&other.entering) || self.leaving_fences.meets(&other.entering_by_readers)
    }

    /// Returns `true` if ordering this chain before the other one adds an edge.
    fn matters_before(&self, other: &Self) -> bool {
        !self.leaving.is_empty() && !other.entering.is_empty()
            || !self.leaving_fences.is_empty() && !other.entering_by_readers.is_empty()
    }
}

/// Tables that are reused from one search to the next.
pub(super) struct MoSearchTables<R: EventSet> {
    /// By write: the writes that must precede it.
    pub(super) rows: R::Map<R>,
    /// By write: the writes that precede it in the total order that was tried last.
    pub(super) mo: R::Map<R>,
    /// By sequentially consistent event: all that precede it.
    pub(super) psc: R::Map<R>,
    /// By sequentially consistent event: its position in a total order of them.
    rank: R::Map<usize>,
    chains: Vec<ScChain<R>>,
    /// The first writes of the chains of a location, behind the keys by which they are sorted.
    tops: Vec<(usize, usize, EventIndex)>,
}

impl<R: EventSet> MoSearchTables<R> {
    pub(super) fn new() -> Self {
        let sets = || R::Map::filled(R::default());
        MoSearchTables {
            rows: sets(),
            mo: sets(),
            psc: sets(),
            rank: R::Map::filled(0),
            chains: vec![],
            tops: vec![],
        }
    }
}

/// An execution whose modification orders are searched for.
#[derive(Clone, Copy)]
pub(super) struct MoSearch<'a, R: EventSet> {
    pub(super) forced: &'a ForcedMo<R>,
    pub(super) scb: &'a Scb<R>,
    /// The modification orders of the old witness.
    pub(super) old: &'a R::Map<R>,
    /// The number of events.
    pub(super) events: usize,
}

impl<R: EventSet> MoSearch<'_, R> {
    /// Searches for modification orders that respect `tables.rows`. If there are any, they are in `tables.mo` with
    /// their `tables.psc`, and `tables.rows` is what all of them respect.
    pub(super) fn run(&self, tables: &mut MoSearchTables<R>) -> bool {
        if !self.saturate(tables) {
            return false;
        }
        self.rank(tables);
        self.near_old(tables) || self.near_rank(tables) || self.branch(tables)
    }

    /// Tries a total order near the old one for one location, and the old one for all others, which must have no new
    /// writes.
    pub(super) fn relinearise(&self, location: LocationId, tables: &mut MoSearchTables<R>) -> bool {
        tables.mo.copy_first(self.events, self.old);
        self.linearise(location, false, tables);
        self.try_orders(tables)
    }

    fn near_old(&self, tables: &mut MoSearchTables<R>) -> bool {
        self.forced.locations().for_each(|location| self.linearise(location, false, tables));
        self.try_orders(tables)
    }

    fn near_rank(&self, tables: &mut MoSearchTables<R>) -> bool {
        self.forced.locations().for_each(|location| self.linearise(location, true, tables));
        self.try_orders(tables)
    }

    /// Returns `true` if `psc` has no cycle with the total orders in `tables.mo`.
    fn try_orders(&self, tables: &mut MoSearchTables<R>) -> bool {
        self.psc(&tables.mo, &mut tables.psc)
    }

    /// Computes the transitive `psc` of partial or total modification orders. Returns `false` if it has a cycle.
    fn psc(&self, rows: &R::Map<R>, psc: &mut R::Map<R>) -> bool {
        let MoSearch { forced, scb, .. } = *self;
        let mut left = scb.events();
        left.iter().for_each(|event| psc[event] = scb.given[event].clone());
        for location in forced.locations() {
            for write in forced.writes(location).iter() {
                self.enter(location, write, rows, psc);
            }
        }
        while !left.is_empty() {
            let before = left.clone();
            for event in before.iter() {
                if !psc[event].meets(&left) {
                    psc[event] = close(psc, psc[event].clone());
                    left.remove(event);
                }
            }
            if left == before {
                return false;
            }
        }
        true
    }

    /// Adds what precedes the events that enter a write.
    #[inline]
    fn enter(
        &self,
        location: LocationId,
        write: EventIndex,
        rows: &R::Map<R>,
        psc: &mut R::Map<R>,
    ) {
        let scb = self.scb;
        let (entering, by_readers) = (scb.enters(write), scb.enters_by_readers(write));
        if entering.or(&by_readers).is_empty() {
            return;
        }
        let leaving = scb.leaving_any(location, &rows[write]);
        for event in entering.iter() {
            psc[event] = psc[event].or(&leaving);
        }
        let fences = leaving.or(&scb.leaves(write)).and(&scb.fences);
        for event in by_readers.iter() {
            psc[event] = psc[event].or(&fences);
        }
    }

    /// Adds all that is forced to `tables.rows`. Returns `false` on a contradiction.
    fn saturate(&self, tables: &mut MoSearchTables<R>) -> bool {
        loop {
            if !self.psc(&tables.rows, &mut tables.psc) {
                return false;
            }
            let mut changed = false;
            for location in self.forced.locations() {
                match self.saturate_location(location, tables) {
                    None => return false,
                    Some(more) => changed |= more,
                }
            }
            if !changed {
                return true;
            }
        }
    }

    /// As [`MoSearch::saturate`], for one location. Returns whether anything was added, or `None` on a contradiction.
    fn saturate_location(
        &self,
        location: LocationId,
        tables: &mut MoSearchTables<R>,
    ) -> Option<bool> {
        self.find_chains(location, tables);
        let mut changed = false;
        for at in 1..tables.chains.len() {
            for other in 0..at {
                let (one, two) = (tables.chains[at].clone(), tables.chains[other].clone());
                if !is_open::<R>(&tables.rows, one.top, two.top) {
                    continue;
                }
                let (first, second) = match (one.cannot_precede(&two), two.cannot_precede(&one)) {
                    (false, false) => continue,
                    (true, true) => return None,
                    (true, false) => (two, one),
                    (false, true) => (one, two),
                };
                self.order(location, first.top, second.top, &mut tables.rows);
                changed = true;
            }
        }
        Some(changed)
    }

    /// Collects the chains of a location that sequentially consistent events leave or enter in `tables.chains`.
    fn find_chains(&self, location: LocationId, tables: &mut MoSearchTables<R>) {
        tables.chains.clear();
        for top in self.forced.tops(location) {
            let (mut leaving, mut entering) = (R::default(), R::default());
            let mut by_readers = R::default();
            for write in self.forced.chain(top) {
                leaving = leaving.or(&self.scb.leaving[write]);
                entering = entering.or(&self.scb.enters(write));
                by_readers = by_readers.or(&self.scb.enters_by_readers(write));
            }
            if !leaving.or(&entering).or(&by_readers).is_empty() {
                tables.chains.push(ScChain {
                    top,
                    leaving: close(&tables.psc, leaving.clone()),
                    leaving_fences: close(&tables.psc, leaving.and(&self.scb.fences)),
                    entering,
                    entering_by_readers: by_readers.clone(),
                });
            }
        }
    }

    /// Orders a chain before another one, given by their first writes. The second must not precede the first.
    pub(super) fn order(
        &self,
        location: LocationId,
        first: EventIndex,
        second: EventIndex,
        rows: &mut R::Map<R>,
    ) {
        let last = self.forced.chain(first).last().unwrap_or(first);
        let new = rows[last].or(&R::one(last));
        debug_assert!(!new.has(second), "the second chain precedes the first");
        for write in self.forced.writes(location).iter() {
            if write == second || rows[write].has(second) {
                rows[write] = rows[write].or(&new);
            }
        }
    }

    /// Ranks the sequentially consistent events in an order that respects `tables.psc`.
    fn rank(&self, tables: &mut MoSearchTables<R>) {
        let mut left = self.scb.events();
        let mut rank = 0;
        while !left.is_empty() {
            for event in left.iter() {
                if !tables.psc[event].meets(&left) {
                    left.remove(event);
                    tables.rank[event] = rank;
                    rank += 1;
                }
            }
        }
    }

    /// Computes a total order of the writes of a location that respects `tables.rows`: of the chains that can be next,
    /// always the one that comes first in the old order, or by the rank of what enters it.
    fn linearise(&self, location: LocationId, by_rank: bool, tables: &mut MoSearchTables<R>) {
        let MoSearchTables { rows, mo, rank, tops, .. } = tables;
        let mut placed = self.forced.initial(location);
        placed.iter().for_each(|write| mo[write] = rows[write].clone());
        tops.clear();
        for top in self.forced.tops(location) {
            let entering = self.forced.chain(top).flat_map(|write| self.scb.enters(write).iter());
            let rank = if by_rank { entering.map(|event| rank[event]).min() } else { None };
            tops.push((rank.unwrap_or(usize::MAX), self.old[top].count(), top));
        }
        tops.sort_unstable();
        while !tops.is_empty() {
            let ready = tops.iter().position(|&(_, _, top)| rows[top].minus(&placed).is_empty());
            let Some(ready) = ready else { unreachable!("the forced order has no cycle") };
            for write in self.forced.chain(tops.remove(ready).2) {
                mo[write] = placed.clone();
                placed.insert(write);
            }
        }
    }

    /// Tries both orders of an open pair of chains.
    fn branch(&self, tables: &mut MoSearchTables<R>) -> bool {
        let Some((location, one, two)) = self.open_pair(tables) else { return false };
        let rows = tables.rows.first_mut(self.events).to_vec();
        let likely = tables.mo[two].has(one);
        for (first, second) in
            if likely { [(one, two), (two, one)] } else { [(two, one), (one, two)] }
        {
            tables.rows.first_mut(self.events).clone_from_slice(&rows);
            self.order(location, first, second, &mut tables.rows);
            if self.run(tables) {
                // The order of the pair belongs to this witness; it is not forced.
                tables.rows.first_mut(self.events).clone_from_slice(&rows);
                return true;
            }
        }
        false
    }

    /// A pair of chains whose order is open and matters.
    fn open_pair(
        &self,
        tables: &mut MoSearchTables<R>,
    ) -> Option<(LocationId, EventIndex, EventIndex)> {
        // `tables.psc` is that of the last order that was tried.
        if !self.psc(&tables.rows, &mut tables.psc) {
            return None;
        }
        for location in self.forced.locations() {
            self.find_chains(location, tables);
            for (at, one) in tables.chains.iter().enumerate() {
                for two in &tables.chains[..at] {
                    let matters = one.matters_before(two) || two.matters_before(one);
                    if matters && is_open::<R>(&tables.rows, one.top, two.top) {
                        return Some((location, one.top, two.top));
                    }
                }
            }
        }
        None
    }
}

/// Returns `true` if neither write must precede the other one.
fn is_open<R: EventSet>(rows: &R::Map<R>, one: EventIndex, two: EventIndex) -> bool {
    !rows[one].has(two) && !rows[two].has(one)
}
