//! Open classes: reads whose good-writes grow with the execution.
//!
//! *Problem.* By value, a read is expanded again in the futures of other threads, as they may write something new. If
//! all that is new are writes of values that it has read already, its thread learns nothing.
//!
//! *Idea.* The good-writes of a read are *open*: a write of the same value that comes later is one of them. So the
//! other threads can also be skipped if all they write are values that the read has had already, and if they are not,
//! the causal map forbids those values as well.
//!
//! That is correct only as long as nothing was rejected: a value that the model rejects for a later read may be
//! possible once an earlier read observes something new. So a rejection makes all reads before it *unclean*, and for
//! these everything is as with closed good-writes. Executions are found more than once, or in part; what is preserved
//! is that every combination of local histories is found, so this is for assertions about local states.
//!
//! There is no proof; brute force has found no counterexample (SOUNDNESS.md).

use super::execution::{EventRole, SearchEvent, SearchThread};
use super::history_cache::ValueId;
use super::open_classes::{OpenAttempt, TriedRead};
use super::state::PartSearch;
use crate::event_index::{EventIndex, RfSource};
use crate::event_set::EventSet;
use crate::model::IncrementalModel;
use raddle_core::execution::{LocationId, ThreadId};
use raddle_core::program::{HistoryStep, Op, OpKind, Origin};

impl<R: EventSet, M: IncrementalModel<R>> PartSearch<'_, '_, R, M> {
    /// Returns `true` if classes are open.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.model.observes_by_value() && self.exploration.options.open
    }

    /// Ends an attempt to try the thread ([`OpenClasses::end`](super::open_classes::OpenClasses::end)).
    pub(super) fn open_end(&mut self, thread: ThreadId, start: u64, attempt: &OpenAttempt) -> bool {
        let SearchThread { history, target, .. } = *self.thread(thread);
        self.open.end(TriedRead { thread, history, location: target.location() }, start, attempt)
    }

    /// Returns `true` if the pending read of the thread must not read the value of the write.
    pub(super) fn is_forbidden(&self, thread: ThreadId, source: RfSource) -> bool {
        let SearchThread { history, target, .. } = *self.thread(thread);
        let value = self.open_value(target.location(), source);
        value.is_some_and(|value| self.open.is_forbidden(history, value))
    }

    /// Adds a write to the good-writes of all reads before it that have read its value.
    pub(super) fn open_write(&mut self, event: EventIndex, thread: ThreadId, location: LocationId) {
        let Some(value) = self.open_value(location, event.into()) else {
            return self.open.note_write(thread, location, ValueId::NONE, self.clock);
        };
        self.open.note_write(thread, location, value, self.clock);
        let accesses = self.location(location);
        for read in accesses.reads.or(&accesses.writes).minus(&R::one(event)).iter() {
            let SearchEvent { role, source, .. } = self.events[read];
            let reads = matches!(role, EventRole::Read | EventRole::Update);
            if reads && self.open_value(location, source) == Some(value) {
                self.model.add_good_write(read, event);
            }
        }
    }

    /// The positions of the histories of the execution, in an order in which every read comes after what it observes.
    pub(super) fn causal_past(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.past.len());
        if !self.is_open() {
            order.extend(0..self.past.len());
            return order;
        }
        let mut is_placed = vec![false; self.past.len()];
        for at in 0..self.past.len() {
            self.place_after_causes(at, &mut is_placed, &mut order);
        }
        order
    }

    fn place_after_causes(&self, at: usize, is_placed: &mut [bool], order: &mut Vec<usize>) {
        if std::mem::replace(&mut is_placed[at], true) {
            return;
        }
        for cause in self.causes(at) {
            self.place_after_causes(cause, is_placed, order);
        }
        order.push(at);
    }

    /// The histories that must come before one of the execution: the one before it in its thread, and what that
    /// observes.
    fn causes(&self, at: usize) -> impl Iterator<Item = usize> {
        let history = self.past[at];
        let thread = self.histories.thread(history);
        let (before, observed) = match self.histories.step(history) {
            HistoryStep::Start(..) => (None, self.spawner(thread)),
            HistoryStep::After(before, _) => {
                let observed = match self.question(before).kind {
                    OpKind::Choose { .. } => None,
                    OpKind::Join { thread } => self.last_history(thread),
                    _ => {
                        let read = EventIndex::new(self.first_events[at] as usize - 1);
                        self.observed(read).event().map(|event| self.history_of(event))
                    }
                };
                (self.past[..at].iter().rposition(|&it| it == before), observed)
            }
        };
        before.into_iter().chain(observed)
    }

    fn spawner(&self, child: ThreadId) -> Option<usize> {
        let spawns = |op: &Op| matches!(op.kind, OpKind::Spawn { thread } if thread == child);
        self.past.iter().position(|&history| self.histories.effects(history).iter().any(spawns))
    }

    fn last_history(&self, thread: ThreadId) -> Option<usize> {
        self.past.iter().rposition(|&history| self.histories.thread(history) == thread)
    }

    /// The history to which an event belongs.
    fn history_of(&self, event: EventIndex) -> usize {
        let Origin { node, .. } = self.events[event].origin;
        self.past.iter().position(|&it| it == node).expect("every event belongs to a history")
    }

    /// The value of a write, if that is all that a thread learns from it.
    pub(super) fn open_value(&self, location: LocationId, source: RfSource) -> Option<ValueId> {
        let carries = source.event().is_some_and(|event| self.events[event].carries);
        let is_object = !self.location(location).last_update.is_initial();
        (!carries && !is_object).then(|| self.value(location, source))
    }
}
