//! Taking a step: what a process does, and what its thread learns.

use super::footprint::{Access, Footprint, NONE};
use super::state::{Ask, Cut, Logged, State, Thread};
use crate::event_set::EventSet;
use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::model::orders::{FenceEffect, StoreEffect};
use raddle_core::program::{Answer, End, HistoryId, Op, OpKind, Origin, UpdateKind};

impl<R: EventSet> State<'_, R> {
    /// A process that is enabled takes its next step.
    #[inline]
    pub(super) fn step(&mut self, foot: Footprint) {
        if foot.store != NONE {
            return self.update(foot);
        }
        let thread = foot.thread;
        let Thread { ask, node, effect, row, updates, stores, .. } = self.threads[thread as usize];
        if self.events.len() + 1 >= R::BITS {
            self.cut = Some(Cut::Events(thread));
        }
        let waits = !matches!(ask, Ask::Load | Ask::Choose);
        let at = self.push_event(foot, if waits { row.or(updates) } else { row });
        if waits {
            let known = &mut self.threads[thread as usize];
            known.drained = stores;
        }
        match ask {
            Ask::Write | Ask::Unlock | Ask::Drain => self.do_effect(at, node, effect),
            _ => self.answer(at, node),
        }
        self.advance(thread);
    }

    /// A store leaves its buffer.
    fn update(&mut self, foot: Footprint) {
        let Footprint { process, thread, store, .. } = foot;
        if self.events.len() + 1 >= R::BITS {
            self.cut = Some(Cut::Events(thread));
        }
        let base = self.before_update(process, thread, store);
        let at = self.push_event(foot, base);
        self.events[at].log = self.stores[thread as usize][store as usize].log;
        self.write(at);
        self.set_row(at);
        self.reach(at);
    }

    /// The thread does an effect that others may notice.
    fn do_effect(&mut self, at: usize, node: HistoryId, effect: u32) {
        let thread = self.events[at].foot.thread;
        let op = self.histories.effects(node)[effect as usize];
        self.events[at].log = self.log.len() as u32;
        match op.kind {
            OpKind::Store { value, carries, .. } => {
                self.write(at);
                self.move_on(at);
                self.log_effect(thread, Some(value), carries);
            }
            OpKind::Unlock { lock } => {
                let holder = self.locations[lock.index()].last;
                let holds = |event: u32| {
                    let event = &self.events[event as usize];
                    event.ask == Ask::Lock && event.foot.thread == thread
                };
                if holder == NONE || !holds(holder) {
                    self.cut = Some(Cut::Malformed);
                }
                self.synchronize(at);
                self.move_on(at);
                self.log_effect(thread, Some(0), false);
            }
            OpKind::Spawn { thread: child } => {
                self.move_on(at);
                self.spawn(thread, child);
            }
            _ => {
                self.move_on(at);
                self.log_effect(thread, None, false);
            }
        }
    }

    /// What has happened before the event has happened before the next one of its thread.
    #[inline]
    fn move_on(&mut self, at: usize) {
        let thread = self.events[at].foot.thread;
        self.threads[thread as usize].row = self.events[at].before;
    }

    /// The thread has done its next effect.
    pub(super) fn log_effect(&mut self, thread: u32, written: Option<Value>, carries: bool) {
        let known = &mut self.threads[thread as usize];
        known.effect += 1;
        let origin = Origin { node: known.node, index: known.effect };
        self.log_op(thread, origin, NONE, written, carries);
    }

    fn log_op(
        &mut self,
        thread: u32,
        origin: Origin,
        source: u32,
        written: Option<Value>,
        carries: bool,
    ) {
        let known = &mut self.threads[thread as usize];
        let position = known.ops;
        known.ops += 1;
        known.last_op = self.log.len() as u32;
        self.log.push(Logged { thread, position, origin, source, written, carries });
    }

    /// The thread starts another one.
    fn spawn(&mut self, thread: u32, child: ThreadId) {
        self.log_effect(thread, None, false);
        let Thread { node, effect, row, .. } = self.threads[thread as usize];
        let origin = Origin { node, index: effect };
        self.start(child.index() as u32, Some(origin), row);
    }

    /// A thread starts.
    pub(super) fn start(&mut self, thread: u32, by: Option<Origin>, row: R) {
        self.grow();
        if self.threads.get(thread as usize).is_some_and(|known| known.ask != Ask::Absent) {
            self.cut = Some(Cut::Malformed);
            return;
        }
        let spawned_by = by.filter(|_| self.shares_memory);
        let id = ThreadId::new(thread as usize);
        let node = self.histories.start(self.program, &self.past, id, spawned_by);
        self.grow();
        self.undo.push((thread, self.threads[thread as usize]));
        let known = &mut self.threads[thread as usize];
        (known.node, known.ask, known.row) = (node, Ask::Ended, row);
        self.past.push(node);
        self.advance(thread);
    }

    /// The question at the end of a history is answered.
    fn answer(&mut self, at: usize, node: HistoryId) {
        let Footprint { thread, choice, location, access, .. } = self.events[at].foot;
        let op = self.question(node);
        let log = self.log.len() as u32;
        self.events[at].log = log;
        match op.kind {
            OpKind::Choose { options } => {
                self.set_options(at, options);
                self.move_on(at);
                self.go_on(thread, node, Answer::Choice(choice), choice, None, false);
            }
            OpKind::Join { thread: child } => self.join(at, node, child),
            OpKind::Lock { .. } => {
                let source = self.source(location);
                self.synchronize(at);
                self.move_on(at);
                self.go_on(thread, node, self.identity(source), source, Some(1), false);
            }
            OpKind::Sync { update, .. } => {
                let (source, value) = (self.source(location), self.memory(location));
                self.synchronize(at);
                self.move_on(at);
                let answer =
                    if self.shares_memory { self.identity(source) } else { Answer::Value(value) };
                let written = Some(update.apply(value));
                self.go_on(thread, node, answer, source, written, false);
            }
            OpKind::Load { .. } => {
                let source = self.read(at);
                self.move_on(at);
                let answer = self.told(location, source);
                self.go_on(thread, node, answer, source, None, false);
            }
            _ if access == Access::Write => self.replace(at, node, &op),
            _ => self.fail(at, node, &op),
        }
    }

    /// An update, or a compare-exchange that succeeds.
    fn replace(&mut self, at: usize, node: HistoryId, op: &Op) {
        let Footprint { thread, location, .. } = self.events[at].foot;
        let source = self.source(location);
        let value = self.memory(location);
        let (written, carries) = match op.kind {
            OpKind::Rmw { update, .. } => {
                let is_pointer = source != NONE && self.log[source as usize].carries;
                let keeps = is_pointer && update.kind != UpdateKind::Swap;
                (update.apply(value), update.carries || keeps)
            }
            OpKind::CompareExchange { desired, carries, weak, .. } => {
                self.set_options(at, 1 + u32::from(weak));
                (desired, carries)
            }
            kind => unreachable!("it does not write: {kind:?}"),
        };
        self.write(at);
        self.move_on(at);
        let answer = self.told(location, source);
        self.go_on(thread, node, answer, source, Some(written), carries);
    }

    /// A compare-exchange that fails, perhaps for no reason.
    fn fail(&mut self, at: usize, node: HistoryId, op: &Op) {
        let Footprint { thread, location, .. } = self.events[at].foot;
        let value = self.memory(location);
        let source = self.read(at);
        self.move_on(at);
        let mut answer = self.told(location, source);
        if matches!(op.kind, OpKind::CompareExchange { expected, .. } if expected == value) {
            self.set_options(at, 2);
            answer = match answer {
                Answer::From(origin) => Answer::SpuriousFrom(origin),
                _ => Answer::Spurious(value),
            };
        }
        self.go_on(thread, node, answer, source, None, false);
    }

    fn join(&mut self, at: usize, node: HistoryId, child: ThreadId) {
        let thread = self.events[at].foot.thread;
        let Thread { node: last, row, updates, last_op, .. } = self.threads[child.index()];
        let event = &mut self.events[at];
        event.base = event.base.or(row).or(updates);
        event.before = event.before.or(event.base);
        self.move_on(at);
        let answer = if self.shares_memory { self.histories.joined(last) } else { Answer::Initial };
        self.go_on(thread, node, answer, last_op, None, false);
    }

    /// The op that wrote what is in memory.
    fn source(&self, location: u32) -> u32 {
        match self.locations[location as usize].last {
            NONE => NONE,
            event => self.events[event as usize].log,
        }
    }

    /// What a thread learns that observed this op.
    #[inline]
    fn told(&self, location: u32, source: u32) -> Answer {
        if source == NONE {
            return Answer::Value(self.locations[location as usize].initial);
        }
        let Logged { written, carries, origin, .. } = self.log[source as usize];
        if carries {
            return Answer::From(origin);
        }
        Answer::Value(written.expect("a source writes"))
    }

    /// What a thread learns that takes over memory from this op.
    pub(super) fn identity(&self, source: u32) -> Answer {
        if source == NONE || !self.shares_memory {
            return Answer::Initial;
        }
        Answer::From(self.log[source as usize].origin)
    }

    /// The thread goes on with an answer.
    #[inline]
    pub(super) fn go_on(
        &mut self,
        thread: u32,
        node: HistoryId,
        answer: Answer,
        source: u32,
        written: Option<Value>,
        carries: bool,
    ) {
        let next = match self.histories.known(node, answer) {
            Some(next) => next,
            None => {
                let next = self.histories.after(self.program, &self.past, node, answer);
                self.grow();
                next
            }
        };
        self.log_op(thread, Origin { node: next, index: 0 }, source, written, carries);
        self.past.push(next);
        let known = &mut self.threads[thread as usize];
        (known.node, known.effect) = (next, 0);
    }

    /// The thread does all that nobody notices, up to what somebody may.
    #[inline]
    fn advance(&mut self, thread: u32) {
        while self.cut.is_none() {
            let Thread { node, effect, .. } = self.threads[thread as usize];
            let Some(&op) = self.histories.effects(node).get(effect as usize) else {
                if self.advance_to_question(thread, node) {
                    return;
                }
                continue;
            };
            if let Some(ask) = self.noticed(thread, op.kind) {
                let known = &mut self.threads[thread as usize];
                known.ask = ask;
                known.location = op.kind.location().map_or(NONE, index);
                return;
            }
            self.do_unnoticed(thread, op.kind);
        }
    }

    /// The thread is at the end of a segment. Whether it stays there.
    #[inline]
    fn advance_to_question(&mut self, thread: u32, node: HistoryId) -> bool {
        let (ask, location) = match *self.histories.end(node) {
            End::Question(op) => match op.kind {
                OpKind::ReadCell { location } => {
                    self.read_cell(thread, node, location);
                    return false;
                }
                OpKind::Choose { options: 0 } => {
                    self.cut = Some(Cut::Malformed);
                    return true;
                }
                kind => (asked(kind), asked_location(kind)),
            },
            _ => (Ask::Ended, NONE),
        };
        let known = &mut self.threads[thread as usize];
        (known.ask, known.location) = (ask, location);
        true
    }

    /// How an effect of a thread is noticed, if it is.
    #[inline]
    fn noticed(&self, thread: u32, kind: OpKind) -> Option<Ask> {
        let Thread { stores, drained, .. } = self.threads[thread as usize];
        match kind {
            OpKind::Store { order, .. } => {
                (self.buffers.store(order) == StoreEffect::AtOnce).then_some(Ask::Write)
            }
            OpKind::Unlock { .. } => Some(Ask::Unlock),
            OpKind::Fence { order } if self.buffers.fence(order) == FenceEffect::Drain => {
                (stores > drained).then_some(Ask::Drain)
            }
            OpKind::Spawn { .. } => (stores > drained).then_some(Ask::Drain),
            _ => None,
        }
    }

    fn do_unnoticed(&mut self, thread: u32, kind: OpKind) {
        match kind {
            OpKind::Spawn { thread: child } => return self.spawn(thread, child),
            OpKind::Store { location, value, order, carries } => {
                self.buffer(thread, index(location), order, self.log.len() as u32);
                return self.log_effect(thread, Some(value), carries);
            }
            OpKind::Init { location, value } => self.locations[location.index()].initial = value,
            OpKind::StoreFence => self.threads[thread as usize].rank += 1,
            OpKind::Fence { order } if self.buffers.fence(order) == FenceEffect::StoreStore => {
                self.threads[thread as usize].rank += 1;
            }
            OpKind::WriteCell { location } => return self.write_cell(thread, location),
            _ => {}
        }
        self.log_effect(thread, None, false);
    }
}

fn index(location: LocationId) -> u32 {
    location.index() as u32
}

/// What a thread does that has this question.
fn asked(kind: OpKind) -> Ask {
    match kind {
        OpKind::Load { .. } => Ask::Load,
        OpKind::Rmw { .. } => Ask::Update,
        OpKind::CompareExchange { .. } => Ask::Compare,
        OpKind::Lock { .. } => Ask::Lock,
        OpKind::Sync { .. } => Ask::Sync,
        OpKind::Join { .. } => Ask::Join,
        OpKind::Choose { .. } => Ask::Choose,
        _ => unreachable!("not a question that is scheduled: {kind:?}"),
    }
}

/// The location of a question; for a join the thread.
fn asked_location(kind: OpKind) -> u32 {
    match kind {
        OpKind::Join { thread } => thread.index() as u32,
        kind => kind.location().map_or(NONE, index),
    }
}
