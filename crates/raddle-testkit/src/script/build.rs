//! Constructors for the parts of scripts.
//!
//! ```
//! use raddle_core::execution::MemoryOrder::{Acquire, Release};
//! use raddle_testkit::script::build::{load, store};
//! use raddle_testkit::script::{Script, ScriptThread, Variable};
//!
//! let variables = vec![Variable::new("x", 0), Variable::new("y", 0)];
//! let a = ScriptThread::new("a", vec![store("x", 1, Release), load("r", "y", Acquire)]);
//! let b = ScriptThread::new("b", vec![store("y", 1, Release), load("r", "x", Acquire)]);
//! let script = Script::parallel(variables, vec![a, b]);
//! assert_eq!(Script::parse(&script.to_string()).as_ref(), Ok(&script));
//! ```

use raddle_core::execution::MemoryOrder;
use raddle_core::program::UpdateKind;

use super::{Address, ScriptExpression, Statement, failure_order};

impl From<&str> for Address {
    fn from(variable: &str) -> Self {
        Address { variable: variable.to_owned(), index: None }
    }
}

/// References a cell of an array.
#[must_use]
pub fn cell(variable: &str, index: impl Into<ScriptExpression>) -> Address {
    Address { variable: variable.to_owned(), index: Some(index.into()) }
}

/// Creates a load into a register.
#[must_use]
pub fn load(target: &str, at: impl Into<Address>, order: MemoryOrder) -> Statement {
    Statement::Load { target: Some(target.to_owned()), at: at.into(), order }
}

/// Creates a store.
#[must_use]
pub fn store(
    at: impl Into<Address>,
    value: impl Into<ScriptExpression>,
    order: MemoryOrder,
) -> Statement {
    Statement::Store { at: at.into(), value: value.into(), order }
}

/// Creates an atomic read-modify-write. The register gets the old value.
#[must_use]
pub fn update(
    target: &str,
    at: impl Into<Address>,
    kind: UpdateKind,
    operand: impl Into<ScriptExpression>,
    order: MemoryOrder,
) -> Statement {
    let target = Some(target.to_owned());
    Statement::Update { target, at: at.into(), kind, operand: operand.into(), order }
}

/// Creates an atomic read-modify-write whose result nobody uses.
#[must_use]
pub fn blind_update(
    at: impl Into<Address>,
    kind: UpdateKind,
    operand: impl Into<ScriptExpression>,
    order: MemoryOrder,
) -> Statement {
    Statement::Update { target: None, at: at.into(), kind, operand: operand.into(), order }
}

/// Creates a strong compare-exchange with the default failure order. The register gets the old value.
#[must_use]
pub fn compare_exchange(
    target: &str,
    at: impl Into<Address>,
    expected: impl Into<ScriptExpression>,
    desired: impl Into<ScriptExpression>,
    success: MemoryOrder,
) -> Statement {
    Statement::CompareExchange {
        target: Some(target.to_owned()),
        succeeded: None,
        at: at.into(),
        expected: expected.into(),
        desired: desired.into(),
        success,
        failure: failure_order(success),
        weak: false,
    }
}
