//! The axiom `seq-cst` of RC11 and C20, and the fences of RA and RC20: an order of chains in which
//! `psc` has no cycle.
//!
//! The forced orders come first. Then saturation: if ordering two chains one way closes a cycle in `psc`, they are ordered
//! the other way, until a fixpoint. Then a guess: a total order of the sequentially consistent events, and the chains as it
//! suggests. If the guess fails, we branch on an open pair whose order matters. The problem contains SC and is NP-hard; but
//! after saturation hardly any guess fails.
//!
//! With s sequentially consistent events and c chains at a location, saturating once costs
//! O(s^3 + c^2 s) / 64.

use std::cmp::Reverse;

use super::bits::{BitMatrix, add, covers, meet, ones};
use super::psc::{Psc, PscLocation};
use crate::check::effort::Effort;

/// A partial order of the chains of every location that matters to `psc`.
#[derive(Clone)]
pub(super) struct ChainOrders {
    /// By location in [`Psc::places`], then by chain: the chains before it.
    pub(super) before: Vec<BitMatrix>,
}

impl ChainOrders {
    /// The orders that coherence forces.
    pub(super) fn forced(psc: &Psc) -> ChainOrders {
        ChainOrders { before: psc.places.iter().map(|place| place.before.clone()).collect() }
    }
}

/// The result of the search.
pub(super) enum PscOutcome {
    /// Orders in which `psc` has no cycle, and `psc` closed.
    Found(ChainOrders, BitMatrix),
    /// `psc` has a cycle with the forced orders alone.
    Cycle,
    /// The exhaustive search found no orders.
    None,
    OutOfBudget,
}

/// Searches for orders of the chains.
pub(super) fn search(psc: &Psc, effort: &mut Effort) -> PscOutcome {
    let forced = ChainOrders::forced(psc);
    let cost = cost(psc);
    if !effort.spend_for(cost) {
        return PscOutcome::OutOfBudget;
    }
    if closed(psc, &forced).is_none() {
        return PscOutcome::Cycle;
    }
    let mut open = vec![forced];
    while let Some(mut orders) = open.pop() {
        if !effort.spend_for(cost) {
            return PscOutcome::OutOfBudget;
        }
        let Some(reach) = saturate(psc, &mut orders) else { continue };
        let Some((place, one, other)) = undecided(psc, &orders) else {
            return PscOutcome::Found(orders, reach);
        };
        let guess = suggested(psc, &orders, &reach);
        if let Some(reach) = closed(psc, &guess) {
            return PscOutcome::Found(guess, reach);
        }
        let mut reverse = orders.clone();
        if order(&mut reverse.before[place], other, one) {
            open.push(reverse);
        }
        if order(&mut orders.before[place], one, other) {
            open.push(orders);
        }
    }
    PscOutcome::None
}

/// The cost of one saturation, in steps of the budget.
fn cost(psc: &Psc) -> u64 {
    let events = psc.events.len();
    let pairs: usize = psc.places.iter().map(|place| place.tops.len().pow(2)).sum();
    1 + (events * (events * events + pairs) / (1 << 16)) as u64
}

/// The closure of `psc` with the order so far; `None` if it has a cycle.
fn closed(psc: &Psc, orders: &ChainOrders) -> Option<BitMatrix> {
    let mut reach = known(psc, orders);
    reach.close();
    let cycle = (0..psc.events.len()).any(|event| reach.has(event, event));
    (!cycle).then_some(reach)
}

/// `psc` with the order so far.
pub(super) fn known(psc: &Psc, orders: &ChainOrders) -> BitMatrix {
    let mut known = psc.fixed.clone();
    for (place, before) in psc.places.iter().zip(&orders.before) {
        for chain in 0..place.tops.len() {
            let earlier = |bits: &BitMatrix| {
                let mut all = vec![0; psc.events.len().div_ceil(64)];
                ones(before.row(chain)).for_each(|other| add(&mut all, bits.row(other)));
                all
            };
            ones(&earlier(&place.left)).for_each(|a| known.add(a, place.right.row(chain)));
            ones(&earlier(&place.left_fences))
                .for_each(|a| known.add(a, place.right_fences.row(chain)));
        }
    }
    known
}

/// Orders all pairs of chains that have only one possible order. Returns the closure of `psc`, or `None` if there is a
/// contradiction.
fn saturate(psc: &Psc, orders: &mut ChainOrders) -> Option<BitMatrix> {
    loop {
        let reach = closed(psc, orders)?;
        let mut changed = false;
        for (place, before) in psc.places.iter().zip(&mut orders.before) {
            let after = ReachedFromRight::new(place, &reach);
            for (one, other) in open_pairs(place) {
                if before.has(one, other) || before.has(other, one) {
                    continue;
                }
                match (after.closes(place, one, other), after.closes(place, other, one)) {
                    (false, false) => continue,
                    (true, true) => return None,
                    (true, false) if !order(before, other, one) => return None,
                    (false, true) if !order(before, one, other) => return None,
                    _ => changed = true,
                }
            }
        }
        if !changed {
            return Some(reach);
        }
    }
}

/// The indices of the sequentially consistent events in an order that respects `reach`, the closure of `psc`.
pub(super) fn respecting(reach: &BitMatrix) -> Vec<usize> {
    let mut order: Vec<usize> = (0..reach.rows()).collect();
    order.sort_by_key(|&event| Reverse(ones(reach.row(event)).count()));
    order
}

/// Orders all chains totally: respects the order so far and otherwise follows a total order of the sequentially consistent
/// events.
fn suggested(psc: &Psc, orders: &ChainOrders, reach: &BitMatrix) -> ChainOrders {
    let mut rank = vec![0; psc.events.len()];
    respecting(reach).iter().enumerate().for_each(|(at, &event)| rank[event] = at + 1);
    let before = psc.places.iter().zip(&orders.before).map(|(place, before)| {
        let last = |chain: &usize| ones(place.left.row(*chain)).map(|event| rank[event]).max();
        let mut total = BitMatrix::new(place.tops.len(), place.tops.len());
        let mut placed = vec![0; place.tops.len().div_ceil(64)];
        let mut open: Vec<usize> = (0..place.tops.len()).collect();
        open.sort_by_key(last);
        while let Some(at) = open.iter().position(|&chain| covers(&placed, before.row(chain))) {
            let chain = open.remove(at);
            total.add(chain, &placed);
            placed[chain / 64] |= 1 << (chain % 64);
        }
        total
    });
    ChainOrders { before: before.collect() }
}

/// By chain: the events of its `right` and everything psc-reachable from them.
struct ReachedFromRight {
    right: BitMatrix,
    right_fences: BitMatrix,
}

impl ReachedFromRight {
    fn new(place: &PscLocation, reach: &BitMatrix) -> ReachedFromRight {
        let from = |bits: &BitMatrix| {
            let mut all = bits.clone();
            for chain in 0..place.tops.len() {
                ones(bits.row(chain)).for_each(|event| all.add(chain, reach.row(event)));
            }
            all
        };
        ReachedFromRight { right: from(&place.right), right_fences: from(&place.right_fences) }
    }

    /// Returns `true` if ordering one chain before another closes a cycle.
    fn closes(&self, place: &PscLocation, one: usize, other: usize) -> bool {
        meet(place.left.row(one), self.right.row(other))
            || meet(place.left_fences.row(one), self.right_fences.row(other))
    }
}

/// All pairs of chains, the initial one apart.
fn open_pairs(place: &PscLocation) -> impl Iterator<Item = (usize, usize)> + use<> {
    let count = place.tops.len();
    (1..count).flat_map(move |one| (one + 1..count).map(move |other| (one, other)))
}

/// A pair of chains whose order is open and adds to `psc`.
fn undecided(psc: &Psc, orders: &ChainOrders) -> Option<(usize, usize, usize)> {
    let some = |bits: &[u64]| bits.iter().any(|&word| word != 0);
    psc.places.iter().zip(&orders.before).enumerate().find_map(|(index, (place, before))| {
        let adds = |one: usize, other: usize| {
            (some(place.left.row(one)) && some(place.right.row(other)))
                || (some(place.left_fences.row(one)) && some(place.right_fences.row(other)))
        };
        open_pairs(place)
            .filter(|&(one, other)| !before.has(one, other) && !before.has(other, one))
            .find(|&(one, other)| adds(one, other) || adds(other, one))
            .map(|(one, other)| (index, one, other))
    })
}

/// Orders one chain before another and keeps the order transitive. Returns `false` if that contradicts the order so far.
fn order(before: &mut BitMatrix, one: usize, other: usize) -> bool {
    if before.has(one, other) {
        return false;
    }
    let count = before.rows();
    for later in 0..count {
        if later == other || before.has(later, other) {
            before.set(later, one);
            before.add_row(later, one);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A place with two chains beside the initial one. Ordering the first before the second makes
    /// every event of `first.0` psc-before every one of `second.1`, and the other way round.
    fn place(first: (&[usize], &[usize]), second: (&[usize], &[usize])) -> PscLocation {
        let bits = |of_first: &[usize], of_second: &[usize]| {
            let mut bits = BitMatrix::new(3, 4);
            of_first.iter().for_each(|&event| bits.set(1, event));
            of_second.iter().for_each(|&event| bits.set(2, event));
            bits
        };
        let mut before = BitMatrix::new(3, 3);
        before.set(1, 0);
        before.set(2, 0);
        PscLocation {
            location: 0,
            tops: vec![0, 1, 2],
            before,
            left: bits(first.0, second.0),
            left_fences: bits(&[], &[]),
            right: bits(first.1, second.1),
            right_fences: bits(&[], &[]),
        }
    }

    fn psc(places: Vec<PscLocation>) -> Psc {
        Psc { events: vec![3, 4, 5, 6], fences: vec![], fixed: BitMatrix::new(4, 4), places }
    }

    /// Either 0 is before 1, or 2 before 3: no order of these chains is wrong by itself.
    fn either() -> PscLocation {
        place((&[0], &[3]), (&[2], &[1]))
    }

    #[test]
    fn a_contradiction_that_no_single_pair_shows_is_found_by_branching() {
        // Both orders put 1 and 3 before 0 and 2.
        let both = place((&[1, 3], &[0, 2]), (&[1, 3], &[0, 2]));
        let outcome = search(&psc(vec![either(), both]), &mut Effort::new(1_000));
        assert!(matches!(outcome, PscOutcome::None));
    }

    #[test]
    fn branching_finds_what_the_guess_does_not() {
        // The second before the first only puts 1 before 0: with 2 before 3 that is fine.
        let second_first = place((&[1, 3], &[0]), (&[1], &[0, 2]));
        let psc = psc(vec![either(), second_first]);
        let PscOutcome::Found(orders, reach) = search(&psc, &mut Effort::new(1_000)) else {
            panic!("there is an order");
        };
        assert!(orders.before[0].has(1, 2) && orders.before[1].has(1, 2));
        let pairs: Vec<(usize, usize)> = (0..4)
            .flat_map(|a| ones(reach.row(a)).map(move |b| (a, b)).collect::<Vec<_>>())
            .collect();
        assert_eq!(pairs, [(1, 0), (2, 3)]);
    }

    #[test]
    fn a_search_without_budget_is_given_up() {
        let outcome = search(&psc(vec![either()]), &mut Effort::new(0));
        assert!(matches!(outcome, PscOutcome::OutOfBudget));
    }
}
