//! Looking for modification orders with which `psc` has no cycle.
//!
//! *Problem.* Coherence forces a partial order of the chains of each location. Which total orders that
//! extend it leave `psc` without a cycle? (Deciding that contains SC consistency, so it is NP-hard.)
//!
//! *Idea.* Saturate first: if putting one chain before another would close a cycle, it is the other way
//! round. Then try total orders: one near the witness that there was, one near the order of sequentially
//! consistent events that is forced. Only then branch on a pair of chains whose order is open and
//! matters, and saturate again.
//!
//! *Cost.* Saturating takes a few row operations for each pair of chains of a location and each round.
//! Branching is exponential at worst; it is rare, and we know no execution on which it finds nothing
//! after saturation has found no contradiction.

use crate::event_map::EventMap;
use crate::event_set::EventSet;

use super::forced::Forced;
use super::scb::Scb;
use super::witness::close;

/// How the sequentially consistent events touch a chain.
#[derive(Clone, Copy, Debug)]
struct Chain<R> {
    top: usize,
    /// Those that leave it, and all before them.
    leaving: R,
    /// The fences among them, and all before these.
    leaving_fences: R,
    /// Those that enter it.
    entering: R,
    /// Those that only fences come before.
    entering_by_readers: R,
}

impl<R: EventSet> Chain<R> {
    /// Whether this chain cannot be before another one.
    fn cannot_precede(&self, other: &Self) -> bool {
        self.leaving.meets(&other.entering) || self.leaving_fences.meets(&other.entering_by_readers)
    }

    fn matters_before(&self, other: &Self) -> bool {
        !self.leaving.is_empty() && !other.entering.is_empty()
            || !self.leaving_fences.is_empty() && !other.entering_by_readers.is_empty()
    }
}

/// Tables to work with, kept from one search to the next.
pub(super) struct Tables<R: EventSet> {
    /// By write: the writes that must be before it.
    pub(super) rows: R::Map<R>,
    /// By write: the writes before it in the total order that was tried last.
    pub(super) mo: R::Map<R>,
    /// By sequentially consistent event: all before it.
    pub(super) psc: R::Map<R>,
    /// By event: its place in a total order of these.
    rank: R::Map<usize>,
    chains: Vec<Chain<R>>,
    /// The first writes of the chains of a location, with keys to sort them by.
    tops: Vec<(usize, usize, usize)>,
}

impl<R: EventSet> Tables<R> {
    pub(super) fn new() -> Self {
        let rows = || R::Map::filled(R::default());
        Tables {
            rows: rows(),
            mo: rows(),
            psc: rows(),
            rank: R::Map::filled(0),
            chains: vec![],
            tops: vec![],
        }
    }
}

/// An execution whose modification orders are in question.
#[derive(Clone, Copy)]
pub(super) struct Search<'a, R: EventSet> {
    pub(super) forced: &'a Forced<R>,
    pub(super) scb: &'a Scb<R>,
    /// The old modification orders.
    pub(super) old: &'a R::Map<R>,
    /// How many events there are.
    pub(super) events: usize,
}

impl<R: EventSet> Search<'_, R> {
    /// Looks for modification orders that respect `tables.rows`. If there are any they are in
    /// `tables.mo`, with their `tables.psc`, and `tables.rows` is what must be so.
    pub(super) fn run(&self, tables: &mut Tables<R>) -> bool {
        if !self.saturate(tables) {
            return false;
        }
        self.rank(tables);
        self.near_old(tables) || self.near_rank(tables) || self.branch(tables)
    }

    /// A total order near the old one for one location, and the old one for all others. The other
    /// locations have no new writes.
    pub(super) fn relinearise(&self, location: usize, tables: &mut Tables<R>) -> bool {
        tables.mo.first_mut(self.events).copy_from_slice(self.old.first(self.events));
        self.linearise(location, false, tables);
        self.try_orders(tables)
    }

    fn near_old(&self, tables: &mut Tables<R>) -> bool {
        (0..self.forced.locations()).for_each(|location| self.linearise(location, false, tables));
        self.try_orders(tables)
    }

    fn near_rank(&self, tables: &mut Tables<R>) -> bool {
        (0..self.forced.locations()).for_each(|location| self.linearise(location, true, tables));
        self.try_orders(tables)
    }

    /// Whether `psc` has no cycle with the total orders.
    fn try_orders(&self, tables: &mut Tables<R>) -> bool {
        self.psc(&tables.mo, &mut tables.psc)
    }

    /// Computes the closed `psc` of a partial or total modification order, if it has no cycle.
    fn psc(&self, rows: &R::Map<R>, psc: &mut R::Map<R>) -> bool {
        let Search { forced, scb, .. } = *self;
        let mut left = scb.events();
        left.iter().for_each(|event| psc[event] = scb.given[event]);
        for location in 0..forced.locations() {
            for write in forced.writes(location).iter() {
                self.enter(location, write, rows, psc);
            }
        }
        while !left.is_empty() {
            let before = left;
            for event in before.iter() {
                if !psc[event].meets(&left) {
                    psc[event] = close(psc, psc[event]);
                    left.remove(event);
                }
            }
            if left == before {
                return false;
            }
        }
        true
    }

    /// Adds what comes before the events that enter a write.
    #[inline]
    fn enter(&self, location: usize, write: usize, rows: &R::Map<R>, psc: &mut R::Map<R>) {
        let scb = self.scb;
        let (entering, by_readers) = (scb.enters(write), scb.enters_by_readers(write));
        if entering.or(by_readers).is_empty() {
            return;
        }
        let initial = scb.leaving_initial[location];
        let leaving = rows[write].iter().fold(initial, |row, write| row.or(scb.leaving[write]));
        for event in entering.iter() {
            psc[event] = psc[event].or(leaving);
        }
        let fences = leaving.or(scb.leaves(write)).and(scb.fences);
        for event in by_readers.iter() {
            psc[event] = psc[event].or(fences);
        }
    }

    /// Adds all that is forced to `tables.rows`; says no if that is contradictory.
    fn saturate(&self, tables: &mut Tables<R>) -> bool {
        loop {
            if !self.psc(&tables.rows, &mut tables.psc) {
                return false;
            }
            let mut changed = false;
            for location in 0..self.forced.locations() {
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

    /// The same for one location; says whether there was anything new.
    fn saturate_location(&self, location: usize, tables: &mut Tables<R>) -> Option<bool> {
        self.find_chains(location, tables);
        let mut changed = false;
        for at in 1..tables.chains.len() {
            for other in 0..at {
                let (one, two) = (tables.chains[at], tables.chains[other]);
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

    /// Finds the chains of a location that sequentially consistent events touch.
    fn find_chains(&self, location: usize, tables: &mut Tables<R>) {
        tables.chains.clear();
        for top in self.forced.tops(location) {
            let (mut leaving, mut entering, mut by_readers) = Default::default();
            for write in self.forced.chain(top) {
                leaving = self.scb.leaving[write].or(leaving);
                entering = self.scb.enters(write).or(entering);
                by_readers = self.scb.enters_by_readers(write).or(by_readers);
            }
            if !leaving.or(entering).or(by_readers).is_empty() {
                tables.chains.push(Chain {
                    top,
                    leaving: close(&tables.psc, leaving),
                    leaving_fences: close(&tables.psc, leaving.and(self.scb.fences)),
                    entering,
                    entering_by_readers: by_readers,
                });
            }
        }
    }

    /// Puts a chain before another one, which is not before it.
    pub(super) fn order(&self, location: usize, first: usize, second: usize, rows: &mut R::Map<R>) {
        let last = self.forced.chain(first).last().unwrap_or(first);
        let news = rows[last].or(R::one(last));
        debug_assert!(!news.has(second), "the second chain is before the first");
        for write in self.forced.writes(location).iter() {
            if write == second || rows[write].has(second) {
                rows[write] = rows[write].or(news);
            }
        }
    }

    /// Ranks the sequentially consistent events in an order that respects `tables.psc`.
    fn rank(&self, tables: &mut Tables<R>) {
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

    /// A total order of the writes of a location that respects `tables.rows`: at every step the chain
    /// that is first in the old order, or by the rank of what enters it, of those that can be next.
    fn linearise(&self, location: usize, by_rank: bool, tables: &mut Tables<R>) {
        let Tables { rows, mo, rank, tops, .. } = tables;
        let mut placed = self.forced.initial(location);
        placed.iter().for_each(|write| mo[write] = rows[write]);
        tops.clear();
        for top in self.forced.tops(location) {
            let entering = self.forced.chain(top).flat_map(|write| self.scb.enters(write).iter());
            let rank = if by_rank { entering.map(|event| rank[event]).min() } else { None };
            tops.push((rank.unwrap_or(usize::MAX), self.old[top].count(), top));
        }
        tops.sort_unstable();
        while !tops.is_empty() {
            let ready = tops.iter().position(|&(_, _, top)| rows[top].minus(placed).is_empty());
            let Some(ready) = ready else { unreachable!("what is forced has no cycle") };
            for write in self.forced.chain(tops.remove(ready).2) {
                mo[write] = placed;
                placed.insert(write);
            }
        }
    }

    /// Decides an open pair of chains both ways.
    fn branch(&self, tables: &mut Tables<R>) -> bool {
        let Some((location, one, two)) = self.open_pair(tables) else { return false };
        let rows = tables.rows.first(self.events).to_vec();
        let likely = tables.mo[two].has(one);
        for (first, second) in
            if likely { [(one, two), (two, one)] } else { [(two, one), (one, two)] }
        {
            tables.rows.first_mut(self.events).copy_from_slice(&rows);
            self.order(location, first, second, &mut tables.rows);
            if self.run(tables) {
                // What was decided here holds for this witness only.
                tables.rows.first_mut(self.events).copy_from_slice(&rows);
                return true;
            }
        }
        false
    }

    /// A pair of chains whose order is open and matters.
    fn open_pair(&self, tables: &mut Tables<R>) -> Option<(usize, usize, usize)> {
        // The last order that was tried has left its `psc` there.
        if !self.psc(&tables.rows, &mut tables.psc) {
            return None;
        }
        for location in 0..self.forced.locations() {
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

/// Whether neither write is before the other one.
fn is_open<R: EventSet>(rows: &R::Map<R>, one: usize, two: usize) -> bool {
    !rows[one].has(two) && !rows[two].has(one)
}
