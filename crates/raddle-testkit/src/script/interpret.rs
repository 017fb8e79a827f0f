//! Execution of instructions.

use raddle_core::execution::{LocationId, Value};
use raddle_core::outcome::FindingKind;
use raddle_core::program::{
    Answer, End, Failure, Op, OpKind, PlaceId, Segment, Update, UpdateKind,
};

use super::compile::{CellRef, RegisterFormula, ScriptInstruction};

/// How often a thread goes around loops without a question, or in a live run without an op, before it is stopped.
pub const MAX_ROUNDS: usize = 1_000;

/// How a thread continues after an instruction.
pub(super) enum ScriptFlow {
    Next,
    Goto(usize),
    /// Back to the beginning of an endless loop.
    Round(usize),
    Op(OpKind),
    End(End),
}

/// Runs a thread from an instruction to its next question or its end. Returns the segment and the instruction at which it
/// ends. `first` is the place of the first instruction.
pub(super) fn run_segment(
    code: &[ScriptInstruction],
    first: usize,
    mut next: usize,
    registers: &mut [Value],
) -> (Segment, usize) {
    let (mut effects, mut rounds) = (vec![], 0);
    let end = loop {
        let place = PlaceId((first + next) as u32);
        match step(&code[next], place, registers) {
            ScriptFlow::Next => next += 1,
            ScriptFlow::Goto(to) => next = to,
            ScriptFlow::Round(_) if rounds == MAX_ROUNDS => break End::Limit,
            ScriptFlow::Round(to) => {
                next = to;
                rounds += 1;
            }
            ScriptFlow::Op(kind) if kind.is_question() => {
                break End::Question(Op { kind, place });
            }
            ScriptFlow::Op(kind) => {
                effects.push(Op { kind, place });
                next += 1;
            }
            ScriptFlow::End(end) => break end,
        }
    };
    (Segment { effects, end }, next)
}

/// Gives a thread the answer to its question, which is this instruction.
#[inline]
pub(super) fn receive(code: &ScriptInstruction, answer: Answer, registers: &mut [Value]) {
    match (code, answer) {
        (
            ScriptInstruction::Load { target, .. } | ScriptInstruction::Update { target, .. },
            Answer::Value(value),
        ) => {
            put(registers, *target, value);
        }
        (
            ScriptInstruction::CompareExchange { target, succeeded, expected, .. },
            Answer::Value(value) | Answer::Spurious(value),
        ) => {
            let success = answer == Answer::Value(expected.value(registers));
            put(registers, *target, value);
            put(registers, *succeeded, Value::from(success));
        }
        (ScriptInstruction::Choose { target, .. }, Answer::Choice(choice)) => {
            put(registers, *target, choice.into());
        }
        (ScriptInstruction::Lock { at, held }, _) => {
            let lock = locate(at, registers).expect("the lock has been located before");
            registers[held + lock.index()] = 1;
        }
        _ => {}
    }
}

fn put(registers: &mut [Value], target: Option<usize>, value: Value) {
    if let Some(target) = target {
        registers[target] = value;
    }
}

/// Returns the location. The error describes an index that is out of bounds.
#[inline]
fn locate(at: &CellRef, registers: &[Value]) -> Result<LocationId, String> {
    let index = at.index.as_ref().map_or(0, |index| index.value(registers));
    match usize::try_from(index) {
        Ok(index) if index < at.len => Ok(LocationId::new(at.first + index)),
        _ => Err(format!("the index {index} is out of bounds: expected 0 to {}", at.len - 1)),
    }
}

fn update(kind: UpdateKind, operand: Value) -> Update {
    Update { kind, operand, bits: 64, signed: true, carries: false }
}

/// Executes an instruction.
// `inline(always)`: otherwise an op is copied several times, which dominates the cost of a script.
#[inline(always)]
pub(super) fn step(
    code: &ScriptInstruction,
    place: PlaceId,
    registers: &mut [Value],
) -> ScriptFlow {
    match try_step(code, registers) {
        Ok(flow) => flow,
        Err((kind, message)) => ScriptFlow::End(End::Failed(Failure { kind, message, place })),
    }
}

/// Executes an instruction. The error is the failure of the thread.
#[inline(always)]
fn try_step(
    code: &ScriptInstruction,
    registers: &mut [Value],
) -> Result<ScriptFlow, (FindingKind, String)> {
    let value = |formula: &RegisterFormula| formula.value(registers);
    let at = |cell| locate(cell, registers).map_err(|it| (FindingKind::Panic, it));
    let kind = match code {
        ScriptInstruction::Set { target, value } => {
            registers[*target] = value.value(registers);
            return Ok(ScriptFlow::Next);
        }
        ScriptInstruction::CountDown(left) => {
            registers[*left] -= 1;
            return Ok(ScriptFlow::Next);
        }
        ScriptInstruction::Again { left, to } => {
            return Ok(if registers[*left] == 0 {
                ScriptFlow::Next
            } else {
                ScriptFlow::Goto(*to)
            });
        }
        ScriptInstruction::Unless { condition, to } => {
            return Ok(if value(condition) == 0 {
                ScriptFlow::Goto(*to)
            } else {
                ScriptFlow::Next
            });
        }
        ScriptInstruction::Jump(to) => return Ok(ScriptFlow::Goto(*to)),
        ScriptInstruction::Round(to) => return Ok(ScriptFlow::Round(*to)),
        ScriptInstruction::Assume(condition) => {
            return Ok(if value(condition) == 0 {
                ScriptFlow::End(End::Assume)
            } else {
                ScriptFlow::Next
            });
        }
        ScriptInstruction::Assert(condition) if value(condition) == 0 => {
            return Err((FindingKind::Panic, String::from("an assertion failed")));
        }
        ScriptInstruction::Assert(_) => return Ok(ScriptFlow::Next),
        ScriptInstruction::End => return Ok(ScriptFlow::End(End::Finished)),
        ScriptInstruction::Store { at: cell, value: formula, order } => {
            let (location, value) = (at(cell)?, value(formula));
            OpKind::Store { location, value, order: *order, carries: false }
        }
        ScriptInstruction::Fence(order) => OpKind::Fence { order: *order },
        ScriptInstruction::StoreFence => OpKind::StoreFence,
        ScriptInstruction::Spawn(thread) => OpKind::Spawn { thread: *thread },
        ScriptInstruction::Load { at: cell, order, .. } => {
            OpKind::Load { location: at(cell)?, order: *order }
        }
        ScriptInstruction::Update { at: cell, target, kind, operand, order } => {
            let (update, is_blind) = (update(*kind, value(operand)), target.is_none());
            OpKind::Rmw { location: at(cell)?, update, order: *order, is_blind }
        }
        ScriptInstruction::CompareExchange {
            at: cell,
            expected,
            desired,
            success,
            failure,
            weak,
            ..
        } => OpKind::CompareExchange {
            location: at(cell)?,
            expected: value(expected),
            desired: value(desired),
            carries: false,
            success: *success,
            failure: *failure,
            weak: *weak,
        },
        ScriptInstruction::Lock { at: cell, .. } => OpKind::Lock { lock: at(cell)? },
        ScriptInstruction::Unlock { at: cell, held } => {
            let lock = at(cell)?;
            if std::mem::take(&mut registers[held + lock.index()]) == 0 {
                let message = String::from("the thread releases a lock that it does not hold");
                return Err((FindingKind::Misuse, message));
            }
            OpKind::Unlock { lock }
        }
        ScriptInstruction::Sync { at: cell, guard, bound, kind, operand } => {
            let (guard, update) = (guard.with(value(bound)), update(*kind, value(operand)));
            OpKind::Sync { location: at(cell)?, guard, update }
        }
        ScriptInstruction::Join(thread) => OpKind::Join { thread: *thread },
        ScriptInstruction::Choose { options, .. } => OpKind::Choose { options: *options },
    };
    Ok(ScriptFlow::Op(kind))
}
