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
use super::stamps::Stamp;
use super::state::{Event, Explorer, INIT, Role, Thread};
use crate::event_set::EventSet;
use crate::model::IncrementalModel;
use raddle_core::execution::ThreadId;
use raddle_core::program::{HistoryId, HistoryStep, Op, OpKind, Origin};

/// What is known of the values that were read and written.
#[derive(Default)]
pub(super) struct Open {
    /// By location and value, when it was last written.
    written: Vec<Vec<(ValueId, Stamp)>>,
    /// What the reads on the stack have read, each in one run of values.
    realised: Vec<ValueId>,
    /// What questions must not read: part of their causal maps.
    forbidden: Vec<(HistoryId, ValueId)>,
    /// How many reads are on the stack.
    depth: usize,
    /// How many reads were on the stack when a value was rejected, at most, and one more.
    rejected: usize,
}

/// What is put back when a thread was tried.
pub(super) struct Tried {
    realised: usize,
    rejected: usize,
}

impl<R: EventSet, F: IncrementalModel<R>> Explorer<'_, '_, R, F> {
    /// Whether good-writes grow.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        F::BY_VALUE && self.outer.options.open
    }

    /// The thread is tried.
    pub(super) fn open_begin(&mut self) -> Tried {
        let open = &mut self.open;
        Tried { realised: open.realised.len(), rejected: std::mem::take(&mut open.rejected) }
    }

    /// The thread was tried. Returns whether nobody else writes anything that it has not read, since `start`.
    pub(super) fn open_end(&mut self, thread: usize, start: u64, tried: &Tried) -> bool {
        let Thread { node, location, .. } = self.threads[thread];
        let is_clean = self.open.rejected <= self.open.depth + 1;
        let Open { written, realised, forbidden, .. } = &mut self.open;
        let had = &realised[tried.realised..];
        let known = written.get(location as usize).map_or(&[][..], Vec::as_slice);
        let is_new = |(value, stamp): &(ValueId, Stamp)| {
            stamp.by_other_than(thread) > start && !had.contains(value)
        };
        let nothing_new = is_clean && !known.iter().any(is_new);
        if is_clean {
            forbidden.extend(had.iter().map(|&value| (node, value)));
        }
        self.open.realised.truncate(tried.realised);
        self.open.rejected = self.open.rejected.max(tried.rejected);
        nothing_new
    }

    /// How many values are forbidden.
    pub(super) fn forbidden(&self) -> usize {
        self.open.forbidden.len()
    }

    /// Puts causal maps back.
    pub(super) fn permit_values(&mut self, forbidden: usize) {
        self.open.forbidden.truncate(forbidden);
    }

    /// Whether the question of the thread must not read the value of the write.
    pub(super) fn is_forbidden(&self, thread: usize, source: u32) -> bool {
        let Thread { node, location, .. } = self.threads[thread];
        let value = self.open_value(location as usize, source);
        value.is_some_and(|value| self.open.forbidden.contains(&(node, value)))
    }

    /// The model does not allow a read.
    pub(super) fn note_rejection(&mut self) {
        self.open.rejected = self.open.rejected.max(self.open.depth + 1);
    }

    /// The model allows a read of this write, and it is on the stack now.
    pub(super) fn note_read(&mut self, location: usize, source: u32) {
        let value = self.open_value(location, source);
        self.open.realised.extend(value);
        self.open.depth += 1;
    }

    /// The last read is no longer on the stack.
    pub(super) fn note_return(&mut self) {
        self.open.depth -= 1;
    }

    /// A write is a good-write of all reads before it that have read its value.
    pub(super) fn open_write(&mut self, event: usize, thread: usize, location: usize) {
        let Some(value) = self.open_value(location, event as u32) else {
            return self.note_value(thread, location, ValueId::NONE);
        };
        self.note_value(thread, location, value);
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

    /// The thread writes the value now.
    fn note_value(&mut self, thread: usize, location: usize, value: ValueId) {
        let written = &mut self.open.written;
        if written.len() <= location {
            written.resize(location + 1, vec![]);
        }
        let at = written[location].iter().position(|&(known, _)| known == value);
        let at = at.unwrap_or_else(|| {
            written[location].push((value, Stamp::default()));
            written[location].len() - 1
        });
        written[location][at].1.set(thread, self.clock);
    }
}
