//! Compiler from scripts to flat code: names become indices, branches and loops become jumps.

use raddle_core::execution::{MemoryOrder, ThreadId};
use raddle_core::program::{Guard, UpdateKind};

use super::{Address, GuardKind, Script, ScriptExpression, ScriptThread, Statement, Variable};

/// Expression over indices of registers.
pub(super) type RegisterFormula = ScriptExpression<usize>;

/// Reference to a location, which may depend on registers.
#[derive(Clone, Debug)]
pub(super) struct CellRef {
    /// Index of the first location of the variable.
    pub(super) first: usize,
    /// Number of locations of the variable.
    pub(super) len: usize,
    pub(super) index: Option<RegisterFormula>,
}

/// Instruction of a script.
#[derive(Clone, Debug)]
pub(super) enum ScriptInstruction {
    Set {
        target: usize,
        value: RegisterFormula,
    },
    /// Jumps if the condition is 0.
    Unless {
        condition: RegisterFormula,
        to: usize,
    },
    Jump(usize),
    /// Jumps back to the beginning of an endless loop.
    Round(usize),
    /// Decrements a register.
    CountDown(usize),
    /// Jumps unless the register is 0.
    Again {
        left: usize,
        to: usize,
    },
    Assume(RegisterFormula),
    Assert(RegisterFormula),
    Load {
        target: Option<usize>,
        at: CellRef,
        order: MemoryOrder,
    },
    Store {
        at: CellRef,
        value: RegisterFormula,
        order: MemoryOrder,
    },
    Update {
        target: Option<usize>,
        at: CellRef,
        kind: UpdateKind,
        operand: RegisterFormula,
        order: MemoryOrder,
    },
    CompareExchange {
        target: Option<usize>,
        succeeded: Option<usize>,
        at: CellRef,
        expected: RegisterFormula,
        desired: RegisterFormula,
        success: MemoryOrder,
        failure: MemoryOrder,
        weak: bool,
    },
    Fence(MemoryOrder),
    StoreFence,
    /// The registers from `held` on are 1 for each location that is a lock held by the thread.
    Lock {
        at: CellRef,
        held: usize,
    },
    Unlock {
        at: CellRef,
        held: usize,
    },
    Sync {
        at: CellRef,
        guard: GuardKind,
        bound: RegisterFormula,
        kind: UpdateKind,
        operand: RegisterFormula,
    },
    Spawn(ThreadId),
    Join(ThreadId),
    Choose {
        target: Option<usize>,
        options: u32,
    },
    End,
}

/// Code of a thread.
#[derive(Clone, Debug)]
pub(super) struct ScriptCode {
    pub(super) code: Vec<ScriptInstruction>,
    /// By instruction: the statement that it comes from.
    pub(super) text: Vec<String>,
    /// Names of the registers of the script, in the order of their first use.
    pub(super) names: Vec<String>,
    /// Number of registers, including those for loops and locks.
    pub(super) registers: usize,
}

impl ScriptCode {
    /// Returns `true` if the thread may come to an instruction again in the same state.
    pub(super) fn has_endless_loops(&self) -> bool {
        self.code.iter().any(|code| matches!(code, ScriptInstruction::Round(_)))
    }
}

impl GuardKind {
    /// Creates the guard with this operand.
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

/// Compiles a thread.
///
/// # Panics
/// If the thread uses variables or threads that the script does not define.
pub(super) fn compile(script: &Script, thread: &ScriptThread) -> ScriptCode {
    let mut names = vec![];
    collect_registers(&thread.body, &mut names);
    let locations: usize = script.variables.iter().map(|variable| variable.cells.len()).sum();
    let held = names.len();
    let locks = if uses_locks(&thread.body) { locations } else { 0 };
    let body = ScriptCode { code: vec![], text: vec![], registers: held + locks, names };
    let mut compiler = ScriptCompiler { script, held, body, breaks: vec![] };
    compiler.block(&thread.body);
    compiler.push(ScriptInstruction::End, "the end");
    let end = compiler.body.code.len() - 1;
    compiler.resolve_breaks(0, end);
    compiler.body
}

/// Adds the registers that are used in a block.
fn collect_registers(block: &[Statement], names: &mut Vec<String>) {
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
        collect_registers(inner, names);
    }
}

fn uses_locks(block: &[Statement]) -> bool {
    block.iter().any(|statement| {
        matches!(statement, Statement::Lock(_) | Statement::Unlock(_))
            || statement.blocks().into_iter().any(|inner| uses_locks(inner))
    })
}

struct ScriptCompiler<'a> {
    script: &'a Script,
    held: usize,
    body: ScriptCode,
    /// Open jumps out of the current loop, or to the end of the thread.
    breaks: Vec<usize>,
}

impl ScriptCompiler<'_> {
    fn push(&mut self, code: ScriptInstruction, text: &str) -> usize {
        self.body.code.push(code);
        self.body.text.push(text.to_owned());
        self.body.code.len() - 1
    }

    fn here(&self) -> usize {
        self.body.code.len()
    }

    /// Sets the target of the open jumps from `from` on.
    fn resolve_breaks(&mut self, from: usize, to: usize) {
        for at in self.breaks.split_off(from) {
            self.body.code[at] = ScriptInstruction::Jump(to);
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
                let branch = self
                    .push(ScriptInstruction::Unless { condition: condition.clone(), to: 0 }, &text);
                self.block(then);
                let jump = self.push(ScriptInstruction::Jump(0), &text);
                self.body.code[branch] = ScriptInstruction::Unless { condition, to: self.here() };
                self.block(otherwise);
                self.body.code[jump] = ScriptInstruction::Jump(self.here());
            }
            Statement::Repeat { times, body } => self.repeat(*times, body, &text),
            Statement::Loop { body } => self.endless_loop(body, &text),
            Statement::Break => {
                let at = self.push(ScriptInstruction::Jump(0), &text);
                self.breaks.push(at);
            }
            _ => {
                let code = self.simple(statement);
                self.push(code, &text);
            }
        }
    }

    /// Compiles a loop that counts down in a register of its own.
    fn repeat(&mut self, times: u32, body: &[Statement], text: &str) {
        let left = self.body.registers;
        self.body.registers += 1;
        let outer = self.breaks.len();
        self.push(
            ScriptInstruction::Set { target: left, value: RegisterFormula::Number(times.into()) },
            text,
        );
        let top = self.push(ScriptInstruction::Jump(0), text);
        self.block(body);
        self.push(ScriptInstruction::CountDown(left), text);
        self.push(ScriptInstruction::Again { left, to: top + 1 }, text);
        let end = self.here();
        self.body.code[top] =
            ScriptInstruction::Unless { condition: RegisterFormula::Register(left), to: end };
        self.resolve_breaks(outer, end);
    }

    /// Compiles a loop that only breaks leave.
    fn endless_loop(&mut self, body: &[Statement], text: &str) {
        let outer = self.breaks.len();
        let top = self.here();
        self.block(body);
        self.push(ScriptInstruction::Round(top), text);
        let end = self.here();
        self.resolve_breaks(outer, end);
    }

    /// Compiles a statement without blocks.
    fn simple(&mut self, statement: &Statement) -> ScriptInstruction {
        match statement {
            Statement::Set { target, value } => {
                ScriptInstruction::Set { target: self.register(target), value: self.formula(value) }
            }
            Statement::Load { target, at, order } => ScriptInstruction::Load {
                target: self.target(target),
                at: self.cell(at),
                order: *order,
            },
            Statement::Store { at, value, order } => ScriptInstruction::Store {
                at: self.cell(at),
                value: self.formula(value),
                order: *order,
            },
            Statement::Update { target, at, kind, operand, order } => ScriptInstruction::Update {
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
            } => ScriptInstruction::CompareExchange {
                target: self.target(target),
                succeeded: self.target(succeeded),
                at: self.cell(at),
                expected: self.formula(expected),
                desired: self.formula(desired),
                success: *success,
                failure: *failure,
                weak: *weak,
            },
            Statement::Fence(order) => ScriptInstruction::Fence(*order),
            Statement::StoreFence => ScriptInstruction::StoreFence,
            Statement::Lock(at) => ScriptInstruction::Lock { at: self.cell(at), held: self.held },
            Statement::Unlock(at) => {
                ScriptInstruction::Unlock { at: self.cell(at), held: self.held }
            }
            Statement::Sync { at, guard, bound, kind, operand } => ScriptInstruction::Sync {
                at: self.cell(at),
                guard: *guard,
                bound: self.formula(bound),
                kind: *kind,
                operand: self.formula(operand),
            },
            Statement::Spawn(thread) => ScriptInstruction::Spawn(self.thread(thread)),
            Statement::Join(thread) => ScriptInstruction::Join(self.thread(thread)),
            Statement::Choose { target, options } => {
                ScriptInstruction::Choose { target: self.target(target), options: *options }
            }
            Statement::Assume(condition) => ScriptInstruction::Assume(self.formula(condition)),
            Statement::Assert(condition) => ScriptInstruction::Assert(self.formula(condition)),
            Statement::If { .. }
            | Statement::Repeat { .. }
            | Statement::Loop { .. }
            | Statement::Break => {
                unreachable!("compiled by `statement`")
            }
        }
    }

    fn register(&self, name: &String) -> usize {
        let known = self.body.names.iter().position(|known| known == name);
        known.expect("`collect_registers` found all registers")
    }

    fn target(&self, name: &Option<String>) -> Option<usize> {
        name.as_ref().map(|name| self.register(name))
    }

    fn formula(&self, expression: &ScriptExpression) -> RegisterFormula {
        expression.map(&mut |name| self.register(name))
    }

    fn cell(&self, at: &Address) -> CellRef {
        let mut first = 0;
        for Variable { name, cells, .. } in &self.script.variables {
            if *name == at.variable {
                let index = at.index.as_ref().map(|index| self.formula(index));
                return CellRef { first, len: cells.len(), index };
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
