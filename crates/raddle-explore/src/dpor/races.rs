//! Which events an explorer has to turn round.
//!
//! Two events of different processes *race* if one happens before the other, and nothing between them
//! does. Then there may be an execution in which the second one comes first, with the same past. Where a
//! conflict of accesses orders them, that is known when the second one happens (`State::write`,
//! `State::read`). What remains are steps that others can prevent.
//!
//! *Locks.* Between two acquires there is always a release, and a release cannot be turned round with the
//! acquire that follows. The two acquires can: the second one takes the lock where the first one did.
//!
//! *Other synchronization objects.* The step could have been taken instead of the last update that it
//! depends on only through the object and before which its guard admits the value. What lies between
//! is found once that is turned round.
//!
//! A thread that waits in the end could have been first in the same way, so that counts as a race, too.
//!
//! *Paper.* Abdulla, Aronis, Jonsson, Sagonas, *Optimal Dynamic Partial Order Reduction*, POPL 2014, assumes
//! that nobody can prevent a step; locks are in *Source Sets*, JACM 2017, and guards are ours.

use super::footprint::{Access, Footprint, NONE};
use super::state::{Ask, Event, State, Thread};
use crate::event_set::EventSet;
use raddle_core::program::{HistoryId, HistoryStep, OpKind};

impl<R: EventSet> State<'_, R> {
    /// Who had a synchronization object instead of the thread that asks for it with this history, where
    /// `base` happened before and `last` had it last.
    pub(super) fn rivals(&self, ask: Ask, node: HistoryId, base: R, last: u32) -> R {
        let mut at = last;
        while at != NONE && !base.has(at as usize) {
            let Event { previous, foot, ask: had, .. } = self.events[at as usize];
            let admitted = match ask {
                Ask::Lock => had == Ask::Lock,
                _ => self.is_admitted(node, self.value(foot.location, previous)),
            };
            if admitted {
                return R::one(at as usize);
            }
            at = previous;
        }
        R::default()
    }

    /// A thread that waits for a synchronization object for ever: its step, what happened before, and who
    /// had it instead.
    pub(super) fn waiting(&self, thread: u32) -> Option<(Footprint, R, R)> {
        let Thread { ask, node, location, row, updates, .. } = self.threads[thread as usize];
        if !matches!(ask, Ask::Lock | Ask::Sync) || !self.is_drained(thread) {
            return None;
        }
        let base = row.or(updates);
        let rivals = self.rivals(ask, node, base, self.locations[location as usize].last);
        let process = self.of_thread[thread as usize][0];
        let access = Access::Write;
        let (own, store) = (NONE, NONE);
        Some((Footprint { process, thread, choice: 0, access, location, own, store }, base, rivals))
    }

    /// What the second of two racing events does if it comes first. A weak compare-exchange may then fail
    /// for no reason, too.
    pub(super) fn reversed(&self, first: usize, second: usize) -> (Footprint, Option<Footprint>) {
        let Event { foot, ask, log, .. } = self.events[second];
        let foot = Footprint { own: NONE, choice: 0, ..foot };
        let Event { foot: Footprint { access, location, .. }, previous, .. } = self.events[first];
        if ask != Ask::Compare || access != Access::Write {
            return (foot, None);
        }
        let HistoryStep::After(asked, _) = self.histories.step(self.log[log as usize].origin.node)
        else {
            unreachable!("a compare-exchange is a question")
        };
        let access = self.compared(asked, 0, self.value(location, previous));
        let both = access == Access::Write && self.is_weak(asked);
        let spurious = Footprint { choice: 1, access: Access::Read, ..foot };
        (Footprint { access, ..foot }, both.then_some(spurious))
    }

    fn is_weak(&self, node: HistoryId) -> bool {
        matches!(self.question(node).kind, OpKind::CompareExchange { weak: true, .. })
    }

    /// An event, done in another way.
    pub(super) fn otherwise(&self, event: usize, choice: u32) -> Footprint {
        let Event { foot, ask, .. } = self.events[event];
        let access = match ask {
            Ask::Compare if choice == 0 => Access::Write,
            Ask::Compare => Access::Read,
            _ => foot.access,
        };
        Footprint { choice, access, own: NONE, ..foot }
    }
}
