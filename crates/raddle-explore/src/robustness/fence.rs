//! Sets of fences that forbid runs: implicit hitting sets.
//!
//! A fence forbids a run of the store-buffer machine if the buffer of its thread is not empty where the fence is.
//! Without any of these fences the run is still possible. So each run is a clause, and every set of fences that
//! makes the program robust hits all clauses. If the program is robust with a smallest hitting set, then no
//! smaller set suffices.

use std::collections::{BTreeMap, BTreeSet};

use super::delays::Delays;
use raddle_core::execution::ThreadId;
use raddle_core::program::{Op, OpKind};
use raddle_core::trace::{Fence, FenceSide, Trace};

/// The fences each of which forbids the run.
pub(super) fn forbidding(trace: &Trace, delays: &Delays) -> BTreeSet<Fence> {
    let mut fences = BTreeSet::new();
    let mut before: BTreeMap<ThreadId, Op> = BTreeMap::new();
    for &at in &delays.order {
        let event = &trace.events[at];
        let previous = before.insert(event.thread, event.op);
        if !delays.overtakes[at] {
            continue;
        }
        if let Some(Op { kind: OpKind::Store { .. }, place }) = previous {
            fences.insert(Fence { side: FenceSide::AfterStore, place });
        }
        if let Op { kind: OpKind::Load { .. }, place } = event.op {
            fences.insert(Fence { side: FenceSide::BeforeLoad, place });
        }
    }
    fences
}

/// A smallest set that has a fence of each clause.
///
/// *Cost.* Exponential in the size of the result.
pub(super) fn smallest_hitting_set(clauses: &[BTreeSet<Fence>]) -> BTreeSet<Fence> {
    let mut chosen = vec![];
    let found = (0..=clauses.len()).any(|size| hits(clauses, &mut chosen, size));
    debug_assert!(found, "one fence for each clause is enough");
    chosen.into_iter().collect()
}

/// Extends `chosen` by at most `more` fences to a set that hits all clauses, if possible.
fn hits(clauses: &[BTreeSet<Fence>], chosen: &mut Vec<Fence>, more: usize) -> bool {
    let is_hit = |clause: &&BTreeSet<Fence>| chosen.iter().any(|fence| clause.contains(fence));
    let Some(open) = clauses.iter().find(|clause| !is_hit(clause)) else { return true };
    if more == 0 {
        return false;
    }
    for &fence in open {
        chosen.push(fence);
        if hits(clauses, chosen, more - 1) {
            return true;
        }
        chosen.pop();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_core::program::PlaceId;

    fn clause(places: &[u32]) -> BTreeSet<Fence> {
        let fence = |&place| Fence { side: FenceSide::AfterStore, place: PlaceId(place) };
        places.iter().map(fence).collect()
    }

    #[test]
    fn one_fence_may_hit_several_clauses() {
        let clauses = [clause(&[1, 2]), clause(&[3, 2]), clause(&[4])];
        assert_eq!(smallest_hitting_set(&clauses), clause(&[2, 4]));
        assert_eq!(smallest_hitting_set(&[]), clause(&[]));
    }
}
