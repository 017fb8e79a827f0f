//! WRA in O(nk) (Tunç et al., PLDI 2023, Algorithm 1).
//!
//! Weak release/acquire has no modification orders: a read must not observe a write if another write of the location comes
//! between the two in happens-before. It suffices to test the last write of each thread that happens before the read.

use super::basis::Basis;
use super::by_location::INIT;
use super::graph::{C11Graph, NONE, id};
use super::observe::{LocationWalk, observe};
use crate::witness::{Axiom, CycleLink, Relation, Violation};

/// Checks weak read coherence.
///
/// # Errors
/// If it is broken. `po-rf` and `weak-atomicity` must hold.
pub(super) fn check(graph: &C11Graph<'_>, basis: &Basis) -> Result<(), Violation> {
    let mut walk = LocationWalk::default();
    for location in 0..graph.locations() {
        let accesses = basis.by_location.get(location);
        let local = walk.enter(graph, &basis.clocks, accesses);
        let mut found = None;
        observe(local, |read, seen| {
            let source = accesses[read as usize].source;
            if source == NONE || found.is_some() {
                return;
            }
            let hides = |&write: &u32| {
                write != NONE
                    && write != source
                    && (source == INIT || local.happens_before(source, write))
            };
            let write = seen.iter().map(|seen| seen.write).find(hides);
            let event = |index: u32| accesses[index as usize].event;
            found = write.map(|write| hidden(event(source), event(write), event(read)));
        });
        if let Some(violation) = found {
            return Err(violation);
        }
    }
    Ok(())
}

fn hidden(source: u32, write: u32, read: u32) -> Violation {
    let link = |from: u32, to: u32, relation| CycleLink { from: id(from), to: id(to), relation };
    Violation::Axiom {
        axiom: Axiom::WeakReadCoherence,
        cycle: vec![
            link(source, write, Relation::Hb),
            link(write, read, Relation::Hb),
            link(read, source, Relation::RfInverse),
        ],
        derivation: vec![],
    }
}
