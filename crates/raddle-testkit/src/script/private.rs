//! Removal of private accesses.
//!
//! A cell that only one thread accesses is a register of that thread; and the only thread that writes a cell always
//! reads its own last write there. Such accesses have one source in every execution, so removing them preserves the
//! number of classes and shortens the executions. (Under RC11 and C20 the number of classes can grow: there a private
//! access between two sequentially consistent ones orders them.)
//!
//! Only relaxed and non-atomic loads and stores are removed, since stronger ones act as fences in some models; and only
//! those with a constant index, since the accessing threads must be known in advance. *Rejected:* treating a location
//! as private until a second thread accesses it, and then restarting; the visitor has seen some classes by then.

use std::collections::BTreeSet;

use raddle_core::execution::{MemoryOrder, Value};

use super::{Address, Script, ScriptExpression, ScriptThread, Statement};

/// Accesses of a cell.
#[derive(Clone, Default)]
struct CellUse {
    readers: BTreeSet<usize>,
    writers: BTreeSet<usize>,
    /// Whether it has an access that cannot be removed.
    is_fixed: bool,
    /// Whether it may be read with an index that is not constant.
    is_indexed: bool,
}

impl CellUse {
    /// Returns `true` if the thread always reads its own last write there.
    fn is_known_to(&self, thread: usize) -> bool {
        !self.is_fixed && self.readers.contains(&thread) && self.writers.iter().eq([&thread])
    }

    /// Returns `true` if only the thread accesses it.
    fn is_private_to(&self, thread: usize) -> bool {
        self.is_known_to(thread) && !self.is_indexed && self.readers.iter().eq([&thread])
    }
}

impl Script {
    /// Returns the script without private accesses. It has equally many classes under all models except RC11 and C20.
    #[must_use]
    pub fn without_private(&self) -> Script {
        let uses = CellUses::new(self);
        let threads = self.threads.iter().enumerate();
        let threads = threads.map(|(at, thread)| uses.simplify(at, thread)).collect();
        Script { variables: self.variables.clone(), threads }
    }
}

/// Accesses of all cells, by variable and cell.
struct CellUses<'s> {
    script: &'s Script,
    cells: Vec<Vec<CellUse>>,
}

impl<'s> CellUses<'s> {
    fn new(script: &'s Script) -> Self {
        let none = |variable: &super::Variable| vec![CellUse::default(); variable.cells.len()];
        let mut uses = CellUses { script, cells: script.variables.iter().map(none).collect() };
        for (at, thread) in script.threads.iter().enumerate() {
            uses.note_block(at, &thread.body);
        }
        uses
    }

    fn note_block(&mut self, thread: usize, block: &[Statement]) {
        for statement in block {
            if let Some(at) = statement.address() {
                self.note(thread, statement, at);
            }
            statement.blocks().into_iter().for_each(|inner| self.note_block(thread, inner));
        }
    }

    fn note(&mut self, thread: usize, statement: &Statement, at: &Address) {
        let Some(variable) = self.variable(at) else { return };
        let constant = self.constant(at);
        for (cell, noted) in self.cells[variable].iter_mut().enumerate() {
            if constant.is_some_and(|(_, it)| it != cell) {
                continue;
            }
            match statement {
                Statement::Load { order, .. } => {
                    noted.readers.insert(thread);
                    noted.is_indexed |= constant.is_none();
                    noted.is_fixed |= is_strong(*order);
                }
                Statement::Store { order, .. } => {
                    noted.writers.insert(thread);
                    noted.is_fixed |= constant.is_none() || is_strong(*order);
                }
                _ => noted.is_fixed = true,
            }
        }
    }

    fn variable(&self, at: &Address) -> Option<usize> {
        self.script.variables.iter().position(|variable| variable.name == at.variable)
    }

    /// Returns the variable and the cell of an address that does not depend on registers.
    fn constant(&self, at: &Address) -> Option<(usize, usize)> {
        let variable = self.variable(at)?;
        let cell = match &at.index {
            None => 0,
            Some(ScriptExpression::Number(index)) => usize::try_from(*index).ok()?,
            Some(_) => return None,
        };
        (cell < self.cells[variable].len()).then_some((variable, cell))
    }

    fn simplify(&self, at: usize, thread: &ScriptThread) -> ScriptThread {
        let mut body = vec![];
        for (variable, cells) in self.cells.iter().enumerate() {
            for (cell, _) in cells.iter().enumerate().filter(|(_, it)| it.is_known_to(at)) {
                let initial = self.script.variables[variable].cells[cell];
                if initial != 0 {
                    body.push(set(self.register(variable, cell), initial));
                }
            }
        }
        body.extend(self.block(at, &thread.body));
        ScriptThread::new(&thread.name, body)
    }

    fn block(&self, thread: usize, block: &[Statement]) -> Vec<Statement> {
        block.iter().flat_map(|statement| self.statement(thread, statement)).collect()
    }

    /// Returns what remains of a statement.
    fn statement(&self, thread: usize, statement: &Statement) -> Vec<Statement> {
        let block = |block: &[Statement]| self.block(thread, block);
        match statement {
            Statement::If { condition, then, otherwise } => vec![Statement::If {
                condition: condition.clone(),
                then: block(then),
                otherwise: block(otherwise),
            }],
            Statement::Repeat { times, body } => {
                vec![Statement::Repeat { times: *times, body: block(body) }]
            }
            Statement::Loop { body } => vec![Statement::Loop { body: block(body) }],
            Statement::Load { at, target, .. } => match self.known(thread, at) {
                None => vec![statement.clone()],
                Some((_, register)) => {
                    let value = ScriptExpression::Register(register);
                    let target = target.iter().cloned();
                    target.map(|target| Statement::Set { target, value: value.clone() }).collect()
                }
            },
            Statement::Store { at, value, order } => match self.known(thread, at) {
                None => vec![statement.clone()],
                Some((is_private, target)) => {
                    let kept = ScriptExpression::Register(target.clone());
                    let set = Statement::Set { target, value: value.clone() };
                    let store = Statement::Store { at: at.clone(), value: kept, order: *order };
                    if is_private { vec![set] } else { vec![set, store] }
                }
            },
            _ => vec![statement.clone()],
        }
    }

    /// If the thread always reads its own last write there, returns whether the cell is private, and the register for
    /// its value.
    fn known(&self, thread: usize, at: &Address) -> Option<(bool, String)> {
        let (variable, cell) = self.constant(at)?;
        let noted = &self.cells[variable][cell];
        let register = || (noted.is_private_to(thread), self.register(variable, cell));
        noted.is_known_to(thread).then(register)
    }

    /// Returns the register for the value of a cell. Its name cannot occur in a parsed script.
    fn register(&self, variable: usize, cell: usize) -> String {
        format!("{}[{cell}]", self.script.variables[variable].name)
    }
}

fn set(target: String, value: Value) -> Statement {
    Statement::Set { target, value: ScriptExpression::Number(value) }
}

fn is_strong(order: MemoryOrder) -> bool {
    !matches!(order, MemoryOrder::NonAtomic | MemoryOrder::Relaxed)
}
