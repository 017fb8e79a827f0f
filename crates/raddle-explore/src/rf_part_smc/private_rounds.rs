//! Rounds that store memory which only their thread uses.
//!
//! *Problem.* A thread that waits often stores something on the way: the link of a node that is not published yet, the last
//! known index of another thread, a counter that is overwritten. Such a round is not silent, but adds nothing either if
//! it leaves that memory as it was.
//!
//! *Idea.* A plain or relaxed store of a quiet location is no event. All accesses of the location by other threads are
//! ordered before or after it, so if the stores of a round leave the values that were there before, no thread can tell
//! whether the round happened. Two histories of a thread end alike if they do so apart from such stores (`rounds.rs`) and
//! if these leave the same values. Memory is private as long as that holds: no addresses are followed.
//!
//! *Locks.* A round may take and release locks: `lock; d = done; unlock; if !d again`. Such a pair is next to each other in the
//! modification order of the lock, and the next thread can take the lock from the one before, so the pair can be deleted
//! like an update that writes what it reads.
//!
//! *What is known of values.* A thread knows a location that it has stored or read before, if no other thread has stored it
//! since. [`Accessors`](super::round_state::Accessors) notes where that may be wrong, in all executions so far: a thread
//! accesses a location again that another one has written in between. If such a location is relied on, it becomes a
//! conflicting one, whose stores are events.
//!
//! *Conflicts.* Stores that are left out are performed when their source is tried, at every node at which it is, so accesses of
//! other threads that are not ordered are noticed as always.
//!
//! *The shape of segments.* Under RC11 and C20 a quiet access separates other accesses of its thread. So where one history
//! replaces another, private stores must stand at the same places between other effects.

use super::history_cache::{CompactEffect, MemoryChange, PendingKind, ValueId};
use super::round_state::{FARTHEST, StoredLocations};
use super::state::PartSearch;
use crate::event_set::EventSet;
use crate::model::IncrementalModel;
use raddle_core::execution::{LocationId, ThreadId};
use raddle_core::program::{Answer, End, HistoryId, HistoryStep, Op};

impl<R: EventSet, M: IncrementalModel<R>> PartSearch<'_, '_, R, M> {
    /// Returns `true` if a thread that waits was in its state before, and has only read and stored private memory since. Then its
    /// history ends.
    pub(super) fn repeats_privately(&mut self, thread: ThreadId) -> bool {
        let end = self.thread(thread).history;
        if !self.rounds.compares_states || self.stop.is_some() {
            return false;
        }
        let is_new = self.cache.note_compared(end);
        let is_repeat = is_new && self.end_at_repeat(end, 4 * FARTHEST);
        if is_repeat {
            self.wait(thread, end);
        }
        is_repeat
    }

    /// Ends a history, which is a part of a run, if its thread was in this state before and has stored private memory since.
    pub(super) fn end_if_repeated(&mut self, history: HistoryId, limit: usize) {
        let is_question = self.cache.segment(history).pending != PendingKind::Ended;
        if is_question && self.rounds.are_left_out && self.rounds.compares_states {
            self.end_at_repeat(history, limit);
        }
    }

    /// Ends a history if [`PartSearch::find_private_repeat`] finds an earlier state.
    fn end_at_repeat(&mut self, end: HistoryId, limit: usize) -> bool {
        let Some(start) = self.find_private_repeat(end, limit) else { return false };
        let former = self.histories.end_with(end, End::Repeats(start));
        self.rounds.ended.push((end, former));
        self.cache.end_history(&self.histories, end);
        true
    }

    /// Continues the histories that this search has ended: another one may not know that.
    pub(super) fn restore_ended_histories(&mut self) {
        for (history, segment) in self.rounds.ended.drain(..) {
            self.histories.restore_segment(history, segment);
        }
    }

    /// The latest question, at most `limit` steps ago, in whose state the thread is at the end of a history, if it has stored
    /// private memory since or taken and released locks. (The program itself finds states that only reads lead back to.)
    fn find_private_repeat(&mut self, end: HistoryId, limit: usize) -> Option<HistoryId> {
        let (mut stored, mut released) = (StoredLocations::new(), StoredLocations::new());
        let mut has_taken = false;
        let mut at = end;
        for _ in 0..limit {
            if self.cache.segment(at).change > MemoryChange::Unlock {
                return None;
            }
            self.add_stored(at, &mut stored);
            self.add_released(at, &mut released);
            let HistoryStep::After(earlier, _) = self.histories.step(at) else { return None };
            if self.cache.segment(earlier).pending == PendingKind::Lock {
                let lock = self.cache.segment(earlier).target.location();
                released.swap_remove(released.iter().position(|&location| location == lock)?);
                has_taken = true;
            } else if !self.cache.is_silent_answer(at) {
                return None;
            }
            // A thread that was in this state before holds the same locks.
            if (has_taken || !stored.is_empty())
                && self.histories.end(earlier) == self.histories.end(end)
                && self.leave_same_values(earlier, end, &stored)
                && self.is_same_state(earlier, end)
            {
                return self.rely_on(end, &stored).then_some(earlier);
            }
            at = earlier;
        }
        None
    }

    /// Adds the locations that the last segment of a history stores.
    pub(super) fn add_stored(&self, history: HistoryId, stored: &mut StoredLocations) {
        for effect in self.cache.effects_of(history) {
            if let CompactEffect::QuietStore { location, .. } = *effect
                && !stored.contains(&location)
            {
                stored.push(location);
            }
        }
    }

    /// Adds the locks that the last segment of a history releases.
    fn add_released(&self, history: HistoryId, released: &mut StoredLocations) {
        for effect in self.cache.effects_of(history) {
            if let CompactEffect::Unlock { lock } = *effect {
                released.push(lock);
            }
        }
    }

    /// Returns `true` if two histories end with the same effects, the same question and the same state, apart from private
    /// stores. Private memory has the same values; the latter has stored these locations since the two differ.
    pub(super) fn ends_alike(
        &mut self,
        one: HistoryId,
        other: HistoryId,
        stored: &StoredLocations,
    ) -> bool {
        if one == other {
            return true;
        }
        let mut stored = stored.clone();
        self.add_stored(one, &mut stored);
        self.add_stored(other, &mut stored);
        if stored.is_empty() {
            return self.histories.segment_of(one) == self.histories.segment_of(other)
                && self.is_same_state(one, other);
        }
        self.has_same_shape(one, other)
            && self.histories.end(one) == self.histories.end(other)
            && self.leave_same_values(one, other, &stored)
            && self.is_same_state(one, other)
            && self.rely_on(one, &stored)
    }

    /// Returns `true` if a history without effects ends in the same state as a later one, which has stored these locations
    /// since the two differ.
    pub(super) fn is_confirmed(
        &mut self,
        one: HistoryId,
        other: HistoryId,
        stored: &StoredLocations,
    ) -> bool {
        if stored.is_empty() {
            return self.ends_alike(one, other, stored);
        }
        self.histories.end(one) == self.histories.end(other)
            && self.leave_same_values(one, other, stored)
            && self.is_same_state(one, other)
            && self.rely_on(one, stored)
    }

    fn is_same_state(&mut self, one: HistoryId, other: HistoryId) -> bool {
        self.exploration.program.is_same_state(&self.histories, one, other)
    }

    /// Returns `true` if the last segments of two histories have the same effects in the same order, where private stores
    /// in a row count as one, whatever they store.
    fn has_same_shape(&self, one: HistoryId, other: HistoryId) -> bool {
        let shape = |history: HistoryId| -> Vec<Option<&Op>> {
            let effects = self.cache.effects_of(history).iter();
            let ops = self.histories.effects(history);
            let mut shape: Vec<_> = effects
                .zip(ops)
                .map(|(effect, op)| (effect.change() != MemoryChange::Private).then_some(op))
                .collect();
            shape.dedup_by(|one, other| one.is_none() && other.is_none());
            shape
        };
        shape(one) == shape(other)
    }

    /// Returns `true` if the thread knows that locations have the same values at the ends of two of its histories.
    fn leave_same_values(
        &mut self,
        one: HistoryId,
        other: HistoryId,
        stored: &StoredLocations,
    ) -> bool {
        stored.iter().all(|&location| {
            let value = self.known_value(one, location);
            value.is_some() && value == self.known_value(other, location)
        })
    }

    /// The value that a thread stored to a location, or read from it, last in a history.
    fn known_value(&mut self, mut history: HistoryId, location: LocationId) -> Option<ValueId> {
        loop {
            let stored =
                self.cache.effects_of(history).iter().rev().find_map(|effect| match *effect {
                    CompactEffect::QuietStore { location: at, value, carries, .. }
                        if at == location =>
                    {
                        Some((!carries).then_some(value))
                    }
                    CompactEffect::Init { location: at, value } if at == location => {
                        Some(Some(value))
                    }
                    _ => None,
                });
            if let Some(value) = stored {
                return value;
            }
            let HistoryStep::After(earlier, answer) = self.histories.step(history) else {
                return None;
            };
            let segment = self.cache.segment(earlier);
            if segment.pending == PendingKind::Quiet && segment.target.location() == location {
                let Answer::Value(value) = answer else { return None };
                return (segment.asked == PendingKind::Load).then(|| self.cache.values.id(value));
            }
            history = earlier;
        }
    }

    /// Relies on the values that the thread of a history knows of these locations. Returns `false` if another thread may
    /// have changed one: then it becomes a conflicting location.
    fn rely_on(&mut self, history: HistoryId, stored: &StoredLocations) -> bool {
        let thread = self.histories.thread(history);
        let mut is_certain = true;
        for &location in stored {
            if !self.rounds.rely_on(location, thread) {
                self.note_conflict(location);
                is_certain = false;
            }
        }
        is_certain
    }
}
