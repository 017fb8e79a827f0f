//! Executing a step: the effect of a process, and the answer that its thread gets.

use super::footprint::{Footprint, FootprintAccess, NONE};
use super::state::{DporState, DporThread, EarlyEnd, LoggedOp, NextAction};
use crate::event_index::EventIndex;
use crate::event_set::EventSet;
use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::model::orders::{FenceEffect, StoreEffect};
use raddle_core::program::{Answer, End, HistoryId, Op, OpKind, Origin, UpdateKind};

/// Question of a thread together with its answer.
#[derive(Clone, Copy)]
pub(super) struct AnsweredQuestion {
    /// History that ends with the question.
    pub(super) node: HistoryId,
    pub(super) answer: Answer,
    /// See [`LoggedOp::source`].
    pub(super) source: u32,
    /// Value that the op wrote, if any.
    pub(super) written: Option<Value>,
    /// Whether that value is a pointer to memory that is not accessed through ops.
    pub(super) carries: bool,
}

impl AnsweredQuestion {
    /// Answer of an op that writes nothing.
    #[inline]
    pub(super) fn read(node: HistoryId, answer: Answer, source: u32) -> Self {
        AnsweredQuestion { node, answer, source, written: None, carries: false }
    }
}

impl<R: EventSet> DporState<'_, R> {
    /// Executes the next step of an enabled process, whose footprint must be that of
    /// [`next_footprint`](Self::next_footprint).
    #[inline]
    pub(super) fn step(&mut self, footprint: Footprint) {
        if footprint.flushed != NONE {
            return self.flush(footprint);
        }
        let thread = footprint.thread;
        let DporThread { action, node, effect, hb, flushes_hb, stores, .. } =
            self.threads[thread as usize].clone();
        if self.events.len() + 1 >= R::BITS.min(self.bound) {
            self.early_end = Some(EarlyEnd::Events(thread));
        }
        let waits = !matches!(action, NextAction::Load | NextAction::Choose);
        let at = self.push_event(footprint, if waits { hb.or(&flushes_hb) } else { hb.clone() });
        if waits {
            let known = &mut self.threads[thread as usize];
            known.drained = stores;
        }
        match action {
            NextAction::Write | NextAction::Unlock | NextAction::Drain => {
                self.execute_effect(at, node, effect);
            }
            _ => self.answer(at, node),
        }
        self.run_invisible_ops(thread);
    }

    /// Moves a store from its buffer to memory.
    fn flush(&mut self, footprint: Footprint) {
        let Footprint { process, thread, flushed, .. } = footprint;
        if self.events.len() + 1 >= R::BITS.min(self.bound) {
            self.early_end = Some(EarlyEnd::Events(thread));
        }
        let base = self.hb_of_flush(process, thread, flushed);
        let at = self.push_event(footprint, base);
        self.events[at.index()].log_index =
            self.stores[thread as usize][flushed as usize].log_index;
        self.write(at);
        self.set_process_hb(at);
        self.mark_flushed(at);
    }

    /// Executes a visible effect of a thread.
    fn execute_effect(&mut self, at: EventIndex, node: HistoryId, effect: u32) {
        let thread = self.events[at.index()].footprint.thread;
        let op = self.histories.effects(node)[effect as usize];
        self.events[at.index()].log_index = self.log.len() as u32;
        match op.kind {
            OpKind::Store { value, carries, .. } => {
                self.write(at);
                self.set_thread_hb(at);
                self.log_effect(thread, Some(value), carries);
            }
            OpKind::Unlock { lock } => {
                let holder = self.locations[lock.index()].last;
                let holds = |event: u32| {
                    let event = &self.events[event as usize];
                    event.action == NextAction::Lock && event.footprint.thread == thread
                };
                if holder == NONE || !holds(holder) {
                    self.early_end = Some(EarlyEnd::Malformed);
                }
                self.synchronize(at);
                self.set_thread_hb(at);
                self.log_effect(thread, Some(0), false);
            }
            OpKind::Spawn { thread: child } => {
                self.set_thread_hb(at);
                self.spawn(thread, child);
            }
            _ => {
                self.set_thread_hb(at);
                self.log_effect(thread, None, false);
            }
        }
    }

    /// Orders the next event of the thread after this one.
    #[inline]
    fn set_thread_hb(&mut self, at: EventIndex) {
        let thread = self.events[at.index()].footprint.thread;
        self.threads[thread as usize].hb = self.events[at.index()].before.clone();
    }

    /// Logs the next effect of the thread.
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
        self.log.push(LoggedOp { thread, position, origin, source, written, carries });
    }

    /// Logs the spawn of a thread and starts the thread.
    fn spawn(&mut self, thread: u32, child: ThreadId) {
        self.log_effect(thread, None, false);
        let DporThread { node, effect, hb, .. } = self.threads[thread as usize].clone();
        let origin = Origin { node, index: effect };
        self.start(child.index() as u32, Some(origin), hb.clone());
    }

    /// Starts a thread, spawned by `by`. `hb` are the events that happen before its first one.
    pub(super) fn start(&mut self, thread: u32, by: Option<Origin>, hb: R) {
        self.grow();
        let known = self.threads.get(thread as usize);
        if known.is_some_and(|known| known.action != NextAction::NotStarted) {
            self.early_end = Some(EarlyEnd::Malformed);
            return;
        }
        let spawned_by = by.filter(|_| self.shares_memory);
        let id = ThreadId::new(thread as usize);
        let node = self.histories.start(self.program, &self.past, id, spawned_by);
        self.grow();
        self.undo.push((thread, self.threads[thread as usize].clone()));
        let known = &mut self.threads[thread as usize];
        (known.node, known.action, known.hb) = (node, NextAction::Ended, hb);
        self.past.push(node);
        self.run_invisible_ops(thread);
    }

    /// Executes the question at the end of a history.
    fn answer(&mut self, at: EventIndex, node: HistoryId) {
        let Footprint { thread, choice, location, access, .. } = self.events[at.index()].footprint;
        let op = self.question(node);
        self.events[at.index()].log_index = self.log.len() as u32;
        match op.kind {
            OpKind::Choose { options } => {
                self.set_options(at, options);
                self.set_thread_hb(at);
                let answer = Answer::Choice(choice);
                self.continue_thread(thread, AnsweredQuestion::read(node, answer, choice));
            }
            OpKind::Join { thread: child } => self.join(at, node, child),
            OpKind::Lock { .. } => {
                let source = self.memory_source(location);
                self.synchronize(at);
                self.set_thread_hb(at);
                let (answer, written) = (self.identity_answer(source), Some(1));
                let answered = AnsweredQuestion { node, answer, source, written, carries: false };
                self.continue_thread(thread, answered);
            }
            OpKind::Sync { update, .. } => {
                let (source, value) = (self.memory_source(location), self.memory_value(location));
                self.synchronize(at);
                self.set_thread_hb(at);
                let answer = if self.shares_memory {
                    self.identity_answer(source)
                } else {
                    Answer::Value(value)
                };
                let written = Some(update.apply(value));
                let answered = AnsweredQuestion { node, answer, source, written, carries: false };
                self.continue_thread(thread, answered);
            }
            OpKind::Load { .. } => {
                let source = self.read(at);
                self.set_thread_hb(at);
                let answer = self.answer_from(location, source);
                self.continue_thread(thread, AnsweredQuestion::read(node, answer, source));
            }
            _ if access == FootprintAccess::Write => self.execute_rmw(at, node, &op),
            _ => self.fail_compare_exchange(at, node, &op),
        }
    }

    /// Executes a read-modify-write that writes.
    fn execute_rmw(&mut self, at: EventIndex, node: HistoryId, op: &Op) {
        let Footprint { thread, location, .. } = self.events[at.index()].footprint;
        let source = self.memory_source(location);
        let value = self.memory_value(location);
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
            kind => unreachable!("not a read-modify-write: {kind:?}"),
        };
        self.write(at);
        self.set_thread_hb(at);
        let answer = self.answer_from(location, source);
        let written = Some(written);
        self.continue_thread(thread, AnsweredQuestion { node, answer, source, written, carries });
    }

    /// Executes a compare-exchange that fails, spuriously if the value matches.
    fn fail_compare_exchange(&mut self, at: EventIndex, node: HistoryId, op: &Op) {
        let Footprint { thread, location, .. } = self.events[at.index()].footprint;
        let value = self.memory_value(location);
        let source = self.read(at);
        self.set_thread_hb(at);
        let mut answer = self.answer_from(location, source);
        if matches!(op.kind, OpKind::CompareExchange { expected, .. } if expected == value) {
            self.set_options(at, 2);
            answer = match answer {
                Answer::From(origin) => Answer::SpuriousFrom(origin),
                _ => Answer::Spurious(value),
            };
        }
        self.continue_thread(thread, AnsweredQuestion::read(node, answer, source));
    }

    /// Executes the join of `child`, which has finished.
    fn join(&mut self, at: EventIndex, node: HistoryId, child: ThreadId) {
        let thread = self.events[at.index()].footprint.thread;
        let DporThread { node: last, hb, flushes_hb, last_op, .. } =
            self.threads[child.index()].clone();
        let event = &mut self.events[at.index()];
        event.base = event.base.or(&hb).or(&flushes_hb);
        event.before = event.before.or(&event.base);
        self.set_thread_hb(at);
        let answer = if self.shares_memory { self.histories.joined(last) } else { Answer::Initial };
        self.continue_thread(thread, AnsweredQuestion::read(node, answer, last_op));
    }

    /// Returns the log index of the op that wrote the value in memory, or [`NONE`].
    fn memory_source(&self, location: u32) -> u32 {
        match self.locations[location as usize].last {
            NONE => NONE,
            event => self.events[event as usize].log_index,
        }
    }

    /// Returns the answer for a read that observes `source`.
    #[inline]
    fn answer_from(&self, location: u32, source: u32) -> Answer {
        if source == NONE {
            return Answer::Value(self.locations[location as usize].initial);
        }
        let LoggedOp { written, carries, origin, .. } = self.log[source as usize];
        if carries {
            return Answer::From(origin);
        }
        Answer::Value(written.expect("the source of a read writes"))
    }

    /// Returns the answer for a synchronization that takes over memory from `source`: the identity of the op, if
    /// threads share memory that is not accessed through ops.
    pub(super) fn identity_answer(&self, source: u32) -> Answer {
        if source == NONE || !self.shares_memory {
            return Answer::Initial;
        }
        Answer::From(self.log[source as usize].origin)
    }

    /// Logs a question and continues the thread with the answer. Does not execute the ops that follow.
    #[inline]
    pub(super) fn continue_thread(&mut self, thread: u32, answered: AnsweredQuestion) {
        let AnsweredQuestion { node, answer, source, written, carries } = answered;
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

    /// Executes the invisible ops of the thread, up to its next visible one.
    #[inline]
    fn run_invisible_ops(&mut self, thread: u32) {
        while self.early_end.is_none() {
            let DporThread { node, effect, .. } = self.threads[thread as usize];
            let Some(&op) = self.histories.effects(node).get(effect as usize) else {
                if self.stop_at_question(thread, node) {
                    return;
                }
                continue;
            };
            if let Some(action) = self.visible_action(thread, op.kind) {
                let known = &mut self.threads[thread as usize];
                known.action = action;
                known.location = op.kind.location().map_or(NONE, index);
                return;
            }
            self.execute_invisible(thread, op.kind);
        }
    }

    /// Sets the next action of a thread at the end of a segment. Returns `false` if the thread executed an invisible
    /// question instead.
    #[inline]
    fn stop_at_question(&mut self, thread: u32, node: HistoryId) -> bool {
        let (action, location) = match *self.histories.end(node) {
            End::Question(op) => match op.kind {
                OpKind::ReadCell { location } => {
                    self.read_cell(thread, node, location);
                    return false;
                }
                OpKind::Choose { options: 0 } => {
                    self.early_end = Some(EarlyEnd::Malformed);
                    return true;
                }
                kind => (question_action(kind), question_location(kind)),
            },
            _ => (NextAction::Ended, NONE),
        };
        let known = &mut self.threads[thread as usize];
        (known.action, known.location) = (action, location);
        true
    }

    /// Returns the action of an effect if it is visible.
    #[inline]
    fn visible_action(&self, thread: u32, kind: OpKind) -> Option<NextAction> {
        let DporThread { stores, drained, .. } = self.threads[thread as usize];
        match kind {
            OpKind::Store { order, .. } => {
                (self.buffers.store(order) == StoreEffect::AtOnce).then_some(NextAction::Write)
            }
            OpKind::Unlock { .. } => Some(NextAction::Unlock),
            OpKind::Fence { order } if self.buffers.fence(order) == FenceEffect::Drain => {
                (stores > drained).then_some(NextAction::Drain)
            }
            OpKind::Spawn { .. } => (stores > drained).then_some(NextAction::Drain),
            _ => None,
        }
    }

    fn execute_invisible(&mut self, thread: u32, kind: OpKind) {
        match kind {
            OpKind::Spawn { thread: child } => return self.spawn(thread, child),
            OpKind::Store { location, value, order, carries } => {
                self.buffer(thread, index(location), order);
                return self.log_effect(thread, Some(value), carries);
            }
            OpKind::Init { location, value } => self.locations[location.index()].initial = value,
            OpKind::StoreFence => self.threads[thread as usize].epoch += 1,
            OpKind::Fence { order } if self.buffers.fence(order) == FenceEffect::StoreStore => {
                self.threads[thread as usize].epoch += 1;
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

/// Returns the action of a visible question.
fn question_action(kind: OpKind) -> NextAction {
    match kind {
        OpKind::Load { .. } => NextAction::Load,
        OpKind::Rmw { .. } => NextAction::Rmw,
        OpKind::CompareExchange { .. } => NextAction::CompareExchange,
        OpKind::Lock { .. } => NextAction::Lock,
        OpKind::Sync { .. } => NextAction::Sync,
        OpKind::Join { .. } => NextAction::Join,
        OpKind::Choose { .. } => NextAction::Choose,
        _ => unreachable!("not a visible question: {kind:?}"),
    }
}

/// Returns the index of the location of a question; for a join that of the thread.
fn question_location(kind: OpKind) -> u32 {
    match kind {
        OpKind::Join { thread } => thread.index() as u32,
        kind => kind.location().map_or(NONE, index),
    }
}
