//! Expressions over registers. Evaluation has no side effects and never fails: numbers have 64 bits and wrap.

use raddle_core::execution::Value;

/// Expression. `R` is the type of registers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ScriptExpression<R = String> {
    /// Number of 64 bits.
    Number(Value),
    /// Value of a register.
    Register(R),
    /// Operator with two operands.
    Binary(ScriptOperator, Box<ScriptExpression<R>>, Box<ScriptExpression<R>>),
}

/// Operator with two operands. True is 1, false is 0; as an operand everything but 0 is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ScriptOperator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Sub,
    Mul,
}

impl ScriptOperator {
    /// All operators, lowest precedence first.
    pub const ALL: [ScriptOperator; 11] = [
        ScriptOperator::Or,
        ScriptOperator::And,
        ScriptOperator::Equal,
        ScriptOperator::NotEqual,
        ScriptOperator::Less,
        ScriptOperator::LessOrEqual,
        ScriptOperator::Greater,
        ScriptOperator::GreaterOrEqual,
        ScriptOperator::Add,
        ScriptOperator::Sub,
        ScriptOperator::Mul,
    ];

    /// Returns the symbol.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            ScriptOperator::Or => "||",
            ScriptOperator::And => "&&",
            ScriptOperator::Equal => "==",
            ScriptOperator::NotEqual => "!=",
            ScriptOperator::Less => "<",
            ScriptOperator::LessOrEqual => "<=",
            ScriptOperator::Greater => ">",
            ScriptOperator::GreaterOrEqual => ">=",
            ScriptOperator::Add => "+",
            ScriptOperator::Sub => "-",
            ScriptOperator::Mul => "*",
        }
    }

    /// Returns the precedence.
    pub(super) fn level(self) -> usize {
        match self {
            ScriptOperator::Or => 0,
            ScriptOperator::And => 1,
            ScriptOperator::Add | ScriptOperator::Sub => 3,
            ScriptOperator::Mul => 4,
            _ => 2,
        }
    }

    /// Applies the operator.
    #[inline]
    #[must_use]
    pub fn apply(self, a: Value, b: Value) -> Value {
        match self {
            ScriptOperator::Or => Value::from(a != 0 || b != 0),
            ScriptOperator::And => Value::from(a != 0 && b != 0),
            ScriptOperator::Equal => Value::from(a == b),
            ScriptOperator::NotEqual => Value::from(a != b),
            ScriptOperator::Less => Value::from(a < b),
            ScriptOperator::LessOrEqual => Value::from(a <= b),
            ScriptOperator::Greater => Value::from(a > b),
            ScriptOperator::GreaterOrEqual => Value::from(a >= b),
            ScriptOperator::Add => wrap(a.wrapping_add(b)),
            ScriptOperator::Sub => wrap(a.wrapping_sub(b)),
            ScriptOperator::Mul => wrap(a.wrapping_mul(b)),
        }
    }
}

/// Wraps a value to 64 bits.
fn wrap(value: Value) -> Value {
    Value::from(value as i64)
}

impl<R> ScriptExpression<R> {
    /// Creates an operation on two expressions.
    #[must_use]
    pub fn binary(operator: ScriptOperator, a: Self, b: Self) -> Self {
        ScriptExpression::Binary(operator, Box::new(a), Box::new(b))
    }

    /// Replaces the registers.
    #[must_use]
    pub fn map<S>(&self, name: &mut dyn FnMut(&R) -> S) -> ScriptExpression<S> {
        match self {
            ScriptExpression::Number(number) => ScriptExpression::Number(*number),
            ScriptExpression::Register(register) => ScriptExpression::Register(name(register)),
            ScriptExpression::Binary(operator, a, b) => {
                let a = a.map(name);
                ScriptExpression::binary(*operator, a, b.map(name))
            }
        }
    }
}

impl ScriptExpression<usize> {
    /// Evaluates the expression.
    #[inline]
    #[must_use]
    pub fn value(&self, registers: &[Value]) -> Value {
        match self {
            ScriptExpression::Number(number) => *number,
            ScriptExpression::Register(register) => registers[*register],
            ScriptExpression::Binary(operator, a, b) => operate(*operator, a, b, registers),
        }
    }
}

/// Evaluates an operation. A separate function, since `value` is recursive and must be inlinable.
fn operate(
    operator: ScriptOperator,
    a: &ScriptExpression<usize>,
    b: &ScriptExpression<usize>,
    registers: &[Value],
) -> Value {
    operator.apply(a.value(registers), b.value(registers))
}

impl<R> From<Value> for ScriptExpression<R> {
    fn from(number: Value) -> Self {
        ScriptExpression::Number(number)
    }
}

impl From<&str> for ScriptExpression {
    fn from(register: &str) -> Self {
        ScriptExpression::Register(register.to_owned())
    }
}
