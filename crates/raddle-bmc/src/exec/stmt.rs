//! Statements.
//!
//! A path that ends at a `break`, `continue`, `return` or `goto` keeps its state in the frame until execution reaches
//! the target of the jump, where the states are merged. A backward `goto` is a loop: the body of the function is
//! executed again, from the label on (see `call`).

use lang_c::ast::{BlockItem, Expression, Label, Statement};
use lang_c::span::Node as Ast;
use rustc_hash::FxHashSet;

use super::loops::LoopParts;
use super::{BlockScope, CValue, CallFrame, PathState, Result, SymbolicExecutor};
use crate::abi_type::{AbiType, INT};
use crate::term::{FALSE, Term};

/// The number of scopes of a function outside of inner blocks: one for its parameters and one for its body.
const FUNCTION_SCOPES: usize = 2;

impl<'a> SymbolicExecutor<'a> {
    /// The function that is being executed.
    pub(super) fn frame(&mut self) -> &mut CallFrame {
        self.frames.last_mut().expect("a function is executed")
    }

    /// Ends the current path. Returns its state; the current point is dead afterwards.
    pub(super) fn end_path(&mut self) -> PathState {
        let dead = PathState { guard: FALSE, env: self.state.env.clone() };
        std::mem::replace(&mut self.state, dead)
    }

    /// Merges states of other paths into the current state.
    pub(super) fn merge_into_current(&mut self, states: Vec<PathState>) {
        for state in states {
            let here = self.end_path();
            self.state = self.merge(state.guard, state, here);
        }
    }

    pub(super) fn enter_scope(&mut self) {
        self.frame().scopes.push(BlockScope::default());
    }

    /// Leaves the innermost scope, and ends the lifetime of its variables.
    pub(super) fn leave_scope(&mut self) -> Result<()> {
        if let Some(scope) = self.frame().scopes.pop() {
            // Variables in the scopes of a function end when it returns; those of `main` never end.
            if self.frame().scopes.len() >= FUNCTION_SCOPES {
                self.end_variables(&scope.objects)?;
            }
            self.ended_objects.extend(&scope.objects);
            self.frame().ended_objects.extend(&scope.objects);
            let ended: FxHashSet<usize> = scope.objects.into_iter().collect();
            if self.state.env.keys().any(|cell| ended.contains(&cell.0)) {
                let env = std::rc::Rc::make_mut(&mut self.state.env);
                env.retain(|cell, _| !ended.contains(&cell.0));
            }
        }
        Ok(())
    }

    /// Returns `true` if the statement cannot be reached, neither from the current point nor by a jump into it.
    fn is_skipped(&self, statement: &'a Ast<Statement>) -> bool {
        if !self.is_dead() {
            return false;
        }
        !self.may_be_jumped_into(statement)
    }

    pub(super) fn execute_statement(&mut self, statement: &'a Ast<Statement>) -> Result<()> {
        if self.is_skipped(statement) {
            return Ok(());
        }
        self.here = statement.span;
        match &statement.node {
            Statement::Labeled(labeled) => {
                self.enter_label(&labeled.node.label)?;
                self.execute_statement(&labeled.node.statement)
            }
            Statement::Compound(items) => {
                self.enter_scope();
                for item in items {
                    self.execute_item(item)?;
                }
                self.leave_scope()
            }
            Statement::Expression(None) => Ok(()),
            Statement::Expression(Some(expression)) => self.eval(expression).map(|_| ()),
            Statement::If(choice) => {
                let (then, other) = (&choice.node.then_statement, &choice.node.else_statement);
                if self.is_dead() {
                    self.execute_statement(then)?;
                    return other.iter().try_for_each(|other| self.execute_statement(other));
                }
                let condition = self.condition(&choice.node.condition)?;
                let other = |exec: &mut Self| {
                    other.iter().try_for_each(|other| exec.execute_statement(other))
                };
                if self.may_be_jumped_into(then)
                    || choice
                        .node
                        .else_statement
                        .as_ref()
                        .is_some_and(|s| self.may_be_jumped_into(s))
                {
                    return self.branch_with_labels(
                        condition,
                        then,
                        choice.node.else_statement.as_deref(),
                    );
                }
                self.branch(condition, |exec| exec.execute_statement(then), other).map(|_| ())
            }
            Statement::Switch(switch) => {
                let (value, ty) = self.scalar(&switch.node.expression)?;
                let ty_promoted = ty.promoted();
                let value = self.convert(value, &ty, &ty_promoted)?;
                self.execute_switch(value, &switch.node.statement)
            }
            Statement::While(repeat) => self.execute_loop(&LoopParts {
                condition_before: Some(&*repeat.node.expression),
                body: &repeat.node.statement,
                step: None,
                condition_after: None,
            }),
            Statement::DoWhile(repeat) => self.execute_loop(&LoopParts {
                condition_before: None,
                body: &repeat.node.statement,
                step: None,
                condition_after: Some(&*repeat.node.expression),
            }),
            Statement::For(repeat) => self.execute_for(&repeat.node),
            Statement::Goto(name) => {
                let state = self.end_path();
                self.frame().gotos.entry(name.node.name.clone()).or_default().push(state);
                Ok(())
            }
            Statement::Continue => {
                let state = self.end_path();
                let target = self.frame().targets.iter_mut().rev().find(|target| target.is_loop);
                target
                    .map(|target| target.continues.push(state))
                    .map_or_else(|| self.unsupported("`continue` outside of a loop"), Ok)
            }
            Statement::Break => {
                let state = self.end_path();
                let target = self.frame().targets.last_mut();
                target
                    .map(|target| target.breaks.push(state))
                    .map_or_else(|| self.unsupported("`break` outside of a loop or `switch`"), Ok)
            }
            Statement::Return(value) => self.execute_return(value.as_deref()),
            Statement::Asm(_) => self.unsupported("inline assembly is not supported"),
        }
    }

    /// Returns `true` if a pending `goto` or `switch` may jump into the statement.
    fn may_be_jumped_into(&self, statement: &'a Ast<Statement>) -> bool {
        let frame = self.frames.last().expect("a function is executed");
        !(frame.gotos.is_empty() && frame.switches.is_empty()) && has_label(&statement.node)
    }

    /// An `if` into which a jump from outside may lead: both alternatives are executed, even if one is infeasible.
    fn branch_with_labels(
        &mut self,
        condition: Term,
        then: &'a Ast<Statement>,
        other: Option<&'a Ast<Statement>>,
    ) -> Result<()> {
        let before = self.state.clone();
        self.assume(condition);
        self.execute_statement(then)?;
        let after = std::mem::replace(&mut self.state, before);
        let not = self.terms.not(condition);
        self.assume(not);
        if let Some(other) = other {
            self.execute_statement(other)?;
        }
        self.merge_into_current(vec![after]);
        Ok(())
    }

    /// Executes a declaration or statement of a block.
    fn execute_item(&mut self, item: &'a Ast<BlockItem>) -> Result<()> {
        match &item.node {
            BlockItem::Declaration(declaration) => {
                let frame = self.frames.last().expect("a function is executed");
                if self.is_dead() && frame.gotos.is_empty() && frame.switches.is_empty() {
                    return Ok(());
                }
                self.declare_local(declaration)
            }
            BlockItem::StaticAssert(_) => Ok(()),
            BlockItem::Statement(statement) => self.execute_statement(statement),
        }
    }

    /// The value of a statement expression (GNU C): that of its last expression.
    pub(super) fn statement_value(
        &mut self,
        statement: &'a Ast<Statement>,
    ) -> Result<(CValue, AbiType)> {
        let none = (CValue::Scalar(self.terms.constant(0, 32)), INT);
        let Statement::Compound(items) = &statement.node else {
            self.execute_statement(statement)?;
            return Ok(none);
        };
        self.enter_scope();
        let mut last = none;
        for (i, item) in items.iter().enumerate() {
            match &item.node {
                BlockItem::Statement(inner) if i + 1 == items.len() => match &inner.node {
                    Statement::Expression(Some(expression)) => last = self.eval(expression)?,
                    _ => self.execute_statement(inner)?,
                },
                _ => self.execute_item(item)?,
            }
        }
        self.leave_scope()?;
        Ok(last)
    }

    fn execute_return(&mut self, value: Option<&'a Ast<Expression>>) -> Result<()> {
        let result_type = self.frame().result_type.clone();
        let value = match (value, result_type) {
            (Some(expression), Some(AbiType::Void)) => {
                self.eval(expression)?;
                None
            }
            (Some(expression), Some(ty)) => {
                let (value, from) = self.eval(expression)?;
                Some(self.convert_value(value, &from, &ty)?)
            }
            _ => None,
        };
        let state = self.end_path();
        self.frame().returns.push((state, value));
        Ok(())
    }

    fn enter_label(&mut self, label: &'a Ast<Label>) -> Result<()> {
        match &label.node {
            Label::Identifier(name) => {
                if let Some(states) = self.frame().gotos.remove(&name.node.name) {
                    self.merge_into_current(states);
                }
                Ok(())
            }
            Label::Case(value) => {
                let value = self.constant_value(value)?;
                self.enter_case_range(value, value)
            }
            Label::CaseRange(range) => {
                let (low, high) =
                    (self.constant_value(&range.node.low)?, self.constant_value(&range.node.high)?);
                self.enter_case_range(low, high)
            }
            Label::Default => {
                self.enter_default();
                Ok(())
            }
        }
    }
}

/// The immediate substatements of a statement.
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

/// Returns `true` if the statement contains a label.
fn has_label(statement: &Statement) -> bool {
    matches!(statement, Statement::Labeled(_)) || children(statement).into_iter().any(has_label)
}
