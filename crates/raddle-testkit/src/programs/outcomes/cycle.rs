//! Threads that go around a loop forever.

use std::collections::BTreeMap;

use raddle_core::execution::{LocationId, Value};
use raddle_core::program::{Answer, End, OpKind};

use crate::script::{ScriptProgram, ThreadState};

/// The number of questions after which a thread is not considered to be in a cycle.
const LONGEST: usize = 200;

/// Returns the smallest state of the cycle into which a thread runs that waits with a question in this state, if memory
/// keeps these values and the thread changes nothing. It may take locks that are free, if it releases them.
///
/// # Errors
/// Returns the location that the thread reads if its value is not given.
pub(super) fn cycle(
    program: &ScriptProgram,
    state: &ThreadState,
    question: OpKind,
    memory: &BTreeMap<LocationId, Value>,
    is_free: &dyn Fn(LocationId) -> bool,
) -> Result<Option<ThreadState>, LocationId> {
    let (mut path, mut state, mut question) = (vec![], state.clone(), question);
    let mut held = vec![];
    while path.len() < LONGEST {
        if let Some(start) = path.iter().position(|earlier| *earlier == state) {
            return Ok(path[start..].iter().min().cloned());
        }
        let Some(answer) = answer(question, memory, is_free)? else { return Ok(None) };
        if let OpKind::Lock { lock } = question {
            held.push(lock);
        }
        let (segment, next) = program.segment_after(&state, answer);
        path.push(std::mem::replace(&mut state, next));
        let keeps_memory = segment.effects.iter().all(|effect| releases(effect.kind, &mut held));
        match segment.end {
            End::Question(op) if keeps_memory => question = op.kind,
            _ => return Ok(None),
        }
    }
    Ok(None)
}

/// The answer to a question that changes nothing but a lock.
fn answer(
    question: OpKind,
    memory: &BTreeMap<LocationId, Value>,
    is_free: &dyn Fn(LocationId) -> bool,
) -> Result<Option<Answer>, LocationId> {
    if let OpKind::Lock { lock } = question {
        return Ok(is_free(lock).then_some(Answer::Initial));
    }
    let Some(location) = read_location(question) else { return Ok(None) };
    let &value = memory.get(&location).ok_or(location)?;
    Ok(changes_nothing(question, value).then_some(Answer::Value(value)))
}

/// Returns `true` if an effect is a fence, or releases one of the locks, which is held no longer.
fn releases(effect: OpKind, held: &mut Vec<LocationId>) -> bool {
    match effect {
        OpKind::Fence { .. } | OpKind::StoreFence => true,
        OpKind::Unlock { lock } => match held.iter().position(|it| *it == lock) {
            Some(at) => held.swap_remove(at) == lock,
            None => false,
        },
        _ => false,
    }
}

/// Returns the location that a question reads.
fn read_location(question: OpKind) -> Option<LocationId> {
    match question {
        OpKind::Load { .. }
        | OpKind::Rmw { .. }
        | OpKind::CompareExchange { .. }
        | OpKind::Sync { .. } => question.location(),
        _ => None,
    }
}

/// Returns `true` if a question that reads this value leaves memory as it is.
fn changes_nothing(question: OpKind, value: Value) -> bool {
    match question {
        OpKind::Load { .. } => true,
        OpKind::CompareExchange { expected, desired, .. } => {
            value != expected || desired == expected
        }
        OpKind::Rmw { update, .. } => update.apply(value) == value,
        OpKind::Sync { guard, update, .. } => guard.admits(value) && update.apply(value) == value,
        _ => false,
    }
}
