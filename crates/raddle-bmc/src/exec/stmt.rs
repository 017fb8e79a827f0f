//! Statements: branches, loops and jumps.
//!
//! Where a path ends at a `break`, `return` or `goto`, its state waits for the others where they meet. A label that is
//! jumped to from behind is a loop: the function's body is executed again, from the label on. A loop is repeated as
//! long as it certainly goes on; beyond that, `unwind` times, and where it would go on still, the execution is cut off,
//! which is recorded.

use lang_c::ast::{BlockItem, Expression, Label, Statement};
use lang_c::span::Node as Ast;
use rustc_hash::FxHashSet;

use super::repeat::Loop;
use super::{Exec, Frame, Result, Scope, State, Value};
use crate::term::{FALSE, Term};
use crate::types::{INT, Type};

/// A function has scopes for its parameters and for its body.
const FUNCTION: usize = 2;

impl<'a> Exec<'a> {
    pub(super) fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a function is executed")
    }

    pub(super) fn kill(&mut self) -> State {
        let dead = State { guard: FALSE, env: self.state.env.clone() };
        std::mem::replace(&mut self.state, dead)
    }

    /// Continues here from these states as well.
    pub(super) fn join_here(&mut self, states: Vec<State>) {
        for state in states {
            let here = self.kill();
            self.state = self.merge(state.guard, state, here);
        }
    }

    pub(super) fn enter(&mut self) {
        self.frame().scopes.push(Scope::default());
    }

    /// The block ends, and its variables with it.
    pub(super) fn leave(&mut self) -> Result<()> {
        if let Some(scope) = self.frame().scopes.pop() {
            // Those of a function end when it returns, and those of `main` never.
            if self.frame().scopes.len() >= FUNCTION {
                self.end_variables(&scope.objects)?;
            }
            self.gone.extend(&scope.objects);
            self.frame().ended.extend(&scope.objects);
            let gone: FxHashSet<usize> = scope.objects.into_iter().collect();
            if self.state.env.keys().any(|cell| gone.contains(&cell.0)) {
                let env = std::rc::Rc::make_mut(&mut self.state.env);
                env.retain(|cell, _| !gone.contains(&cell.0));
            }
        }
        Ok(())
    }

    /// Whether nothing of a statement can be executed.
    fn is_skipped(&self, statement: &'a Ast<Statement>) -> bool {
        if !self.is_dead() {
            return false;
        }
        let frame = self.frames.last().expect("a function is executed");
        (frame.gotos.is_empty() && frame.switches.is_empty()) || !has_label(&statement.node)
    }

    pub(super) fn statement(&mut self, statement: &'a Ast<Statement>) -> Result<()> {
        if self.is_skipped(statement) {
            return Ok(());
        }
        self.here = statement.span;
        match &statement.node {
            Statement::Labeled(labeled) => {
                self.label(&labeled.node.label)?;
                self.statement(&labeled.node.statement)
            }
            Statement::Compound(items) => {
                self.enter();
                for item in items {
                    self.item(item)?;
                }
                self.leave()
            }
            Statement::Expression(None) => Ok(()),
            Statement::Expression(Some(expression)) => self.eval(expression).map(|_| ()),
            Statement::If(choice) => {
                let (then, other) = (&choice.node.then_statement, &choice.node.else_statement);
                if self.is_dead() {
                    self.statement(then)?;
                    return other.iter().try_for_each(|other| self.statement(other));
                }
                let condition = self.condition(&choice.node.condition)?;
                let other =
                    |exec: &mut Self| other.iter().try_for_each(|other| exec.statement(other));
                if self.pending_label(then)
                    || choice.node.else_statement.as_ref().is_some_and(|s| self.pending_label(s))
                {
                    return self.branch_with_labels(
                        condition,
                        then,
                        choice.node.else_statement.as_deref(),
                    );
                }
                self.branch(condition, |exec| exec.statement(then), other).map(|_| ())
            }
            Statement::Switch(switch) => {
                let (value, ty) = self.scalar(&switch.node.expression)?;
                let ty_promoted = ty.promoted();
                let value = self.convert(value, &ty, &ty_promoted)?;
                self.switch(value, &switch.node.statement)
            }
            Statement::While(repeat) => {
                let before = Some(&*repeat.node.expression);
                self.repeat(&Loop {
                    before,
                    body: &repeat.node.statement,
                    step: None,
                    behind: None,
                })
            }
            Statement::DoWhile(repeat) => {
                let behind = Some(&*repeat.node.expression);
                self.repeat(&Loop {
                    before: None,
                    body: &repeat.node.statement,
                    step: None,
                    behind,
                })
            }
            Statement::For(repeat) => self.for_loop(&repeat.node),
            Statement::Goto(name) => {
                let state = self.kill();
                self.frame().gotos.entry(name.node.name.clone()).or_default().push(state);
                Ok(())
            }
            Statement::Continue => {
                let state = self.kill();
                let target = self.frame().targets.iter_mut().rev().find(|target| target.is_loop);
                target
                    .map(|target| target.continues.push(state))
                    .map_or_else(|| self.refuse("continue outside of a loop"), Ok)
            }
            Statement::Break => {
                let state = self.kill();
                let target = self.frame().targets.last_mut();
                target
                    .map(|target| target.breaks.push(state))
                    .map_or_else(|| self.refuse("break outside of a loop"), Ok)
            }
            Statement::Return(value) => self.return_(value.as_deref()),
            Statement::Asm(_) => self.refuse("inline assembly"),
        }
    }

    fn pending_label(&self, statement: &'a Ast<Statement>) -> bool {
        let frame = self.frames.last().expect("a function is executed");
        !(frame.gotos.is_empty() && frame.switches.is_empty()) && has_label(&statement.node)
    }

    /// A branch into which somebody jumps from outside: both sides, even if one cannot be entered from above.
    fn branch_with_labels(
        &mut self,
        condition: Term,
        then: &'a Ast<Statement>,
        other: Option<&'a Ast<Statement>>,
    ) -> Result<()> {
        let before = self.state.clone();
        self.assume(condition);
        self.statement(then)?;
        let after = std::mem::replace(&mut self.state, before);
        let not = self.terms.not(condition);
        self.assume(not);
        if let Some(other) = other {
            self.statement(other)?;
        }
        self.join_here(vec![after]);
        Ok(())
    }

    pub(super) fn item(&mut self, item: &'a Ast<BlockItem>) -> Result<()> {
        match &item.node {
            BlockItem::Declaration(declaration) => {
                let frame = self.frames.last().expect("a function is executed");
                if self.is_dead() && frame.gotos.is_empty() && frame.switches.is_empty() {
                    return Ok(());
                }
                self.declare_local(declaration)
            }
            BlockItem::StaticAssert(_) => Ok(()),
            BlockItem::Statement(statement) => self.statement(statement),
        }
    }

    /// The value of a statement: that of its last expression.
    pub(super) fn statement_value(
        &mut self,
        statement: &'a Ast<Statement>,
    ) -> Result<(Value, Type)> {
        let none = (Value::Scalar(self.terms.constant(0, 32)), INT);
        let Statement::Compound(items) = &statement.node else {
            self.statement(statement)?;
            return Ok(none);
        };
        self.enter();
        let mut last = none;
        for (i, item) in items.iter().enumerate() {
            match &item.node {
                BlockItem::Statement(inner) if i + 1 == items.len() => match &inner.node {
                    Statement::Expression(Some(expression)) => last = self.eval(expression)?,
                    _ => self.statement(inner)?,
                },
                _ => self.item(item)?,
            }
        }
        self.leave()?;
        Ok(last)
    }

    fn return_(&mut self, value: Option<&'a Ast<Expression>>) -> Result<()> {
        let result = self.frame().result.clone();
        let value = match (value, result) {
            (Some(expression), Some(Type::Void)) => {
                self.eval(expression)?;
                None
            }
            (Some(expression), Some(ty)) => {
                let (value, from) = self.eval(expression)?;
                Some(self.convert_value(value, &from, &ty)?)
            }
            _ => None,
        };
        let state = self.kill();
        self.frame().returns.push((state, value));
        Ok(())
    }

    fn label(&mut self, label: &'a Ast<Label>) -> Result<()> {
        match &label.node {
            Label::Identifier(name) => {
                if let Some(states) = self.frame().gotos.remove(&name.node.name) {
                    self.join_here(states);
                }
                Ok(())
            }
            Label::Case(value) => {
                let value = self.constant_value(value)?;
                self.case(value, value)
            }
            Label::CaseRange(range) => {
                let (low, high) =
                    (self.constant_value(&range.node.low)?, self.constant_value(&range.node.high)?);
                self.case(low, high)
            }
            Label::Default => {
                self.default_case();
                Ok(())
            }
        }
    }
}

/// The statements directly in a statement.
pub(super) fn children(statement: &Statement) -> Vec<&Statement> {
    match statement {
        Statement::Labeled(labeled) => vec![&labeled.node.statement.node],
        Statement::Compound(items) => items
            .iter()
            .filter_map(|item| match &item.node {
                BlockItem::Statement(statement) => Some(&statement.node),
                _ => None,
            })
            .collect(),
        Statement::If(choice) => {
            let other = choice.node.else_statement.iter().map(|other| &other.node);
            std::iter::once(&choice.node.then_statement.node).chain(other).collect()
        }
        Statement::Switch(switch) => vec![&switch.node.statement.node],
        Statement::While(repeat) => vec![&repeat.node.statement.node],
        Statement::DoWhile(repeat) => vec![&repeat.node.statement.node],
        Statement::For(repeat) => vec![&repeat.node.statement.node],
        _ => vec![],
    }
}

/// Whether there is a label in a statement.
fn has_label(statement: &Statement) -> bool {
    matches!(statement, Statement::Labeled(_)) || children(statement).into_iter().any(has_label)
}
