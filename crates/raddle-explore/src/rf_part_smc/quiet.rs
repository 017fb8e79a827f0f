//! Quiet locations: accesses that need no decision are not events.
//!
//! A location is quiet until two of its accesses turn out to conflict
//! ([`ExplorationFacts`](crate::facts::ExplorationFacts)); then the exploration starts
//! over with that fact. `quiet_table.rs` has the idea. This file knows what happens before what.
//!
//! *Sound.* What is left out are only constraints that every order of the remaining events satisfies: the accesses of a
//! quiet location are ordered by happens-before. *Complete.* Take the first conflicting accesses of an execution that
//! would be missed. The part before them is explored, both threads reach them there with the same pasts, and the second
//! one is noticed. If nothing is ever noticed, nothing was missed.
//!
//! *Happens-before* is that of the model ([`IncrementalModel::happened_before`]), which has events only. An event, a
//! spawn or a join *publishes* all earlier accesses of its thread: what happens after it happens after these. Three
//! rules of the models remain:
//!
//! - Under PSO a store publishes only what has left the store buffer: what came before the last fence or update
//!   (`d = 2; f = 1 || if f == 1 { r = d }` reads 0 or 2). A load publishes nothing by itself under any model.
//! - An update of a quiet location still empties the store buffer ([`IncrementalModel::push_quiet_access`]).
//! - Under RC11 and C20 a quiet access is a step without location: it separates two accesses of one location, so that
//!   more accesses are in `po|≠loc`.
//!
//! *Blind updates* may be in any order (`quiet_table.rs`): their thread gets the value before all of them. No update of
//! a group acquires, so nothing happens before anything else because one of them read from another. An acquire fence
//! after one would be an exception (`x += 1; fence acquire; r = d` where another thread has updated `x` after `d = 1`),
//! so a location that threads have updated in no order conflicts at the next such fence. A fence before that is harmless:
//! if updates are in the order of the search, it observes none of another thread that it does not know. A modification
//! order of the updates exists whatever the rest of the execution is: that of any order of all events which extends
//! happens-before and the order of sequentially consistent fences. No update is sequentially consistent, so nothing else
//! depends on it.
//!
//! A thread that waits for a quiet location, for a lock that is held say, makes it a conflicting one: only a conflicting
//! access can release it.
//!
//! When an access conflicts, the execution is followed to its end to find others, but a thread that reads such a
//! location stops: the value may be one that it cannot read, and programs run only with values that they can.
//!
//! *Rejected.* Epochs in every event of the model, as clocks: the sets of events that the models have anyway tell the
//! same.

use super::execution::{SearchThread, ThreadAnswer};
use super::history_cache::{PendingKind, SegmentInfo, ValueId};
use super::quiet_state::{Publication, QuietThread};
use super::quiet_table::{QuietWrite, Time};
use super::state::PartSearch;
use crate::event_index::EventIndex;
use crate::event_set::EventSet;
use crate::model::{IncrementalModel, QuietStep};
use raddle_core::execution::{LocationId, MemoryOrder, ThreadId};
use raddle_core::model::orders::{FenceEffect, OrderSemantics, StoreBuffers, StoreEffect};
use raddle_core::program::{Answer, HistoryId, OpKind, Origin, UpdateKind};

impl<R: EventSet, M: IncrementalModel<R>> PartSearch<'_, '_, R, M> {
    /// Returns `true` if the location is quiet.
    #[inline]
    pub(super) fn is_quiet(&self, location: LocationId) -> bool {
        self.cache.is_quiet_location(location)
    }

    /// Publishes the accesses of a thread by its event. If that `flushes`, its stores reach memory before.
    #[inline]
    pub(super) fn publish(&mut self, event: EventIndex, thread: ThreadId, flushes: bool) {
        if !self.quiet.is_active {
            return;
        }
        // The model knows the event, and what it knew of threads that are not started now is outdated.
        self.quiet.published[event] = Publication::NOTHING;
        self.add_joins(thread);
        self.quiet.now += 1;
        let now = self.quiet.now;
        let state = &mut self.quiet.threads[thread.index()];
        if self.model.reorders_stores() && flushes {
            state.flushed = now;
        }
        let time = if self.model.reorders_stores() { state.flushed } else { now };
        self.quiet.published[event] = Publication { time, base: state.base };
    }

    /// All stores of the thread so far reach memory before its later ones.
    pub(super) fn note_flush(&mut self, thread: ThreadId) {
        if self.quiet.is_active {
            self.quiet.now += 1;
            self.quiet.threads[thread.index()].flushed = self.quiet.now;
        }
    }

    /// Records the effect of a fence on what later events publish and on what the thread knows.
    pub(super) fn note_fence(&mut self, thread: ThreadId, order: MemoryOrder) {
        if self.model.reorders_stores()
            && StoreBuffers::PerLocation.fence(order) != FenceEffect::Nothing
        {
            self.note_flush(thread);
        }
        self.quiet.forget_known();
        if order.is_acquire() {
            self.note_acquire_fence();
        }
    }

    /// An acquire fence synchronizes with what its thread has updated blindly.
    fn note_acquire_fence(&mut self) {
        if self.exploration.commuting.is_some_and(OrderSemantics::acquire_fences_observe) {
            for index in 0..self.quiet.table.shared().len() {
                self.note_conflict(self.quiet.table.shared()[index]);
            }
        }
    }

    /// Computes what the thread knows, if that matters to its access of the location: most locations belong to one
    /// thread.
    #[inline]
    fn update_known(&mut self, thread: ThreadId, location: LocationId, writes: bool) {
        if self.quiet.known_of != Some(thread)
            && self.quiet.table.needs_order(location, thread, writes)
        {
            self.compute_known(thread);
        }
    }

    fn compute_known(&mut self, thread: ThreadId) {
        self.add_joins(thread);
        self.quiet.known.fill(0);
        self.add_known(thread);
        self.quiet.known_of = Some(thread);
    }

    /// Adds what a thread knows, without its last joins, to what is known.
    fn add_known(&mut self, thread: ThreadId) {
        self.quiet.learn_base(self.quiet.threads[thread.index()].base);
        self.quiet.known[thread.index()] = Time::MAX;
        let happened = self.model.happened_before(thread);
        // Threads that were spawned later know more: what others know is mostly known then.
        for other in (0..self.quiet.started).rev().map(ThreadId::new) {
            let seen = self.model.events_of(other).and(&happened);
            let Some(last) = seen.last().filter(|_| other != thread) else { continue };
            let Publication { time, base } = self.quiet.published[last];
            self.quiet.learn_base(base);
            let known = &mut self.quiet.known[other.index()];
            *known = (*known).max(time);
        }
    }

    /// Adds the last joins of a thread to its base. Most threads end after their last joins, so that is done only when
    /// it matters.
    #[inline]
    fn add_joins(&mut self, thread: ThreadId) {
        let joined_from = self.quiet.threads[thread.index()].joined_from as usize;
        if self.thread(thread).joins > 0 && joined_from < self.quiet.joins.len() {
            self.add_new_joins(thread);
        }
    }

    #[cold]
    fn add_new_joins(&mut self, thread: ThreadId) {
        let joined_from = self.quiet.threads[thread.index()].joined_from as usize;
        let joins = &self.quiet.joins[joined_from..];
        let joined = joins.iter().filter(|&&(parent, _)| parent == thread);
        let joined: Vec<ThreadId> = joined.map(|&(_, child)| child).collect();
        self.quiet.threads[thread.index()].joined_from = self.quiet.joins.len() as u32;
        if joined.is_empty() {
            return;
        }
        for &child in &joined {
            self.quiet.save(child);
            self.add_joins(child);
        }
        self.quiet.known.fill(0);
        self.add_known(thread);
        for child in joined {
            self.add_known(child);
            self.quiet.known[child.index()] = self.quiet.now;
        }
        self.quiet.threads[thread.index()].base = self.quiet.keep_known(thread);
    }

    /// Records what a spawned thread knows.
    pub(super) fn note_spawn(&mut self, parent: ThreadId, child: ThreadId) {
        self.quiet.started = self.quiet.started.max(child.index() + 1);
        if !self.quiet.is_active {
            return;
        }
        self.compute_known(parent);
        let base = self.quiet.keep_known(parent);
        let (now, joined_from) = (self.quiet.now, self.quiet.joins.len() as u32);
        self.quiet.threads[parent.index()].flushed = now;
        self.quiet.threads[child.index()] = QuietThread { base, joined_from, flushed: now };
    }

    /// Records that a thread has joined another one.
    pub(super) fn note_join(&mut self, parent: ThreadId, child: ThreadId) {
        if !self.quiet.is_active {
            return;
        }
        self.quiet.now += 1;
        self.quiet.joins.push((parent, child));
        if self.model.reorders_stores() {
            self.note_flush(parent);
        }
        self.quiet.forget_known();
    }

    /// Two accesses of a quiet location conflict: the exploration starts over when the execution has ended.
    #[cold]
    pub(super) fn note_conflict(&mut self, location: LocationId) {
        if !self.quiet.conflicts.contains(&location) {
            self.quiet.conflicts.push(location);
        }
    }

    /// Records who accesses a quiet location, as far as rounds with private stores need that.
    #[inline]
    fn note_accessor(&mut self, thread: ThreadId, location: LocationId, writes: bool) {
        if self.rounds.are_left_out {
            let writer = self.quiet.table.last_writer(location);
            if !self.rounds.add_access(location, thread, writes, writer) {
                self.note_conflict(location);
            }
        }
    }

    pub(super) fn quiet_read(&mut self, thread: ThreadId, location: LocationId) {
        self.note_accessor(thread, location, false);
        self.update_known(thread, location, false);
        let (table, access) = self.quiet.access(thread);
        if !table.read(location, access) {
            self.note_conflict(location);
        }
    }

    pub(super) fn quiet_write(
        &mut self,
        thread: ThreadId,
        location: LocationId,
        write: QuietWrite,
    ) {
        self.note_accessor(thread, location, true);
        self.update_known(thread, location, true);
        let (table, access) = self.quiet.access(thread);
        if !table.write(location, access, write) {
            self.note_conflict(location);
        }
    }

    /// Performs a store of a quiet location.
    pub(super) fn quiet_store(
        &mut self,
        thread: ThreadId,
        location: LocationId,
        order: MemoryOrder,
        write: QuietWrite,
    ) {
        self.model.push_quiet_access(thread, QuietStep::Store(order));
        let effect = StoreBuffers::PerLocation.store(order);
        if self.model.reorders_stores() && effect == StoreEffect::BufferedBehindFence {
            self.note_flush(thread);
        }
        self.quiet_write(thread, location, write);
        if self.model.reorders_stores() && effect == StoreEffect::AtOnce {
            self.note_flush(thread);
        }
    }

    /// Performs an update of a quiet location, or releases a quiet lock.
    pub(super) fn quiet_update(
        &mut self,
        thread: ThreadId,
        location: LocationId,
        write: QuietWrite,
    ) {
        self.model.push_quiet_access(thread, QuietStep::Update);
        self.quiet_write(thread, location, write);
        if self.model.reorders_stores() {
            self.note_flush(thread);
        }
    }

    /// Writes a quiet cell.
    pub(super) fn quiet_cell(&mut self, thread: ThreadId, location: LocationId, origin: Origin) {
        let write = QuietWrite { value: ValueId::NONE, carries: false, origin };
        self.quiet_write(thread, location, write);
    }

    /// Answers the question of a thread about a quiet location. Returns the history that follows; `None` if the thread
    /// cannot continue.
    pub(super) fn answer_quietly(&mut self, thread: ThreadId) -> Option<HistoryId> {
        let SearchThread { history, target, .. } = *self.thread(thread);
        let location = target.location();
        if !self.continues() {
            return None;
        }
        let &SegmentInfo { asked, expected, is_weak, is_blind, .. } = self.cache.segment(history);
        let last = self.quiet.table.last_write(location);
        if is_blind && !last.is_some_and(|write| write.carries) {
            return self.answer_blindly(thread, history, location);
        }
        let value = last.map_or(self.location(location).initial, |write| write.value);
        let (writes, waits) = match asked {
            PendingKind::Lock => (true, value != ValueId::ZERO),
            PendingKind::Sync => (true, !self.is_admitted(history, value)),
            // The failure is a choice.
            PendingKind::CompareExchange => (value == expected, is_weak && value == expected),
            PendingKind::Update => (true, false),
            _ => (false, false),
        };
        self.update_known(thread, location, writes);
        let (table, access) = self.quiet.access(thread);
        if waits || !table.is_in_order(location, access, writes) {
            self.note_conflict(location);
        }
        if self.quiet.conflicts.contains(&location) {
            self.stop_thread(thread);
            return None;
        }
        Some(self.perform_quiet_question(thread, history, location, last))
    }

    /// Performs the blind update at the end of a history. Returns the history that follows; `None` if the thread cannot
    /// continue.
    fn answer_blindly(
        &mut self,
        thread: ThreadId,
        history: HistoryId,
        location: LocationId,
    ) -> Option<HistoryId> {
        let OpKind::Rmw { update, .. } = self.question(history).kind else {
            unreachable!("a blind update is an update")
        };
        self.update_known(thread, location, true);
        let (table, access) = self.quiet.access(thread);
        if !table.is_blind_in_order(location, access, &update) {
            self.note_conflict(location);
        }
        if self.quiet.conflicts.contains(&location) {
            self.stop_thread(thread);
            return None;
        }
        let initial = self.location(location).initial;
        let before = self.quiet.table.write_before_group(location, &update);
        let read = before.map_or(initial, |write| write.value);
        let last = self.quiet.table.last_write(location).map_or(initial, |write| write.value);
        let (written, _) = self.written_quietly(history, last, false);
        let answer = ThreadAnswer::Value(read);
        let next = self.after(history, answer);
        let next = next.unwrap_or_else(|| {
            let (written, _) = self.written_quietly(history, read, false);
            self.grow(history, answer, written)
        });
        let origin = Origin { node: next, index: 0 };
        let write = QuietWrite { value: written, carries: false, origin };
        self.model.push_quiet_access(thread, QuietStep::Update);
        self.note_accessor(thread, location, true);
        let (table, access) = self.quiet.access(thread);
        table.update_blindly(location, access, update, write);
        if self.model.reorders_stores() {
            self.note_flush(thread);
        }
        Some(next)
    }

    fn perform_quiet_question(
        &mut self,
        thread: ThreadId,
        history: HistoryId,
        location: LocationId,
        last: Option<QuietWrite>,
    ) -> HistoryId {
        let initial = self.location(location).initial;
        let value = last.map_or(initial, |write| write.value);
        let &SegmentInfo { asked, expected, .. } = self.cache.segment(history);
        let by_value = match last {
            Some(QuietWrite { carries: true, origin, .. }) => {
                ThreadAnswer::Full(Answer::From(origin))
            }
            _ => ThreadAnswer::Value(value),
        };
        let identity = match last.filter(|_| self.shares_memory) {
            Some(QuietWrite { origin, .. }) => ThreadAnswer::Full(Answer::From(origin)),
            None => ThreadAnswer::Value(ValueId::NONE),
        };
        let (answer, writes) = match asked {
            PendingKind::Load => (by_value, false),
            PendingKind::CompareExchange => (by_value, value == expected),
            PendingKind::Update => (by_value, true),
            PendingKind::Sync if !self.shares_memory => (by_value, true),
            PendingKind::Lock | PendingKind::Sync => (identity, true),
            _ => (identity, false),
        };
        let (written, carries) = if writes {
            self.written_quietly(history, value, last.is_some_and(|write| write.carries))
        } else {
            (ValueId::NONE, false)
        };
        let next = self.after(history, answer);
        let next = next.unwrap_or_else(|| self.grow(history, answer, written));
        if !writes && self.rounds.are_left_out {
            self.note_silent_answer(next);
        }
        if writes {
            let origin = Origin { node: next, index: 0 };
            self.quiet_update(thread, location, QuietWrite { value: written, carries, origin });
        } else {
            match asked {
                PendingKind::Load => self.model.push_quiet_access(thread, QuietStep::Load),
                PendingKind::CompareExchange => {
                    self.model.push_quiet_access(thread, QuietStep::Update);
                    if self.model.reorders_stores() {
                        self.note_flush(thread);
                    }
                }
                _ => {}
            }
            self.quiet_read(thread, location);
        }
        next
    }

    /// The value that a question about a quiet location writes if it reads `read`, and whether that is a pointer.
    pub(super) fn written_quietly(
        &mut self,
        history: HistoryId,
        read: ValueId,
        is_pointer: bool,
    ) -> (ValueId, bool) {
        let value = self.cache.values.get(read);
        let (written, carries) = match self.question(history).kind {
            OpKind::Lock { .. } => return (ValueId::ONE, false),
            OpKind::Rmw { update, .. } => {
                let keeps = is_pointer && update.kind != UpdateKind::Swap;
                (update.apply(value), update.carries || keeps)
            }
            OpKind::CompareExchange { desired, carries, .. } => (desired, carries),
            OpKind::Sync { update, .. } => (update.apply(value), false),
            kind => unreachable!("{kind:?} does not write"),
        };
        (self.cache.values.id(written), carries)
    }

    /// Returns `true` if the value satisfies the guard of the question.
    pub(super) fn is_admitted(&self, history: HistoryId, value: ValueId) -> bool {
        let OpKind::Sync { guard, .. } = self.question(history).kind else {
            unreachable!("an op of a synchronization object has a guard")
        };
        guard.admits(self.cache.values.get(value))
    }

    /// Lets a thread stop before its next op.
    pub(super) fn stop_thread(&mut self, thread: ThreadId) {
        self.threads[thread.index()].pending = PendingKind::Ended;
        self.waiting.remove(thread);
        self.special.remove(thread);
        self.unfinished += 1;
    }
}
