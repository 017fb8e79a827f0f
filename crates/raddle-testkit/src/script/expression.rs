//! Expressions over registers. They are evaluated without side effects and never fail: numbers have 64
//! bits and wrap around.

use raddle_core::execution::Value;

/// An expression; `R` names registers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expression<R = String> {
    /// A number of 64 bits.
    Number(Value),
    /// The value of a register.
    Register(R),
    /// An operation on two values.
    Binary(Operator, Box<Expression<R>>, Box<Expression<R>>),
}

/// An operation on two values. Truth is 1 or 0, and everything but 0 is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Operator {
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

impl Operator {
    /// All of them; those that bind more loosely first.
    pub const ALL: [Operator; 11] = [
        Operator::Or,
        Operator::And,
        Operator::Equal,
        Operator::NotEqual,
        Operator::Less,
        Operator::LessOrEqual,
        Operator::Greater,
        Operator::GreaterOrEqual,
        Operator::Add,
        Operator::Sub,
        Operator::Mul,
    ];

    /// How it is written.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Operator::Or => "||",
            Operator::And => "&&",
            Operator::Equal => "==",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::Add => "+",
            Operator::Sub => "-",
            Operator::Mul => "*",
        }
    }

    /// How tightly it binds.
    pub(super) fn level(self) -> usize {
        match self {
            Operator::Or => 0,
            Operator::And => 1,
            Operator::Add | Operator::Sub => 3,
            Operator::Mul => 4,
            _ => 2,
        }
    }

    /// The result of the operation.
    #[inline]
    #[must_use]
    pub fn apply(self, a: Value, b: Value) -> Value {
        match self {
            Operator::Or => Value::from(a != 0 || b != 0),
            Operator::And => Value::from(a != 0 && b != 0),
            Operator::Equal => Value::from(a == b),
            Operator::NotEqual => Value::from(a != b),
            Operator::Less => Value::from(a < b),
            Operator::LessOrEqual => Value::from(a <= b),
            Operator::Greater => Value::from(a > b),
            Operator::GreaterOrEqual => Value::from(a >= b),
            Operator::Add => wrap(a.wrapping_add(b)),
            Operator::Sub => wrap(a.wrapping_sub(b)),
            Operator::Mul => wrap(a.wrapping_mul(b)),
        }
    }
}

/// The number of 64 bits that a value wraps around to.
fn wrap(value: Value) -> Value {
    Value::from(value as i64)
}

impl<R> Expression<R> {
    /// An operation on two expressions.
    #[must_use]
    pub fn binary(operator: Operator, a: Self, b: Self) -> Self {
        Expression::Binary(operator, Box::new(a), Box::new(b))
    }

    /// The same expression with other names for registers.
    #[must_use]
    pub fn map<S>(&self, name: &mut dyn FnMut(&R) -> S) -> Expression<S> {
        match self {
            Expression::Number(number) => Expression::Number(*number),
            Expression::Register(register) => Expression::Register(name(register)),
            Expression::Binary(operator, a, b) => {
                let a = a.map(name);
                Expression::binary(*operator, a, b.map(name))
            }
        }
    }
}

impl Expression<usize> {
    /// Its value, given those of the registers.
    #[inline]
    #[must_use]
    pub fn value(&self, registers: &[Value]) -> Value {
        match self {
            Expression::Number(number) => *number,
            Expression::Register(register) => registers[*register],
            Expression::Binary(operator, a, b) => operate(*operator, a, b, registers),
        }
    }
}

/// The value of an operation, given those of the registers.
fn operate(
    operator: Operator,
    a: &Expression<usize>,
    b: &Expression<usize>,
    registers: &[Value],
) -> Value {
    operator.apply(a.value(registers), b.value(registers))
}

impl<R> From<Value> for Expression<R> {
    fn from(number: Value) -> Self {
        Expression::Number(number)
    }
}

impl From<&str> for Expression {
    fn from(register: &str) -> Self {
        Expression::Register(register.to_owned())
    }
}
