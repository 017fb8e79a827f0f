//! Registers whose values a thread may still use.
//!
//! Backward dataflow over the code of a thread. Two states at the same instruction whose live registers agree behave
//! alike, whatever they are answered.

use super::compile::{CellRef, RegisterFormula, ScriptCode, ScriptInstruction};
use super::expression::ScriptExpression;

/// By instruction: which registers are live before it.
#[derive(Clone, Debug)]
pub(super) struct ScriptLiveness(Vec<Vec<bool>>);

impl ScriptLiveness {
    /// Analyses the code of a thread. The registers that have a name are live at the end if `results_are_live`.
    pub(super) fn new(body: &ScriptCode, results_are_live: bool) -> Self {
        let results = if results_are_live { body.names.len() } else { 0 };
        let at_end: Vec<bool> = (0..body.registers).map(|register| register < results).collect();
        let mut live = vec![vec![false; body.registers]; body.code.len()];
        while (0..body.code.len()).rev().fold(false, |changed, at| {
            let before = before(&body.code[at], at, &live, &at_end);
            let is_new = before != live[at];
            live[at] = before;
            changed || is_new
        }) {}
        ScriptLiveness(live)
    }

    /// The registers that are live before an instruction.
    pub(super) fn before(&self, instruction: usize) -> &[bool] {
        &self.0[instruction]
    }
}

/// The registers that are live before an instruction, if `live` are those before its successors.
fn before(code: &ScriptInstruction, at: usize, live: &[Vec<bool>], at_end: &[bool]) -> Vec<bool> {
    let mut result = vec![false; at_end.len()];
    for successor in successors(code, at) {
        join(&mut result, &live[successor]);
    }
    if matches!(code, ScriptInstruction::End) {
        join(&mut result, at_end);
    }
    definitions(code).into_iter().for_each(|register| result[register] = false);
    uses(code).into_iter().for_each(|register| result[register] = true);
    result
}

fn join(into: &mut [bool], other: &[bool]) {
    into.iter_mut().zip(other).for_each(|(into, &other)| *into |= other);
}

fn successors(code: &ScriptInstruction, at: usize) -> Vec<usize> {
    match *code {
        ScriptInstruction::End => vec![],
        ScriptInstruction::Jump(to) | ScriptInstruction::Round(to) => vec![to],
        ScriptInstruction::Unless { to, .. } | ScriptInstruction::Again { to, .. } => {
            vec![at + 1, to]
        }
        _ => vec![at + 1],
    }
}

/// The registers that an instruction overwrites, with its answer if it is a question.
fn definitions(code: &ScriptInstruction) -> Vec<usize> {
    match code {
        ScriptInstruction::Set { target, .. } => vec![*target],
        ScriptInstruction::Load { target, .. }
        | ScriptInstruction::Update { target, .. }
        | ScriptInstruction::Choose { target, .. } => target.iter().copied().collect(),
        ScriptInstruction::CompareExchange { target, succeeded, .. } => {
            target.iter().chain(succeeded).copied().collect()
        }
        ScriptInstruction::Lock { at, held } if at.index.is_none() => vec![held + at.first],
        _ => vec![],
    }
}

/// The registers that an instruction reads.
fn uses(code: &ScriptInstruction) -> Vec<usize> {
    let mut used = vec![];
    match code {
        ScriptInstruction::Set { value, .. } => note(value, &mut used),
        ScriptInstruction::Unless { condition, .. }
        | ScriptInstruction::Assume(condition)
        | ScriptInstruction::Assert(condition) => note(condition, &mut used),
        ScriptInstruction::CountDown(left) | ScriptInstruction::Again { left, .. } => {
            used.push(*left);
        }
        ScriptInstruction::Load { at, .. } | ScriptInstruction::Lock { at, .. } => {
            note_index(at, &mut used);
        }
        ScriptInstruction::Store { at, value: operand, .. }
        | ScriptInstruction::Update { at, operand, .. } => {
            note_index(at, &mut used);
            note(operand, &mut used);
        }
        ScriptInstruction::CompareExchange { at, expected, desired, .. } => {
            note_index(at, &mut used);
            note(expected, &mut used);
            note(desired, &mut used);
        }
        ScriptInstruction::Unlock { at, held } => {
            note_index(at, &mut used);
            used.extend((at.first..at.first + at.len).map(|lock| held + lock));
        }
        ScriptInstruction::Sync { at, bound, operand, .. } => {
            note_index(at, &mut used);
            note(bound, &mut used);
            note(operand, &mut used);
        }
        ScriptInstruction::Jump(_)
        | ScriptInstruction::Round(_)
        | ScriptInstruction::Fence(_)
        | ScriptInstruction::StoreFence
        | ScriptInstruction::Spawn(_)
        | ScriptInstruction::Join(_)
        | ScriptInstruction::Choose { .. }
        | ScriptInstruction::End => {}
    }
    used
}

fn note_index(at: &CellRef, used: &mut Vec<usize>) {
    at.index.iter().for_each(|index| note(index, used));
}

fn note(formula: &RegisterFormula, used: &mut Vec<usize>) {
    match formula {
        ScriptExpression::Number(_) => {}
        ScriptExpression::Register(register) => used.push(*register),
        ScriptExpression::Binary(_, a, b) => {
            note(a, used);
            note(b, used);
        }
    }
}
