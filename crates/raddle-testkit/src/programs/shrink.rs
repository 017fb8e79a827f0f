//! Making a program smaller while something remains true of it.

use crate::script::{Expression, Script, Statement, failure_order};
use raddle_core::execution::MemoryOrder;

/// The smallest program that can be reached from this one by single simplifications such that every one
/// on the way still fails: threads, statements and variables go, branches and loops become what is in
/// them, updates become loads, orders become relaxed, expressions and numbers get simpler.
pub fn shrink(script: &Script, still_fails: &mut dyn FnMut(&Script) -> bool) -> Script {
    let mut script = script.clone();
    while let Some(simpler) = simplifications(&script).into_iter().find(|it| still_fails(it)) {
        script = simpler;
    }
    script
}

/// All programs that are one step simpler, the most promising ones first.
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

/// All blocks that are one step simpler.
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

/// The block without a statement. With an acquire goes the next release of that lock.
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

/// All statements that are one step simpler than one.
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

/// Loads instead of updates, relaxed accesses, weaker fences, strong compare-exchanges, short loops.
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

fn values(statement: &mut Statement) -> Vec<&mut Expression> {
    match statement {
        Statement::Set { value, .. } | Statement::Store { value, .. } => vec![value],
        Statement::Update { operand, .. } => vec![operand],
        Statement::CompareExchange { expected, desired, .. } => vec![expected, desired],
        Statement::If { condition, .. } => vec![condition],
        _ => vec![],
    }
}

/// All expressions that are one step simpler than one.
fn expressions(expression: &Expression) -> Vec<Expression> {
    match expression {
        Expression::Number(0) => vec![],
        Expression::Number(1) | Expression::Register(_) => vec![Expression::Number(0)],
        Expression::Number(_) => vec![Expression::Number(0), Expression::Number(1)],
        Expression::Binary(_, a, b) => vec![(**a).clone(), (**b).clone()],
    }
}
