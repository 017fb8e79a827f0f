//! Shrinking of failing programs.

use crate::script::{Script, ScriptExpression, Statement, failure_order};
use raddle_core::execution::MemoryOrder;

/// Simplifies a failing program step by step as long as it still fails: removes threads, statements and variables,
/// replaces branches and loops by their bodies and updates by loads, relaxes memory orders, and simplifies expressions
/// and numbers. No single simplification of the result fails.
pub fn shrink(script: &Script, still_fails: &mut dyn FnMut(&Script) -> bool) -> Script {
    let mut script = script.clone();
    while let Some(simpler) = simplifications(&script).into_iter().find(|it| still_fails(it)) {
        script = simpler;
    }
    script
}

/// Returns all programs that are one step simpler, the most effective ones first.
fn simplifications(script: &Script) -> Vec<Script> {
    let mut all = vec![];
    for thread in 1..script.threads.len() {
        let mut simpler = script.clone();
        let name = simpler.threads.remove(thread).name;
        simpler.threads.iter_mut().for_each(|thread| forget_thread(&mut thread.body, &name));
        all.push(simpler);
    }
    for thread in 0..script.threads.len() {
        for body in blocks(&script.threads[thread].body) {
            let mut simpler = script.clone();
            simpler.threads[thread].body = body;
            all.push(simpler);
        }
    }
    for (index, variable) in script.variables.iter().enumerate() {
        let mut simpler = script.clone();
        if !script.threads.iter().any(|thread| mentions(&thread.body, &variable.name)) {
            simpler.variables.remove(index);
            all.push(simpler);
        } else if variable.cells.iter().any(|&cell| cell != 0) {
            simpler.variables[index].cells.fill(0);
            all.push(simpler);
        }
    }
    all
}

fn forget_thread(block: &mut Vec<Statement>, name: &str) {
    block.retain(
        |statement| !matches!(statement, Statement::Spawn(it) | Statement::Join(it) if it == name),
    );
    for inner in block.iter_mut().flat_map(Statement::blocks_mut) {
        forget_thread(inner, name);
    }
}

fn mentions(block: &[Statement], variable: &str) -> bool {
    block.iter().any(|statement| {
        statement.address().is_some_and(|at| at.variable == variable)
            || statement.blocks().into_iter().any(|inner| mentions(inner, variable))
    })
}

/// Returns all blocks that are one step simpler.
fn blocks(block: &[Statement]) -> Vec<Vec<Statement>> {
    let mut all: Vec<Vec<Statement>> = (0..block.len()).map(|at| without(block, at)).collect();
    for (at, statement) in block.iter().enumerate() {
        let replaced = |by: &[Statement]| {
            let (before, after) = (&block[..at], &block[at + 1..]);
            [before, by, after].concat()
        };
        all.extend(statement.blocks().into_iter().map(|inner| replaced(inner)));
        all.extend(
            statements(statement).iter().map(|simpler| replaced(std::slice::from_ref(simpler))),
        );
    }
    all
}

/// Removes a statement from a block. With an acquire, also removes the next release of the lock.
fn without(block: &[Statement], at: usize) -> Vec<Statement> {
    let mut rest = block.to_vec();
    if let Statement::Lock(lock) = rest.remove(at) {
        let release = Statement::Unlock(lock);
        if let Some(next) = rest[at..].iter().position(|statement| *statement == release) {
            rest.remove(at + next);
        }
    }
    rest
}

/// Returns all statements that are one step simpler.
fn statements(statement: &Statement) -> Vec<Statement> {
    let mut all = vec![];
    for (which, inner) in statement.blocks().into_iter().enumerate() {
        all.extend(blocks(inner).into_iter().map(|block| {
            let mut simpler = statement.clone();
            *simpler.blocks_mut()[which] = block;
            simpler
        }));
    }
    all.extend(weaker(statement));
    for (which, value) in values(&mut statement.clone()).into_iter().enumerate() {
        all.extend(expressions(value).into_iter().map(|value| {
            let mut simpler = statement.clone();
            *values(&mut simpler)[which] = value;
            simpler
        }));
    }
    all
}

/// Returns loads for updates, relaxed accesses, weaker fences, strong compare-exchanges and shorter loops.
fn weaker(statement: &Statement) -> Vec<Statement> {
    let mut all = vec![];
    match statement {
        Statement::Update { target, at, order, .. } => {
            let order = failure_order(*order);
            all.push(Statement::Load { target: target.clone(), at: at.clone(), order });
        }
        Statement::CompareExchange { target, at, failure, .. } => {
            all.push(Statement::Load { target: target.clone(), at: at.clone(), order: *failure });
        }
        Statement::Fence(MemoryOrder::SeqCst) => all.push(Statement::Fence(MemoryOrder::AcqRel)),
        _ => {}
    }
    let mut simpler = statement.clone();
    orders(&mut simpler).into_iter().for_each(|order| *order = MemoryOrder::Relaxed);
    match &mut simpler {
        Statement::CompareExchange { weak, .. } => *weak = false,
        Statement::Repeat { times, .. } => *times = 1,
        _ => {}
    }
    all.extend((simpler != *statement).then_some(simpler));
    all
}

fn orders(statement: &mut Statement) -> Vec<&mut MemoryOrder> {
    match statement {
        Statement::Load { order, .. }
        | Statement::Store { order, .. }
        | Statement::Update { order, .. } => vec![order],
        Statement::CompareExchange { success, failure, .. } => vec![success, failure],
        _ => vec![],
    }
}

fn values(statement: &mut Statement) -> Vec<&mut ScriptExpression> {
    match statement {
        Statement::Set { value, .. } | Statement::Store { value, .. } => vec![value],
        Statement::Update { operand, .. } => vec![operand],
        Statement::CompareExchange { expected, desired, .. } => vec![expected, desired],
        Statement::If { condition, .. } => vec![condition],
        _ => vec![],
    }
}

/// Returns all expressions that are one step simpler.
fn expressions(expression: &ScriptExpression) -> Vec<ScriptExpression> {
    match expression {
        ScriptExpression::Number(0) => vec![],
        ScriptExpression::Number(1) | ScriptExpression::Register(_) => {
            vec![ScriptExpression::Number(0)]
        }
        ScriptExpression::Number(_) => {
            vec![ScriptExpression::Number(0), ScriptExpression::Number(1)]
        }
        ScriptExpression::Binary(_, a, b) => vec![(**a).clone(), (**b).clone()],
    }
}
