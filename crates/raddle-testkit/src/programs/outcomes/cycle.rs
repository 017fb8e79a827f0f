//! Threads that go around a loop forever.

use std::collections::BTreeMap;

use raddle_core::execution::{LocationId, Value};
use raddle_core::program::{Answer, End, OpKind};

use crate::script::{ScriptProgram, ThreadState};

/// The number of questions after which a thread is not considered to be in a cycle.
const LONGEST: usize = 200;

/// Returns the smallest state of the cycle into which a thread runs that waits with a question in this state, if memory
/// keeps these values and the thread changes nothing.
///
/// # Errors
/// Returns the location that the thread reads if its value is not given.
pub(super) fn cycle(
    program: &ScriptProgram,
    state: &ThreadState,
    question: OpKind,
    memory: &BTreeMap<LocationId, Value>,
) -> Result<Option<ThreadState>, LocationId> {
    let (mut path, mut state, mut question) = (vec![], state.clone(), question);
    while path.len() < LONGEST {
        if let Some(start) = path.iter().position(|earlier| *earlier == state) {
            return Ok(path[start..].iter().min().cloned());
        }
        let Some(location) = read_location(question) else { return Ok(None) };
        let &value = memory.get(&location).ok_or(location)?;
        if !changes_nothing(question, value) {
            return Ok(None);
        }
        let (segment, next) = program.segment_after(&state, Answer::Value(value));
        path.push(std::mem::replace(&mut state, next));
        let is_fence = |kind: OpKind| matches!(kind, OpKind::Fence { .. } | OpKind::StoreFence);
        match segment.end {
            End::Question(op) if segment.effects.iter().all(|effect| is_fence(effect.kind)) => {
                question = op.kind;
            }
            _ => return Ok(None),
        }
    }
    Ok(None)
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
