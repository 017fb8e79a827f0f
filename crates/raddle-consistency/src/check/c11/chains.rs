//! Chains of updates (Tunç et al., PLDI 2023, section 3: rf-chains).
//!
//! A write, the update that observes it, the update that observes that update, and so on: no other
//! write can come between them in the modification order. If no two updates observe the same write,
//! every write is in one chain. O(n), 12 bytes for each event.

use super::graph::{C11Graph, NONE, id};
use crate::witness::{Axiom, CycleLink, Relation, Violation};

/// The chains of a graph.
pub(super) struct UpdateChains {
    /// By event; meaningless for events that write nothing.
    members: Vec<Member>,
}

/// A write in its chain.
#[derive(Clone, Copy)]
struct Member {
    /// The first write of the chain.
    top: u32,
    /// The position in the chain, from 0.
    place: u32,
    /// The update that observes it, or [`NONE`].
    next: u32,
}

impl UpdateChains {
    /// Computes the chains. The axiom `po-rf` must hold.
    ///
    /// # Errors
    /// If two updates observe the same write.
    pub(super) fn new(graph: &C11Graph<'_>) -> Result<UpdateChains, Violation> {
        let events = graph.events();
        let mut members = vec![Member { top: NONE, place: 0, next: NONE }; events];
        let observes = |event: u32| graph.is_update(event) && graph.rf(event) != NONE;
        for event in (0..events as u32).filter(|&event| observes(event)) {
            let source = graph.rf(event);
            let other = std::mem::replace(&mut members[source as usize].next, event);
            if other != NONE {
                return Err(shared(source, other, event));
            }
        }
        let mut chains = UpdateChains { members };
        for event in (0..events as u32).filter(|&event| !observes(event)) {
            chains.follow(event);
        }
        Ok(chains)
    }

    fn follow(&mut self, top: u32) {
        let (mut event, mut place) = (top, 0);
        while event != NONE {
            let member = &mut self.members[event as usize];
            (member.top, member.place) = (top, place);
            event = member.next;
            place += 1;
        }
    }

    /// The first write of the chain of a write.
    #[inline]
    pub(super) fn top(&self, write: u32) -> u32 {
        self.members[write as usize].top
    }

    /// The position of a write in its chain, from 0.
    #[inline]
    pub(super) fn place(&self, write: u32) -> u32 {
        self.members[write as usize].place
    }

    /// The update that observes a write, or [`NONE`].
    #[inline]
    pub(super) fn next(&self, write: u32) -> u32 {
        self.members[write as usize].next
    }

    /// The events of a chain from an event on.
    pub(super) fn from(&self, event: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(Some(event), |&at| Some(self.next(at)).filter(|&next| next != NONE))
    }

    /// Returns `true` if two writes are in the same chain.
    #[inline]
    pub(super) fn same(&self, one: u32, other: u32) -> bool {
        self.top(one) == self.top(other)
    }
}

fn shared(source: u32, one: u32, other: u32) -> Violation {
    let link = |to: u32| CycleLink { from: id(source), to: id(to), relation: Relation::Rf };
    Violation::Axiom {
        axiom: Axiom::WeakAtomicity,
        cycle: vec![link(one), link(other)],
        derivation: vec![],
    }
}
