//! Races that an explorer has to reverse.
//!
//! Two events of different processes *race* if one happens before the other and no event between them does so, too.
//! Then there may be an execution with the same past in which the second one comes first. If conflicting accesses order
//! the two events, the race is known when the second one is executed (`DporState::write`, `DporState::read`). This
//! module handles steps that other steps can disable.
//!
//! *Locks.* There is a release between any two acquires, and a release cannot be reversed with the acquire that follows
//! it. The two acquires can: the second one takes the lock where the first one did.
//!
//! *Other synchronization objects.* The step could have been taken instead of the last update on which it depends only
//! through the object, and before which its guard admits the value. The executions in between are found after this
//! reversal.
//!
//! A thread that is blocked at the end of an execution could have come first in the same way, so that counts as a race,
//! too.
//!
//! *Paper.* Abdulla, Aronis, Jonsson, Sagonas, *Optimal Dynamic Partial Order Reduction*, POPL 2014, assumes that steps
//! are never disabled. Locks are in *Source Sets*, JACM 2017; guards are ours.

use super::footprint::{Footprint, FootprintAccess, NONE};
use super::state::{DporEvent, DporState, DporThread, NextAction};
use crate::event_index::EventIndex;
use crate::event_set::EventSet;
use raddle_core::program::{HistoryId, HistoryStep, OpKind};

/// Step of a blocked thread that could have come first.
pub(super) struct BlockedStep<R> {
    pub(super) footprint: Footprint,
    /// Events that happen before it.
    pub(super) base: R,
    /// Events that it races with.
    pub(super) races: R,
}

impl<R: EventSet> DporState<'_, R> {
    /// Returns the events instead of which a thread could have updated a synchronization object: at most one. The
    /// thread has this next action and this history; `base` are the events that happen before its step, `last` is the
    /// last update of the object.
    pub(super) fn sync_races(&self, action: NextAction, node: HistoryId, base: &R, last: u32) -> R {
        let mut at = last;
        while at != NONE && !base.has(EventIndex::new(at as usize)) {
            let DporEvent { previous, footprint, action: had, .. } = self.events[at as usize];
            let is_admitted = match action {
                NextAction::Lock => had == NextAction::Lock,
                _ => self.is_admitted(node, self.value(footprint.location, previous)),
            };
            if is_admitted {
                return R::one(EventIndex::new(at as usize));
            }
            at = previous;
        }
        R::default()
    }

    /// Returns the next step of a thread that is blocked by a synchronization object at the end of the execution.
    pub(super) fn blocked_step(&self, thread: u32) -> Option<BlockedStep<R>> {
        let DporThread { action, node, location, hb, flushes_hb, .. } =
            self.threads[thread as usize].clone();
        if !matches!(action, NextAction::Lock | NextAction::Sync) || !self.is_drained(thread) {
            return None;
        }
        let base = hb.or(&flushes_hb);
        let races = self.sync_races(action, node, &base, self.locations[location as usize].last);
        let footprint = Footprint {
            process: self.of_thread[thread as usize][0],
            thread,
            choice: 0,
            access: FootprintAccess::Write,
            location,
            own_store: NONE,
            flushed: NONE,
        };
        Some(BlockedStep { footprint, base, races })
    }

    /// Returns the footprint of the second of two racing events if it comes first; and, for a weak compare-exchange
    /// that would then succeed, the footprint of its spurious failure.
    pub(super) fn reversed_footprint(
        &self,
        first: EventIndex,
        second: EventIndex,
    ) -> (Footprint, Option<Footprint>) {
        let DporEvent { footprint, action, log_index, .. } = self.events[second.index()];
        let footprint = Footprint { own_store: NONE, choice: 0, ..footprint };
        let DporEvent { footprint: Footprint { access, location, .. }, previous, .. } =
            self.events[first.index()];
        if action != NextAction::CompareExchange || access != FootprintAccess::Write {
            return (footprint, None);
        }
        let after = self.log[log_index as usize].origin.node;
        let HistoryStep::After(asked, _) = self.histories.step(after) else {
            unreachable!("a compare-exchange is a question")
        };
        let access = self.compare_exchange_access(asked, 0, self.value(location, previous));
        let may_fail = access == FootprintAccess::Write && self.is_weak(asked);
        let spurious = Footprint { choice: 1, access: FootprintAccess::Read, ..footprint };
        (Footprint { access, ..footprint }, may_fail.then_some(spurious))
    }

    fn is_weak(&self, node: HistoryId) -> bool {
        matches!(self.question(node).kind, OpKind::CompareExchange { weak: true, .. })
    }

    /// Returns the footprint of an event with another alternative.
    pub(super) fn alternative_footprint(&self, event: EventIndex, choice: u32) -> Footprint {
        let DporEvent { footprint, action, .. } = self.events[event.index()];
        let access = match action {
            NextAction::CompareExchange if choice == 0 => FootprintAccess::Write,
            NextAction::CompareExchange => FootprintAccess::Read,
            _ => footprint.access,
        };
        Footprint { choice, access, own_store: NONE, ..footprint }
    }
}
