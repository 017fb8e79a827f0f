//! Scripts as text that parses to the same script.

use std::fmt::{self, Display, Formatter};

use raddle_core::execution::MemoryOrder;

use super::{
    Address, GuardKind, Script, ScriptExpression, Statement, Variable, failure_order, update_word,
};

impl Display for ScriptExpression {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ScriptExpression::Number(number) if *number < 0 => write!(f, "({number})"),
            ScriptExpression::Number(number) => write!(f, "{number}"),
            ScriptExpression::Register(register) => f.write_str(register),
            ScriptExpression::Binary(operator, a, b) => {
                operand(a, operator.level(), f)?;
                write!(f, " {} ", operator.symbol())?;
                operand(b, operator.level() + 1, f)
            }
        }
    }
}

/// Writes an operand, in parentheses if its precedence is lower than `level`.
fn operand(expression: &ScriptExpression, level: usize, f: &mut Formatter<'_>) -> fmt::Result {
    match expression {
        ScriptExpression::Binary(operator, ..) if operator.level() < level => {
            write!(f, "({expression})")
        }
        _ => write!(f, "{expression}"),
    }
}

impl Display for Address {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.index {
            Some(index) => write!(f, "{}[{index}]", self.variable),
            None => f.write_str(&self.variable),
        }
    }
}

impl Display for Variable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Variable { name, cells, is_array, is_lock } = self;
        match (is_lock, is_array) {
            (true, true) => write!(f, "lock {name}[{}]", cells.len()),
            (true, false) => write!(f, "lock {name}"),
            (false, true) => {
                let cells: Vec<String> = cells.iter().map(ToString::to_string).collect();
                write!(f, "{name} = [{}]", cells.join(", "))
            }
            (false, false) => write!(f, "{name} = {}", cells[0]),
        }
    }
}

impl Display for Script {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for variable in &self.variables {
            writeln!(f, "{variable}")?;
        }
        let implied = self.is_parallel() && self.threads.len() > 1;
        for thread in &self.threads[usize::from(implied)..] {
            writeln!(f, "thread {} {{", thread.name)?;
            block(&thread.body, 1, f)?;
            writeln!(f, "}}")?;
        }
        Ok(())
    }
}

fn block(statements: &[Statement], depth: usize, f: &mut Formatter<'_>) -> fmt::Result {
    let indent = "    ".repeat(depth);
    for statement in statements {
        write!(f, "{indent}{statement}")?;
        match statement {
            Statement::If { then, otherwise, .. } => {
                writeln!(f, " {{")?;
                block(then, depth + 1, f)?;
                if !otherwise.is_empty() {
                    writeln!(f, "{indent}}} else {{")?;
                    block(otherwise, depth + 1, f)?;
                }
                writeln!(f, "{indent}}}")?;
            }
            Statement::Repeat { body, .. } | Statement::Loop { body } => {
                writeln!(f, " {{")?;
                block(body, depth + 1, f)?;
                writeln!(f, "{indent}}}")?;
            }
            _ => writeln!(f)?,
        }
    }
    Ok(())
}

/// Formats the statement without its blocks.
impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Statement::Set { target, value } => write!(f, "{target} = {value}"),
            Statement::Load { target, at, order } => {
                write!(f, "{}load {at}{}", to(target), word(*order))
            }
            Statement::Store { at, value, order } => {
                write!(f, "store {at} {value}{}", word(*order))
            }
            Statement::Update { target, at, kind, operand, order } => {
                let kind = update_word(*kind);
                write!(f, "{}{kind} {at} {operand}{}", to(target), word(*order))
            }
            Statement::CompareExchange { .. } => compare_exchange(self, f),
            Statement::Fence(order) => write!(f, "fence {order}"),
            Statement::StoreFence => f.write_str("storefence"),
            Statement::Lock(at) => write!(f, "lock {at}"),
            Statement::Unlock(at) => write!(f, "unlock {at}"),
            Statement::Sync { at, guard, bound, kind, operand } => {
                write!(f, "sync {at} ")?;
                match guard {
                    GuardKind::Always => f.write_str("any")?,
                    GuardKind::Equal => write!(f, "== {bound}")?,
                    GuardKind::Below => write!(f, "< {bound}")?,
                    GuardKind::Above => write!(f, "> {bound}")?,
                    GuardKind::NoBits => write!(f, "nobits {bound}")?,
                }
                write!(f, " {} {operand}", update_word(*kind))
            }
            Statement::Spawn(thread) => write!(f, "spawn {thread}"),
            Statement::Join(thread) => write!(f, "join {thread}"),
            Statement::Choose { target, options } => write!(f, "{}choose {options}", to(target)),
            Statement::Assume(condition) => write!(f, "assume {condition}"),
            Statement::Assert(condition) => write!(f, "assert {condition}"),
            Statement::If { condition, .. } => write!(f, "if {condition}"),
            Statement::Repeat { times, .. } => write!(f, "repeat {times}"),
            Statement::Loop { .. } => f.write_str("loop"),
            Statement::Break => f.write_str("break"),
        }
    }
}

fn compare_exchange(statement: &Statement, f: &mut Formatter<'_>) -> fmt::Result {
    let Statement::CompareExchange {
        target,
        succeeded,
        at,
        expected,
        desired,
        success,
        failure,
        weak,
    } = statement
    else {
        return Ok(());
    };
    match (target, succeeded) {
        (target, None) => f.write_str(&to(target))?,
        (target, Some(succeeded)) => {
            write!(f, "{}, {succeeded} = ", target.as_deref().unwrap_or("_"))?;
        }
    }
    let name = if *weak { "casw" } else { "cas" };
    write!(f, "{name} {at} {expected} {desired}")?;
    if *failure != failure_order(*success) {
        return write!(f, " {success} {failure}");
    }
    f.write_str(&word(*success))
}

fn to(target: &Option<String>) -> String {
    target.as_ref().map_or_else(String::new, |target| format!("{target} = "))
}

fn word(order: MemoryOrder) -> String {
    if order == MemoryOrder::Relaxed { String::new() } else { format!(" {order}") }
}
