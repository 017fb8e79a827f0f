//! Scripts as flat code: names become numbers, branches and loops become jumps.

use raddle_core::execution::{MemoryOrder, ThreadId};
use raddle_core::program::{Guard, UpdateKind};

use super::{Address, Expression, GuardKind, Script, Statement, Thread, Variable};

/// An expression over numbered registers.
pub(super) type Formula = Expression<usize>;

/// A location that may depend on a register.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    /// The number of the first location of the variable.
    pub(super) first: usize,
    /// How many it has.
    pub(super) len: usize,
    pub(super) index: Option<Formula>,
}

#[derive(Clone, Debug)]
pub(super) enum Code {
    Set {
        target: usize,
        value: Formula,
    },
    /// Goes elsewhere if the condition does not hold.
    Unless {
        condition: Formula,
        to: usize,
    },
    Jump(usize),
    /// Subtracts one.
    CountDown(usize),
    /// Goes elsewhere unless the register is zero.
    Again {
        left: usize,
        to: usize,
    },
    Assume(Formula),
    Assert(Formula),
    Load {
        target: Option<usize>,
        at: Cell,
        order: MemoryOrder,
    },
    Store {
        at: Cell,
        value: Formula,
        order: MemoryOrder,
    },
    Update {
        target: Option<usize>,
        at: Cell,
        kind: UpdateKind,
        operand: Formula,
        order: MemoryOrder,
    },
    CompareExchange {
        target: Option<usize>,
        succeeded: Option<usize>,
        at: Cell,
        expected: Formula,
        desired: Formula,
        success: MemoryOrder,
        failure: MemoryOrder,
        weak: bool,
    },
    Fence(MemoryOrder),
    StoreFence,
    /// The registers from `held` on say of each location whether it is a lock that the thread holds.
    Lock {
        at: Cell,
        held: usize,
    },
    Unlock {
        at: Cell,
        held: usize,
    },
    Sync {
        at: Cell,
        guard: GuardKind,
        bound: Formula,
        kind: UpdateKind,
        operand: Formula,
    },
    Spawn(ThreadId),
    Join(ThreadId),
    Choose {
        target: Option<usize>,
        options: u32,
    },
    End,
}

/// The code of a thread.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub(super) code: Vec<Code>,
    /// For every instruction the statement that it comes from.
    pub(super) text: Vec<String>,
    /// The names of the registers of the script, in the order in which they are mentioned.
    pub(super) names: Vec<String>,
    /// How many registers there are, with those for loops and locks.
    pub(super) registers: usize,
}

impl GuardKind {
    /// The guard with this bound.
    pub(super) fn with(self, bound: raddle_core::execution::Value) -> Guard {
        match self {
            GuardKind::Always => Guard::Always,
            GuardKind::Equal => Guard::Equal(bound),
            GuardKind::Below => Guard::Below(bound),
            GuardKind::Above => Guard::Above(bound),
            GuardKind::NoBits => Guard::NoBits(bound),
        }
    }
}

/// The code of a thread of a script.
///
/// # Panics
/// If it mentions what the script does not have.
pub(super) fn compile(script: &Script, thread: &Thread) -> Body {
    let mut names = vec![];
    mentioned(&thread.body, &mut names);
    let locations: usize = script.variables.iter().map(|variable| variable.cells.len()).sum();
    let held = names.len();
    let locks = if uses_locks(&thread.body) { locations } else { 0 };
    let body = Body { code: vec![], text: vec![], registers: held + locks, names };
    let mut compiler = Compiler { script, held, body, breaks: vec![] };
    compiler.block(&thread.body);
    compiler.push(Code::End, "the end");
    let end = compiler.body.code.len() - 1;
    compiler.leave_to(0, end);
    compiler.body
}

/// Adds the registers that are mentioned.
fn mentioned(block: &[Statement], names: &mut Vec<String>) {
    let mut add = |name: &String| {
        if !names.contains(name) {
            names.push(name.clone());
        }
    };
    for statement in block {
        statement.targets().into_iter().for_each(&mut add);
        for expression in statement.expressions() {
            let _ = expression.map(&mut |name| add(name));
        }
    }
    for inner in block.iter().flat_map(Statement::blocks) {
        mentioned(inner, names);
    }
}

fn uses_locks(block: &[Statement]) -> bool {
    block.iter().any(|statement| {
        matches!(statement, Statement::Lock(_) | Statement::Unlock(_))
            || statement.blocks().into_iter().any(|inner| uses_locks(inner))
    })
}

struct Compiler<'a> {
    script: &'a Script,
    held: usize,
    body: Body,
    /// Jumps that leave the current loop, or the thread.
    breaks: Vec<usize>,
}

impl Compiler<'_> {
    fn push(&mut self, code: Code, text: &str) -> usize {
        self.body.code.push(code);
        self.body.text.push(text.to_owned());
        self.body.code.len() - 1
    }

    fn here(&self) -> usize {
        self.body.code.len()
    }

    /// Lets the breaks from the given one on go to an instruction.
    fn leave_to(&mut self, from: usize, to: usize) {
        for at in self.breaks.split_off(from) {
            self.body.code[at] = Code::Jump(to);
        }
    }

    fn block(&mut self, block: &[Statement]) {
        for statement in block {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let text = statement.to_string();
        match statement {
            Statement::If { condition, then, otherwise } => {
                let condition = self.formula(condition);
                let branch = self.push(Code::Unless { condition: condition.clone(), to: 0 }, &text);
                self.block(then);
                let jump = self.push(Code::Jump(0), &text);
                self.body.code[branch] = Code::Unless { condition, to: self.here() };
                self.block(otherwise);
                self.body.code[jump] = Code::Jump(self.here());
            }
            Statement::Repeat { times, body } => self.repeat(*times, body, &text),
            Statement::Break => {
                let at = self.push(Code::Jump(0), &text);
                self.breaks.push(at);
            }
            _ => {
                let code = self.simple(statement);
                self.push(code, &text);
            }
        }
    }

    /// Counts down in a register of its own.
    fn repeat(&mut self, times: u32, body: &[Statement], text: &str) {
        let left = self.body.registers;
        self.body.registers += 1;
        let outer = self.breaks.len();
        self.push(Code::Set { target: left, value: Formula::Number(times.into()) }, text);
        let top = self.push(Code::Jump(0), text);
        self.block(body);
        self.push(Code::CountDown(left), text);
        self.push(Code::Again { left, to: top + 1 }, text);
        let end = self.here();
        self.body.code[top] = Code::Unless { condition: Formula::Register(left), to: end };
        self.leave_to(outer, end);
    }

    /// A statement without blocks.
    fn simple(&mut self, statement: &Statement) -> Code {
        match statement {
            Statement::Set { target, value } => {
                Code::Set { target: self.register(target), value: self.formula(value) }
            }
            Statement::Load { target, at, order } => {
                Code::Load { target: self.target(target), at: self.cell(at), order: *order }
            }
            Statement::Store { at, value, order } => {
                Code::Store { at: self.cell(at), value: self.formula(value), order: *order }
            }
            Statement::Update { target, at, kind, operand, order } => Code::Update {
                target: self.target(target),
                at: self.cell(at),
                kind: *kind,
                operand: self.formula(operand),
                order: *order,
            },
            Statement::CompareExchange {
                target,
                succeeded,
                at,
                expected,
                desired,
                success,
                failure,
                weak,
            } => Code::CompareExchange {
                target: self.target(target),
                succeeded: self.target(succeeded),
                at: self.cell(at),
                expected: self.formula(expected),
                desired: self.formula(desired),
                success: *success,
                failure: *failure,
                weak: *weak,
            },
            Statement::Fence(order) => Code::Fence(*order),
            Statement::StoreFence => Code::StoreFence,
            Statement::Lock(at) => Code::Lock { at: self.cell(at), held: self.held },
            Statement::Unlock(at) => Code::Unlock { at: self.cell(at), held: self.held },
            Statement::Sync { at, guard, bound, kind, operand } => Code::Sync {
                at: self.cell(at),
                guard: *guard,
                bound: self.formula(bound),
                kind: *kind,
                operand: self.formula(operand),
            },
            Statement::Spawn(thread) => Code::Spawn(self.thread(thread)),
            Statement::Join(thread) => Code::Join(self.thread(thread)),
            Statement::Choose { target, options } => {
                Code::Choose { target: self.target(target), options: *options }
            }
            Statement::Assume(condition) => Code::Assume(self.formula(condition)),
            Statement::Assert(condition) => Code::Assert(self.formula(condition)),
            Statement::If { .. } | Statement::Repeat { .. } | Statement::Break => {
                unreachable!("these are jumps")
            }
        }
    }

    fn register(&self, name: &String) -> usize {
        let known = self.body.names.iter().position(|known| known == name);
        known.expect("all registers are known")
    }

    fn target(&self, name: &Option<String>) -> Option<usize> {
        name.as_ref().map(|name| self.register(name))
    }

    fn formula(&self, expression: &Expression) -> Formula {
        expression.map(&mut |name| self.register(name))
    }

    fn cell(&self, at: &Address) -> Cell {
        let mut first = 0;
        for Variable { name, cells, .. } in &self.script.variables {
            if *name == at.variable {
                let index = at.index.as_ref().map(|index| self.formula(index));
                return Cell { first, len: cells.len(), index };
            }
            first += cells.len();
        }
        panic!("there is no variable '{}'", at.variable)
    }

    fn thread(&self, name: &str) -> ThreadId {
        let known = self.script.threads.iter().position(|thread| thread.name == name);
        ThreadId::new(known.unwrap_or_else(|| panic!("there is no thread '{name}'")))
    }
}
