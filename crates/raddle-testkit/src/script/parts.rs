//! Accessors for the parts of statements.

use super::{Address, ScriptExpression, Statement};

impl Statement {
    /// Returns the registers that it sets.
    #[must_use]
    pub fn targets(&self) -> Vec<&String> {
        match self {
            Statement::Set { target, .. } => vec![target],
            Statement::Load { target, .. }
            | Statement::Update { target, .. }
            | Statement::Choose { target, .. } => target.iter().collect(),
            Statement::CompareExchange { target, succeeded, .. } => {
                target.iter().chain(succeeded).collect()
            }
            _ => vec![],
        }
    }

    /// Returns the cell that it accesses.
    #[must_use]
    pub fn address(&self) -> Option<&Address> {
        match self {
            Statement::Load { at, .. }
            | Statement::Store { at, .. }
            | Statement::Update { at, .. }
            | Statement::CompareExchange { at, .. }
            | Statement::Sync { at, .. }
            | Statement::Lock(at)
            | Statement::Unlock(at) => Some(at),
            _ => None,
        }
    }

    /// Returns the cell that it accesses, mutably.
    pub fn address_mut(&mut self) -> Option<&mut Address> {
        match self {
            Statement::Load { at, .. }
            | Statement::Store { at, .. }
            | Statement::Update { at, .. }
            | Statement::CompareExchange { at, .. }
            | Statement::Sync { at, .. }
            | Statement::Lock(at)
            | Statement::Unlock(at) => Some(at),
            _ => None,
        }
    }

    /// Returns its expressions, without those of its blocks.
    #[must_use]
    pub fn expressions(&self) -> Vec<&ScriptExpression> {
        let index = self.address().and_then(|at| at.index.as_ref());
        let own = match self {
            Statement::Set { value, .. } | Statement::Store { value, .. } => vec![value],
            Statement::Update { operand, .. } => vec![operand],
            Statement::CompareExchange { expected, desired, .. } => vec![expected, desired],
            Statement::Sync { bound, operand, .. } => vec![bound, operand],
            Statement::Assume(condition)
            | Statement::Assert(condition)
            | Statement::If { condition, .. } => vec![condition],
            _ => vec![],
        };
        index.into_iter().chain(own).collect()
    }

    /// Returns its blocks.
    #[must_use]
    pub fn blocks(&self) -> Vec<&Vec<Statement>> {
        match self {
            Statement::If { then, otherwise, .. } => vec![then, otherwise],
            Statement::Repeat { body, .. } | Statement::Loop { body } => vec![body],
            _ => vec![],
        }
    }

    /// Returns its blocks, mutably.
    pub fn blocks_mut(&mut self) -> Vec<&mut Vec<Statement>> {
        match self {
            Statement::If { then, otherwise, .. } => vec![then, otherwise],
            Statement::Repeat { body, .. } | Statement::Loop { body } => vec![body],
            _ => vec![],
        }
    }
}
