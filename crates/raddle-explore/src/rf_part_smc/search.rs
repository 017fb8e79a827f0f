//! The search itself: nodes, the threads tried at each, the sources tried for each.

use super::memo::{Ask, Known, ValueId};
use super::state::{Explorer, INIT, Reading, Role, Stop, Thread, Told};
use crate::driver::Restart;
use crate::event_set::EventSet;
use crate::model::{Effect, IncrementalModel, Sources};
use raddle_core::execution::MemoryOrder;
use raddle_core::program::{Answer, HistoryId, OpKind, Origin, UpdateKind};

impl<R: EventSet, F: IncrementalModel<R>> Explorer<'_, '_, R, F> {
    /// All classes that extend the current execution and obey the causal maps.
    pub(super) fn node(&mut self) {
        if self.route.is_ahead {
            return self.follow_route();
        }
        let enabled = self.enabled();
        if enabled.is_empty() || !self.goes_on() {
            return self.leaf();
        }
        if !self.special.is_empty() {
            let choosing = enabled.iter().find(|&thread| self.threads[thread].ask == Ask::Choose);
            if let Some(thread) = choosing {
                return self.choose(thread);
            }
        }
        let first = self.first_thread(enabled);
        let (base, forbidden) = (self.floors.len(), self.open.forbidden());
        self.try_threads(first, enabled, base);
        self.permit(base);
        self.open.restore_forbidden(forbidden);
    }

    /// Tries the first thread, then all others unless they do not matter. The causal maps of those that were tried
    /// at this node before, and are tried now, are noted from `base` on.
    #[inline]
    pub(super) fn try_threads(&mut self, first: Option<usize>, mut rest: R, base: usize) {
        let mut next = first;
        while let Some(thread) = next {
            rest.remove(thread);
            let start = self.clock;
            let floor = self.threads[thread].floor;
            let tried = self.is_open().then(|| self.open.begin());
            self.expand(thread);
            if self.stop.is_some() {
                if matches!(self.stop, Some(Stop::Suspended)) {
                    self.leave_node(thread, rest, base, start);
                }
                return;
            }
            self.was_tried(thread);
            let nothing_new = tried.is_some_and(|tried| self.open_end(thread, start, &tried));
            if floor == 0 && self.others_do_not_matter(thread, start, nothing_new) {
                return;
            }
            next = if F::BY_VALUE { self.first_thread(rest) } else { rest.first() };
        }
    }

    /// From now on the read of the thread may observe only what is not there yet.
    #[inline]
    pub(super) fn was_tried(&mut self, thread: usize) {
        self.floors.push((thread as u32, self.threads[thread].floor));
        self.threads[thread].floor = self.len as u32 + 1;
    }

    /// Puts the causal maps back.
    #[inline]
    pub(super) fn permit(&mut self, base: usize) {
        while self.floors.len() > base {
            let (thread, floor) = self.floors.pop().expect("longer than the base");
            self.threads[thread as usize].floor = floor;
        }
    }

    /// The threads that can go on, whatever their causal maps say.
    #[inline]
    pub(super) fn enabled(&self) -> R {
        let mut enabled = self.asking;
        if !self.special.is_empty() {
            for thread in self.special.iter() {
                let can = match self.threads[thread].ask {
                    Ask::Lock | Ask::Sync => self.is_free(thread),
                    Ask::Choose => true,
                    _ => false,
                };
                if !can {
                    enabled.remove(thread);
                }
            }
        }
        enabled
    }

    /// The thread to try first: one without a causal map, whose location the fewest others have written.
    #[inline]
    pub(super) fn first_thread(&self, enabled: R) -> Option<usize> {
        if !self.outer.options.order {
            return enabled.first();
        }
        let mut best = None;
        let mut fewest = usize::MAX;
        for thread in enabled.iter() {
            let Thread { ask, location, floor, .. } = self.threads[thread];
            if floor != 0 {
                continue;
            }
            let mut writers = self.locations[location as usize].writers.and(self.asking);
            writers.remove(thread);
            let cost = writers.count() + usize::from(ask != Ask::Load);
            if cost < fewest {
                (best, fewest) = (Some(thread), cost);
                if cost == 0 {
                    break;
                }
            }
        }
        best.or(enabled.first())
    }

    /// Whether in the subtree since `start` no other thread wrote what the thread reads (or `nothing_new` there), or
    /// competes for it.
    #[inline]
    pub(super) fn others_do_not_matter(
        &self,
        thread: usize,
        start: u64,
        nothing_new: bool,
    ) -> bool {
        let Thread { ask, location, .. } = self.threads[thread];
        let place = &self.locations[location as usize];
        if !self.outer.options.signals
            || self.unexplored > start
            || !nothing_new && place.written.by_other_than(thread) > start
        {
            return false;
        }
        if ask == Ask::Load {
            return true;
        }
        place.pending.by_other_than(thread) <= start && !self.others_are_pending(thread, location)
    }

    pub(super) fn others_are_pending(&self, thread: usize, location: u32) -> bool {
        self.asking.iter().any(|other| {
            let waiting = &self.threads[other];
            other != thread && waiting.location == location && waiting.ask.competes()
        })
    }

    /// Every choice, one after the other.
    fn choose(&mut self, thread: usize) {
        let node = self.threads[thread].node;
        let OpKind::Choose { options } = self.question(node).kind else {
            unreachable!("a thread that chooses asks for a choice")
        };
        for choice in 0..options {
            self.make_choice(thread, choice);
            if self.stop.is_some() {
                if matches!(self.stop, Some(Stop::Suspended)) {
                    self.leave_choices(thread, choice, options);
                }
                return;
            }
        }
    }

    /// The thread chooses this number, and everything that follows.
    pub(super) fn make_choice(&mut self, thread: usize, choice: u32) {
        let node = self.threads[thread].node;
        let mark = self.begin(thread);
        self.face.push_level(thread);
        self.follow(thread, node, Told::Other(Answer::Choice(choice)), ValueId::NONE);
        self.descend();
        self.take_back(&mark);
        self.face.pop();
    }

    /// The sources that the thread's read may have, unless the model forbids them after all.
    #[inline]
    pub(super) fn candidates(&mut self, thread: usize) -> Sources<R> {
        let Thread { node, ask, location, floor, .. } = self.threads[thread];
        let location = location as usize;
        let mut sources = match ask {
            Ask::Lock | Ask::Sync => self.last_update(location),
            _ => self.face.sources(thread, location, ask.reads(), self.memo.get(node).order),
        };
        if ask == Ask::Update {
            sources.writes = sources.writes.minus(self.taken);
            sources.initial &= !self.locations[location].init_taken;
        }
        if floor > 0 {
            sources.initial = false;
            sources.writes = sources.writes.minus(R::below(floor as usize - 1));
        }
        sources
    }

    /// Every source of the thread's read, one after the other.
    #[inline]
    fn expand(&mut self, thread: usize) {
        let sources = self.candidates(thread);
        if F::BY_VALUE {
            let location = self.threads[thread].location as usize;
            return self.expand_by_value(thread, location, sources);
        }
        if sources.initial {
            self.try_source(thread, INIT);
        }
        for source in sources.writes.iter() {
            if self.stop.is_some() {
                let left = sources.writes.minus(R::below(source));
                return self.leave_sources(thread, left);
            }
            self.try_source(thread, source as u32);
        }
    }

    /// The only event that the next update of a synchronization object can observe.
    fn last_update(&self, location: usize) -> Sources<R> {
        match self.locations[location].last {
            INIT => Sources { writes: R::default(), initial: true },
            event => Sources { writes: R::one(event as usize), initial: false },
        }
    }

    #[inline]
    pub(super) fn try_source(&mut self, thread: usize, source: u32) {
        self.observe(thread, source);
        if self.may_fail(thread, source) {
            if self.stop.is_none() {
                self.fail_spuriously(thread, source);
            } else {
                self.leave_failure(source);
            }
        }
    }

    /// Whether the question is a weak compare-exchange that may fail although it observes what it expects.
    #[inline]
    pub(super) fn may_fail(&self, thread: usize, source: u32) -> bool {
        let Thread { node, ask, location, .. } = self.threads[thread];
        if ask != Ask::Compare {
            return false;
        }
        let known = self.memo.get(node);
        known.weak && self.value(location as usize, source) == known.expected
    }

    /// A weak compare-exchange observes what it expects, and fails.
    pub(super) fn fail_spuriously(&mut self, thread: usize, source: u32) {
        let location = self.threads[thread].location as usize;
        let (read, told) = (self.value(location, source), self.told(location, source));
        self.fail(thread, source, self.spurious(read, told));
    }

    /// The thread's question observes the source.
    #[inline]
    pub(super) fn observe(&mut self, thread: usize, source: u32) {
        let Thread { node, ask, location, .. } = self.threads[thread];
        let &Known { order, expected, .. } = self.memo.get(node);
        let told = self.told(location as usize, source);
        match ask {
            Ask::Load => {
                let (effect, next) = (Effect::Load, self.after(node, told));
                let (written, carries) = (ValueId::NONE, false);
                let reading = Reading { effect, order, written, carries, next };
                self.attempt(thread, source, told, reading);
            }
            Ask::Compare => {
                let read = self.value(location as usize, source);
                if read != expected {
                    return self.fail(thread, source, told);
                }
                self.update(thread, source, told);
            }
            Ask::Update => self.update(thread, source, told),
            Ask::Lock => {
                let told = self.identity(source);
                self.synchronize(thread, source, told, order, ValueId::ONE);
            }
            Ask::Sync => {
                let (written, _) = self.written(thread, source);
                let told = if self.shares_memory { self.identity(source) } else { told };
                self.synchronize(thread, source, told, order, written);
            }
            _ => unreachable!("only reads have sources, not {ask:?}"),
        }
    }

    /// An update, or a compare-exchange that succeeds, observes the source.
    #[inline]
    fn update(&mut self, thread: usize, source: u32, told: Told) {
        let node = self.threads[thread].node;
        let &Known { order, carries, .. } = self.memo.get(node);
        let edge = match told {
            Told::Value(read) => self.memo.after(node, read),
            Told::Other(_) => None,
        };
        let (written, carries, next) = match edge {
            Some(edge) => (edge.written, carries, Some(edge.next)),
            None => {
                let (written, carries) = self.written(thread, source);
                (written, carries, self.after(node, told))
            }
        };
        let effect = Effect::Update;
        self.attempt(thread, source, told, Reading { effect, order, written, carries, next });
    }

    /// A lock or another synchronization object is taken from the source.
    fn synchronize(
        &mut self,
        thread: usize,
        source: u32,
        told: Told,
        order: MemoryOrder,
        written: ValueId,
    ) {
        let next = self.after(self.threads[thread].node, told);
        let reading = Reading { effect: Effect::Sync, order, written, carries: false, next };
        self.attempt(thread, source, told, reading);
    }

    /// What the question of a thread writes if it observes the source, and whether that is a pointer.
    #[cold]
    fn written(&mut self, thread: usize, source: u32) -> (ValueId, bool) {
        let Thread { node, location, .. } = self.threads[thread];
        let read = self.memo.values.get(self.value(location as usize, source));
        let is_pointer = source != INIT && self.events[source as usize].carries;
        let (written, carries) = match self.question(node).kind {
            OpKind::Rmw { update, .. } => {
                let keeps = is_pointer && update.kind != UpdateKind::Swap;
                (update.apply(read), update.carries || keeps)
            }
            OpKind::CompareExchange { desired, carries, .. } => (desired, carries),
            OpKind::Sync { update, .. } => (update.apply(read), false),
            kind => unreachable!("it does not write: {kind:?}"),
        };
        (self.memo.values.id(written), carries)
    }

    /// A compare-exchange observes the source and fails.
    fn fail(&mut self, thread: usize, source: u32, told: Told) {
        let node = self.threads[thread].node;
        let (order, next) = (self.memo.get(node).failure, self.after(node, told));
        let (effect, written) = (Effect::Failed, ValueId::NONE);
        let reading = Reading { effect, order, written, carries: false, next };
        self.attempt(thread, source, told, reading);
    }

    /// What a thread learns whose compare-exchange fails although it read what it expected.
    fn spurious(&self, read: ValueId, told: Told) -> Told {
        Told::Other(match told {
            Told::Other(Answer::From(origin)) => Answer::SpuriousFrom(origin),
            _ => Answer::Spurious(self.memo.values.get(read)),
        })
    }

    /// The thread's read observes the source, if the model allows it, and everything that follows.
    #[inline]
    fn attempt(&mut self, thread: usize, source: u32, told: Told, reading: Reading) {
        let event = self.len;
        let Thread { node, location, .. } = self.threads[thread];
        let location = location as usize;
        if reading.writes() && self.is_only(event, source) && self.is_taken(location, source) {
            return;
        }
        let from = (source != INIT).then_some(source as usize);
        let Reading { effect, order, written, next, .. } = reading;
        if let Some(last) = next.filter(|&next| self.is_last_history(thread, next)) {
            let admitted = if F::BY_VALUE {
                self.face.admits_at_once(event, thread, location, from, effect)
            } else {
                self.face.admits(event, thread, location, from, effect, order)
            };
            if admitted {
                return self.leaf_after(thread, location, source, reading, last);
            }
            // By value, the other reads may have to observe something else: that takes a new witness.
            if !F::BY_VALUE {
                return;
            }
        }
        if !self.face.try_read(event, thread, location, from, effect, order) {
            if self.is_open() {
                self.open.note_rejection();
            }
            return;
        }
        if self.is_open() {
            let value = self.open_value(location, source);
            self.open.note_read(value);
        }
        let mark = self.begin(thread);
        self.check_race(thread, location, reading.writes(), order);
        self.add_read(thread, location, source, reading);
        let first_history = self.past.len();
        let next = next.unwrap_or_else(|| self.grow(node, told, written));
        self.enter(thread, next);
        if let Some(&reached) = self.past.get(first_history) {
            self.events[event].origin = Origin { node: reached, index: 0 };
        }
        self.descend();
        self.take_back(&mark);
        self.face.pop();
        if self.is_open() {
            self.open.note_return();
        }
        if matches!(self.stop, Some(Stop::Suspended)) {
            self.leave_child(source, told);
        }
    }

    /// Whether with this history of the thread everything has ended.
    #[inline]
    fn is_last_history(&self, thread: usize, next: HistoryId) -> bool {
        let is_last = self.asking == R::one(thread) && self.unfinished == 0 && !self.has_plain;
        is_last && self.is_quiet_end(next) && !self.is_open()
    }

    /// The read is the last one of the execution: nobody will ask the model about what follows, so it
    /// is not told. Only the stamps of what the thread still writes matter.
    #[inline]
    fn leaf_after(
        &mut self,
        thread: usize,
        location: usize,
        source: u32,
        reading: Reading,
        last: HistoryId,
    ) {
        let (len, saved) = (self.len, self.threads[thread]);
        let role = if reading.writes() { Role::Update } else { Role::Read };
        self.add_event(location, source, role, Origin { node: last, index: 0 });
        if reading.writes() {
            self.events[len].value = reading.written;
            self.note_writer(thread, location);
        }
        self.note_writers(thread, last);
        self.past.push(last);
        self.first_events.push(self.len as u32);
        self.threads[thread].node = last;
        self.asking.remove(thread);
        let special = self.special;
        self.special.remove(thread);
        if self.face.needs_stronger_model() {
            self.stop.get_or_insert(Stop::Restart(Restart::StrongerModel));
        } else {
            self.leaf();
        }
        self.special = special;
        self.asking.insert(thread);
        self.threads[thread] = saved;
        self.past.pop();
        self.first_events.pop();
        self.len = len;
    }

    #[inline]
    fn is_taken(&self, location: usize, source: u32) -> bool {
        match source {
            INIT => self.locations[location].init_taken,
            event => self.taken.has(event as usize),
        }
    }

    /// Adds the event; where its history starts is not known yet.
    #[inline]
    fn add_read(&mut self, thread: usize, location: usize, source: u32, reading: Reading) {
        let event = self.len;
        let origin = Origin { node: HistoryId(0), index: 0 };
        if !reading.writes() {
            self.add_event(location, source, Role::Read, origin);
            self.locations[location].reads.insert(event);
            return;
        }
        self.add_event(location, source, Role::Update, origin);
        self.events[event].value = reading.written;
        self.events[event].carries = reading.carries;
        self.note_write(event, thread, location);
        match source {
            _ if !self.is_only(event, source) => {}
            INIT => self.locations[location].init_taken = true,
            source => self.taken.insert(source as usize),
        }
        if reading.effect == Effect::Sync {
            self.set_last(location, event);
        }
    }

    /// Goes on after an answer.
    #[inline]
    pub(super) fn descend(&mut self) {
        if !self.special.is_empty() {
            self.settle();
        }
        if self.face.needs_stronger_model() {
            self.stop.get_or_insert(Stop::Restart(Restart::StrongerModel));
        }
        if self.stop.is_some() {
            return;
        }
        if self.asking.is_empty() {
            self.leaf();
        } else {
            self.node();
        }
    }

    /// Notes what has to be put back when the thread's step is taken back.
    #[inline]
    pub(super) fn begin(&mut self, thread: usize) -> Mark<R> {
        Mark {
            undo: self.undo.len(),
            len: self.len,
            past: self.past.len(),
            taken: self.taken,
            asking: self.asking,
            special: self.special,
            joined: self.joined,
            unfinished: self.unfinished,
            thread,
            saved: self.threads[thread],
        }
    }

    #[inline]
    pub(super) fn take_back(&mut self, mark: &Mark<R>) {
        self.undo_to(mark.undo);
        self.remove_events(mark.len);
        self.past.truncate(mark.past);
        self.first_events.truncate(mark.past);
        self.taken = mark.taken;
        self.asking = mark.asking;
        self.special = mark.special;
        self.joined = mark.joined;
        self.unfinished = mark.unfinished;
        self.threads[mark.thread] = mark.saved;
        self.race = None;
        self.survived = self.survived.filter(|&(_, later)| later < mark.len);
        self.cut = None;
    }
}

/// What is put back when a step is taken back.
pub(super) struct Mark<R> {
    undo: usize,
    len: usize,
    past: usize,
    taken: R,
    asking: R,
    special: R,
    joined: R,
    unfinished: u32,
    thread: usize,
    saved: Thread,
}
