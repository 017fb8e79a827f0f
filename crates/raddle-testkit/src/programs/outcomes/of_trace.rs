//! Outcomes of traces.

use std::collections::BTreeMap;

use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::program::{Answer, End, Naming, OpKind, PlaceId, Segment};
use raddle_core::trace::{Ending, Observed, Pending, ThreadEnd, Trace, TraceEvent};

use super::cycle::cycle;
use super::{Outcome, ThreadOutcome, ended};
use crate::script::{ScriptProgram, ThreadState};

/// Returns the outcome that a maximal execution of an explorer shows. `None` if it shows none: threads wait in loops for
/// values that may still come, or rounds with choices were left out.
///
/// A thread that goes on forever either repeats itself in the trace ([`Pending::Loop`]), or waits with a question in an
/// execution that ends with [`Ending::Livelock`] and whose final memory is known ([`Trace::memory`]; locations that are
/// not mentioned there keep their initial values).
///
/// # Panics
/// If the trace is not an execution of the program.
#[must_use]
pub fn outcome_of(program: &ScriptProgram, trace: &Trace, ending: &Ending) -> Option<Outcome> {
    let mut outcome = Outcome::new();
    for (&thread, &end) in &trace.ends {
        let followed = follow(program, trace, thread);
        let (segment, state) = &followed.last;
        let end = match (end, &segment.end) {
            (ThreadEnd::Waiting, End::Question(op)) => Some(ThreadOutcome::Waiting(op.place)),
            (_, End::Question(op)) if matches!(ending, Ending::Livelock(_)) => {
                let smallest = match trace.pending.get(&thread) {
                    Some(&Pending::Loop(start)) => followed.states_from(start).min().cloned(),
                    _ => {
                        let memory = final_memory(program, trace);
                        let is_free = |lock| is_free(trace, lock);
                        cycle(program, state, op.kind, &memory, &is_free).ok()?
                    }
                };
                smallest.map(ThreadOutcome::Spinning)
            }
            (_, end) => ended(program, state, end),
        };
        outcome.insert(thread, end?);
    }
    Some(outcome)
}

/// Returns `true` if no thread holds the lock at the end of the trace.
fn is_free(trace: &Trace, lock: LocationId) -> bool {
    let changes = |kind: OpKind| match kind {
        OpKind::Lock { lock: changed } => (changed == lock).then_some(1),
        OpKind::Unlock { lock: changed } => (changed == lock).then_some(-1),
        _ => None,
    };
    trace.events.iter().filter_map(|event| changes(event.op.kind)).sum::<i32>() == 0
}

/// Returns the places at which threads fail in a maximal execution of an explorer.
///
/// # Panics
/// If the trace is not an execution of the program.
#[must_use]
pub fn failures_of(program: &ScriptProgram, trace: &Trace) -> Vec<PlaceId> {
    let failed = trace.ends.iter().filter(|&(_, &end)| end == ThreadEnd::Failed);
    let place = |(&thread, _)| program.place_of(&follow(program, trace, thread).last.1);
    failed.map(place).collect()
}

/// Segments of a thread in a trace.
struct FollowedThread {
    /// States with questions that were answered, and the positions of these.
    states: Vec<(usize, ThreadState)>,
    last: (Segment, ThreadState),
}

impl FollowedThread {
    /// The states from this position on.
    fn states_from(&self, start: usize) -> impl Iterator<Item = &ThreadState> {
        let later = self.states.iter().filter(move |&&(position, _)| position >= start);
        later.map(|(_, state)| state)
    }
}

/// Runs a thread as in the trace.
fn follow(program: &ScriptProgram, trace: &Trace, thread: ThreadId) -> FollowedThread {
    let mut states = vec![];
    let (mut last, mut effects) = (program.first_segment(thread), 0);
    for event in trace.events.iter().filter(|event| event.thread == thread) {
        if let Some(effect) = last.0.effects.get(effects) {
            assert_eq!(event.op, *effect, "the trace follows the program");
            effects += 1;
            continue;
        }
        assert_eq!(last.0.end, End::Question(event.op), "the trace follows the program");
        let next = program.segment_after(&last.1, answer(event));
        states.push((event.position, std::mem::replace(&mut last, next).1));
        effects = 0;
    }
    assert_eq!(effects, last.0.effects.len(), "the trace has all effects");
    FollowedThread { states, last }
}

/// Returns the answer that a question got.
fn answer(event: &TraceEvent) -> Answer {
    match (event.op.kind, event.observed, event.read) {
        (OpKind::Choose { .. }, Some(Observed::Choice(choice)), _) => Answer::Choice(choice),
        (_, _, Some(value)) if event.is_spurious() => Answer::Spurious(value),
        (_, _, Some(value)) => Answer::Value(value),
        _ => Answer::Initial,
    }
}

/// Returns the values of all locations at the end of the trace.
fn final_memory(program: &ScriptProgram, trace: &Trace) -> BTreeMap<LocationId, Value> {
    let initial = (0..program.initial_values().len()).map(LocationId::new);
    let last = |location: LocationId| {
        let write = *trace.memory.get(&location)?.last()?;
        trace.events[write].written
    };
    let value = |it: LocationId| last(it).unwrap_or_else(|| program.initial_value(it));
    initial.map(|location| (location, value(location))).collect()
}
