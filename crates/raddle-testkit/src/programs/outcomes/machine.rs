//! All outcomes under SC, TSO and PSO: every state of a machine with store buffers.
//!
//! The machine is that of [`raddle_consistency::reference::machine`], but its states contain values only, not the events
//! that wrote them, and threads are [`ThreadState`]s. So a thread that goes around a loop comes back to the same state.

use std::collections::{BTreeMap, HashSet};

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId, Value};
use raddle_core::model::Model;
use raddle_core::model::reference::{Buffering, buffering};
use raddle_core::program::{Answer, End, OpKind, Segment};

use super::cycle::cycle;
use super::{Outcome, Outcomes, ThreadOutcome};
use crate::programs::TooLarge;
use crate::script::{Script, ScriptProgram, ThreadState};

/// The largest number of entries of a store buffer. A loop that stores would fill it without end.
const LONGEST_BUFFER: usize = 10;

/// Entry of a store buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Buffered {
    Store(LocationId, Value),
    /// What comes later leaves the buffer later.
    Fence,
}

/// Thread that was started.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct MachineThread {
    state: ThreadState,
    end: End,
    /// Effects before the end of the segment, the next one last.
    effects: Vec<OpKind>,
    buffer: Vec<Buffered>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct MachineState {
    threads: BTreeMap<ThreadId, MachineThread>,
    memory: Vec<Value>,
    /// The threads that hold locks.
    holders: BTreeMap<LocationId, ThreadId>,
}

pub(super) fn outcomes(script: &Script, model: Model, budget: usize) -> Result<Outcomes, TooLarge> {
    let program = ScriptProgram::new(script);
    let buffering = buffering(model).expect("the model has a machine");
    let mut oracle = MachineOracle { program, buffering, found: Outcomes::default() };
    let (threads, holders) = (BTreeMap::new(), BTreeMap::new());
    let memory = oracle.program.initial_values().to_vec();
    let mut start = MachineState { threads, memory, holders };
    oracle.start(&mut start, ThreadId::new(0))?;
    let mut visited = HashSet::from([start.clone()]);
    let mut open = vec![start];
    while let Some(state) = open.pop() {
        oracle.note_outcome(&state);
        for next in oracle.successors(&state)? {
            if visited.len() >= budget {
                return Err(TooLarge);
            }
            if visited.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    oracle.found.is_complete = true;
    Ok(oracle.found)
}

struct MachineOracle {
    program: ScriptProgram,
    buffering: Buffering,
    found: Outcomes,
}

impl MachineOracle {
    /// Starts a thread.
    fn start(&mut self, state: &mut MachineState, thread: ThreadId) -> Result<(), TooLarge> {
        let segment = self.program.first_segment(thread);
        self.enter(state, thread, segment, vec![])
    }

    /// Lets a thread begin a segment.
    fn enter(
        &mut self,
        state: &mut MachineState,
        thread: ThreadId,
        (segment, next): (Segment, ThreadState),
        buffer: Vec<Buffered>,
    ) -> Result<(), TooLarge> {
        match segment.end {
            End::Limit => return Err(TooLarge),
            End::Question(_) => drop(self.found.states.insert(next.clone())),
            End::Failed(_) => drop(self.found.failures.insert(self.program.place_of(&next))),
            _ => {}
        }
        let effects = segment.effects.iter().rev().map(|op| op.kind).collect();
        let own = MachineThread { state: next, end: segment.end, effects, buffer };
        state.threads.insert(thread, own);
        Ok(())
    }

    /// Returns all successors of a state.
    fn successors(&mut self, state: &MachineState) -> Result<Vec<MachineState>, TooLarge> {
        let mut all = vec![];
        for (&thread, own) in &state.threads {
            if own.effects.last().is_some_and(|&effect| self.is_local(effect)) {
                return self.effect(state, thread);
            }
        }
        for (&thread, own) in &state.threads {
            all.extend(self.flushes(state, thread));
            all.extend(match own.end {
                _ if !own.effects.is_empty() => self.effect(state, thread)?,
                End::Question(op) => self.answers(state, thread, op.kind)?,
                _ => vec![],
            });
        }
        Ok(all)
    }

    /// Returns `true` if an effect changes only the buffer of its thread. Its time does not matter.
    fn is_local(&self, effect: OpKind) -> bool {
        match effect {
            OpKind::Store { order, .. } => {
                order != MemoryOrder::SeqCst && self.buffering != Buffering::None
            }
            OpKind::Fence { order } => order != MemoryOrder::SeqCst,
            OpKind::StoreFence => true,
            _ => false,
        }
    }

    /// Returns the states after one store has left the buffer of a thread.
    fn flushes(&self, state: &MachineState, thread: ThreadId) -> Vec<MachineState> {
        let mut seen = vec![];
        let mut all = vec![];
        for (at, entry) in state.threads[&thread].buffer.iter().enumerate() {
            let &Buffered::Store(location, value) = entry else { break };
            if !seen.contains(&location) {
                let mut next = state.clone();
                next.memory[location.index()] = value;
                next.buffer(thread).remove(at);
                while next.buffer(thread).first() == Some(&Buffered::Fence) {
                    next.buffer(thread).remove(0);
                }
                all.push(next);
            }
            seen.push(location);
            if self.buffering == Buffering::Fifo {
                break;
            }
        }
        all
    }

    /// Performs the next effect of a thread, unless it waits until the buffer is empty.
    fn effect(
        &mut self,
        state: &MachineState,
        thread: ThreadId,
    ) -> Result<Vec<MachineState>, TooLarge> {
        let mut next = state.clone();
        let own = next.threads.get_mut(&thread).expect("the thread was started");
        let Some(effect) = own.effects.pop() else { return Ok(vec![]) };
        if !self.is_local(effect) && !own.buffer.is_empty() {
            return Ok(vec![]);
        }
        match effect {
            OpKind::Store { location, value, order, .. } if self.is_local(effect) => {
                if order.is_release() {
                    own.fence();
                }
                own.buffer.push(Buffered::Store(location, value));
                if own.buffer.len() > LONGEST_BUFFER {
                    return Err(TooLarge);
                }
            }
            OpKind::Store { location, value, .. } => next.memory[location.index()] = value,
            OpKind::StoreFence
            | OpKind::Fence { order: MemoryOrder::Release | MemoryOrder::AcqRel } => own.fence(),
            OpKind::Fence { .. } => {}
            OpKind::Unlock { lock } => drop(next.holders.remove(&lock)),
            OpKind::Spawn { thread } => self.start(&mut next, thread)?,
            _ => unreachable!("not an effect of scripts: {effect:?}"),
        }
        Ok(vec![next])
    }

    /// Returns the states after the question of a thread.
    fn answers(
        &mut self,
        state: &MachineState,
        thread: ThreadId,
        question: OpKind,
    ) -> Result<Vec<MachineState>, TooLarge> {
        let own = &state.threads[&thread];
        let waits_for_buffer = !matches!(question, OpKind::Load { .. } | OpKind::Choose { .. });
        if waits_for_buffer && !own.buffer.is_empty() || state.waits(question) {
            return Ok(vec![]);
        }
        let mut all = vec![];
        for (answer, written) in state.possible_answers(thread, question) {
            let mut next = state.clone();
            if let (Some(value), Some(location)) = (written, question.location()) {
                next.memory[location.index()] = value;
            }
            if let OpKind::Lock { lock } = question {
                next.holders.insert(lock, thread);
            }
            let segment = self.program.segment_after(&own.state, answer);
            self.enter(&mut next, thread, segment, own.buffer.clone())?;
            all.push(next);
        }
        Ok(all)
    }

    /// Notes the outcome if no thread will ever change anything.
    fn note_outcome(&mut self, state: &MachineState) {
        let values = state.memory.iter().enumerate();
        let memory = values.map(|(at, &value)| (LocationId::new(at), value)).collect();
        let is_free = |lock: LocationId| !state.holders.contains_key(&lock);
        let mut outcome = Outcome::new();
        for (&thread, own) in &state.threads {
            if !own.effects.is_empty() || !own.buffer.is_empty() {
                return;
            }
            let end = match own.end {
                End::Question(op) if state.waits(op.kind) => Some(ThreadOutcome::Waiting(op.place)),
                End::Question(op) => {
                    let cycle = cycle(&self.program, &own.state, op.kind, &memory, &is_free);
                    let cycle = cycle.unwrap_or_else(|it| unreachable!("{it:?} has a value"));
                    cycle.map(ThreadOutcome::Spinning)
                }
                _ => super::ended(&self.program, &own.state, &own.end),
            };
            let Some(end) = end else { return };
            outcome.insert(thread, end);
        }
        self.found.outcomes.insert(outcome);
    }
}

impl MachineThread {
    fn fence(&mut self) {
        if matches!(self.buffer.last(), Some(Buffered::Store(..))) {
            self.buffer.push(Buffered::Fence);
        }
    }
}

impl MachineState {
    fn buffer(&mut self, thread: ThreadId) -> &mut Vec<Buffered> {
        &mut self.threads.get_mut(&thread).expect("the thread was started").buffer
    }

    /// Returns `true` if a question waits for other threads.
    fn waits(&self, question: OpKind) -> bool {
        match question {
            OpKind::Lock { lock } => self.holders.contains_key(&lock),
            OpKind::Sync { location, guard, .. } => !guard.admits(self.memory[location.index()]),
            OpKind::Join { thread } => !self.threads.get(&thread).is_some_and(|other| {
                other.end == End::Finished && other.effects.is_empty() && other.buffer.is_empty()
            }),
            _ => false,
        }
    }

    /// Returns the answers to a question that does not wait, and what it writes.
    fn possible_answers(&self, thread: ThreadId, question: OpKind) -> Vec<(Answer, Option<Value>)> {
        let value = |location: LocationId| self.memory[location.index()];
        match question {
            OpKind::Load { location, .. } => {
                let own =
                    self.threads[&thread].buffer.iter().rev().find_map(|entry| match *entry {
                        Buffered::Store(at, value) if at == location => Some(value),
                        _ => None,
                    });
                vec![(Answer::Value(own.unwrap_or(value(location))), None)]
            }
            OpKind::Rmw { location, update, .. } | OpKind::Sync { location, update, .. } => {
                let read = value(location);
                vec![(Answer::Value(read), Some(update.apply(read)))]
            }
            OpKind::CompareExchange { location, expected, desired, weak, .. } => {
                let read = value(location);
                if read != expected {
                    return vec![(Answer::Value(read), None)];
                }
                let failure = weak.then_some((Answer::Spurious(read), None));
                [(Answer::Value(read), Some(desired))].into_iter().chain(failure).collect()
            }
            OpKind::Choose { options } => {
                (0..options).map(|choice| (Answer::Choice(choice), None)).collect()
            }
            _ => vec![(Answer::Initial, None)],
        }
    }
}
