//! Reads without effect are left out: rounds of a loop that change nothing.
//!
//! *Problem.* A thread that waits in a loop may read anything in its useless rounds, and each of these reads multiplies
//! the number of classes.
//!
//! *Idea.* A history is *dominated* by another one if both end in the same state after the same writes, and if what the
//! other one reads is part of what this one reads: then every execution with the first one is one with the second one to
//! which silent reads were added. So a source that leads to a dominated history is left out. Three cases are recognised,
//! for a question that observes a write, and the *segment*, which are the questions since the thread last changed memory:
//!
//! - *Repeat.* The answer leads back to the state at this question or at one of the segment ([`End::Repeats`]).
//! - *Shortcut.* The same answer to an earlier question of the segment, which reads the same location, leads to the same
//!   state after the same writes: `load x` and a failed compare-exchange that reads `x` again are one `load x`.
//! - *Confirmation.* The question is an update that writes. The same answer to an earlier load of the same location leads
//!   to the state at this question; it observed another write. The load may as well observe what the update does.
//!
//! *Silent* are loads, failed compare-exchanges, fences, and, if writes have a modification order, updates that write the
//! value that they read: such an update is next to its source there, and a read of it can read the source. Under WRA it
//! is not: `x = 1; r = x || loop { x |= 0 }` may end with `r = 0`.
//!
//! A thread all of whose sources are left out waits for another write. If all wait, the execution is blocked, and it is
//! a livelock if all threads may read the last writes of their locations forever. That is also possible at a node where a
//! thread has other sources, so it is asked for every repeat of the first thread of a node.
//!
//! *What is complete.* Every outcome, failure, race, deadlock and livelock; SOUNDNESS.md has the proof. Reads that are
//! left out are still accesses: they are looked at for races and for conflicts of quiet locations, again at every node at which
//! their sources are forbidden by a causal map. Rounds may store quiet locations (`private_rounds.rs`).
//!
//! *The skip.* The other threads of a node are not skipped if a source of the first one was left out: it may have to wait
//! for them.
//!
//! *Cost.* One lookup per read. A domination is decided once for each history, and depends on values only; for that the
//! program runs from earlier questions with the same answer.
//!
//! *Rejected.* Cutting a node at which a thread is in the middle of a round and can only go back, whatever it reads of the
//! values ever written. Two reasons. Which values those are is learned on the way: the nodes, and so the order of leaves, would
//! depend on what was explored before, and restarts and workers rely on it. And it would not help where blocked executions are
//! many: a reader of a sequence lock that has read version 0 and data of version 2 goes on if it reads version 0 again, which is
//! a value of that location. A reader has ten such local states under SC with two writers and two words of data (an enumeration
//! of interleavings), each of which has to be found, and three that lead on: two readers have 2 (13² - 3²) = 320 blocked
//! executions beside 18 classes (420 are explored). In a sketch with one word, the cut left 54 of 72. A test-and-test-and-set
//! lock of five threads would lose all of its 1,185.

use super::execution::{ResolvedRead, SearchThread, ThreadAnswer};
use super::history_cache::{Domination, PendingKind, SegmentInfo, ValueId};
use super::round_state::{FARTHEST, StoredLocations};
use super::state::PartSearch;
use super::symmetry_state::Pick;
use crate::event_index::RfSource;
use crate::event_set::EventSet;
use crate::model::{IncrementalModel, NewRead, ReadEffect, RfSources};
use raddle_core::execution::{LocationId, MemoryOrder, ThreadId};
use raddle_core::program::{End, HistoryId, HistoryStep};
use raddle_core::trace::Ending;

/// After so many steps without effect a history is not compared any more: the thread counts, or reads much.
const LONGEST_SEGMENT: usize = 64;

impl<R: EventSet, M: IncrementalModel<R>> PartSearch<'_, '_, R, M> {
    /// Adds a read, if the model allows it, and explores everything that follows, unless it is left out.
    pub(super) fn attempt_or_leave_out(
        &mut self,
        new_read: NewRead,
        (source, is_spurious): (RfSource, bool),
        answer: ThreadAnswer,
        read: ResolvedRead,
    ) {
        let NewRead { thread, location, .. } = new_read;
        if let Some(next) = read.next {
            if self.is_dominated(thread, source, answer, &read, next) {
                if self.is_known_to_be_left_out(next) {
                    return;
                }
            } else if self.is_last_history(thread, next) {
                if self.model.admits(new_read, source) {
                    self.last_node().rounds.has_child = true;
                    self.leaf_after(thread, location, source, read, next);
                }
                return;
            }
        }
        if !self.model.try_read(new_read, source) {
            return;
        }
        let reached = self.past.len();
        let next = self.add_child(new_read, (source, is_spurious), answer, read);
        let is_left_out =
            self.continues() && self.leaves_out(new_read, source, answer, &read, next);
        if !is_left_out {
            self.last_node().rounds.has_child = true;
            if self.symmetry.is_active
                && self.is_renamed(Pick::Read { thread, source, is_spurious })
            {
                return self.end_child();
            }
            return self.explore_child();
        }
        self.rounds.has_left_out = true;
        self.note_quiet_accesses(reached);
        if !self.quiet.conflicts.is_empty() {
            return self.explore_child();
        }
        if !is_spurious {
            self.last_node().rounds.left_out = true;
            if self.is_first_thread() && self.repeats(thread) {
                self.find_livelock();
            }
        }
        self.end_child();
    }

    /// Returns `true` if the last child, which begins with this read and history, can be left out.
    fn leaves_out(
        &mut self,
        new_read: NewRead,
        source: RfSource,
        answer: ThreadAnswer,
        read: &ResolvedRead,
        next: HistoryId,
    ) -> bool {
        let NewRead { event, thread, .. } = new_read;
        if self.survived_race.is_some_and(|(_, later)| later == event) {
            return false;
        }
        let at = self.depth - 1;
        let before = self.children[at].mark.saved;
        self.repeats(thread) || self.dominates(before, source, answer, read, next)
    }

    /// Returns `true` if a read changes no memory.
    #[inline]
    pub(super) fn is_silent_read(
        &self,
        location: LocationId,
        source: RfSource,
        read: &ResolvedRead,
    ) -> bool {
        let is_same = || {
            self.rounds.updates_may_be_silent
                && matches!(read.effect, ReadEffect::Update | ReadEffect::Sync)
                && read.written == self.value(location, source)
                && !read.carries
        };
        !read.writes() || is_same()
    }

    /// Returns `true` if the read of the last child leads its thread back to an earlier state.
    fn repeats(&mut self, thread: ThreadId) -> bool {
        let SearchThread { pending, history, .. } = *self.thread(thread);
        let before = self.children[self.depth - 1].mark.saved.history;
        match pending {
            PendingKind::Ended => self.is_repeat(history, before),
            _ => self.repeats_privately(thread),
        }
    }

    /// Returns `true` if a history leads back to a state at its part `before`, or earlier, and the thread has been silent
    /// since. (A thread that goes around a loop of quiet reads after `before` does not.)
    fn is_repeat(&self, history: HistoryId, before: HistoryId) -> bool {
        let End::Repeats(start) = *self.histories.end(history) else { return false };
        if self.cache.is_ended(history) {
            return start.0 <= before.0;
        }
        let mut at = history;
        while at != start && self.cache.is_silent(at) {
            let HistoryStep::After(before, _) = self.histories.step(at) else { return false };
            at = before;
        }
        at == start && start.0 <= before.0
    }

    /// Returns `true` if the read that leads to this history is dominated.
    #[inline]
    fn is_dominated(
        &mut self,
        thread: ThreadId,
        source: RfSource,
        answer: ThreadAnswer,
        read: &ResolvedRead,
        next: HistoryId,
    ) -> bool {
        match self.cache.domination(next) {
            Domination::None => false,
            Domination::Repeat | Domination::Shortcut => true,
            Domination::Confirmation => self.thread(thread).observed != source,
            Domination::Unknown => self.dominates(*self.thread(thread), source, answer, read, next),
        }
    }

    /// As [`PartSearch::is_dominated`], for the state of the thread before the read.
    #[cold]
    fn dominates(
        &mut self,
        thread: SearchThread,
        source: RfSource,
        answer: ThreadAnswer,
        read: &ResolvedRead,
        next: HistoryId,
    ) -> bool {
        let mut domination = self.cache.domination(next);
        if domination == Domination::Unknown {
            domination = self.find_domination(thread, source, answer, read, next);
            self.cache.set_domination(next, domination);
        }
        match domination {
            Domination::Confirmation => thread.observed != source,
            domination => domination != Domination::None,
        }
    }

    /// Decides whether the last read of a history can be left out.
    fn find_domination(
        &mut self,
        thread: SearchThread,
        source: RfSource,
        answer: ThreadAnswer,
        read: &ResolvedRead,
        next: HistoryId,
    ) -> Domination {
        match self.histories.end(next) {
            End::Repeats(_) if self.is_repeat(next, thread.history) => return Domination::Repeat,
            End::Question(_) | End::Finished => {}
            _ => return Domination::None,
        }
        if !self.rounds.compares_states || answer.is_spurious() || self.is_long(thread.history) {
            return Domination::None;
        }
        let value = self.value(thread.target.location(), source);
        let (mut at, mut is_last, mut found) = (thread.history, true, Domination::None);
        let mut stored = StoredLocations::new();
        for _ in 0..FARTHEST {
            if !self.cache.is_private(at) {
                break;
            }
            let HistoryStep::After(before, _) = self.histories.step(at) else { break };
            self.add_stored(at, &mut stored);
            let is_quiet = self.cache.segment(before).pending == PendingKind::Quiet;
            if !is_quiet && let Some(written) = self.asks_the_same(before, thread, value, read) {
                let earlier = self.answer_earlier(before, answer, written);
                if self.stop.is_some() {
                    return Domination::None;
                }
                if written == read.written && self.ends_alike(earlier, next, &stored) {
                    return Domination::Shortcut;
                }
                let confirms = read.writes() && written == ValueId::NONE;
                if confirms
                    && self.cache.effects_of(earlier).is_empty()
                    && self.is_confirmed(earlier, thread.history, &stored)
                {
                    if !is_last {
                        return Domination::Shortcut;
                    }
                    found = Domination::Confirmation;
                }
            }
            is_last &= is_quiet;
            at = before;
        }
        found
    }

    /// Returns `true` if a history ends with [`LONGEST_SEGMENT`] steps without effect.
    fn is_long(&self, history: HistoryId) -> bool {
        let before = |&history: &HistoryId| match self.histories.step(history) {
            HistoryStep::After(before, _) if self.cache.is_private(history) => Some(before),
            _ => None,
        };
        std::iter::successors(Some(history), before).nth(LONGEST_SEGMENT).is_some()
    }

    /// If the question at the end of an earlier history reads the same location as this read, and not with a stronger
    /// order: the value that it writes when it reads `value`, or [`ValueId::NONE`].
    fn asks_the_same(
        &mut self,
        earlier: HistoryId,
        thread: SearchThread,
        value: ValueId,
        read: &ResolvedRead,
    ) -> Option<ValueId> {
        let &SegmentInfo { pending, target, order, failure_order, expected, .. } =
            self.cache.segment(earlier);
        let is_read = matches!(
            pending,
            PendingKind::Load | PendingKind::CompareExchange | PendingKind::Update
        );
        if !is_read || target != thread.target {
            return None;
        }
        let writes = pending == PendingKind::Update
            || pending == PendingKind::CompareExchange && value == expected;
        let is_failure = pending == PendingKind::CompareExchange && !writes;
        let order: MemoryOrder = if is_failure { failure_order } else { order };
        if !order.is_at_most(read.order) {
            return None;
        }
        if !writes {
            return Some(ValueId::NONE);
        }
        Some(self.written_quietly(earlier, value, false).0)
    }

    /// The history that follows if a question gets the answer, and writes a value.
    fn answer_earlier(
        &mut self,
        history: HistoryId,
        answer: ThreadAnswer,
        written: ValueId,
    ) -> HistoryId {
        if let Some(next) = self.after(history, answer) {
            return next;
        }
        let next = self.grow(history, answer, written);
        if self.cache.len() <= next.0 as usize {
            self.learn_histories();
        }
        next
    }

    /// Returns `true` if a dominated read needs no look: it was left out at this node, cannot race, accesses nothing
    /// else, and a livelock was looked for.
    fn is_known_to_be_left_out(&mut self, next: HistoryId) -> bool {
        let is_alone = self.cache.segment(next).is_decided && !self.has_plain;
        let is_repeat = self.cache.domination(next) == Domination::Repeat;
        is_alone && self.last_node().rounds.left_out && !(is_repeat && self.is_first_thread())
    }

    /// Returns `true` if the thread that is being tried is the first one of the last node.
    fn is_first_thread(&mut self) -> bool {
        self.last_node().base as usize == self.floors.len()
    }

    /// Records that the question before a history has changed no memory.
    pub(super) fn note_silent_answer(&mut self, next: HistoryId) {
        if self.cache.len() <= next.0 as usize {
            self.learn_histories();
        }
        self.cache.note_silent_answer(next);
    }

    /// Records whether the thread has accessed quiet locations since `reached` histories, in a read that is left out.
    fn note_quiet_accesses(&mut self, reached: usize) {
        let is_decided = |&history: &HistoryId| self.cache.segment(history).is_decided;
        self.rounds.has_left_out_quiet |= !self.past[reached..].iter().all(is_decided);
    }

    /// Looks for races and conflicts of reads of a thread that were left out before, as its causal map forbids them now,
    /// with accesses that were added since. (No program is known that needs the conflicts: the search for livelocks also lets
    /// threads observe forbidden sources, but a thread that is not the first one of its node only if that repeats itself.)
    pub(super) fn find_tried_races(&mut self, thread: ThreadId) {
        if self.thread(thread).causal_floor == 0 || !self.reads_memory(thread) {
            return;
        }
        let may_race = self.may_race(thread);
        if !may_race && !self.rounds.has_left_out_quiet {
            return;
        }
        for source in self.forbidden_sources(thread).iter() {
            if self.stop.is_some() || !may_race && self.accesses_nothing_else(thread, source) {
                continue;
            }
            if self.is_left_out(thread, source) && may_race && self.begin_probe_of(thread, source) {
                match self.race {
                    Some(_) => self.explore_child(),
                    None => self.end_child(),
                }
            }
        }
    }

    /// Returns `true` if the pending read of a thread may race.
    fn may_race(&self, thread: ThreadId) -> bool {
        let SearchThread { history, target, .. } = *self.thread(thread);
        let is_plain = || self.cache.segment(history).order == MemoryOrder::NonAtomic;
        self.has_plain && (is_plain() || !self.location(target.location()).plain.is_empty())
    }

    /// Returns `true` if the thread is known to access no quiet location after this source up to its next question.
    fn accesses_nothing_else(&mut self, thread: ThreadId, source: RfSource) -> bool {
        let (_, read) = self.resolve(thread, source);
        read.next.is_some_and(|next| self.cache.segment(next).is_decided)
    }

    /// Looks for livelocks in which the first thread of a new node repeats itself with a source that its causal map forbids.
    pub(super) fn find_tried_rounds(&mut self, first: ThreadId) {
        if self.is_first_thread() && self.thread(first).causal_floor > 0 {
            self.close_rounds(first, true);
        }
    }

    /// The first thread repeats itself. Shows all livelocks in which the others do so too.
    fn find_livelock(&mut self) {
        let Some(thread) = self.enabled().0.first() else { return self.livelock() };
        self.close_rounds(thread, false);
    }

    /// Lets a thread observe each source with which it repeats itself, and then the other threads. Shows races of such reads.
    fn close_rounds(&mut self, thread: ThreadId, only_forbidden: bool) {
        if !self.reads_memory(thread) {
            return;
        }
        let sources = match only_forbidden {
            true => self.forbidden_sources(thread),
            false => self.all_sources(thread),
        };
        let may_race = self.may_race(thread);
        for source in sources.iter() {
            if self.stop.is_some()
                || self.goes_on_with(thread, source)
                || !self.begin_probe_of(thread, source)
            {
                continue;
            }
            match self.repeats(thread) {
                // No other execution has both reads. (`find_tried_races` shows races of forbidden sources.)
                true if self.race.is_some() && !only_forbidden => self.explore_child(),
                true if self.continues() => {
                    if may_race || self.may_go_on_forever() {
                        self.find_livelock();
                    }
                    self.end_child();
                }
                _ => self.end_child(),
            }
        }
    }

    /// Returns `true` if a thread is known not to repeat itself after it has observed the source.
    fn goes_on_with(&mut self, thread: ThreadId, source: RfSource) -> bool {
        let (_, read) = self.resolve(thread, source);
        let Some(next) = read.next.filter(|next| (next.0 as usize) < self.cache.len()) else {
            return false;
        };
        let was_compared = !self.rounds.compares_states || self.cache.was_compared(next);
        self.cache.segment(next).is_decided
            && was_compared
            && !matches!(self.histories.end(next), End::Repeats(_))
    }

    /// Returns `true` if the threads that repeat themselves so far may do so forever. If not, more of them cannot either: what
    /// they read lasts no longer, and two of them that read different last writes still do.
    fn may_go_on_forever(&mut self) -> bool {
        let threads = (0..self.threads.len()).map(ThreadId::new);
        let repeats = |&thread: &ThreadId| {
            let SearchThread { history, pending, .. } = *self.thread(thread);
            pending == PendingKind::Ended && matches!(self.histories.end(history), End::Repeats(_))
        };
        let repeating: Vec<ThreadId> = threads.filter(repeats).collect();
        self.repeats_forever(&repeating)
    }

    /// The sources that the causal map of a thread forbids.
    fn forbidden_sources(&mut self, thread: ThreadId) -> RfSources<R> {
        let mut sources = self.all_sources(thread);
        let RfSources { writes, initial } = self.candidates(thread);
        sources.writes = sources.writes.minus(&writes);
        sources.initial &= !initial;
        sources
    }

    /// Returns `true` if the pending op of a thread reads memory, and it does not wait for a synchronization object.
    fn reads_memory(&self, thread: ThreadId) -> bool {
        match self.thread(thread).pending {
            PendingKind::Load | PendingKind::CompareExchange | PendingKind::Update => true,
            PendingKind::Lock | PendingKind::Sync => self.is_free(thread),
            _ => false,
        }
    }

    /// Begins a child in which a thread observes the source, if the model allows it, to see what follows.
    fn begin_probe_of(&mut self, thread: ThreadId, source: RfSource) -> bool {
        let (answer, read) = self.resolve(thread, source);
        let location = self.thread(thread).target.location();
        if read.writes() && self.is_taken(location, source) {
            return false;
        }
        let ResolvedRead { effect, order, .. } = read;
        let event = self.next_event();
        let new_read = NewRead { event, thread, location, effect, order };
        if !self.model.try_read(new_read, source) {
            return false;
        }
        self.add_child(new_read, (source, false), answer, read);
        true
    }

    /// Counts and shows the current execution if its threads repeat themselves forever.
    fn livelock(&mut self) {
        if !self.quiet.conflicts.is_empty() || !self.is_livelock() {
            return;
        }
        self.leaf();
        self.last_node().rounds.has_child = true;
    }

    fn is_livelock(&mut self) -> bool {
        matches!(self.unusual_ending(), Ending::Livelock(_))
    }

    /// Ends a node at which all threads were tried. If it has no children because everything was left out, its
    /// execution is blocked.
    #[inline]
    pub(super) fn end_stuck_node(&mut self) {
        if self.rounds.has_left_out && !self.last_node().rounds.has_child {
            self.end_childless_node();
        }
    }

    #[cold]
    fn end_childless_node(&mut self) {
        if !self.quiet.conflicts.is_empty() && self.stop.is_none() {
            return self.learn_conflicts();
        }
        if self.stop.is_some() || self.enabled().0.iter().any(|thread| self.can_continue(thread)) {
            return;
        }
        if self.stop.is_none() {
            self.rounds.is_stuck = true;
            self.leaf();
            self.rounds.is_stuck = false;
        }
    }

    /// Returns `true` if a thread has a source that is not left out, whatever its causal map forbids.
    fn can_continue(&mut self, thread: ThreadId) -> bool {
        if !self.reads_memory(thread) {
            return true;
        }
        let sources = self.all_sources(thread);
        sources.iter().any(|source| self.stop.is_none() && self.is_useful(thread, source))
    }

    /// Returns `true` if the model allows that a thread observes the source, and that is not left out.
    fn is_useful(&mut self, thread: ThreadId, source: RfSource) -> bool {
        self.probe_left_out(thread, source) == Some(false)
    }

    /// Returns `true` if the model allows that a thread observes the source, but that is left out.
    fn is_left_out(&mut self, thread: ThreadId, source: RfSource) -> bool {
        self.probe_left_out(thread, source) == Some(true)
    }

    /// Whether it is left out that a thread observes the source; `None` if the model does not allow it.
    fn probe_left_out(&mut self, thread: ThreadId, source: RfSource) -> Option<bool> {
        let (answer, read) = self.resolve(thread, source);
        let before = *self.thread(thread);
        if !self.begin_probe_of(thread, source) {
            return None;
        }
        let is_left_out = match self.thread_step(thread) {
            _ if self.repeats(thread) => true,
            Some(next) => self.dominates(before, source, answer, &read, next),
            None => false,
        };
        self.end_child();
        Some(is_left_out)
    }

    /// The history that followed the read of the last child, which the thread has performed.
    fn thread_step(&self, thread: ThreadId) -> Option<HistoryId> {
        let first = self.children[self.depth - 1].mark.past as usize;
        let next = self.past.get(first).copied()?;
        (self.histories.thread(next) == thread).then_some(next)
    }
}
