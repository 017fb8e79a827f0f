//! Where fences would help.
//!
//! A run of the machine in which a thread goes on while its store buffer is not empty tells where a fence
//! would have stopped it: everywhere where the buffer is not empty. Whatever set of fences forbids this
//! run has one of those; with none of them the run is still possible. So a run is a clause, and the
//! smallest set of fences that satisfies all clauses is a lower bound: if the program is robust with it,
//! no smaller set will do. (An implicit hitting set.)

use std::collections::{BTreeMap, BTreeSet};

use super::delays::Delays;
use raddle_core::execution::ThreadId;
use raddle_core::program::{Op, OpKind, PlaceId};
use raddle_core::trace::Trace;

/// Before or after an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// Right after it; it is a store.
    After,
    /// Right before it; it is a load.
    Before,
}

/// A full fence that could be inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fence {
    /// On which side of the op.
    pub side: Side,
    /// Where the op is in the source.
    pub place: PlaceId,
}

/// The fences each of which forbids the run.
pub(super) fn that_forbid(trace: &Trace, delays: &Delays) -> BTreeSet<Fence> {
    let mut fences = BTreeSet::new();
    let mut before: BTreeMap<ThreadId, Op> = BTreeMap::new();
    for &at in &delays.order {
        let event = &trace.events[at];
        let previous = before.insert(event.thread, event.op);
        if !delays.goes_ahead[at] {
            continue;
        }
        if let Some(Op { kind: OpKind::Store { .. }, place }) = previous {
            fences.insert(Fence { side: Side::After, place });
        }
        if let Op { kind: OpKind::Load { .. }, place } = event.op {
            fences.insert(Fence { side: Side::Before, place });
        }
    }
    fences
}

/// A smallest set that has a fence of each of these sets.
///
/// Cost: exponential in its size, which is the number of fences that a person would insert.
pub(super) fn smallest(clauses: &[BTreeSet<Fence>]) -> BTreeSet<Fence> {
    let mut chosen = vec![];
    let found = (0..=clauses.len()).any(|size| hits(clauses, &mut chosen, size));
    debug_assert!(found, "one fence for each clause is enough");
    chosen.into_iter().collect()
}

/// Whether so many more fences hit all sets.
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

    fn clause(places: &[u32]) -> BTreeSet<Fence> {
        let fence = |&place| Fence { side: Side::After, place: PlaceId(place) };
        places.iter().map(fence).collect()
    }

    #[test]
    fn one_fence_may_hit_several_sets() {
        let clauses = [clause(&[1, 2]), clause(&[3, 2]), clause(&[4])];
        assert_eq!(smallest(&clauses), clause(&[2, 4]));
        assert_eq!(smallest(&[]), clause(&[]));
    }
}
