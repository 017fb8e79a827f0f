//! Random programs whose threads wait, poll and retry in endless loops.
//!
//! Some consist of [`idioms`], others are critical cycles with loads that wait: these distinguish memory
//! models.

mod idioms;

use raddle_core::random::Random;

use super::random::{OrderStyle, cycle};
use crate::script::{Script, ScriptExpression, ScriptOperator, Statement};

use idioms::idioms;

/// Generates a program of two or three threads with up to two loops each.
#[must_use]
pub fn loops(random: &mut Random, style: OrderStyle) -> Script {
    if random.chance(0.4) { cycle_with_loops(random, style) } else { idioms(random, style) }
}

/// A critical cycle some of whose loads wait for a value.
fn cycle_with_loops(random: &mut Random, style: OrderStyle) -> Script {
    let mut script = cycle(random, style);
    while script.threads.len() > 4 {
        script = cycle(random, style);
    }
    for thread in &mut script.threads {
        for statement in &mut thread.body {
            if let Statement::Load { target: Some(target), .. } = &*statement
                && random.chance(0.5)
            {
                let operators = [ScriptOperator::NotEqual, ScriptOperator::Equal];
                let condition = binary(target, operators[random.below(2)], 0);
                let mut body = vec![statement.clone(), leave(condition)];
                if random.chance(0.3) {
                    body.extend(style.fence(random));
                }
                *statement = Statement::Loop { body };
            }
        }
    }
    script
}

fn binary(register: &str, operator: ScriptOperator, number: i128) -> ScriptExpression {
    ScriptExpression::binary(operator, register.into(), ScriptExpression::Number(number))
}

fn equal(register: &str, number: i128) -> ScriptExpression {
    binary(register, ScriptOperator::Equal, number)
}

fn leave(condition: ScriptExpression) -> Statement {
    Statement::If { condition, then: vec![Statement::Break], otherwise: vec![] }
}
