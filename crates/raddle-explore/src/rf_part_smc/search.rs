//! Steps of the search: which thread is tried first at a node, which sources it may have, and adding a read.
//!
//! *Cost.* A read takes about 1,500 instructions with its model, and a tenth of that is easily lost to prologues and copies.
//! So there is one copy of what happens for a read ([`PartSearch::observe`]), into which everything is inlined but
//! entering a segment and performing effects, and nothing that only quiet locations need is done or saved without them.
//!
//! *Rejected.* A second copy for spurious failures: then the compiler inlines neither of them (readers +1%,
//! account +1%). Inlining [`PartSearch::enter`] with its lookups where it is called (seqlock +1%), or the effects of a
//! segment into it: their registers are spilled for segments without effects (seqlock, readers +1.5%).

use super::execution::{EventRole, ResolvedRead, SearchThread, ThreadAnswer};
use super::history_cache::{PendingKind, SegmentInfo, ValueId};
use super::node::{OpenChild, SearchMark};
use super::state::{PartSearch, SearchStop};
use super::symmetry_state::Pick;
use super::thread_set::ThreadSet;
use crate::driver::Restart;
use crate::event_index::{EventIndex, RfSource};
use crate::event_set::EventSet;
use crate::model::{IncrementalModel, NewRead, PendingRead, ReadEffect, RfSources};
use raddle_core::execution::{LocationId, MemoryOrder, ThreadId};
use raddle_core::program::{Answer, HistoryId, OpKind, Origin, UpdateKind};

impl<R: EventSet, M: IncrementalModel<R>> PartSearch<'_, '_, R, M> {
    /// From now on the pending read of the thread may observe only events that are added later.
    #[inline]
    pub(super) fn raise_floor(&mut self, thread: ThreadId) {
        let floor = self.len as u32 + 1;
        let old = std::mem::replace(&mut self.threads[thread.index()].causal_floor, floor);
        self.floors.push((thread, old));
    }

    /// Undoes [`PartSearch::raise_floor`] until `base` floors are left.
    #[inline]
    pub(super) fn restore_floors(&mut self, base: usize) {
        while self.floors.len() > base {
            let (thread, floor) = self.floors.pop().expect("there are more floors than the base");
            self.threads[thread.index()].causal_floor = floor;
        }
    }

    /// The threads whose pending op can be performed, whatever their causal maps forbid, and the first of them that
    /// makes a choice.
    #[inline]
    pub(super) fn enabled(&self) -> (ThreadSet<R>, Option<ThreadId>) {
        let (mut enabled, mut choice) = (self.waiting.clone(), None);
        for thread in self.special.iter() {
            match self.thread(thread).pending {
                PendingKind::Lock | PendingKind::Sync if self.is_free(thread) => {}
                PendingKind::Choose => choice = choice.or(Some(thread)),
                _ => enabled.remove(thread),
            }
        }
        (enabled, choice)
    }

    /// The thread to try first: one without a causal map, whose location the fewest others have written.
    #[inline]
    pub(super) fn first_thread(&self, enabled: &ThreadSet<R>) -> Option<ThreadId> {
        if !self.exploration.options.order {
            return enabled.first();
        }
        let mut best = None;
        let mut fewest = usize::MAX;
        for thread in enabled.iter() {
            let SearchThread { pending, target, causal_floor, .. } = *self.thread(thread);
            if causal_floor != 0 {
                continue;
            }
            let mut writers = self.location(target.location()).writers.and(&self.waiting);
            writers.remove(thread);
            let cost = writers.count() + usize::from(pending != PendingKind::Load);
            if cost < fewest {
                (best, fewest) = (Some(thread), cost);
                if cost == 0 {
                    break;
                }
            }
        }
        best.or(enabled.first())
    }

    /// Returns `true` if in the subtree since `start` no other thread wrote what the thread reads (or `nothing_new`
    /// there), or competes for it. Then the other threads of the node can be skipped.
    #[inline]
    pub(super) fn others_do_not_matter(
        &self,
        thread: ThreadId,
        start: u64,
        nothing_new: bool,
    ) -> bool {
        let SearchThread { pending, target, .. } = *self.thread(thread);
        let location = self.location(target.location());
        if !self.exploration.options.signals
            || self.unexplored > start
            || self.joint_updates_matter(thread, start)
            || !nothing_new && location.written.by_other_than(thread) > start
        {
            return false;
        }
        if pending == PendingKind::Load {
            return true;
        }
        location.pending.by_other_than(thread) <= start
            && !self.others_compete(thread, target.location())
    }

    /// Returns `true` if another thread waits with an op that competes for writes of the location.
    pub(super) fn others_compete(&self, thread: ThreadId, location: LocationId) -> bool {
        self.waiting.iter().any(|other| {
            let SearchThread { pending, target, .. } = *self.thread(other);
            other != thread && target.location() == location && pending.competes()
        })
    }

    /// The sources that the pending read of a thread may have; the model may still reject some.
    #[inline]
    pub(super) fn candidates(&mut self, thread: ThreadId) -> RfSources<R> {
        let mut sources = self.all_sources(thread);
        let causal_floor = self.thread(thread).causal_floor;
        if causal_floor > 0 {
            let first = EventIndex::new(causal_floor as usize - 1);
            sources.initial = false;
            sources.writes = sources.writes.minus(&R::below(first));
        }
        sources
    }

    /// As [`PartSearch::candidates`], with those that the causal map forbids.
    #[inline(always)]
    pub(super) fn all_sources(&mut self, thread: ThreadId) -> RfSources<R> {
        let SearchThread { history, pending, target, .. } = *self.thread(thread);
        let location = target.location();
        let mut sources = match pending {
            PendingKind::Lock | PendingKind::Sync => {
                // The next update of a synchronization object observes the last one.
                RfSources::only(self.location(location).last_update)
            }
            _ => {
                let (kind, order) = (pending.read_kind(), self.cache.segment(history).order);
                self.model.sources(PendingRead { thread, location, kind, order })
            }
        };
        if pending == PendingKind::Update {
            sources.writes = sources.writes.minus(&self.taken);
            sources.initial &= !self.location(location).init_taken;
        }
        sources
    }

    /// Returns `true` if the pending op is a weak compare-exchange that observes what it expects.
    #[inline]
    pub(super) fn may_fail_spuriously(&self, thread: ThreadId, source: RfSource) -> bool {
        let SearchThread { history, pending, target, .. } = *self.thread(thread);
        if pending != PendingKind::CompareExchange {
            return false;
        }
        let segment = self.cache.segment(history);
        segment.is_weak && self.value(target.location(), source) == segment.expected
    }

    /// The spurious failure of a weak compare-exchange that observes what it expects.
    #[cold]
    fn spurious_failure(
        &mut self,
        thread: ThreadId,
        source: RfSource,
    ) -> (ThreadAnswer, ResolvedRead) {
        let location = self.thread(thread).target.location();
        let read = self.value(location, source);
        let answer = match self.answer_of(location, source) {
            ThreadAnswer::Full(Answer::From(origin)) => Answer::SpuriousFrom(origin),
            _ => Answer::Spurious(self.cache.values.get(read)),
        };
        let answer = ThreadAnswer::Full(answer);
        (answer, self.failure(thread, answer))
    }

    /// Tries a source of the pending op of a thread, or that a weak compare-exchange fails spuriously. The largest and
    /// hottest function of the search: one copy of it with everything inlined.
    #[inline(never)]
    pub(super) fn observe(&mut self, thread: ThreadId, source: RfSource, is_spurious: bool) {
        let (answer, read) = match is_spurious {
            true => self.spurious_failure(thread, source),
            false => self.resolve(thread, source),
        };
        self.attempt(thread, (source, is_spurious), answer, read);
    }

    /// What the pending op of a thread does if it observes the source, and what the thread learns.
    #[inline(always)]
    pub(super) fn resolve(
        &mut self,
        thread: ThreadId,
        source: RfSource,
    ) -> (ThreadAnswer, ResolvedRead) {
        let SearchThread { history, pending, target, .. } = *self.thread(thread);
        let &SegmentInfo { order, expected, .. } = self.cache.segment(history);
        let location = target.location();
        let answer = self.answer_of(location, source);
        match pending {
            PendingKind::Load => {
                let (effect, next) = (ReadEffect::Load, self.after(history, answer));
                let (written, carries) = (ValueId::NONE, false);
                (answer, ResolvedRead { effect, order, written, carries, next })
            }
            PendingKind::CompareExchange if self.value(location, source) != expected => {
                (answer, self.failure(thread, answer))
            }
            PendingKind::CompareExchange | PendingKind::Update => {
                (answer, self.update(thread, source, answer))
            }
            PendingKind::Lock => {
                let answer = self.identity_of(source);
                (answer, self.synchronization(thread, answer, order, ValueId::ONE))
            }
            PendingKind::Sync => {
                let (written, _) = self.written(thread, source);
                let answer = if self.shares_memory { self.identity_of(source) } else { answer };
                (answer, self.synchronization(thread, answer, order, written))
            }
            _ => unreachable!("only reads have sources, not {pending:?}"),
        }
    }

    /// An update, or a compare-exchange that succeeds.
    #[inline]
    fn update(&mut self, thread: ThreadId, source: RfSource, answer: ThreadAnswer) -> ResolvedRead {
        let history = self.thread(thread).history;
        let &SegmentInfo { order, carries, .. } = self.cache.segment(history);
        let edge = match answer {
            ThreadAnswer::Value(read) => self.cache.after(history, read),
            ThreadAnswer::Full(_) => None,
        };
        let (written, carries, next) = match edge {
            Some(edge) => (edge.written, carries, Some(edge.next)),
            None => {
                let (written, carries) = self.written(thread, source);
                (written, carries, self.after(history, answer))
            }
        };
        ResolvedRead { effect: ReadEffect::Update, order, written, carries, next }
    }

    /// A lock, or an op of another synchronization object.
    fn synchronization(
        &self,
        thread: ThreadId,
        answer: ThreadAnswer,
        order: MemoryOrder,
        written: ValueId,
    ) -> ResolvedRead {
        let (effect, next) = (ReadEffect::Sync, self.after(self.thread(thread).history, answer));
        ResolvedRead { effect, order, written, carries: false, next }
    }

    /// The value that the pending op of a thread writes if it observes the source, and whether that is a pointer.
    #[cold]
    fn written(&mut self, thread: ThreadId, source: RfSource) -> (ValueId, bool) {
        let SearchThread { history, target, .. } = *self.thread(thread);
        let read = self.cache.values.get(self.value(target.location(), source));
        let is_pointer = source.event().is_some_and(|event| self.events[event].carries);
        let (written, carries) = match self.question(history).kind {
            OpKind::Rmw { update, .. } => {
                let keeps = is_pointer && update.kind != UpdateKind::Swap;
                (update.apply(read), update.carries || keeps)
            }
            OpKind::CompareExchange { desired, carries, .. } => (desired, carries),
            OpKind::Sync { update, .. } => (update.apply(read), false),
            kind => unreachable!("{kind:?} does not write"),
        };
        (self.cache.values.id(written), carries)
    }

    /// A compare-exchange that fails.
    fn failure(&self, thread: ThreadId, answer: ThreadAnswer) -> ResolvedRead {
        let history = self.thread(thread).history;
        let order = self.cache.segment(history).failure_order;
        let (effect, next) = (ReadEffect::FailedCompareExchange, self.after(history, answer));
        let (written, carries) = (ValueId::NONE, false);
        ResolvedRead { effect, order, written, carries, next }
    }

    /// Adds the pending read of a thread with this source, if the model allows it, and explores everything that
    /// follows.
    #[inline(always)]
    fn attempt(
        &mut self,
        thread: ThreadId,
        (source, is_spurious): (RfSource, bool),
        answer: ThreadAnswer,
        read: ResolvedRead,
    ) {
        let event = self.next_event();
        let location = self.thread(thread).target.location();
        if read.writes() && self.is_only_source(event, source) && self.is_taken(location, source) {
            return;
        }
        let ResolvedRead { effect, order, next, .. } = read;
        let new_read = NewRead { event, thread, location, effect, order };
        if self.rounds.are_left_out {
            return self.attempt_or_leave_out(new_read, (source, is_spurious), answer, read);
        }
        if let Some(last) = next.filter(|&next| self.is_last_history(thread, next)) {
            let is_admitted = if self.model.observes_by_value() {
                self.model.admits_cheaply(new_read, source)
            } else {
                self.model.admits(new_read, source)
            };
            if is_admitted {
                return self.leaf_after(thread, location, source, read, last);
            }
            // By value, the other reads may have to observe something else: that takes a new witness.
            if !self.model.observes_by_value() {
                return;
            }
        }
        if !self.model.try_read(new_read, source) {
            if self.is_open() {
                self.open.note_rejection();
            }
            return;
        }
        if self.is_open() {
            let value = self.open_value(location, source);
            self.open.note_read(value);
        }
        self.add_child(new_read, (source, is_spurious), answer, read);
        if self.symmetry.is_active && self.is_renamed(Pick::Read { thread, source, is_spurious }) {
            return self.end_child();
        }
        self.explore_child();
    }

    /// Begins a child with a read that was added to the model, and extends the history of its thread. Returns the
    /// history that follows the read.
    #[inline(always)]
    pub(super) fn add_child(
        &mut self,
        new_read: NewRead,
        (source, is_spurious): (RfSource, bool),
        answer: ThreadAnswer,
        read: ResolvedRead,
    ) -> HistoryId {
        let NewRead { event, thread, location, effect, order } = new_read;
        let ResolvedRead { written, next, .. } = read;
        let history = self.thread(thread).history;
        self.begin_child(thread, source, is_spurious);
        self.threads[thread.index()].observed = source;
        self.check_race(thread, location, read.writes(), order);
        self.add_read(thread, location, source, read);
        self.publish(event, thread, effect.drains());
        let reached = self.past.len();
        let next = next.unwrap_or_else(|| self.grow(history, answer, written));
        if self.rounds.are_left_out && self.is_silent_read(location, source, &read) {
            self.note_silent_answer(next);
        }
        self.enter(thread, next);
        if let Some(&reached) = self.past.get(reached) {
            self.events[event].origin = Origin { node: reached, index: 0 };
        }
        next
    }

    /// Returns `true` if everything has ended when the thread has reached this history.
    #[inline]
    pub(super) fn is_last_history(&self, thread: ThreadId, next: HistoryId) -> bool {
        let is_last =
            self.waiting == ThreadSet::one(thread) && self.unfinished == 0 && !self.has_plain;
        is_last && self.only_writes_to_end(next) && !self.is_open() && !self.symmetry.is_active
    }

    /// Counts and shows the leaf after the last read of the execution. The model will not be asked about what follows,
    /// so it is not told; only the stamps of what the thread still writes matter.
    #[inline(always)]
    pub(super) fn leaf_after(
        &mut self,
        thread: ThreadId,
        location: LocationId,
        source: RfSource,
        read: ResolvedRead,
        last: HistoryId,
    ) {
        let (event, saved) = (self.next_event(), *self.thread(thread));
        let role = if read.writes() { EventRole::Update } else { EventRole::Read };
        self.add_event(location, source, role, Origin { node: last, index: 0 });
        if read.writes() {
            self.events[event].value = read.written;
            self.note_writer(thread, location);
        }
        self.note_writers(thread, last);
        self.past.push(last);
        self.first_events.push(self.len as u32);
        self.threads[thread.index()].history = last;
        self.waiting.remove(thread);
        let special = self.special.clone();
        self.special.remove(thread);
        if self.model.needs_stronger_model() {
            self.stop.get_or_insert(SearchStop::Restart(Restart::StrongerModel));
        } else {
            self.leaf();
        }
        self.special = special.clone();
        self.waiting.insert(thread);
        self.threads[thread.index()] = saved;
        self.past.pop();
        self.first_events.pop();
        self.len = event.index();
    }

    /// Returns `true` if an update has read the write.
    #[inline]
    pub(super) fn is_taken(&self, location: LocationId, source: RfSource) -> bool {
        match source.event() {
            None => self.location(location).init_taken,
            Some(event) => self.taken.has(event),
        }
    }

    /// Adds a read to the tables. The history that begins with it is not known yet.
    #[inline(always)]
    fn add_read(
        &mut self,
        thread: ThreadId,
        location: LocationId,
        source: RfSource,
        read: ResolvedRead,
    ) {
        let event = self.next_event();
        let origin = Origin { node: HistoryId(0), index: 0 };
        if !read.writes() {
            self.add_event(location, source, EventRole::Read, origin);
            self.location_mut(location).reads.insert(event);
            return;
        }
        self.add_event(location, source, EventRole::Update, origin);
        self.events[event].value = read.written;
        self.events[event].carries = read.carries;
        self.note_write(event, thread, location);
        if self.is_only_source(event, source) {
            match source.event() {
                None => self.location_mut(location).init_taken = true,
                Some(source) => self.taken.insert(source),
            }
        }
        if read.effect == ReadEffect::Sync {
            self.set_last_update(location, event);
        }
    }

    /// Continues after an answer: begins a node, or counts the execution if it is maximal.
    #[inline]
    pub(super) fn descend(&mut self) {
        if self.has_forced_steps {
            self.run_forced_steps();
        }
        if self.model.needs_stronger_model() {
            self.stop.get_or_insert(SearchStop::Restart(Restart::StrongerModel));
        }
        if self.stop.is_some() {
            return;
        }
        if self.waiting.is_empty() {
            self.leaf();
        } else {
            self.begin_node();
        }
    }

    /// Records the state that [`PartSearch::undo`] restores after a step of the thread.
    #[inline]
    pub(super) fn mark(&self, thread: ThreadId) -> SearchMark<R> {
        SearchMark {
            undo: self.undo.len() as u32,
            len: self.len as u32,
            past: self.past.len() as u32,
            taken: self.taken.clone(),
            waiting: self.waiting.clone(),
            special: self.special.clone(),
            joined: self.joined.clone(),
            unfinished: self.unfinished,
            ops: self.ops,
            cut: self.cut,
            quiet: self.quiet.mark(),
            thread,
            saved: *self.thread(thread),
        }
    }

    /// Begins a child of the last node: records the state that [`PartSearch::undo_child`] restores. The record is written
    /// where it stays, as it is too large to be moved for every read.
    #[inline(always)]
    pub(super) fn begin_child(&mut self, thread: ThreadId, source: RfSource, is_spurious: bool) {
        if self.children.len() == self.depth {
            self.make_room_for_child(thread);
        }
        let saved = *self.thread(thread);
        let child = &mut self.children[self.depth];
        (child.source, child.is_spurious) = (source, is_spurious);
        let mark = &mut child.mark;
        mark.undo = self.undo.len() as u32;
        mark.len = self.len as u32;
        mark.past = self.past.len() as u32;
        mark.taken.clone_from(&self.taken);
        mark.waiting.clone_from(&self.waiting);
        mark.special.clone_from(&self.special);
        mark.joined.clone_from(&self.joined);
        mark.unfinished = self.unfinished;
        mark.ops = self.ops;
        mark.cut = self.cut;
        mark.thread = thread;
        mark.saved = saved;
        if self.quiet.is_active {
            mark.quiet = self.quiet.mark();
            self.quiet.save(thread);
        }
        self.depth += 1;
    }

    /// Makes room for a child.
    #[cold]
    #[inline(never)]
    fn make_room_for_child(&mut self, thread: ThreadId) {
        let mark = self.mark(thread);
        self.children.push(OpenChild { mark, source: RfSource::NONE, is_spurious: false });
    }

    /// Undoes everything since the mark.
    #[cold]
    pub(super) fn undo(&mut self, mark: SearchMark<R>) {
        let child = OpenChild { mark, source: RfSource::NONE, is_spurious: false };
        self.children.truncate(self.depth);
        self.children.push(child);
        self.depth += 1;
        self.undo_child();
        self.depth -= 1;
    }

    /// Undoes everything since the last child was begun.
    #[inline(always)]
    pub(super) fn undo_child(&mut self) {
        let at = self.depth - 1;
        if self.symmetry.is_active {
            self.symmetry.end_child(self.depth);
        }
        self.undo_to(self.children[at].mark.undo as usize);
        let len = self.children[at].mark.len as usize;
        self.remove_events(len);
        let mark = &self.children[at].mark;
        self.past.truncate(mark.past as usize);
        self.first_events.truncate(mark.past as usize);
        self.taken.clone_from(&mark.taken);
        self.waiting.clone_from(&mark.waiting);
        self.special.clone_from(&mark.special);
        self.joined.clone_from(&mark.joined);
        self.unfinished = mark.unfinished;
        if self.quiet.is_active {
            self.quiet.undo_to(mark.quiet);
        }
        self.threads[mark.thread.index()] = mark.saved;
        self.race = None;
        if self.survived_race.is_some() {
            self.survived_race = self.survived_race.filter(|&(_, later)| later.index() < len);
        }
        (self.ops, self.cut) = (mark.ops, mark.cut);
    }
}
