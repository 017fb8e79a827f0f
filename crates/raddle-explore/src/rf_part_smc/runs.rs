//! Runs: what a thread does between two questions that need a decision, in one piece.
//!
//! *Problem.* A thread that accesses quiet locations a thousand times has a thousand segments, and every execution that
//! contains them would go through all of them.
//!
//! *Idea.* Between two real questions a thread learns nothing from others. So a read of a quiet location that it has
//! accessed since its last real question returns the value that it knows, and a lock that it has released is free. Its
//! accesses of one location between two events are one access: a write if one of them writes. Only the first read of a
//! location asks the table (`quiet_table.rs`). A run is what is left; it is made once for each history at which it
//! begins.
//!
//! *Cost.* An execution pays for the events of a run, for one access of each quiet location between two events, and for
//! copying the list of its histories. Making a run takes a hash lookup per access. So accesses of one location cost
//! almost nothing, those of distinct locations about 2 ns per access and class (`benches/long.rs`).
//!
//! Under PSO an access that flushes stores separates those before from those after it: only the former are published.
//! As only events publish, the last flush between two events is the only one that matters.

use super::execution::ThreadAnswer;
use super::history_cache::{CompactEffect, PendingKind, SegmentInfo, ValueId};
use super::quiet_table::QuietWrite;
use super::run_table::{KnownValues, QuietRun, RunBuilder, RunStep};
use super::state::PartSearch;
use crate::event_set::EventSet;
use crate::model::{IncrementalModel, QuietStep};
use raddle_core::execution::ThreadId;
use raddle_core::model::orders::{StoreBuffers, StoreEffect};
use raddle_core::program::{Answer, HistoryId, HistoryStep, Origin};

/// The number of ops after which a run ends: a thread may go on forever without asking others.
const LONGEST_RUN: u32 = 1_000;

/// The number of histories after which a run is first examined for states that repeat: a thread may wait for a location that
/// no other thread has accessed yet.
const SHORT_RUN: usize = 16;

impl<R: EventSet, M: IncrementalModel<R>> PartSearch<'_, '_, R, M> {
    /// Extends the history of a thread by the run that begins with a history. Returns the history that follows, if it
    /// is known.
    pub(super) fn enter_run(&mut self, thread: ThreadId, history: HistoryId) -> Option<HistoryId> {
        let run = match self.runs.get(history) {
            Some(run) => run,
            None => self.make_run(history)?,
        };
        if !self.has_room(thread, run.events) {
            self.no_room();
            return None;
        }
        for at in run.histories.0..run.histories.1 {
            let (history, offset) = self.runs.histories[at as usize];
            self.past.push(history);
            self.first_events.push(self.len as u32 + offset);
        }
        for at in run.steps.0..run.steps.1 {
            match self.runs.steps[at as usize] {
                RunStep::Effect(at, origin) => self.perform_effects(thread, origin, (at, at + 1)),
                RunStep::Read(location) => self.quiet_read(thread, location),
                RunStep::Write(location, write) => self.quiet_write(thread, location, write),
                RunStep::Model(step) => self.model.push_quiet_access(thread, step),
                RunStep::Flush => self.note_flush(thread),
            }
        }
        let (last, _) = self.runs.histories[run.histories.1 as usize - 1];
        self.wait(thread, last);
        self.count_ops(thread, run.ops);
        run.next
    }

    /// Makes the run that begins with a history. Returns `None` if the exploration starts over.
    #[cold]
    fn make_run(&mut self, history: HistoryId) -> Option<QuietRun> {
        let mut builder = RunBuilder::with_known(self.known_at(history));
        let (reached, mut at) = (self.past.len(), history);
        let next = loop {
            if self.cache.len() <= at.0 as usize {
                self.learn_histories();
                if self.stop.is_some() {
                    self.past.truncate(reached);
                    return None;
                }
            }
            if self.cache.segment(at).spawns || builder.ops > LONGEST_RUN {
                break Some(at);
            }
            self.past.push(at);
            self.add_segment(&mut builder, at);
            let reached = builder.histories.len();
            if reached >= SHORT_RUN && reached.is_power_of_two() {
                self.end_if_repeated(at, reached);
            }
            match self.answer_locally(&mut builder, at) {
                Some(next) => at = next,
                None => break None,
            }
        };
        self.past.truncate(reached);
        builder.separate();
        let run = self.runs.add(history, &builder, next);
        if let Some(&(last, _)) = builder.histories.last() {
            self.last_known = Some((last, builder.known));
        }
        Some(run)
    }

    /// Adds the effects of the last segment of a history to a run.
    fn add_segment(&mut self, builder: &mut RunBuilder, history: HistoryId) {
        builder.histories.push((history, builder.events));
        let (first, last) = self.cache.segment(history).effects;
        builder.ops += last - first + 1;
        for at in first..last {
            let origin = Origin { node: history, index: at - first + 1 };
            let effect = self.cache.effects[at as usize];
            match effect {
                CompactEffect::QuietStore { location, order, carries, value } => {
                    let effect = StoreBuffers::PerLocation.store(order);
                    builder.push_model_step(QuietStep::Store(order));
                    if self.model.reorders_stores() && effect == StoreEffect::BufferedBehindFence {
                        builder.flush();
                    }
                    builder.write(location, QuietWrite { value, carries, origin });
                    if self.model.reorders_stores() && effect == StoreEffect::AtOnce {
                        builder.flush();
                    }
                }
                CompactEffect::QuietUnlock { lock } => {
                    builder.push_model_step(QuietStep::Update);
                    let value = ValueId::ZERO;
                    builder.write(lock, QuietWrite { value, carries: false, origin });
                    if self.model.reorders_stores() {
                        builder.flush();
                    }
                }
                CompactEffect::Init { .. } => builder.steps.push(RunStep::Effect(at, origin)),
                _ => {
                    builder.separate();
                    builder.steps.push(RunStep::Effect(at, origin));
                    builder.separate();
                    let is_fence =
                        matches!(effect, CompactEffect::Fence { .. } | CompactEffect::StoreFence);
                    let is_event =
                        effect.is_event() && (self.model.fences_are_events() || !is_fence);
                    builder.events += u32::from(is_event);
                }
            }
        }
    }

    /// Answers the question at the end of a history if the thread knows the value. Returns the history that follows.
    fn answer_locally(
        &mut self,
        builder: &mut RunBuilder,
        history: HistoryId,
    ) -> Option<HistoryId> {
        let &SegmentInfo { pending, asked, target, expected, is_weak, is_blind, .. } =
            self.cache.segment(history);
        if pending != PendingKind::Quiet || is_blind {
            return None;
        }
        let location = target.location();
        let value = builder.known.get(&location).copied()?;
        let writes = match asked {
            PendingKind::Load => false,
            PendingKind::Update => true,
            PendingKind::CompareExchange if !is_weak || value != expected => value == expected,
            PendingKind::Lock if !self.shares_memory && value == ValueId::ZERO => true,
            PendingKind::Sync if !self.shares_memory && self.is_admitted(history, value) => true,
            _ => return None,
        };
        let (written, carries) = if writes {
            self.written_quietly(history, value, false)
        } else {
            (ValueId::NONE, false)
        };
        let is_lock = asked == PendingKind::Lock;
        let answer = ThreadAnswer::Value(if is_lock { ValueId::NONE } else { value });
        let next = self.after(history, answer);
        let next = next.unwrap_or_else(|| self.grow(history, answer, written));
        if !writes && self.rounds.are_left_out {
            self.note_silent_answer(next);
        }
        let drains = asked != PendingKind::Load;
        builder.push_model_step(if drains { QuietStep::Update } else { QuietStep::Load });
        if writes {
            let origin = Origin { node: next, index: 0 };
            builder.write(location, QuietWrite { value: written, carries, origin });
        } else {
            builder.read(location);
        }
        if self.model.reorders_stores() && drains {
            builder.flush();
        }
        Some(next)
    }

    /// The values that a thread knows at the begin of a run: those that it has read or written since its last real
    /// question.
    fn known_at(&mut self, history: HistoryId) -> KnownValues {
        let mut chain = vec![];
        let mut at = history;
        let mut known = KnownValues::default();
        while let HistoryStep::After(parent, answer) = self.histories.step(at) {
            if self.cache.segment(parent).pending != PendingKind::Quiet {
                break;
            }
            chain.push((parent, answer));
            if let Some((_, last)) = self.last_known.take_if(|(last, _)| *last == parent) {
                known = last;
                break;
            }
            at = parent;
        }
        let inherited = !known.is_empty();
        for (index, &(parent, answer)) in chain.iter().rev().enumerate() {
            if !(inherited && index == 0) {
                self.note_effects(&mut known, parent);
            }
            self.note_answer(&mut known, parent, answer);
        }
        known
    }

    /// Adds the quiet effects of the last segment of a history to known values.
    fn note_effects(&self, known: &mut KnownValues, history: HistoryId) {
        for effect in self.cache.effects_of(history) {
            match *effect {
                CompactEffect::QuietStore { location, carries: false, value, .. } => {
                    known.insert(location, value);
                }
                CompactEffect::QuietStore { location, .. } => {
                    known.remove(&location);
                }
                CompactEffect::QuietUnlock { lock } => {
                    known.insert(lock, ValueId::ZERO);
                }
                _ => {}
            }
        }
    }

    /// Adds the answer to a quiet question, or what the question wrote then, to known values.
    fn note_answer(&mut self, known: &mut KnownValues, parent: HistoryId, answer: Answer) {
        let &SegmentInfo { asked, target, expected, is_blind, .. } = self.cache.segment(parent);
        let location = target.location();
        known.remove(&location);
        if asked == PendingKind::Lock && !self.shares_memory {
            known.insert(location, ValueId::ONE);
        }
        let Answer::Value(value) = answer else { return };
        if is_blind {
            return;
        }
        let value = self.cache.values.id(value);
        let writes = match asked {
            PendingKind::Load => false,
            PendingKind::CompareExchange => value == expected,
            PendingKind::Update => true,
            PendingKind::Sync => !self.shares_memory,
            _ => return,
        };
        let (after, carries) =
            if writes { self.written_quietly(parent, value, false) } else { (value, false) };
        if !carries {
            known.insert(location, after);
        }
    }
}
