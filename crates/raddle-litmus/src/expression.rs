//! Expressions over the registers of a thread, without side effects. Arithmetic is exact; [`RegisterExpression::Wrap`]
//! converts to a type.

use raddle_core::execution::Value;

use super::value::{IntType, location};

/// Expression over registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RegisterExpression {
    Number(Value),
    /// Value of the register with this index.
    Register(usize),
    /// Value converted to this type.
    Wrap(IntType, Box<RegisterExpression>),
    Binary(BinaryOperator, Box<RegisterExpression>, Box<RegisterExpression>),
}

/// Operator with two operands. Comparisons give 1 or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BinaryOperator {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl From<Value> for RegisterExpression {
    fn from(value: Value) -> Self {
        RegisterExpression::Number(value)
    }
}

impl RegisterExpression {
    pub(super) fn binary(
        operator: BinaryOperator,
        left: RegisterExpression,
        right: RegisterExpression,
    ) -> Self {
        RegisterExpression::Binary(operator, Box::new(left), Box::new(right))
    }

    pub(super) fn wrap(self, ty: IntType) -> Self {
        RegisterExpression::Wrap(ty, Box::new(self))
    }

    /// Returns an expression that is 1 if this one is 0, and 0 otherwise.
    pub(super) fn not(self) -> Self {
        Self::binary(BinaryOperator::Equal, self, 0.into())
    }

    /// Evaluates the expression. The error says why it has no value.
    pub(super) fn value(&self, registers: &[Value]) -> Result<Value, &'static str> {
        match self {
            RegisterExpression::Number(value) => Ok(*value),
            RegisterExpression::Register(register) => Ok(registers[*register]),
            RegisterExpression::Wrap(ty, inner) => Ok(ty.wrap(inner.value(registers)?)),
            RegisterExpression::Binary(operator, left, right) => {
                operator.apply(left.value(registers)?, right.value(registers)?)
            }
        }
    }
}

impl BinaryOperator {
    /// Returns `true` for comparisons.
    pub(super) fn compares(self) -> bool {
        use BinaryOperator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        matches!(self, Equal | NotEqual | Less | LessOrEqual | Greater | GreaterOrEqual)
    }

    fn apply(self, left: Value, right: Value) -> Result<Value, &'static str> {
        if location(left).is_some() || location(right).is_some() {
            return self.apply_to_addresses(left, right);
        }
        // Higher bits do not matter, and would look like an address.
        let low = |value: Value| value & Value::from(u64::MAX);
        let shift = || u32::try_from(right).ok().filter(|&by| by < 64);
        Ok(match self {
            BinaryOperator::Add => left.wrapping_add(right),
            BinaryOperator::Sub => left.wrapping_sub(right),
            BinaryOperator::Mul => low(left.wrapping_mul(right)),
            BinaryOperator::Div => left.checked_div(right).ok_or("division by zero")?,
            BinaryOperator::Rem => left.checked_rem(right).ok_or("division by zero")?,
            BinaryOperator::And => left & right,
            BinaryOperator::Or => left | right,
            BinaryOperator::Xor => left ^ right,
            BinaryOperator::ShiftLeft => {
                low(left
                    .wrapping_shl(shift().ok_or("a shift by a negative number or by 64 or more")?))
            }
            BinaryOperator::ShiftRight => {
                left >> shift().ok_or("a shift by a negative number or by 64 or more")?
            }
            BinaryOperator::Equal => (left == right).into(),
            BinaryOperator::NotEqual => (left != right).into(),
            BinaryOperator::Less => (left < right).into(),
            BinaryOperator::LessOrEqual => (left <= right).into(),
            BinaryOperator::Greater => (left > right).into(),
            BinaryOperator::GreaterOrEqual => (left >= right).into(),
        })
    }

    /// Applies the operator to addresses, which support comparison for equality and addition of 0.
    fn apply_to_addresses(self, left: Value, right: Value) -> Result<Value, &'static str> {
        match self {
            BinaryOperator::Equal => Ok((left == right).into()),
            BinaryOperator::NotEqual => Ok((left != right).into()),
            BinaryOperator::Sub | BinaryOperator::Xor if left == right => Ok(0),
            BinaryOperator::Add
            | BinaryOperator::Sub
            | BinaryOperator::Or
            | BinaryOperator::Xor
                if right == 0 =>
            {
                Ok(left)
            }
            BinaryOperator::Add | BinaryOperator::Or | BinaryOperator::Xor if left == 0 => {
                Ok(right)
            }
            _ => Err("arithmetic on the address of a location, which is not supported"),
        }
    }
}
