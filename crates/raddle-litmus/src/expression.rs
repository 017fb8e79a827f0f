//! Expressions over the registers of a thread, without side effects. They are exact; what wraps around
//! says so.

use raddle_core::execution::Value;

use super::value::{Type, location};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expression {
    Number(Value),
    /// The value of the register with this number.
    Register(usize),
    /// The value as one of this type.
    Wrap(Type, Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
}

/// An operation on two values. Truth is 1 or 0, and everything but 0 is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
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

impl From<Value> for Expression {
    fn from(value: Value) -> Self {
        Expression::Number(value)
    }
}

impl Expression {
    pub(super) fn binary(operator: Operator, left: Expression, right: Expression) -> Self {
        Expression::Binary(operator, Box::new(left), Box::new(right))
    }

    pub(super) fn wrap(self, ty: Type) -> Self {
        Expression::Wrap(ty, Box::new(self))
    }

    /// 1 if it is zero, and 0 otherwise.
    pub(super) fn not(self) -> Self {
        Self::binary(Operator::Equal, self, 0.into())
    }

    /// The value, or what is wrong with it.
    pub(super) fn value(&self, registers: &[Value]) -> Result<Value, &'static str> {
        match self {
            Expression::Number(value) => Ok(*value),
            Expression::Register(register) => Ok(registers[*register]),
            Expression::Wrap(ty, inner) => Ok(ty.wrap(inner.value(registers)?)),
            Expression::Binary(operator, left, right) => {
                operator.apply(left.value(registers)?, right.value(registers)?)
            }
        }
    }
}

impl Operator {
    /// Whether the result is a truth value.
    pub(super) fn compares(self) -> bool {
        use Operator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        matches!(self, Equal | NotEqual | Less | LessOrEqual | Greater | GreaterOrEqual)
    }

    fn apply(self, left: Value, right: Value) -> Result<Value, &'static str> {
        if location(left).is_some() || location(right).is_some() {
            return self.apply_to_addresses(left, right);
        }
        // More bits than these do not count, and would look like an address.
        let low = |value: Value| value & Value::from(u64::MAX);
        let shift = || u32::try_from(right).ok().filter(|&by| by < 64);
        Ok(match self {
            Operator::Add => left.wrapping_add(right),
            Operator::Sub => left.wrapping_sub(right),
            Operator::Mul => low(left.wrapping_mul(right)),
            Operator::Div => left.checked_div(right).ok_or("division by zero")?,
            Operator::Rem => left.checked_rem(right).ok_or("division by zero")?,
            Operator::And => left & right,
            Operator::Or => left | right,
            Operator::Xor => left ^ right,
            Operator::ShiftLeft => low(left.wrapping_shl(shift().ok_or("a shift is too far")?)),
            Operator::ShiftRight => left >> shift().ok_or("a shift is too far")?,
            Operator::Equal => (left == right).into(),
            Operator::NotEqual => (left != right).into(),
            Operator::Less => (left < right).into(),
            Operator::LessOrEqual => (left <= right).into(),
            Operator::Greater => (left > right).into(),
            Operator::GreaterOrEqual => (left >= right).into(),
        })
    }

    /// Addresses are equal or not, and nothing but 0 can be added to them.
    fn apply_to_addresses(self, left: Value, right: Value) -> Result<Value, &'static str> {
        match self {
            Operator::Equal => Ok((left == right).into()),
            Operator::NotEqual => Ok((left != right).into()),
            Operator::Sub | Operator::Xor if left == right => Ok(0),
            Operator::Add | Operator::Sub | Operator::Or | Operator::Xor if right == 0 => Ok(left),
            Operator::Add | Operator::Or | Operator::Xor if left == 0 => Ok(right),
            _ => Err("arithmetic on the address of a location"),
        }
    }
}
