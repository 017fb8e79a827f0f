//! Open classes: reads whose good-writes grow with the execution.
//!
//! *Problem.* By value, a read is expanded again in the other threads' futures, as they may write something new.
//! If all that is new are writes of values that it has read already, its thread learns nothing.
//!
//! *Idea.* The good-writes of a read are *open*: a write of the same value that comes later is one of them. So
//! the other threads can be skipped also where all they write are values that the read has had already, and
//! where they are not, the causal map forbids those values as well.
//!
//! That is right only as long as nothing was rejected: a value that the model rejects for a later read may be
//! possible once an earlier read observes something new. So a rejection makes all reads before it *unclean*, and for
//! these everything is as with closed good-writes. Executions are found more than once, or in part; what is
//! kept is that every combination of local histories is found, so this is for assertions about local states.
//!
//! There is no proof; brute force has found no hole (SOUNDNESS.md).

use super::memo::ValueId;
use super::open_classes::{OpenAttempt, TriedRead};
use super::state::{Event, Explorer, INIT, Role, Thread};
use crate::event_set::EventSet;
use crate::model::IncrementalModel;
use raddle_core::execution::ThreadId;
use raddle_core::program::{HistoryStep, Op, OpKind, Origin};

impl<R: EventSet, F: IncrementalModel<R>> Explorer<'_, '_, R, F> {
    /// Whether good-writes grow.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        F::BY_VALUE && self.outer.options.open
    }

    /// Ends an attempt to try the thread ([`OpenClasses::end`](super::open_classes::OpenClasses::end)).
    pub(super) fn open_end(&mut self, thread: usize, start: u64, attempt: &OpenAttempt) -> bool {
        let Thread { node, location, .. } = self.threads[thread];
        let read = TriedRead { thread, node, location: location as usize };
        self.open.end(read, start, attempt)
    }

    /// Whether the question of the thread must not read the value of the write.
    pub(super) fn is_forbidden(&self, thread: usize, source: u32) -> bool {
        let Thread { node, location, .. } = self.threads[thread];
        let value = self.open_value(location as usize, source);
        value.is_some_and(|value| self.open.is_forbidden(node, value))
    }

    /// A write is a good-write of all reads before it that have read its value.
    pub(super) fn open_write(&mut self, event: usize, thread: usize, location: usize) {
        let Some(value) = self.open_value(location, event as u32) else {
            return self.open.note_write(thread, location, ValueId::NONE, self.clock);
        };
        self.open.note_write(thread, location, value, self.clock);
        let place = &self.locations[location];
        for read in place.reads.or(place.writes).minus(R::one(event)).iter() {
            let Event { role, source, .. } = self.events[read];
            let reads = matches!(role, Role::Read | Role::Update);
            if reads && self.open_value(location, source) == Some(value) {
                self.face.extend_good(read, event);
            }
        }
    }

    /// The histories of the execution, in an order in which every read comes after what it observes.
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

    /// The histories that come before one of the execution: the one before it in its thread, and what that observes.
    fn causes(&self, at: usize) -> impl Iterator<Item = usize> {
        let node = self.past[at];
        let thread = self.histories.thread(node);
        let (before, observed) = match self.histories.step(node) {
            HistoryStep::Start(..) => (None, self.spawner(thread)),
            HistoryStep::After(before, _) => {
                let observed = match self.question(before).kind {
                    OpKind::Choose { .. } => None,
                    OpKind::Join { thread } => self.last_history(thread),
                    _ => self
                        .observed(self.first_events[at] as usize - 1)
                        .map(|it| self.history_of(it)),
                };
                (self.past[..at].iter().rposition(|&it| it == before), observed)
            }
        };
        before.into_iter().chain(observed)
    }

    fn spawner(&self, child: ThreadId) -> Option<usize> {
        let spawns = |op: &Op| matches!(op.kind, OpKind::Spawn { thread } if thread == child);
        self.past.iter().position(|&node| self.histories.effects(node).iter().any(spawns))
    }

    fn last_history(&self, thread: ThreadId) -> Option<usize> {
        self.past.iter().rposition(|&node| self.histories.thread(node) == thread)
    }

    /// The history to which an event belongs.
    fn history_of(&self, event: usize) -> usize {
        let Origin { node, .. } = self.events[event].origin;
        self.past.iter().position(|&it| it == node).expect("events belong to histories")
    }

    /// The value of a write, if that is all that a thread learns from it.
    pub(super) fn open_value(&self, location: usize, source: u32) -> Option<ValueId> {
        let carries = source != INIT && self.events[source as usize].carries;
        let is_object = self.locations[location].last != INIT;
        (!carries && !is_object).then(|| self.value(location, source))
    }
}
